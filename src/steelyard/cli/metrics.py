"""Weighted figures of merit over a stream of predictions, in constant memory.

The area under the ROC curve counts pairs by the order of predictions. They are put into bins by the
leading bits of float32, 2²¹ of them: predictions that agree to three digits count as ties.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.cli.baseline import LabelWeights
from steelyard.cli.prediction_format import decision_point, probabilities
from steelyard.cli.summary import finite
from steelyard.cli.training import losses_of
from steelyard.losses import Loss, OneOf
from steelyard.model import Model

_BITS = 21
_CALIBRATION_BINS = 10


class Metrics:
    """Add predictions chunk by chunk, then ask for the result."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._loss = model.settings.loss
        self._classes = isinstance(self._loss.labels, OneOf)
        self._has_probabilities = type(self._loss).probability is not Loss.probability
        self._labels = LabelWeights()
        self._rows = 0
        self.weight = self._total = self._right = self._square = 0.0
        self._ranks = np.zeros((2, 1 << _BITS)) if self._classes else np.zeros((2, 0))
        self._calibration = np.zeros((3, _CALIBRATION_BINS))  # weight, predicted, positive

    def add(
        self, predictions: NDArray[np.float64], labels: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> None:
        counted = weights > 0.0  # rows without a label weigh nothing
        predictions, labels, weights = predictions[counted], labels[counted], weights[counted]
        self._rows += len(labels)
        self.weight += float(weights.sum())
        self._total += float(weights @ losses_of(self._model, predictions, labels))
        self._labels.add(labels, weights)
        if not self._classes:
            with np.errstate(over="ignore"):
                self._square += float(weights @ np.square(predictions - labels))
            return
        positive = labels > np.mean(self._loss.labels.values)  # type: ignore[union-attr]
        self._right += float(weights @ ((predictions > decision_point(self._loss)) == positive))
        bins = _order(predictions)
        for side in (0, 1):
            chosen = positive == side
            np.add.at(self._ranks[side], bins[chosen], weights[chosen])
        if self._has_probabilities:
            self._calibrate(probabilities(self._loss, predictions), positive, weights)

    def _calibrate(
        self, chances: NDArray[np.float64], positive: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> None:
        bins = np.minimum((chances * _CALIBRATION_BINS).astype(np.int64), _CALIBRATION_BINS - 1)
        for row, amounts in enumerate((weights, weights * chances, weights * positive)):
            self._calibration[row] += np.bincount(bins, amounts, _CALIBRATION_BINS)

    def result(self) -> dict[str, Any]:
        if self.weight == 0.0:
            raise ValueError("there is nothing to compare with")
        constant, constant_loss = self._labels.best_constant(self._loss)
        result: dict[str, Any] = {
            "examples": self._rows,
            "weight": self.weight,
            "loss": finite(self._total / self.weight),
            "best_constant": finite(constant),
            "best_constant_loss": finite(constant_loss),
        }
        if not self._classes:
            return result | {"rmse": finite(float(np.sqrt(self._square / self.weight)))}
        result |= {"accuracy": self._right / self.weight, "auc": self._area()}
        if self._has_probabilities:
            weight, predicted, positive = self._calibration
            result["calibration_error"] = float(np.abs(predicted - positive).sum() / self.weight)
            result["calibration"] = [
                {"from": k / _CALIBRATION_BINS, "weight": w, "predicted": p / w, "observed": o / w}
                for k, (w, p, o) in enumerate(
                    zip(weight.tolist(), predicted.tolist(), positive.tolist(), strict=True)
                )
                if w > 0.0
            ]
        return result

    def _area(self) -> float | None:
        negative, positive = self._ranks
        pairs = negative.sum() * positive.sum()
        if pairs == 0.0:
            return None
        below = np.cumsum(negative) - 0.5 * negative
        return float(positive @ below / pairs)

    @staticmethod
    def text(result: dict[str, Any]) -> str:
        names = {
            "examples": "examples", "weight": "weight", "loss": "average loss",
            "rmse": "root mean square error",
            "best_constant": "best constant", "best_constant_loss": "best constant's loss",
            "accuracy": "accuracy", "auc": "area under ROC", "calibration_error": "calibration error",
            "skipped": "skipped lines",
        }  # fmt: skip
        lines = [f"{names[key]:<22} {_shown(value)}" for key, value in result.items() if key in names]
        if "calibration" in result:
            lines += ["", "calibration: where the model says so much, how many are positive"]
            lines.append(f"{'predicted':>10} {'observed':>10} {'weight':>14}")
            lines += [
                f"{row['predicted']:>10.4f} {row['observed']:>10.4f} {row['weight']:>14,.6g}"
                for row in result["calibration"]
            ]
        return "\n".join(lines)


def _order(predictions: NDArray[np.float64]) -> NDArray[np.int64]:
    """A number for each prediction that grows with it: the bits of a float, the negative ones reversed."""
    with np.errstate(over="ignore"):
        bits = predictions.astype(np.float32).view(np.int32).astype(np.int64)
    ordered = np.where(bits < 0, -(bits & 0x7FFFFFFF), bits) + (1 << 31)
    return ordered >> (32 - _BITS)


def _shown(value: Any) -> str:
    if value is None:  # an area between one class and none, or what is beyond all numbers
        return "undefined"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
