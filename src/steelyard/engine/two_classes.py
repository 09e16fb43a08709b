"""Two classes, learned with losses that may call them by different labels: −1 and 1, or 0 and 1.

The labels of the examples are the numbers of the classes, 0 and 1, as for `one_against_rest`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.lane_block import Matrix
from steelyard.engine.model_set import Column, ModelSet, Numbers
from steelyard.examples import Examples
from steelyard.losses import class_labels
from steelyard.model import Model, Settings


class TwoClasses:
    """A fleet for all losses that agree about labels. Models by number, in the order of their settings."""

    def __init__(self, settings: Sequence[Settings], features: int, threads: int | None = None) -> None:
        self.settings = list(settings)
        pairs: dict[tuple[float, float], list[int]] = {}
        for number, each in enumerate(settings):
            pairs.setdefault(class_labels(each.loss), []).append(number)
        self._fleets = [
            (ModelSet([self.settings[i] for i in numbers], features, threads), np.array(numbers), pair)
            for pair, numbers in pairs.items()
        ]

    def learn(self, examples: Examples, order: Numbers) -> None:
        """Learn the rows whose numbers `order` holds, in turn."""
        for fleet, _, pair in self._fleets:
            fleet.learn(examples, order, _labels(examples, order, pair))

    def measure(self, examples: Examples, order: Numbers) -> tuple[Column, Column]:
        """The loss of each model on rows it does not learn, and the importance of its errors: two sums."""
        loss, error = np.zeros(len(self.settings)), np.zeros(len(self.settings))
        for fleet, numbers, pair in self._fleets:
            loss[numbers], error[numbers] = fleet.measure(examples, order, _labels(examples, order, pair))
        return loss, error

    @property
    def progressive_loss(self) -> Column:
        """See `ModelSet`, here and below."""
        return self._gathered([fleet.progressive_loss for fleet, _, _ in self._fleets])

    @property
    def progressive_error(self) -> Column:
        return self._gathered([fleet.progressive_error for fleet, _, _ in self._fleets])

    @property
    def diverged(self) -> NDArray[np.bool_]:
        return self._gathered([fleet.diverged for fleet, _, _ in self._fleets]).astype(bool)

    def model(self, number: int) -> Model:
        """One of the models, as a copy that can go on alone."""
        for fleet, numbers, _ in self._fleets:
            if number in numbers:
                return fleet.model(int(np.flatnonzero(numbers == number)[0]))
        raise IndexError(f"there are {len(self.settings)} models, from 0; got {number}")

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All that changes, by name, as a fleet's."""
        return {
            f"{place}.{name}": array
            for place, (fleet, _, _) in enumerate(self._fleets)
            for name, array in fleet.arrays().items()
        }

    def _gathered(self, columns: list[NDArray[np.generic]]) -> Column:
        gathered = np.empty(len(self.settings))
        for (_, numbers, _), column in zip(self._fleets, columns, strict=True):
            gathered[numbers] = column
        return gathered


def _labels(examples: Examples, order: Numbers, pair: tuple[float, float]) -> Matrix:
    return np.where(examples.labels[order] > 0.5, pair[1], pair[0])[:, np.newaxis]
