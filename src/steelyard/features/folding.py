"""Rows of features that have keys, and the sparse rows of a model that they become.

Readers make `Keyed` from text. `Folding` folds the keys into 2^bits indices, interactions included.
"""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._buffer_pool import BufferPool
from steelyard.features.interactions import Interactions
from steelyard.features.names import Candidates, Names
from steelyard.text import assemble
from steelyard.text.byte_masks import SPARE


@dataclass(frozen=True)
class Keyed:
    """Rows of features, each a 32-bit key and a value.

    `fields` has the field of each feature among those of the interactions (−1: none), `starts` the start of
    its name in the text. The label of a row without one is NaN. `tags` are spans of the text.
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

    @classmethod
    def empty(cls, rows: int, features: int, dtype: str) -> "Keyed":
        """Uninitialised arrays for this many rows and features."""
        return cls(
            labels=np.empty(rows),
            sample_weight=np.empty(rows),
            offsets=np.empty(rows),
            tags=np.empty((rows, 2), np.int32),
            ends=np.empty(rows, np.int64),
            keys=np.empty(features, np.uint32),
            values=np.empty(features, dtype),
            fields=np.empty(features, np.int16),
            starts=np.empty(features, np.int32),
        )

    def first(self, rows: int, features: int) -> "Keyed":
        """Views of the rows and features that have been filled in."""
        return Keyed(
            self.labels[:rows],
            self.sample_weight[:rows],
            self.offsets[:rows],
            self.tags[:rows],
            self.ends[:rows],
            self.keys[:features],
            self.values[:features],
            self.fields[:features],
            self.starts[:features],
        )


class KeyedBuffers:
    """Buffers that each thread reuses. Pages that are never touched take no memory."""

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype
        self._own = threading.local()

    def for_text(self, size: int) -> tuple[Keyed, NDArray[np.int32]]:
        """Buffers for a text of this many bytes, where each row and each feature takes at least two.

        The second buffer is for the positions of blanks, of which there may be one for each byte.
        """
        kept: tuple[Keyed, NDArray[np.int32]] | None = getattr(self._own, "kept", None)
        if kept is None or len(kept[1]) < size + SPARE:
            wanted = size // 2 + 1
            kept = Keyed.empty(wanted, wanted, self._dtype), np.empty(size + SPARE, np.int32)
            self._own.kept = kept
        return kept


LEAST_BITS, MOST_BITS = 1, 30


@dataclass(frozen=True)
class Folded:
    """CSR rows, and the features in them that were not known before."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.floating[Any]]
    candidates: Candidates


class Folding:
    """Folds chunk after chunk, from several threads at once: each has its own scratch table."""

    def __init__(self, bits: int, interactions: Interactions, names: Names | None) -> None:
        if not LEAST_BITS <= bits <= MOST_BITS:
            raise ValueError(f"bits must be from {LEAST_BITS} to {MOST_BITS}; got {bits}")
        self.features = 1 << bits
        self._crosses = interactions.array()
        self._names = names
        self._own = threading.local()
        self._indices, self._values = BufferPool(), BufferPool()

    def fold(self, keyed: Keyed) -> Folded:
        """Fold the rows and merge duplicates."""
        total, longest = assemble.sizes(keyed.ends, keyed.fields, self._crosses)
        table, serial = self._scratch(longest, total)
        known = self._names.known if self._names is not None else _NO_KEYS
        candidates = total if self._names is not None else 0
        indptr = np.zeros(len(keyed.ends) + 1, np.int64)
        indices, values = self._indices.empty(total, np.int32), self._values.empty(total, keyed.values.dtype)
        new = np.empty(candidates, np.int64), np.empty(candidates, np.int64)
        places = np.empty((candidates, self._crosses.shape[1]), np.int32)
        common = (self.features - 1, table, serial, *known, indptr, indices, values, *new, places)
        if len(self._crosses):
            count, fresh = assemble.fold_crossed(
                keyed.ends, keyed.keys, keyed.values, keyed.fields, self._crosses, *common
            )
        else:
            count, fresh = assemble.fold(keyed.ends, keyed.keys, keyed.values, *common)
        found = Candidates(new[0][:fresh].copy(), new[1][:fresh].copy(), places[:fresh].copy())
        return Folded(indptr, indices[:count], values[:count], found)

    def _scratch(self, longest: int, total: int) -> tuple[NDArray[np.int64], int]:
        """This thread's hash table, large enough for the longest row, and a serial number above all in it."""
        slots = 1 << max(2 * int(longest) - 1, 15).bit_length()
        if len(getattr(self._own, "table", ())) < slots:
            self._own.table, self._own.serial = np.full(slots, -1, np.int64), 0
        serial = self._own.serial
        self._own.serial += total
        return self._own.table, serial


_NO_KEYS = (np.zeros(0, np.uint32), np.zeros(0, np.uint32))
