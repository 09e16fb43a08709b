"""`OneVsRest`: an engine for more than two classes, with a model for each that tells it from the rest.

All models learn in one pass. A class is a lane. Several settings may compete: then each of them has a lane for
each class.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats, Integers, Matrix
from steelyard.engine.many_models import ManyModels
from steelyard.engine.ordered_sums import add_in_order
from steelyard.engine.row_losses import row_losses
from steelyard.examples import Examples
from steelyard.learn import lanes, linear
from steelyard.losses import class_labels
from steelyard.settings import Settings

_PIECE = 4096  # rows whose predictions are in memory at a time
BYTES_A_LANE = 3 * 8 * _PIECE  # memory of a piece beside the weights: labels, twice, and predictions


class OneVsRest(ManyModels):
    """One model for each class. The labels of examples are the numbers of their classes, from 0."""

    def __init__(
        self,
        settings: Sequence[Settings],
        classes: int,
        features: int,
        *,
        threads: int | None = None,
        must_answer: bool = False,
    ) -> None:
        # each class is rare here: with longer steps for that, the class of the best score is right less often
        settings = [replace(each, follow_classes=False) for each in settings]
        super().__init__(settings, features, classes=classes, threads=threads, must_answer=must_answer)
        self._error = np.zeros(len(self.settings))

    def _learn(self, examples: Examples, order: Integers, predictions: Matrix | None) -> None:
        for start in range(0, max(len(order), 1), _PIECE):  # no rows at all load the kernels
            piece = slice(start, start + _PIECE)
            codes, weights = examples.labels[order[piece]], examples.sample_weight[order[piece]]
            before = (
                np.empty((len(codes), len(self.model_set))) if predictions is None else predictions[piece]
            )
            self.model_set.learn(examples, order[piece], self._labels(codes), predictions=before)
            wrong = self.row_errors(before, codes)
            self._error[:] = add_in_order(self._error, weights[:, np.newaxis] * wrong)

    def measure(self, examples: Examples, order: Integers) -> tuple[Floats, Floats]:
        loss, error = np.zeros(len(self.settings)), np.zeros(len(self.settings))
        for start in range(0, len(order), _PIECE):
            piece = order[start : start + _PIECE]
            codes, weights = examples.labels[piece], examples.sample_weight[piece]
            lost, _ = self.model_set.measure(examples, piece, self._labels(codes))
            loss += self._mean_over_classes(lost[np.newaxis])[0]
            error += weights @ self.row_errors(self.model_set.predict(examples.take(piece)), codes)
        return loss, error

    def row_losses(self, predictions: Matrix, labels: Floats) -> Matrix:
        own, n = self._labels(labels), self.classes
        columns = [
            row_losses(each.loss, predictions[:, k * n : (k + 1) * n], own[:, k * n : (k + 1) * n])
            for k, each in enumerate(self.settings)
        ]
        return self._mean_over_classes(np.hstack(columns))

    def row_errors(self, predictions: Matrix, labels: Floats) -> NDArray[np.bool_]:
        by_class = predictions.reshape(len(labels), len(self.settings), self.classes)
        out_of_range = ~(np.abs(by_class) < lanes.LIMIT).all(axis=2)  # of one class or more: it has diverged
        wrong: NDArray[np.bool_] = (by_class.argmax(axis=2) != labels[:, np.newaxis]) | out_of_range
        return wrong

    @property
    def progressive_loss(self) -> Floats:
        """The mean loss of the models of each setting's classes."""
        (means,) = self._mean_over_classes(self.model_set.progressive_loss[np.newaxis])
        return np.asarray(means)

    @property
    def progressive_error(self) -> Floats:
        weight = float(self.model_set.scalars(linear.WEIGHT).max())  # the same in every lane that is alive
        return self._error / weight if weight > 0.0 else np.full(len(self.settings), np.nan)

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """The settings with a model that left the range of its numbers."""
        return np.asarray(self.model_set.diverged.reshape(-1, self.classes).any(axis=1))

    @property
    def error(self) -> Floats:
        return self._error

    @error.setter
    def error(self, column: Floats) -> None:
        self._error[:] = column

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {**self.model_set.arrays(), "error": self._error}

    def _like(self, settings: Sequence[Settings]) -> "OneVsRest":
        return OneVsRest(settings, self.classes, self.features, threads=1, must_answer=self._must_answer)

    def _labels(self, codes: Floats) -> Matrix:
        """Return the labels that each model learns: its own class, or the rest."""
        own = codes[:, np.newaxis] == np.arange(self.classes)
        pairs = [class_labels(each.loss) for each in self.settings]
        return np.hstack([np.where(own, high, low) for low, high in pairs])

    def _mean_over_classes(self, of_models: Matrix) -> Matrix:
        means: Matrix = of_models.reshape(len(of_models), len(self.settings), self.classes).mean(axis=2)
        return means
