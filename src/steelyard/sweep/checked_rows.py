"""`CheckedRows`: rows whose labels suit every loss of a sweep."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.row_sources import Piece, Rows
from steelyard.examples import Examples, allowed
from steelyard.losses import Loss


class CheckedRows:
    """Rows whose labels are numbers that every loss takes, or an error."""

    def __init__(self, rows: Rows, losses: Sequence[Loss]) -> None:
        self._rows = rows
        self._losses = losses
        self.holds_out = rows.holds_out
        self.share = 0.0

    def pieces(self, pass_number: int) -> Iterator[Piece]:
        return map(self._check, self._rows.pieces(pass_number))

    def held_out(self) -> Iterator[Piece]:
        return map(self._check, self._rows.held_out())

    def _check(self, piece: Piece) -> Piece:
        self.share = self._rows.share
        order = np.arange(len(piece)) if piece.order is None else piece.order
        check_numbers(piece.examples, order, self._losses)
        return piece


def check_numbers(examples: Examples, order: NDArray[np.int64], losses: Iterable[Loss]) -> None:
    """Numbers must be labels for every loss."""
    rows = order[examples.sample_weight[order] > 0.0]
    for loss in losses:
        bad = np.flatnonzero(~allowed(examples.labels[rows], loss))
        if len(bad):
            label = examples.labels[rows[bad[0]]]
            wanted = f"{type(loss).__name__} loss takes {loss.labels_in_words()}"
            raise ValueError(f"a row has the label {label}: {wanted}")
