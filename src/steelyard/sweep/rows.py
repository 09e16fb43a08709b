"""Rows for a sweep: gone through once for every pass and every round, and once more those held out.

Rows come in pieces: examples, and the numbers of those among them whose turn it is. Every Nth row of the
stream is held out, by its number, as `steelyard train --holdout` does it.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.model_set import Numbers
from steelyard.examples import Examples

Piece = tuple[Examples, Numbers]
PIECE = 1 << 14  # rows between two moments at which progress is told and may be kept


class Rows(Protocol):
    """What a search goes through. `share` says how much of it has been, from 0 to 1."""

    share: float
    holds_out: bool

    def learned(self, number: int) -> Iterator[Piece]:
        """The rows to learn, as they come in the pass of this number, from 0."""
        ...

    def held(self) -> Iterator[Piece]:
        """The rows held out."""
        ...


class Table:
    """Rows in memory. `shuffled` has an order for each pass, where they are not to be taken as they come."""

    def __init__(
        self, examples: Examples, holdout: int | None = None, shuffled: list[Numbers] | None = None
    ) -> None:
        self.share = 0.0
        self.holds_out = holdout is not None
        self._examples = examples
        self._held = _held(0, len(examples), holdout)
        self._shuffled = shuffled

    def learned(self, number: int) -> Iterator[Piece]:
        order = np.arange(len(self._examples)) if self._shuffled is None else self._shuffled[number]
        return self._pieces(order[~self._held[order]])

    def held(self) -> Iterator[Piece]:
        return self._pieces(np.flatnonzero(self._held))

    def _pieces(self, order: Numbers) -> Iterator[Piece]:
        for start in range(0, len(order), PIECE):
            piece = order[start : start + PIECE]
            self.share = (start + len(piece)) / len(order)
            yield self._examples, piece


class Chunks:
    """Rows that come in chunks, from files say. Those that fit are kept, so that they are read but once."""

    def __init__(
        self,
        source: Callable[[], Iterable[Examples]],
        holdout: int | None = None,
        *,
        keep: int = 0,
        share: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`source` begins anew whenever it is called, and `share` says how far the latest has come."""
        self.share = 0.0
        self.holds_out = holdout is not None
        self._source = source
        self._holdout = holdout
        self._keep = keep
        self._share = share
        self._kept: list[Examples] | None = None

    def learned(self, number: int) -> Iterator[Piece]:
        for examples, held in self._chunks():
            yield examples, np.flatnonzero(~held)

    def held(self) -> Iterator[Piece]:
        for examples, held in self._chunks():
            yield examples, np.flatnonzero(held)

    def _chunks(self) -> Iterator[tuple[Examples, NDArray[np.bool_]]]:
        row = 0
        for examples in self._again():
            yield examples, _held(row, len(examples), self._holdout)
            row += len(examples)

    def _again(self) -> Iterator[Examples]:
        if self._kept is not None:
            for place, examples in enumerate(self._kept):
                self.share = (place + 1) / len(self._kept)
                yield examples
            return
        kept: list[Examples] = []
        room = self._keep
        for examples in self._source():
            room -= _bytes(examples)
            if room >= 0:
                kept.append(examples)
            else:
                kept.clear()
            self.share = self._share()
            yield examples
        if room >= 0:
            self._kept = kept


def _held(first: int, count: int, holdout: int | None) -> NDArray[np.bool_]:
    if holdout is None:
        return np.zeros(count, bool)
    held: NDArray[np.bool_] = np.arange(first + 1, first + count + 1) % holdout == 0
    return held


def _bytes(examples: Examples) -> int:
    arrays = (examples.indptr, examples.indices, examples.values, examples.labels, examples.sample_weight)
    return sum(array.nbytes for array in arrays) + (
        0 if examples.offsets is None else examples.offsets.nbytes
    )
