"""Rows that were read, asked for or taught: what they are, and what became of them.

A row has a *place*, its turn among all that were read, and the *number* of its example. There may be a
hundred thousand, so all about one takes few bytes, and rows of a pool are not copied.
"""

import copy
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.active.identifiers import ReadPlace
from steelyard.examples import Examples

OPEN, ANSWERED, SKIPPED, TAUGHT = range(4)
"""States of a row: what became of its question, or that nobody was asked."""


class ReadRows:
    """Keeps numbers, probabilities and states of rows by place, and the places in order of numbers."""

    def __init__(self) -> None:
        self._numbers, self._probabilities, self._states = array("q"), array("d"), bytearray()
        self._by_number = array("i")
        self._counts = [0, 0, 0, 0]  # of rows in each state

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, number: int, probability: float, state: int = OPEN) -> None:
        """Add a row at the last place, with the probability with which the strategy asked for it."""
        self._by_number.insert(self._search(number), len(self))
        self._numbers.append(number)
        self._probabilities.append(probability)
        self._states.append(state)
        self._counts[state] += 1

    def _search(self, number: int) -> int:
        return bisect_left(self._by_number, number, key=self._numbers.__getitem__)

    def _place(self, number: int) -> ReadPlace | None:
        at = self._search(number)
        place = self._by_number[at] if at < len(self) else -1
        return ReadPlace(place) if place >= 0 and self._numbers[place] == number else None

    def __contains__(self, number: int) -> bool:
        return self._place(number) is not None

    def place(self, number: int) -> ReadPlace:
        found = self._place(number)
        if found is None:
            raise KeyError(number)
        return found

    def places(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places of many numbers, all of which are there."""
        by_number = np.array(self._by_number, np.int64)
        found: NDArray[np.int64] = by_number[np.searchsorted(self.numbers()[by_number], numbers)]
        return found

    def numbers(self) -> NDArray[np.int64]:
        """The numbers of all rows, by place."""
        return np.array(self._numbers[:])  # a slice is of one moment, whatever another thread adds

    def in_state(self, state: int) -> list[int]:
        """The numbers of rows in that state, in the order in which they were read."""
        return [number for number, own in zip(self._numbers, self._states, strict=True) if own == state]

    def taught_between(self, first: int, end: int) -> list[int]:
        """The numbers from `first` to before `end` that were taught, so that nobody was asked about them."""
        places = self._by_number[self._search(first) : self._search(end)]
        return [self._numbers[place] for place in places if self._states[place] == TAUGHT]

    def count(self, state: int) -> int:
        return self._counts[state]

    def probability(self, number: int) -> float:
        return self._probabilities[self.place(number)]

    def state(self, number: int) -> int | None:
        """None if the row was not read."""
        found = self._place(number)
        return None if found is None else self._states[found]

    def set_state(self, number: int, state: int) -> None:
        """Note that a question has its answer, was skipped, or is open again."""
        place = self.place(number)
        self._counts[self._states[place]] -= 1
        self._counts[state] += 1
        self._states[place] = state

    def reopen(self) -> None:
        """Open all questions again."""
        self._states = self._states.translate(bytes([OPEN, OPEN, OPEN, TAUGHT]).ljust(256))
        self._counts = [len(self) - self.count(TAUGHT), 0, 0, self.count(TAUGHT)]

    def copy(self) -> "ReadRows":
        return copy.deepcopy(self)


class SparseRows:
    """A growing list of sparse rows, by place."""

    def __init__(self, features: int) -> None:
        self._features, self._count = features, 0
        self._ends = np.zeros(1, np.int64)
        self._indices = np.zeros(0, np.int32)
        self._values = np.zeros(0)

    def add(self, indices: NDArray[np.int32], values: NDArray[np.float64]) -> None:
        begin = int(self._ends[self._count])
        end = begin + len(indices)
        self._indices, self._values = _grown(self._indices, end), _grown(self._values, end)
        self._ends = _grown(self._ends, self._count + 2)
        self._indices[begin:end], self._values[begin:end] = indices, values
        self._ends[self._count + 1] = end
        self._count += 1

    def take(
        self, places: NDArray[np.int64], labels: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> Examples:
        nothing, ends = np.zeros(self._count), self._ends[: self._count + 1]
        end = ends[-1]
        whole = Examples(
            ends, self._indices[:end], self._values[:end], False, self._features, nothing, nothing
        )
        return replace(whole.take(places), labels=labels, sample_weight=weights)

    def copy(self) -> "SparseRows":
        return copy.deepcopy(self)


class PoolRows:
    """Finds the rows in a pool that is in memory anyway; example i is row `order[i]`."""

    def __init__(self, pool: Examples, order: NDArray[np.int64], read: ReadRows) -> None:
        self._pool, self._order, self._read = pool, order, read

    def add(self, indices: NDArray[np.int32], values: NDArray[np.float64]) -> None:
        """The pool has them."""

    def take(
        self, places: NDArray[np.int64], labels: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> Examples:
        return replace(
            stored(self._pool, self._order[self._read.numbers()[places]]),
            labels=labels,
            sample_weight=weights,
        )

    def copy(self) -> "PoolRows":
        """Return the same object: a place keeps its row, however many are read after it."""
        return self


def _grown(column: NDArray[Any], size: int) -> NDArray[Any]:
    """The column, or a copy of twice the size; what was taken from it before stays as it is."""
    if size <= len(column):
        return column
    longer = np.empty(max(2 * len(column), size, 1024), column.dtype)
    longer[: len(column)] = column
    return longer


def stored(examples: Examples, rows: NDArray[np.int64] | Sequence[int]) -> Examples:
    """Rows as they are stored: sparse, in double precision. Zeros of dense rows are left out."""
    taken = examples.take(np.asarray(rows, np.int64))
    ends, indices = taken.indptr, taken.indices.astype(np.int32, copy=False)
    values = taken.values.astype(np.float64, copy=False)
    if taken.dense:
        used = values != 0.0
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(used)])[ends]
        indices, values = np.tile(indices, len(taken))[used], values[used]
    return replace(taken, indptr=ends, indices=indices, values=values, dense=False)


def sparse_row(examples: Examples, row: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The features of one row, as they are stored."""
    found = stored(examples, [row])
    return found.indices, found.values
