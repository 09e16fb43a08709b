"""The paper's four data sets: the originals where the user has them, else the sets that stand in for them.

    data = load("rcv1")        # by its place in the paper
    data.name, data.original   # "rcv1-ccat", False: no stand-in is called by the original's name

They lie in the folder named by STEELYARD_DATA; docs/paper-data.md says where each comes from.
"""

import hashlib
import lzma
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

PLACES = ("rcv1", "astro", "spam", "webspam")
"""The data sets of the paper, in its order."""

TEST_SHARE = 0.2

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Data:
    """Rows with labels −1 and 1."""

    name: str
    original: bool
    matrix: sparse.csr_matrix
    labels: NDArray[np.float64]

    def split(self, seed: int) -> tuple[Indices, Indices]:
        """Rows to learn, shuffled, and the last fifth, to test."""
        order = np.random.default_rng(seed).permutation(len(self.labels))
        first = len(order) - round(len(order) * TEST_SHARE)
        return order[:first], order[first:]


def folder() -> Path:
    named = os.environ.get("STEELYARD_DATA")
    if not named or not Path(named).is_dir():
        raise click.ClickException(
            "set the environment variable STEELYARD_DATA to the folder with the data sets; "
            "docs/paper-data.md says what may lie there"
        )
    return Path(named)


def name(place: str) -> str:
    """What stands in this place, without loading it."""
    return _STAND_INS[place][0]


@cache
def digest(place: str) -> str:
    """Of the bytes of its files."""
    return file_digest(folder() / _STAND_INS[place][1])


@cache
def file_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@cache
def load(place: str) -> Data:
    named, file, read = _STAND_INS[place]
    matrix, labels = read(folder() / file)
    return Data(named, False, matrix, labels)


Read = Callable[[Path], tuple[sparse.csr_matrix, NDArray[np.float64]]]


def _svmlight(path: Path) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    with lzma.open(path, "rb") as stream:
        matrix, labels = load_svmlight_file(stream, dtype=np.float32, zero_based=True)
    return matrix, np.where(labels > 0.0, 1.0, -1.0)


def _text(columns: tuple[str, ...], **counting: Any) -> Read:
    def read(path: Path) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
        with lzma.open(path, "rt", encoding="utf-8") as stream:
            header = stream.readline().rstrip("\n").split("\t")
            rows = [dict(zip(header, line.rstrip("\n").split("\t"), strict=True)) for line in stream]
        counts = CountVectorizer(dtype=np.float32, **counting)
        matrix = counts.fit_transform(" ".join(row[column] for column in columns) for row in rows)
        return matrix, np.array([1.0 if float(row["label"]) > 0.0 else -1.0 for row in rows])

    return read


_WORDS = {"token_pattern": "[a-z0-9]+"}
_STAND_INS: dict[str, tuple[str, str, Read]] = {
    "rcv1": ("rcv1-ccat", "rcv1-ccat.svm.xz", _svmlight),
    "astro": ("arxiv-astro", "arxiv-astro.tsv.xz", _text(("title", "abstract"), **_WORDS)),
    "spam": ("enron-spam", "enron-spam.tsv.xz", _text(("text",), **_WORDS)),
    "webspam": ("url-spam", "url-spam.tsv.xz", _text(("url",), analyzer="char", ngram_range=(3, 3))),
}
