"""`ProgressiveCalibration`: probabilities fitted to predictions that were made before their label was seen.

Every row of a first pass is predicted just before it is learned. So predictions and labels are a fair sample
of how reliable predictions are, and no row need be held out or read twice. They are kept as a histogram
(`learn/margin_histogram.py`) of the last half to three quarters of the stream.

The probability is a sigmoid of the margin m = s − d, the distance of the prediction s from the decision point d.
Its log odds are a·m/(1 + c·|m|): a line with flattened ends, which never exceeds a/c. Predictions far from the
decision are mostly less certain than a straight line suggests, because they come from documents that repeat
their words or from columns with a few enormous numbers. One slope a and one c serve all classes. They maximise
the likelihood, with a penalty of log(1 + c), so that few rows do not bend the line by chance. The likeliest
class is always the predicted one; with Platt's sigmoid, which can be shifted, it might not be.
"""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.calibration import Calibration
from steelyard.learn import margin_histogram
from steelyard.learn.margin_histogram import BINS, MOMENT, WEIGHT
from steelyard.losses import Loss, class_labels, decision_point
from steelyard.model_file import ModelFile

_HALVINGS = 50  # halvings of the interval of the logarithm of the slope
# For predictions that were worthless so far: nearly equal probabilities, but never against the prediction.
_LEAST_SLOPE = 1e-3
_STEEPEST = 1e12
# The values of c to choose from: neighbours differ by a third, which changes the likelihood little.
_CURVATURES = np.concatenate(([0.0], np.geomspace(0.03, 30.0, 24)))


@dataclass(eq=False)
class ProgressiveCalibration:
    """A histogram of margins for each setting. Two classes are labelled as the loss takes them, more from 0."""

    bins: NDArray[np.float64]
    time: NDArray[np.float64]
    classes: int
    loss: Loss
    _fitted: dict[int, tuple[float, float]] = field(default_factory=dict, repr=False)

    @classmethod
    def begin(cls, loss: Loss, settings: int, classes: int) -> "ProgressiveCalibration":
        """Make the calibration of an engine that has learned nothing yet."""
        return cls(np.zeros((settings, 2, 2, BINS)), np.zeros(2), classes, loss)

    def add(
        self, predictions: NDArray[np.float64], labels: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> None:
        """Count rows, in the order in which an engine has learned them, with the predictions of each model."""
        own_class = np.arange(self.classes, dtype=np.float64)
        if self.classes == 2:
            own_class = np.array([class_labels(self.loss)[1]])
        margin_histogram.add(
            predictions, labels, weights, own_class, decision_point(self.loss), self.bins, self.time
        )
        self._fitted = {}

    def sigmoids(self, shares: NDArray[np.float64]) -> Calibration | None:
        """Return the sigmoid of each model that answers, as `probabilities` takes it; None before the first row.

        `shares` are those of the settings in the answer. Equally reliable predictions have sizes in proportion
        to 1/a, so a mixture of settings has the mixture of their 1/a.
        """
        if self.time[margin_histogram.CLOCK] == 0.0:
            return None
        answering = np.flatnonzero(shares)
        curves = np.array([self._curve(setting) for setting in answering.tolist()])
        size, bend = (shares[answering] @ curves).tolist()
        models = self.classes if self.classes > 2 else 1
        return [[-1.0 / size, decision_point(self.loss) / size, bend] for _ in range(models)]

    def _curve(self, setting: int) -> tuple[float, float]:
        if setting not in self._fitted:
            self._fitted[setting] = self._fit_curve(self.bins[setting].sum(axis=0))
        return self._fitted[setting]

    def _fit_curve(self, bins: NDArray[np.float64]) -> tuple[float, float]:
        """Fit 1/a, and c/a, the bend of the log odds."""
        full = bins[WEIGHT] > 0.0
        # An artificial row that is predicted exactly: it hardly counts among many others, and keeps the slope
        # sensible where there are few.
        low, high = class_labels(self.loss)
        weights = np.append(bins[WEIGHT, full], 1.0)
        margins = np.append(bins[MOMENT, full] / bins[WEIGHT, full], 0.5 * (high - low))[:, np.newaxis]
        bent = margins / (1.0 + _CURVATURES * np.abs(margins))  # a column for each curvature
        doubt = 1.0 / (float(weights.sum()) + 2.0)  # Platt's: nothing is certain after so many rows
        moments = weights[:, np.newaxis] * bent
        least, most = (np.full(len(_CURVATURES), math.log(end)) for end in (_LEAST_SLOPE, _STEEPEST))
        for _ in range(_HALVINGS):
            middle = 0.5 * (least + most)
            with np.errstate(over="ignore"):
                wrong = 1.0 / (1.0 + np.exp(np.exp(middle) * bent))
            # Whether the cost Σ w·(log(1 + e^(−a·m)) + doubt·a·m), which is convex in a, rises from here
            rises = np.sum(moments * (doubt - wrong), axis=0) >= 0.0
            least, most = np.where(rises, least, middle), np.where(rises, middle, most)
        slopes = np.exp(least)
        log_odds = slopes * bent
        costs = weights @ (np.logaddexp(0.0, -log_odds) + doubt * log_odds) + np.log1p(_CURVATURES)
        best = int(costs.argmin())
        return float(1.0 / slopes[best]), float(_CURVATURES[best] / slopes[best])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProgressiveCalibration) and all(
            np.array_equal(array, other.arrays()[name]) for name, array in self.arrays().items()
        )

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> "ProgressiveCalibration":
        return ProgressiveCalibration(self.bins.copy(), self.time.copy(), self.classes, self.loss)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return its arrays, for a model file."""
        return {"bins": self.bins, "time": self.time}


def load(stored: ModelFile, path: str | Path, classes: int) -> ProgressiveCalibration | None:
    """Return the calibration with which a stored model continues; None if it has none, or one of held-out rows."""
    if not stored.progressive_calibration:
        return None
    settings = stored.engine.settings
    calibration = ProgressiveCalibration.begin(settings[0].loss, len(settings), classes)
    for name, empty in calibration.arrays().items():
        array = stored.progressive_calibration.get(name)
        if array is None or array.shape != empty.shape or array.dtype != empty.dtype:
            raise ValueError(f"{path}: a damaged model: its calibration has no {name!r} that fits its models")
        empty[...] = array
    return calibration
