"""Rows on their way into a file: chunks of any size in, batches cut by the rows' own sizes out.

A batch ends with the first row that fills it. So where it ends depends on the rows alone, not on
how they came in chunks.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import Examples
from steelyard.io.parsed_block import ParsedBlock

_ROW = 32  # bytes of a row beside its features and its tag, about


@dataclass(frozen=True)
class Piece:
    """Some rows as plain arrays: how many features each has, the features, and so on."""

    lengths: NDArray[np.int64]
    indices: NDArray[np.integer[Any]]
    values: NDArray[np.floating[Any]]
    labels: NDArray[np.float64]
    sample_weight: NDArray[np.float64]
    offsets: NDArray[np.float64]
    tag_lengths: NDArray[np.int64] | None
    tags: NDArray[np.uint8] | None

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def kind(self) -> tuple[str, str, bool]:
        """What all pieces of a stream have in common."""
        return self.indices.dtype.name, self.values.dtype.name, self.tags is not None

    def sizes(self) -> NDArray[np.int64]:
        """The bytes of the rows up to and with each."""
        each = self.lengths * (self.indices.itemsize + self.values.itemsize) + _ROW
        return np.cumsum(each if self.tag_lengths is None else each + self.tag_lengths)

    def part(self, start: int, end: int) -> "Piece":
        """The rows from `start` to before `end`."""
        entries = slice(*(int(self.lengths[:row].sum()) for row in (start, end)))
        tag_lengths = tags = None
        if self.tag_lengths is not None and self.tags is not None:
            tag_lengths = self.tag_lengths[start:end]
            tags = self.tags[slice(*(int(self.tag_lengths[:row].sum()) for row in (start, end)))]
        rows = slice(start, end)
        return Piece(
            self.lengths[rows], self.indices[entries], self.values[entries],
            self.labels[rows], self.sample_weight[rows], self.offsets[rows], tag_lengths, tags,
        )  # fmt: skip


NO_ROWS = Piece(
    np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0), np.zeros(0),
    np.zeros(0), None, None,
)  # fmt: skip


def piece(chunk: ParsedBlock | Examples) -> Piece:
    """The rows of a chunk."""
    rows = chunk if isinstance(chunk, Examples) else chunk.examples
    tag_lengths = tags = None
    if isinstance(chunk, ParsedBlock) and chunk.tags is not None:
        tag_lengths = (chunk.tags[:, 1] - chunk.tags[:, 0]).astype(np.int64)
        text = chunk.block.text if chunk.text is None else chunk.text
        tags = gathered(text, chunk.tags[:, 0], tag_lengths)
    return Piece(
        np.diff(rows.indptr),
        np.tile(rows.indices, len(rows)) if rows.dense else rows.indices,
        rows.values, rows.labels, rows.sample_weight,
        np.zeros(len(rows)) if rows.offsets is None else rows.offsets,  # in some chunks only, perhaps
        tag_lengths, tags,
    )  # fmt: skip


def regrouped(pieces: Iterable[Piece], size: int) -> Iterator[Piece]:
    """The same rows in pieces of about `size` bytes."""
    held: list[Piece] = []
    filled = 0
    for given in pieces:
        sizes = given.sizes()
        start = before = 0
        while (end := int(np.searchsorted(sizes, before + size - filled)) + 1) <= len(given):
            yield _joined([*held, given.part(start, end)])
            held, filled = [], 0
            start, before = end, int(sizes[end - 1])
        if start < len(given):
            held.append(given.part(start, len(given)))
            filled += int(sizes[-1]) - before
    if held:
        yield _joined(held)


def _joined(pieces: list[Piece]) -> Piece:
    kinds = {piece.kind for piece in pieces}
    if len(kinds) > 1:
        raise ValueError(f"chunks of one stream differ in types, or in having tags: {sorted(kinds)}")
    columns: dict[str, Any] = {}
    for field in fields(Piece):
        parts = [getattr(piece, field.name) for piece in pieces]
        columns[field.name] = None if parts[0] is None else np.concatenate(parts)
    return Piece(**columns)


def gathered(entries: NDArray[Any], starts: NDArray[Any], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """entries[start : start + length] for each start and length, one after another."""
    before = np.cumsum(lengths) - lengths
    places = np.arange(lengths.sum()) + np.repeat(starts - before, lengths)
    return entries[places]  # type: ignore[no-any-return]
