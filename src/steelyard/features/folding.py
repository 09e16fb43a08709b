"""`Folding`: keys become the indices of a model, and what a row has twice is merged."""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._buffer_pool import BufferPool
from steelyard.features.crosses import Interactions
from steelyard.features.hashed_rows import HashedRows
from steelyard.features.names import Candidates, Names
from steelyard.text import assemble, structs

LEAST_BITS, MOST_BITS = 1, 30
_NO_KEYS = (np.zeros(0, np.uint32), np.zeros(0, np.uint32))
_NO_CANDIDATES = Candidates(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 1), np.int32))


@dataclass(frozen=True)
class CsrRows:
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

    def fold(self, hashed: HashedRows) -> CsrRows:
        """Fold the rows and merge duplicates."""
        total, longest = self._sizes(hashed)
        table, serial = self._scratch(longest, total)
        if self._names is None and not len(self._crosses) and not hashed.lent:
            return self._fold_in_place(hashed, table, serial)
        known = self._names.known if self._names is not None else _NO_KEYS
        candidates = total if self._names is not None else 0
        indptr = np.zeros(len(hashed.ends) + 1, np.int64)
        indices, values = self._indices.empty(total, np.int32), self._values.empty(total, hashed.values.dtype)
        new = np.empty(candidates, np.int64), np.empty(candidates, np.int64)
        places = np.empty((candidates, self._crosses.shape[1]), np.int32)
        scratch = structs.HashTable(self.features - 1, table, serial)
        common = scratch, *known, structs.FoldOutput(indptr, indices, values, *new, places)
        if len(self._crosses):
            chosen = np.empty(self._crosses.shape[1], np.int64)
            count, fresh = assemble.fold_crossed(
                hashed.ends, hashed.keys, hashed.values, hashed.fields, self._crosses, chosen, *common
            )
        else:
            count, fresh = assemble.fold(hashed.ends, hashed.distinct, hashed.keys, hashed.values, *common)
        found = Candidates(new[0][:fresh].copy(), new[1][:fresh].copy(), places[:fresh].copy())
        return CsrRows(indptr, indices[:count], values[:count], found)

    def _fold_in_place(self, hashed: HashedRows, table: NDArray[np.int64], serial: int) -> CsrRows:
        """Fold without memory for the result: what is written last is still in the caches."""
        indptr = np.zeros(len(hashed.ends) + 1, np.int64)
        count = assemble.fold_in_place(
            hashed.ends, hashed.distinct, hashed.keys, hashed.values,
            structs.HashTable(self.features - 1, table, serial), indptr,
        )  # fmt: skip
        return CsrRows(indptr, hashed.keys[:count].view(np.int32), hashed.values[:count], _NO_CANDIDATES)

    def _sizes(self, hashed: HashedRows) -> tuple[int, int]:
        """Features in total, and the most in one row; where nothing is crossed, without another kernel."""
        if len(self._crosses):
            counts = np.empty(self._crosses.max() + 1, np.int64)
            return assemble.sizes(hashed.ends, hashed.fields, self._crosses, counts)  # type: ignore[no-any-return]
        ends = hashed.ends
        if not len(ends):
            return 0, 0
        return int(ends[-1]), int((ends[1:] - ends[:-1]).max(initial=ends[0]))

    def _scratch(self, longest: int, total: int) -> tuple[NDArray[np.int64], int]:
        """The hash table of this thread, large enough for the longest row, and a serial number above all in it."""
        if len(getattr(self._own, "table", ())) < _slots(longest):
            self._own.table, self._own.serial = new_hash_table(longest), 0
        serial = self._own.serial
        self._own.serial += total
        return self._own.table, serial


def new_hash_table(longest: int) -> NDArray[np.int64]:
    """An empty table for rows of up to so many features, at least twice as large (see `text.assemble`)."""
    return np.full(_slots(longest), -1, np.int64)


def _slots(longest: int) -> int:
    return 1 << max(2 * int(longest) - 1, 15).bit_length()
