"""`Meaning`: what a model's predictions mean. `Scores`: the predictions of some rows, and what follows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.calibration import Calibration
from steelyard.losses import Loss
from steelyard.scoring import probabilities

Predictions = NDArray[np.float64]


@dataclass(frozen=True)
class Meaning:
    """The loss that predictions minimise, the classes that they tell apart, and their calibration."""

    loss: Loss
    classes: Sequence[str] | None = None
    """Names, as files write them; None where a number is predicted."""
    calibration: Calibration | None = None

    @property
    def has_probabilities(self) -> bool:
        return self.classes is not None and (
            self.calibration is not None or probabilities.has_probabilities(self.loss)
        )

    def of(self, predictions: Predictions) -> "Scores":
        """The scores of rows, from their predictions."""
        return Scores(self, predictions)


class Scores:
    """Each figure is computed once, when it is first asked for.

    `raw` are the predictions: w·x of each row; of more than two classes, a column for each.
    """

    def __init__(self, meaning: Meaning, raw: Predictions) -> None:
        self.meaning, self.raw = meaning, raw

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The number of the predicted class."""
        return probabilities.decide(self.meaning.loss, self.raw)

    @property
    def labels(self) -> NDArray[Any]:
        """The predicted classes by name."""
        return self._named(self.codes)

    @cached_property
    def probabilities(self) -> Predictions:
        """The probability of each class, a column for each."""
        return probabilities.class_probabilities(self.meaning.loss, self.raw, self.meaning.calibration)

    @property
    def _predicted(self) -> Predictions:
        """The probability of the predicted class."""
        return self.probabilities[np.arange(len(self.codes)), self.codes]

    @property
    def probability(self) -> Predictions:
        """The probability of the second of two classes; of several, that of the predicted one."""
        return self.probabilities[:, 1] if self.raw.ndim == 1 else self._predicted

    def probability_of(self, code: int) -> Predictions:
        """The probability of one class."""
        return self.probabilities[:, code]

    def raw_of(self, code: int) -> Predictions:
        """How much speaks for one class, also of two."""
        if self.raw.ndim == 2:
            return self.raw[:, code]
        return self.raw if code == 1 else -self.raw

    def label_at(self, rank: int) -> NDArray[Any]:
        """The class of this rank by name: the predicted one for 0, the next best for 1."""
        return self._named(self._ranked[:, rank])

    def probability_at(self, rank: int) -> Predictions:
        """The probability of the class of this rank."""
        return np.take_along_axis(self.probabilities, self._ranked[:, rank : rank + 1], axis=1)[:, 0]

    @cached_property
    def _ranked(self) -> NDArray[np.intp]:
        """Classes by probability, ties by prediction. The predicted class comes first: sigmoids fitted to
        each class may give another one a higher probability.
        """
        keys = -self.probabilities
        keys[np.arange(len(keys)), self.codes] = -np.inf
        return np.lexsort((-self.raw if self.raw.ndim == 2 else keys, keys), axis=1)

    def _named(self, codes: NDArray[np.intp]) -> NDArray[Any]:
        names = np.empty(len(self.meaning.classes or ()), object)
        names[:] = self.meaning.classes or ()
        return names[codes]
