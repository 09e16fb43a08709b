"""`HashedRows`: rows as readers find them, each feature a key and a value."""

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._buffer_pool import BufferPool
from steelyard.text import structs
from steelyard.text.swar import SPARE


@dataclass(frozen=True)
class HashedRows:
    """Rows of features, each a 32-bit key and a value.

    `fields` has the field of each feature among those of the interactions (−1: none); `starts` and `stops`
    are the span of its name in the text, and `origins` say what that span is. The label of a row without one
    is NaN. `tags` are spans of the text.
    """

    labels: NDArray[np.float64]
    sample_weight: NDArray[np.float64]
    offsets: NDArray[np.float64]
    tags: NDArray[np.int32]
    ends: NDArray[np.int64]
    keys: NDArray[np.uint32]
    values: NDArray[np.floating[Any]]
    fields: NDArray[np.int16]
    starts: NDArray[np.int32]
    stops: NDArray[np.int32]
    origins: NDArray[np.int32]
    distinct: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_), kw_only=True)
    """Which rows are known to have no index twice; empty if nothing is known."""
    lent: bool = field(default=True, kw_only=True)
    """Whether the arrays of features belong to others; if not, folding may overwrite them."""

    @classmethod
    def empty(
        cls, rows: int, features: int, dtype: str, pool: BufferPool | None = None, *,
        named: bool = True, crossed: bool = True,
    ) -> "HashedRows":  # fmt: skip
        """Uninitialised arrays, of which pages that are never touched take no memory.

        If the features need no names, there is no room for spans; if none are crossed, none for fields.
        """
        types = [np.dtype(name) for name in (dtype, "u4", "i4", "i4", "i4", "i2")]
        ends = features * np.cumsum([0, *(each.itemsize for each in types)])
        buffer = np.empty(ends[-1], np.uint8) if pool is None else pool.empty(int(ends[-1]), np.uint8)
        values, keys, starts, stops, origins, fields = (
            buffer[start:end].view(each) for start, end, each in zip(ends[:-1], ends[1:], types, strict=True)
        )
        if not named:
            starts, stops, origins = starts[:0], stops[:0], origins[:0]
        if not crossed:
            fields = fields[:0]
        return cls(
            np.empty(rows), np.empty(rows), np.empty(rows), np.empty((rows, 2), np.int32),
            np.empty(rows, np.int64), keys, values, fields, starts, stops, origins,
        )  # fmt: skip

    @property
    def heads(self) -> structs.Heads:
        """What there is of each row."""
        return structs.Heads(
            self.labels, self.sample_weight, self.offsets, self.tags, self.ends, self.distinct
        )

    @property
    def features(self) -> structs.Features:
        """What there is of each feature."""
        return structs.Features(self.keys, self.values, self.fields, self.starts, self.stops, self.origins)

    def first(self, rows: int, features: int) -> "HashedRows":
        """Views of the rows and features that have been filled in."""
        return HashedRows(
            *(array[:rows] for array in self.heads[:-1]), *(array[:features] for array in self.features),
            distinct=self.distinct[:rows], lent=self.lent,
        )  # fmt: skip


class HashedRowBuffers:
    """Buffers that each thread reuses."""

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype
        self._own = threading.local()

    def for_text(self, size: int) -> tuple[HashedRows, NDArray[np.int32]]:
        """Buffers for a text of this many bytes, where each row and each feature takes at least two.

        The second buffer is for the positions of blanks, of which there may be one for each byte.
        """
        kept: tuple[HashedRows, NDArray[np.int32]] | None = getattr(self._own, "kept", None)
        if kept is None or len(kept[1]) < size + SPARE:
            wanted = size // 2 + 1
            kept = HashedRows.empty(wanted, wanted, self._dtype), np.empty(size + SPARE, np.int32)
            self._own.kept = kept
        return kept
