"""`ProgressiveCalibration`: probabilities fitted to predictions that were made before their label was seen.

Every row of a first pass is predicted just before it is learned. So predictions and labels are a fair sample
of how much predictions are worth, and no row need be held out or read twice. They are kept as a histogram
(`learn/margin_histogram.py`) of the last half to three quarters of the stream.

The probability is a sigmoid of the prediction s, p = 1/(1 + exp(−a·(s − d))), where d is the decision point
and the slope a, one for all classes, has maximal likelihood. So the likeliest class is the predicted one.
Platt's sigmoid can also move to the side, and then contradicts predictions near the decision. On text that
would gain next to nothing; docs/probabilities.md says where it would.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.probabilities import Calibration
from steelyard.learn import margin_histogram
from steelyard.learn.margin_histogram import BINS, MOMENT, WEIGHT
from steelyard.losses import Loss, class_labels, decision_point
from steelyard.model_file import ModelFile

_HALVINGS = 50  # of the interval in which the slope lies
# Of predictions that were worth nothing so far: nearly the same for all, but never against the prediction.
_LEAST_SLOPE = 1e-3
_STEEPEST = 1e12


@dataclass(eq=False)
class ProgressiveCalibration:
    """Labels of two classes are as the loss takes them; more classes have their numbers, from 0."""

    bins: NDArray[np.float64]
    time: NDArray[np.float64]
    classes: int
    loss: Loss
    _fitted: dict[int, float] = field(default_factory=dict, repr=False)

    @classmethod
    def begin(cls, loss: Loss, settings: int, classes: int) -> "ProgressiveCalibration":
        """For an engine of so many settings that has learned nothing yet."""
        return cls(np.zeros((settings, 2, 2, BINS)), np.zeros(2), classes, loss)

    def add(
        self, predictions: NDArray[np.float64], labels: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> None:
        """Rows in the order in which an engine has learned them, and what each model had predicted."""
        own_class = np.arange(self.classes, dtype=np.float64)
        if self.classes == 2:
            own_class = np.array([class_labels(self.loss)[1]])
        margin_histogram.add(
            predictions, labels, weights, own_class, decision_point(self.loss), self.bins, self.time
        )
        self._fitted = {}

    def sigmoids(self, shares: NDArray[np.float64]) -> Calibration | None:
        """Of each model that answers, as `probabilities` takes them; None before there is any row.

        `shares` are those of the settings in the answer. Predictions that are worth the same have sizes that
        go as 1/a; so those of a mixture go as the mixture of the 1/a.
        """
        if self.time[margin_histogram.CLOCK] == 0.0:
            return None
        answering = np.flatnonzero(shares)
        slope = 1.0 / sum(float(shares[setting]) / self._slope(setting) for setting in answering.tolist())
        models = self.classes if self.classes > 2 else 1
        return [[-slope, slope * decision_point(self.loss)] for _ in range(models)]

    def _slope(self, setting: int) -> float:
        if setting not in self._fitted:
            self._fitted[setting] = self._fit_slope(self.bins[setting].sum(axis=0))
        return self._fitted[setting]

    def _fit_slope(self, bins: NDArray[np.float64]) -> float:
        full = bins[WEIGHT] > 0.0
        # One row that was never seen, predicted as its label. It hardly counts among many others, and keeps
        # the slope sensible where there are few.
        low, high = class_labels(self.loss)
        weights = np.append(bins[WEIGHT, full], 1.0)
        margins = np.append(bins[MOMENT, full] / bins[WEIGHT, full], 0.5 * (high - low))
        doubt = 1.0 / (float(weights.sum()) + 2.0)  # Platt's: nothing is certain after so many rows
        moments = weights * margins

        def rises(slope: float) -> bool:
            """Whether the cost Σ w·(log(1 + e^(−a·m)) + doubt·a·m), which is convex, rises from here."""
            with np.errstate(over="ignore"):
                return float(moments @ (doubt - 1.0 / (1.0 + np.exp(slope * margins)))) >= 0.0

        least, most = 0.0, 1.0
        while not rises(most) and most < _STEEPEST:
            least, most = most, 2.0 * most
        for _ in range(_HALVINGS):
            middle = 0.5 * (least + most)
            least, most = (least, middle) if rises(middle) else (middle, most)
        return max(least, _LEAST_SLOPE)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProgressiveCalibration) and all(
            np.array_equal(array, other.arrays()[name]) for name, array in self.arrays().items()
        )

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> "ProgressiveCalibration":
        return ProgressiveCalibration(self.bins.copy(), self.time.copy(), self.classes, self.loss)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """For a model file."""
        return {"bins": self.bins, "time": self.time}


def load(stored: ModelFile, path: str | Path, classes: int) -> ProgressiveCalibration | None:
    """What a model has to go on with. One without calibration, or with one of rows held out, stays so."""
    if not stored.progressive_calibration:
        return None
    settings = stored.engine.settings
    found = ProgressiveCalibration.begin(settings[0].loss, len(settings), classes)
    for name, empty in found.arrays().items():
        array = stored.progressive_calibration.get(name)
        if array is None or array.shape != empty.shape or array.dtype != empty.dtype:
            raise ValueError(f"{path}: a damaged model: its calibration has no {name!r} that fits its models")
        empty[...] = array
    return found
