"""`PassLoop`: the one loop that goes through rows. `fit`, `partial_fit`, files, sweeps and commands run it.

The progressive figures are those of the first pass: in later ones the models have seen the labels.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steelyard._array_types import Floats, Matrix
from steelyard.engine.ordered_sums import add_in_order
from steelyard.engine.progressive_calibration import ProgressiveCalibration
from steelyard.engine.protocol import Engine
from steelyard.engine.row_sources import Piece, Rows
from steelyard.examples import Examples

_MANY_ROWS = 3000.0
_PATIENCE = 3  # passes in a row that may be no better than the best before training stops


@dataclass(frozen=True)
class LearnedPiece:
    """A piece that was just learned, for code that shows progress or saves the models."""

    examples: Examples
    predictions: Matrix | None
    """The predictions of each model from just before each row was learned, if they were asked for."""
    loss_before: Floats
    """The sum of progressive losses before the piece, for each setting."""
    weight_before: Floats
    """The sum of weights before the piece, for each setting."""
    error_before: Floats
    """The weight of wrong predictions before the piece, for each setting, for classes."""
    rows: int
    first: int
    """The number of its first row in the pass, from 0."""
    pass_number: int


@dataclass
class HeldOutScores:
    """Sums of losses and errors of each setting on rows held out in passing, over the latest pass."""

    loss: Floats
    error: Floats
    weight: float = 0.0

    def add(self, engine: Engine, predictions: Matrix, labels: Floats, weights: Floats) -> None:
        counted = weights > 0.0
        predictions, labels, weights = predictions[counted], labels[counted], weights[counted]
        column = weights[:, np.newaxis]
        self.loss = add_in_order(self.loss, column * engine.row_losses(predictions, labels))
        self.error = add_in_order(self.error, column * engine.row_errors(predictions, labels))
        self.weight = float(add_in_order(np.array(self.weight), weights))


class PassLoop:
    """An engine that learns rows. `position` is (passes done, rows of the next one that are done).

    `calibration` gets the predictions of the first pass.
    """

    def __init__(
        self,
        engine: Engine,
        rows: Rows,
        passes: int = 1,
        *,
        predictions: bool = False,
        position: tuple[int, int] = (0, 0),
        calibration: ProgressiveCalibration | None = None,
    ) -> None:
        self.engine = engine
        self.rows = rows
        self.passes = passes
        self.position = position
        self.calibration = calibration
        self.held_out = self._new_scores()
        self._predictions = predictions

    def run(self, after_piece: Callable[[LearnedPiece], None] | None = None) -> None:
        """Learn all passes that are left."""
        while self.position[0] < self.passes:
            self.run_pass(after_piece)

    def run_until_best(
        self,
        measure: Callable[[], float] | None,
        after_piece: Callable[[LearnedPiece], None] | None = None,
        after_pass: Callable[[list[float]], None] | None = None,
    ) -> list[float]:
        """Learn all passes; with a measure, stop after the best and keep its engine and its held-out scores.

        Returns the measure of each pass.
        """
        measured: list[float] = []
        best, held_out, best_pass = self.engine, self.held_out, 0
        while self.position[0] < self.passes:
            self.run_pass(after_piece)
            if measure is not None:
                measured.append(measure())
            if after_pass is not None:
                after_pass(measured)
            if measured and measured.index(min(measured)) == len(measured) - 1:
                best, held_out, best_pass = copy.deepcopy(self.engine), self.held_out, len(measured)
            elif len(measured) - best_pass >= _PATIENCE:
                break
        if measure is not None:
            self.engine, self.held_out = best, held_out
        return measured

    def run_pass(self, after_piece: Callable[[LearnedPiece], None] | None = None) -> None:
        """Learn the rest of the current pass."""
        number, done = self.position
        if done == 0:
            self.held_out = self._new_scores()
        row = 0
        for piece in self.rows.pieces(number):
            skipped = min(max(done - row, 0), len(piece))
            row += len(piece)
            if skipped < len(piece):
                learned = self._learn(piece.skip(skipped), row - len(piece) + skipped)
                self.position = number, row
                if after_piece is not None:
                    after_piece(learned)
        self.position = number + 1, 0

    def _learn(self, piece: Piece, first: int) -> LearnedPiece:
        engine, number = self.engine, self.position[0]
        progress = engine.progress
        loss, weight = engine.progress_sums()
        error = np.nan_to_num(np.atleast_1d(engine.error))
        engine.rate_factor = _rate_factor(number, float(weight.max()))
        calibration = self.calibration if number == 0 else None
        wanted = self._predictions or piece.held_out_weight is not None or calibration is not None
        examples, order = piece.examples, piece.order
        predictions = engine.learn(examples, order, predictions=wanted)
        if calibration is not None:
            assert predictions is not None
            labels, weights = examples.labels, examples.sample_weight
            in_order = (labels, weights) if order is None else (labels[order], weights[order])
            calibration.add(predictions, *in_order)
        if piece.held_out_weight is not None:
            assert predictions is not None
            self.held_out.add(engine, predictions, examples.labels, piece.held_out_weight)
        if number > 0:
            engine.progress = progress
        return LearnedPiece(examples, predictions, loss, weight, error, len(piece), first, number)

    def _new_scores(self) -> HeldOutScores:
        none = np.zeros(len(self.engine.settings))
        return HeldOutScores(none, none.copy())


def _rate_factor(number: int, weight: float) -> float:
    """Return the factor of rates in a pass: rows that were seen before teach less, so steps shrink as 1/k² in pass k.

    All further passes together then move the model less than the first one did, so that they hardly overfit and
    the probabilities of the first pass still hold. If the first pass had few rows, by weight, steps shrink more
    slowly: there is more left to learn.
    """
    return 1.0 / (1.0 + number * min(weight / _MANY_ROWS, 1.0)) ** 2
