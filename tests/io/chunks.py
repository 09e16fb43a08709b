"""Small streams of chunks for the tests of files, and what is read back from them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.examples import Examples
from steelyard.features import Names
from steelyard.io.arrow_reader import ArrowReader
from steelyard.io.blocks import Block, ParsedBlock
from steelyard.io.stream import Stream

FEATURES = 64
ODD_TAGS = (b"", b"a tag", b"\xff\x00\n", "Äpfel".encode(), b"'|")


@dataclass(frozen=True)
class Row:
    label: float
    importance: float
    base: float
    tag: bytes
    indices: tuple[int, ...]
    values: tuple[float, ...]


def random_rows(count: int, seed: int = 0) -> list[Row]:
    """Rows with nothing missing: some empty, some without a label or a tag, indices in any order."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        size = int(rng.integers(0, 9))
        unlabelled = rng.random() < 0.2
        rows.append(
            Row(
                np.nan if unlabelled else float(rng.choice([-1.0, 1.0])),
                0.0 if unlabelled else float(rng.exponential()),
                float(rng.normal()),
                ODD_TAGS[rng.integers(len(ODD_TAGS))],
                tuple(rng.permutation(FEATURES)[:size].tolist()),
                tuple(rng.normal(size=size).astype(np.float32).tolist()),
            )
        )
    return rows


def chunk(
    rows: Sequence[Row], index: str = "int32", value: str = "float32", offsets: bool = True, tags: bool = True
) -> ParsedBlock:
    """As a reader of text would hand them over, with other things between the tags."""
    text = b"".join(b"<" + row.tag + b">" for row in rows)
    starts = np.cumsum([0, *(len(row.tag) + 2 for row in rows)])[:-1] + 1
    spans = np.array([[at, at + len(row.tag)] for at, row in zip(starts, rows, strict=True)], np.int32)
    examples = Examples(
        np.cumsum([0, *(len(row.indices) for row in rows)]).astype(np.int64),
        np.array([index for row in rows for index in row.indices], index),
        np.array([value for row in rows for value in row.values], value),
        False,
        FEATURES,
        np.array([row.label for row in rows], np.float64),
        np.array([row.importance for row in rows], np.float64),
        np.array([row.base for row in rows], np.float64) if offsets else None,
    )
    block = Block("text", np.frombuffer(text, np.uint8), 0)
    return ParsedBlock(block, examples, len(rows), tags=spans.reshape(-1, 2) if tags else None)


def chunked(rows: Sequence[Row], size: int, **kinds: Any) -> Iterable[ParsedBlock]:
    return (chunk(rows[start : start + size], **kinds) for start in range(0, len(rows), size))


def stream(path: Path | str, features: int = FEATURES, **options: Any) -> Stream:
    return Stream([path], ArrowReader(features), **options)


def rows_of(chunks: Iterable[ParsedBlock]) -> list[Row]:
    """All rows, as plain Python."""
    rows = []
    for parsed in chunks:
        examples = parsed.examples
        text = (parsed.block.text if parsed.text is None else parsed.text).tobytes()
        for k in range(len(examples)):
            part = slice(examples.indptr[k], examples.indptr[k + 1])
            rows.append(
                Row(
                    float(examples.labels[k]),
                    float(examples.sample_weight[k]),
                    0.0 if examples.offsets is None else float(examples.offsets[k]),
                    b"" if parsed.tags is None else text[slice(*parsed.tags[k].tolist())],
                    tuple(examples.indices[part].tolist()),
                    tuple(examples.values[part].tolist()),
                )
            )
    return rows


def same(ours: Sequence[Row], theirs: Sequence[Row]) -> bool:
    """Bit for bit: repr tells −0 from 0 and takes NaN for NaN."""
    return repr(list(ours)) == repr(list(theirs))


def some_names(features: int = FEATURES) -> Names:
    """Three names, one of them odd; a second and two further keys at an index, and a nameless one."""
    from steelyard.features import Candidates

    names = Names(features, most=3)
    keys = np.array([5, 0, 17, 5 + 64, 5 + 128, 5 + 192, 33], np.int64)
    places = np.arange(len(keys), dtype=np.int32).reshape(-1, 1)
    chosen = names.admit(Candidates(keys & (features - 1), keys, places))
    texts = [b"five", b"\xff\x00", b"seventeen"]
    text = np.frombuffer(b"".join(texts), np.uint8)
    names.name((keys & (features - 1))[chosen], text, np.array([len(name) for name in texts], np.int32))
    return names
