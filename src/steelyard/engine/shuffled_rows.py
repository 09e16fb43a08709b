"""`ShuffledRows`: the rows of files in an order drawn from a seed, another in every pass.

Every row draws a number, and rows are learned in the order of these numbers. So the order depends on the
seed and on the pass alone: not on chunks, on threads or on memory. All rows are read before the first is
learned. If they do not fit into memory they go to temporary files by the first digits of their numbers, and
one such file after another is learned.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.protocol import Column
from steelyard.engine.row_sources import PIECE, Piece, RowsInChunks, count_bytes
from steelyard.examples import Examples, join

MEMORY = 1 << 31  # bytes of parsed rows
BUCKETS = 64
_ARRAYS = 9


class ShuffledRows:
    """`rows` are read anew in every pass, unless all of them fit into `memory`."""

    def __init__(self, rows: RowsInChunks, seed: int, memory: int | None = None) -> None:
        self.share = 0.0
        self.holds_out = rows.holds_out
        self._rows = rows
        self._seed = seed
        self._memory = MEMORY if memory is None else memory
        self._kept: Piece | None = None

    def pieces(self, pass_number: int) -> Iterator[Piece]:
        random = np.random.default_rng([self._seed, pass_number])
        if self._kept is not None:
            yield from self._cut(self._kept, random.random(len(self._kept)), 0.0, 1.0)
            return
        waiting: list[tuple[Piece, Column]] = []
        room = self._memory
        with tempfile.TemporaryDirectory(prefix="steelyard-shuffle-") as folder:
            buckets = [Path(folder) / str(number) for number in range(BUCKETS)]
            for piece in self._rows.pieces(pass_number):
                waiting.append((piece, random.random(len(piece))))
                room -= count_bytes(piece.examples)
                if room < 0:
                    for parts in waiting:
                        _spread(*parts, buckets)
                    waiting.clear()
            if room >= 0 and waiting:
                self._kept = _join([piece for piece, _ in waiting])
                yield from self._cut(self._kept, np.concatenate([keys for _, keys in waiting]), 0.0, 1.0)
            for number, path in enumerate(buckets):
                if path.exists():
                    pieces, keys = _load(path)
                    yield from self._cut(_join(pieces), keys, number / BUCKETS, 1.0 / BUCKETS)

    def held_out(self) -> Iterator[Piece]:
        return self._rows.held_out()

    def _cut(self, whole: Piece, keys: Column, done: float, part: float) -> Iterator[Piece]:
        order = np.argsort(keys, kind="stable")
        for start in range(0, len(order), PIECE):
            rows = order[start : start + PIECE]
            self.share = done + part * (start + len(rows)) / len(order)
            held = whole.held_out_weight
            yield Piece(whole.examples.take(rows), None, None if held is None else held[rows])


def _join(pieces: list[Piece]) -> Piece:
    held = [piece.held_out_weight for piece in pieces if piece.held_out_weight is not None]
    return Piece(
        join([piece.examples for piece in pieces]), held_out_weight=np.concatenate(held) if held else None
    )


def _spread(piece: Piece, keys: Column, buckets: list[Path]) -> None:
    """Add each row to the file of its number."""
    own = (keys * len(buckets)).astype(np.intp)
    for number, path in enumerate(buckets):
        rows = np.flatnonzero(own == number)
        if len(rows):
            with path.open("ab") as file:
                for array in _arrays(piece, keys, rows):
                    np.save(file, array, allow_pickle=False)


def _arrays(piece: Piece, keys: Column, rows: NDArray[np.intp]) -> list[NDArray[Any]]:
    taken, nothing = piece.examples.take(rows), np.zeros(0)
    held = nothing if piece.held_out_weight is None else piece.held_out_weight[rows]
    offsets = nothing if taken.offsets is None else taken.offsets
    return [
        keys[rows], np.array(taken.features), taken.indptr, taken.indices, taken.values,
        taken.labels, taken.sample_weight, offsets, held,
    ]  # fmt: skip


def _load(path: Path) -> tuple[list[Piece], Column]:
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
