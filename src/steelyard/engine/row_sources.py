"""The sources of rows for a training run: memory, or chunks read from files.

Rows come in pieces, the same ones in every pass. Some may be held out (`holdout.py`). Such rows are left aside
and measured at the end (`held_out`, as sweeps do), or they come in passing with a weight of 0 and are measured
just before the next row is learned, as `steelyard train` does: then no row need be read twice.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats, Integers
from steelyard.engine.holdout import Holdout, marker
from steelyard.examples import Examples

PIECE = 1 << 14  # rows of a piece: after each, progress is shown and may be saved


@dataclass(frozen=True)
class Piece:
    """Rows to learn: all of the examples, or those whose numbers are in `order`."""

    examples: Examples
    order: Integers | None = None
    held_out_weight: Floats | None = None
    """The weights of rows that are held out in passing; 0 for the others."""

    def __len__(self) -> int:
        return len(self.examples) if self.order is None else len(self.order)

    def skip(self, rows: int) -> "Piece":
        """Return the piece without its first rows, which an interrupted run has learned already."""
        if rows == 0:
            return self
        if self.order is not None:
            return replace(self, order=self.order[rows:])
        rest = np.arange(rows, len(self))
        held = None if self.held_out_weight is None else self.held_out_weight[rows:]
        return Piece(self.examples.take(rest), None, held)


class Rows(Protocol):
    """The rows of a training run. `share` is the part of the current pass that is done, from 0 to 1."""

    share: float
    holds_out: bool

    def pieces(self, pass_number: int) -> Iterator[Piece]:
        """Yield the rows to learn in the pass of this number, from 0."""
        ...

    def held_out(self) -> Iterator[Piece]:
        """Yield the rows left aside."""
        ...


class RowsInMemory:
    """Rows in memory. `order_of` gives the order of the rows in each pass; without it, they come as they are.

    `piece` is the number of rows at a time; 0 for a good size, None for all at once.
    """

    def __init__(
        self,
        examples: Examples,
        holdout: Holdout = None,
        order_of: Callable[[int], Integers] | None = None,
        piece: int | None = 0,
    ) -> None:
        self.share = 0.0
        self.holds_out = holdout is not None
        self._examples = examples
        self._held = marker(holdout)(len(examples))
        self._order_of = order_of
        self._piece = PIECE if piece == 0 else piece

    def pieces(self, pass_number: int) -> Iterator[Piece]:
        order = None if self._order_of is None else self._order_of(pass_number)
        if self._piece is None and not self.holds_out:
            if order is None or not self._examples.dense:
                yield Piece(self._examples, order)
                return
            for start in range(0, len(order), PIECE):  # copying dense rows is faster than random access
                yield Piece(self._examples.take(order[start : start + PIECE]))
            return
        order = np.arange(len(self._examples)) if order is None else order
        yield from self._cut(order[~self._held[order]])

    def held_out(self) -> Iterator[Piece]:
        return self._cut(np.flatnonzero(self._held))

    def _cut(self, order: Integers) -> Iterator[Piece]:
        size = self._piece or max(len(order), 1)
        for start in range(0, len(order), size):
            part = order[start : start + size]
            self.share = (start + len(part)) / len(order)
            yield Piece(self._examples, part)


class RowsInChunks:
    """Rows that come in chunks, as from files. If they fit into `keep` bytes, they are read only once.

    `source` begins anew whenever it is called, and `share` is the part of the latest that is done. Each
    `together` rows are one row of the files, and are held out together.
    """

    def __init__(
        self,
        source: Callable[[], Iterable[Examples]],
        holdout: Holdout = None,
        *,
        in_passing: bool = False,
        keep: int = 0,
        share: Callable[[], float] = lambda: 0.0,
        together: int = 1,
    ) -> None:
        self.share = 0.0
        self.holds_out = holdout is not None and not in_passing
        self._source = source
        self._holdout = holdout
        self._in_passing = in_passing
        self._keep = keep
        self._share = share
        self._together = together
        self._in_memory: list[Examples] | None = None

    def pieces(self, pass_number: int) -> Iterator[Piece]:
        for examples, held in self._chunks():
            if self._holdout is None:
                yield Piece(examples)
            elif self._in_passing:
                learned = np.where(held, 0.0, examples.sample_weight)
                aside = np.where(held, examples.sample_weight, 0.0)
                yield Piece(replace(examples, sample_weight=learned), None, aside)
            else:
                yield Piece(examples, np.flatnonzero(~held))

    def held_out(self) -> Iterator[Piece]:
        for examples, held in self._chunks():
            yield Piece(examples, np.flatnonzero(held))

    def _chunks(self) -> Iterator[tuple[Examples, NDArray[np.bool_]]]:
        mark = marker(self._holdout)
        for examples in self._read():
            yield examples, np.repeat(mark(len(examples) // self._together), self._together)

    def _read(self) -> Iterator[Examples]:
        if self._in_memory is not None:
            for number, examples in enumerate(self._in_memory, start=1):
                self.share = number / len(self._in_memory)
                yield examples
            return
        chunks: list[Examples] = []
        bytes_left = self._keep
        for examples in self._source():
            bytes_left -= count_bytes(examples)
            if bytes_left >= 0:
                chunks.append(examples)
            else:
                chunks.clear()
            self.share = self._share()
            yield examples
        if bytes_left >= 0:
            self._in_memory = chunks


def count_bytes(examples: Examples) -> int:
    arrays = (examples.indptr, examples.indices, examples.values, examples.labels, examples.sample_weight)
    return sum(array.nbytes for array in arrays) + (
        0 if examples.offsets is None else examples.offsets.nbytes
    )
