"""`PassLoop`: the one loop that goes through rows. `fit`, `partial_fit`, files, sweeps and commands run it.

The progressive figures are those of the first pass: in later ones the models have seen the labels.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steelyard.engine.ordered_sums import add_in_order
from steelyard.engine.progressive_calibration import ProgressiveCalibration
from steelyard.engine.protocol import Column, Engine, Matrix
from steelyard.engine.row_sources import Piece, Rows
from steelyard.examples import Examples

_MANY_ROWS = 3000.0
_PATIENCE = 3  # passes in a row that may be no better than the best one


@dataclass(frozen=True)
class Learned:
    """A piece that has just been learned, for whoever shows it or saves the models."""

    examples: Examples
    predictions: Matrix | None
    """What each model predicted before it learned the row, if that was asked for."""
    loss_before: Column
    """Of each setting: the sum of progressive losses before the piece,"""
    weight_before: Column
    """of weights,"""
    error_before: Column
    """and of the weights of wrong predictions, for classes."""
    rows: int
    first: int
    """The number of its first row in the pass, from 0."""
    pass_number: int


@dataclass
class HeldOut:
    """The loss and the error of each setting on rows held out in passing, over the latest pass."""

    loss: Column
    error: Column
    weight: float = 0.0

    def add(self, engine: Engine, predictions: Matrix, labels: Column, weights: Column) -> None:
        counted = weights > 0.0
        predictions, labels, weights = predictions[counted], labels[counted], weights[counted]
        column = weights[:, np.newaxis]
        self.loss = add_in_order(self.loss, column * engine.row_losses(predictions, labels))
        self.error = add_in_order(self.error, column * engine.row_errors(predictions, labels))
        self.weight = float(add_in_order(np.array(self.weight), weights))


class PassLoop:
    """An engine that learns rows. `position` says how far it is: (passes done, rows of the next one).

    `calibration` is told what was predicted in the first pass.
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
        self.held_out = self._nothing_held_out()
        self._predictions = predictions

    def run(self, after_piece: Callable[[Learned], None] | None = None) -> None:
        """All passes that are left."""
        while self.position[0] < self.passes:
            self.run_pass(after_piece)

    def run_until_best(
        self,
        measure: Callable[[], float] | None,
        after_piece: Callable[[Learned], None] | None = None,
        after_pass: Callable[[list[float]], None] | None = None,
    ) -> list[float]:
        """All passes, or with a measure those up to the best: its engine is kept, and what it knows of rows
        held out.

        Returns what was measured after each pass.
        """
        found: list[float] = []
        best, held_out, best_pass = self.engine, self.held_out, 0
        while self.position[0] < self.passes:
            self.run_pass(after_piece)
            if measure is not None:
                found.append(measure())
            if after_pass is not None:
                after_pass(found)
            if found and found.index(min(found)) == len(found) - 1:
                best, held_out, best_pass = copy.deepcopy(self.engine), self.held_out, len(found)
            elif len(found) - best_pass >= _PATIENCE:
                break
        if measure is not None:
            self.engine, self.held_out = best, held_out
        return found

    def run_pass(self, after_piece: Callable[[Learned], None] | None = None) -> None:
        """The rest of the current pass."""
        number, done = self.position
        if done == 0:
            self.held_out = self._nothing_held_out()
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

    def _learn(self, piece: Piece, first: int) -> Learned:
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
        return Learned(examples, predictions, loss, weight, error, len(piece), first, number)

    def _nothing_held_out(self) -> HeldOut:
        none = np.zeros(len(self.engine.settings))
        return HeldOut(none, none.copy())


def _rate_factor(number: int, weight: float) -> float:
    """Rows that were seen before have less to say: with the default scaling, pass k takes steps 1/k² as long.

    All further passes together then move the model less than the first one did, so that they hardly overfit
    and the probabilities of the first pass still hold. Where the first pass had few rows, by weight, the
    steps shorten more slowly: there is more to learn yet.
    """
    return 1.0 / (1.0 + number * min(weight / _MANY_ROWS, 1.0)) ** 2
