"""`ShuffledRows`: the rows of files in an order drawn from a seed, another in every pass.

Every row draws a random number, and rows are learned in the order of these numbers. So the order depends on the
seed and on the pass only: not on chunks, on threads or on memory. All rows are read before the first is
learned. If they do not fit into memory, they go to temporary files by the first digits of their numbers, and
these files are learned one after another.

Where rows are `apart`, a heavy one is cut into parts of equal weight, each with a number of its own. At once it
would move the model far, at the learning rate of one moment; its parts are where its copies would be. A row of
weight 64 or less becomes copies of weight 1, a heavier one of h becomes 4√h to 8√h parts: a power of two, so
that whole numbers add up to the same sum in any order. A row of weight 0 has no part.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats, Integers
from steelyard.engine.row_sources import PIECE, Piece, RowsInChunks, count_bytes
from steelyard.examples import Examples, join

MEMORY = 1 << 31  # bytes of parsed rows
BUCKETS = 64
_COPIES = 64.0  # the largest weight that is learned as copies
_ARRAYS = 9  # arrays of a piece in a temporary file


class ShuffledRows:
    """`rows` are read anew in every pass, unless all of them fit into `memory`."""

    def __init__(
        self, rows: RowsInChunks, seed: int, memory: int | None = None, *, apart: bool = False
    ) -> None:
        self.share = 0.0
        self.holds_out = rows.holds_out
        self._rows = rows
        self._seed = seed
        self._memory = MEMORY if memory is None else memory
        self._apart = apart
        self._in_memory: tuple[Piece, Integers] | None = None

    def pieces(self, pass_number: int) -> Iterator[Piece]:
        random = np.random.default_rng([self._seed, pass_number])
        if self._in_memory is not None:
            whole, rows = self._in_memory
            yield from self._cut(whole, rows, random.random(len(rows)), 0.0, 1.0)
            return
        waiting: list[tuple[Piece, Integers, Floats]] = []
        bytes_left = self._memory
        with tempfile.TemporaryDirectory(prefix="steelyard-shuffle-") as folder:
            buckets = [Path(folder) / str(number) for number in range(BUCKETS)]
            for piece in self._rows.pieces(pass_number):
                parted, rows = self._part(piece)
                waiting.append((parted, rows, random.random(len(rows))))
                bytes_left -= count_bytes(piece.examples)
                if bytes_left < 0:
                    for parts in waiting:
                        _spread(*parts, buckets)
                    waiting.clear()
            if bytes_left >= 0 and waiting:
                whole = _join([piece for piece, _, _ in waiting])
                first = np.cumsum([0, *(len(piece.examples) for piece, _, _ in waiting)]).tolist()
                rows = np.concatenate([first[k] + own for k, (_, own, _) in enumerate(waiting)])
                self._in_memory = whole, rows
                yield from self._cut(whole, rows, np.concatenate([keys for *_, keys in waiting]), 0.0, 1.0)
            for number, path in enumerate(buckets):
                if path.exists():
                    pieces, keys = _load(path)
                    rows = np.arange(len(keys))
                    yield from self._cut(_join(pieces), rows, keys, number / BUCKETS, 1.0 / BUCKETS)

    def held_out(self) -> Iterator[Piece]:
        return self._rows.held_out()

    def _part(self, piece: Piece) -> tuple[Piece, Integers]:
        """Return the piece with the weights of parts, and the row of each part."""
        rows = np.arange(len(piece.examples)) if piece.order is None else piece.order
        if not self._apart:
            return piece, rows
        held = np.zeros(1) if piece.held_out_weight is None else piece.held_out_weight
        weights = piece.examples.sample_weight + held  # one of them is 0
        parts = count_parts(weights)
        examples = replace(piece.examples, sample_weight=piece.examples.sample_weight / parts.clip(1))
        aside = None if piece.held_out_weight is None else held / parts.clip(1)
        return replace(piece, examples=examples, held_out_weight=aside), np.repeat(rows, parts[rows])

    def _cut(self, whole: Piece, rows: Integers, keys: Floats, done: float, part: float) -> Iterator[Piece]:
        order = rows[np.argsort(keys, kind="stable")]
        for start in range(0, len(order), PIECE):
            own = order[start : start + PIECE]
            self.share = done + part * (start + len(own)) / len(order)
            held = whole.held_out_weight
            yield Piece(whole.examples.take(own), None, None if held is None else held[own])


def count_parts(weights: Floats) -> NDArray[np.int64]:
    """Return the number of parts of rows with these weights."""
    _, exponents = np.frexp(np.sqrt(_COPIES * weights))
    return np.where(weights <= _COPIES, np.ceil(weights), np.ldexp(0.5, exponents)).astype(np.int64)


def _join(pieces: list[Piece]) -> Piece:
    held = [piece.held_out_weight for piece in pieces if piece.held_out_weight is not None]
    return Piece(
        join([piece.examples for piece in pieces]), held_out_weight=np.concatenate(held) if held else None
    )


def _spread(piece: Piece, rows: Integers, keys: Floats, buckets: list[Path]) -> None:
    """Add each row to the file of its random number."""
    own = (keys * len(buckets)).astype(np.intp)
    for number, path in enumerate(buckets):
        drawn = np.flatnonzero(own == number)
        if len(drawn):
            with path.open("ab") as file:
                for array in _arrays(piece, rows[drawn], keys[drawn]):
                    np.save(file, array, allow_pickle=False)


def _arrays(piece: Piece, rows: Integers, keys: Floats) -> list[NDArray[Any]]:
    taken, nothing = piece.examples.take(rows), np.zeros(0)
    held = nothing if piece.held_out_weight is None else piece.held_out_weight[rows]
    offsets = nothing if taken.offsets is None else taken.offsets
    return [
        keys, np.array(taken.features), taken.indptr, taken.indices, taken.values,
        taken.labels, taken.sample_weight, offsets, held,
    ]  # fmt: skip


def _load(path: Path) -> tuple[list[Piece], Floats]:
    pieces, keys = [], []
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            arrays = (np.load(file, allow_pickle=False) for _ in range(_ARRAYS))
            own, features, indptr, indices, values, labels, weights, offsets, held = arrays
            examples = Examples(
                indptr, indices, values, False, int(features), labels, weights,
                offsets if len(offsets) else None,
            )  # fmt: skip
            pieces.append(Piece(examples, held_out_weight=held if len(held) else None))
            keys.append(own)
    return pieces, np.concatenate(keys)
