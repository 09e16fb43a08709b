"""Rows and labels from text files: svmlight, and the part of Vowpal Wabbit's format that is equivalent."""

import bz2
import gzip
import io
import itertools
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

import click
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

Labels = NDArray[np.float64]

COMPRESSED = ("", ".gz", ".bz2", ".xz")
"""Suffixes that a file name may have."""

MOST_VALUES = 200_000_000
"""The most values read from a file, 1.6 GB of memory; the rest of a larger file is left out."""

_BLOCK = 10_000  # lines parsed at once
_OPEN: dict[str, Callable[[Path], object]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_PLAIN_VW = re.compile(rb"(\S+)[^|]*\|\S*((?:\s+\d+(?::\S+)?)*)\s*")
_BARE = re.compile(rb"(\s\d+)(?=\s|$)")


@dataclass(frozen=True)
class LabelledRows:
    """Labels are −1 and 1. Rows from `first_test` on are the official test set, if there is one."""

    matrix: sparse.csr_matrix
    labels: Labels
    first_test: int | None = None
    note: str = ""
    """The part of the files that was left out."""


@contextmanager
def open_unpacked(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read its decompressed bytes. The error of an incomplete download names the file."""
    if path.suffix not in _OPEN:
        with path.open("rb") as stream:
            yield stream
        return
    try:
        with cast(BinaryIO, _OPEN[path.suffix](path)) as stream:
            yield stream
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise click.ClickException(
            f"{path} cannot be decompressed ({error}): it is incomplete, damaged or misnamed; "
            "download it again"
        ) from error


def read_svmlight(path: Path) -> LabelledRows:
    with open_unpacked(path) as stream:
        return _parse(path, stream)


def read_vowpal_wabbit(path: Path) -> LabelledRows:
    """Read lines such as `1 |f 13:0.04 24:0.03`: one namespace, numbers as names."""
    with open_unpacked(path) as stream:
        return _parse(path, (_as_svmlight(path, *each) for each in enumerate(stream, start=1)))


def join_train_and_test(train: LabelledRows, test: LabelledRows) -> LabelledRows:
    """Join the parts of an official split."""
    width = max(train.matrix.shape[1], test.matrix.shape[1])
    for rows in (train, test):
        rows.matrix.resize(rows.matrix.shape[0], width)
    matrix = sparse.vstack([train.matrix, test.matrix], format="csr")
    notes = [f"{what}: {rows.note}" for what, rows in (("train", train), ("test", test)) if rows.note]
    labels = np.concatenate([train.labels, test.labels])
    return LabelledRows(matrix, labels, len(train.labels), "; ".join(notes))


def remove_gaps(rows: LabelledRows) -> LabelledRows:
    """Remove features that no row has. The others keep their order, so that results stay the same.

    A sweep has a number for every feature and setting: webspam has 16 million, most of which never occur.
    """
    met = np.zeros(rows.matrix.shape[1], dtype=np.bool_)
    met[rows.matrix.indices] = True
    places = np.cumsum(met, dtype=np.int32) - np.int32(1)
    matrix = sparse.csr_matrix(
        (rows.matrix.data, places[rows.matrix.indices], rows.matrix.indptr),
        shape=(rows.matrix.shape[0], int(met.sum())),
    )
    return replace(rows, matrix=matrix)


def to_two_classes(path: Path, labels: Labels) -> Labels:
    """Labels −1 and 1 from any two numbers, one above zero and one not."""
    if len(np.unique(labels)) != 2 or len(np.unique(labels > 0.0)) != 2:
        some = ", ".join(f"{label:g}" for label in np.unique(labels)[:5])
        raise click.ClickException(
            f"{path}: expected two labels, such as −1 and 1 or 0 and 1, not {some or 'none'}"
        )
    return np.where(labels > 0.0, 1.0, -1.0)


def _as_svmlight(path: Path, number: int, line: bytes) -> bytes:
    found = _PLAIN_VW.fullmatch(line)
    if found is None:
        raise click.ClickException(
            f"{path}, line {number}: expected one namespace with numbers as names, such as '1 |f 13:0.04'"
        )
    label, features = found.groups()
    return bytes(label + _BARE.sub(rb"\1:1", features) + b"\n")


def _parse(path: Path, lines: Iterable[bytes]) -> LabelledRows:
    blocks: list[sparse.csr_matrix] = []
    labels: list[Labels] = []
    room, note = MOST_VALUES, ""
    for first, block, found in _parse_blocks(path, lines):
        fitting = int(np.searchsorted(block.indptr, room, side="right")) - 1
        blocks.append(block[:fitting])
        labels.append(found[:fitting])
        room -= blocks[-1].nnz
        if fitting < len(found):
            note = f"the first {first - 1 + fitting:,} rows, which hold at most {MOST_VALUES:,} values"
            break
    if not blocks:
        raise click.ClickException(f"{path} has no rows")
    width = max(block.shape[1] for block in blocks)
    for block in blocks:
        block.resize(block.shape[0], width)
    return LabelledRows(
        sparse.vstack(blocks, format="csr"), to_two_classes(path, np.concatenate(labels)), None, note
    )


def _parse_blocks(path: Path, lines: Iterable[bytes]) -> Iterator[tuple[int, sparse.csr_matrix, Labels]]:
    """Blocks of lines: the number of the first line, the rows, the labels."""
    lines, first = iter(lines), 1
    while some := list(itertools.islice(lines, _BLOCK)):
        try:
            # numbered as in the file, so that all blocks agree
            block, labels = load_svmlight_file(io.BytesIO(b"".join(some)), dtype=np.float32, zero_based=True)
        except ValueError as error:
            raise click.ClickException(
                f"{path}, somewhere in lines {first} to {first + len(some) - 1}: {error}"
            ) from error
        block.indices = block.indices.astype(np.int32)
        yield first, block, labels
        first += len(some)
