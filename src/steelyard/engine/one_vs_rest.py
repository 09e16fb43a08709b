"""More than two classes: for each a model that tells it from the rest, all of them learned in one pass.

A class is a lane. Several settings may compete: then every one of them has a lane for every class.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.model_set import Column, ModelSet, Numbers
from steelyard.examples import Examples
from steelyard.learn import lanes, linear
from steelyard.losses import class_labels
from steelyard.model import Model, Settings

_PIECE = 4096  # rows for which the predictions of all lanes are kept
BYTES_A_LANE = 3 * 8 * _PIECE  # what a piece needs beside the weights: labels, twice, and predictions


class OneVsRest:
    """The labels of its examples are the numbers of their classes, from 0."""

    def __init__(
        self, settings: Sequence[Settings], classes: int, features: int, threads: int | None = None
    ) -> None:
        self.settings = list(settings)
        self.classes = classes
        self.fleet = ModelSet([each for each in settings for _ in range(classes)], features, threads)
        self.error = np.zeros(len(settings))  # the importance of the errors

    def learn(self, examples: Examples, order: Numbers | None = None) -> None:
        """Learn the rows, or those whose numbers `order` holds, in turn."""
        rows = np.arange(len(examples)) if order is None else order
        for start in range(0, len(rows), _PIECE):
            part = rows[start : start + _PIECE]
            codes, weights = examples.labels[part], examples.sample_weight[part]
            before = np.empty((len(part), len(self.fleet)))
            self.fleet.learn(examples, part, self._labels(codes), predictions=before)
            self.error += self._errors(before, codes, weights)

    def measure(self, examples: Examples, order: Numbers | None = None) -> tuple[Column, Column]:
        """The loss of each setting on rows it does not learn, and the importance of its errors: two sums."""
        rows = np.arange(len(examples)) if order is None else order
        loss, error = np.zeros(len(self.settings)), np.zeros(len(self.settings))
        for start in range(0, len(rows), _PIECE):
            part = rows[start : start + _PIECE]
            codes, weights = examples.labels[part], examples.sample_weight[part]
            lost, _ = self.fleet.measure(examples, part, self._labels(codes))
            loss += self._by_setting(lost)
            error += self._errors(self.fleet.predict(examples.take(part)), codes, weights)
        return loss, error

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        """w·x, by row, setting and class."""
        return self.fleet.predict(examples).reshape(len(examples), len(self.settings), self.classes)

    @property
    def weight(self) -> float:
        """The importance of what was learned, which is the same in every lane that is still alive."""
        return float(self.fleet.scalars(linear.WEIGHT).max())

    @property
    def progressive_loss(self) -> Column:
        """Of each setting: the loss of the models of its classes, on average."""
        return self._by_setting(self.fleet.progressive_loss)

    @property
    def progressive_error(self) -> Column:
        """Of each setting: how many rows were taken for another class, by weight."""
        weight = self.weight
        return self.error / weight if weight > 0.0 else np.full(len(self.settings), np.nan)

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """The settings of which one model or more left the range of its numbers."""
        by_class = self.fleet.diverged.reshape(len(self.settings), self.classes)
        return np.array([each.any() for each in by_class])

    def models(self, setting: int) -> list[Model]:
        """The models of all classes of one setting."""
        first = setting * self.classes
        return [self.fleet.model(number) for number in range(first, first + self.classes)]

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All that changes, by name, as a fleet's."""
        return {**self.fleet.arrays(), "error": self.error}

    def _labels(self, codes: Column) -> NDArray[np.float64]:
        own = codes[:, np.newaxis] == np.arange(self.classes)
        pairs = [class_labels(each.loss) for each in self.settings]
        return np.hstack([np.where(own, high, low) for low, high in pairs])

    def _errors(self, predictions: NDArray[np.float64], codes: Column, weights: Column) -> Column:
        by_class = predictions.reshape(len(codes), len(self.settings), self.classes)
        out_of_range = ~(np.abs(by_class) < lanes.LIMIT).all(axis=2)  # of one class or more: it has diverged
        wrong = (by_class.argmax(axis=2) != codes[:, np.newaxis]) | out_of_range
        summed: Column = weights @ wrong
        return summed

    def _by_setting(self, of_lanes: Column) -> Column:
        means: Column = of_lanes.reshape(len(self.settings), self.classes).mean(axis=1)
        return means
