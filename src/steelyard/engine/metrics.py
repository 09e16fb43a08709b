"""Weighted figures of merit over a stream of predictions, in constant memory.

The area under the ROC curve counts pairs by the order of predictions. They are put into bins by the
leading bits of float32, 2²¹ of them: predictions that agree to three digits count as ties.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine import probabilities
from steelyard.engine.lane_block import row_losses
from steelyard.engine.probabilities import Calibration
from steelyard.engine.totals import LabelWeights
from steelyard.losses import Loss, class_labels

_BITS = 21
_CALIBRATION_BINS = 10
_MOST_CONFUSED = 10  # pairs of classes that are listed
_RARER = 0.4  # the share of the weight below which a class is the rarer one: not by chance
_LEAST_PROBABILITY = 1e-15  # so that the log loss of a wrong certainty stays finite


def finite(value: float | None) -> float | None:
    """JSON has no NaN."""
    return value if value is not None and math.isfinite(value) else None


class Metrics:
    """Add predictions chunk by chunk, then ask for the result.

    `classes` are the names of the classes, none for numbers. Labels are as the loss takes them; of more than
    two classes, their numbers. Unless two classes are `ordered`, the rarer one is the positive one, whose
    probabilities are compared with its share; otherwise it is the second.
    """

    def __init__(
        self,
        loss: Loss,
        classes: list[str] | None,
        calibration: Calibration | None = None,
        *,
        ordered: bool = True,
    ) -> None:
        self._loss, self._ordered = loss, ordered
        self._names = classes
        self._calibration_of_model = calibration
        self._chances = classes is not None and (
            calibration is not None or probabilities.has_probabilities(loss)
        )
        count = 0 if classes is None else len(classes)
        self._labels = LabelWeights()
        self._rows = 0
        self.weight = self._total = self._square = self._absolute = self._log_loss = 0.0
        self._shift = 0.0  # near the labels, so that their variance keeps its digits
        self._moments = np.zeros(2)
        self._confusion = np.zeros((count, count))  # actual, predicted
        self._ranks = np.zeros((2, 1 << _BITS)) if count == 2 else np.zeros((2, 0))
        self._calibration = np.zeros((3, _CALIBRATION_BINS))  # weight, predicted, observed

    def add(
        self, predictions: NDArray[np.float64], labels: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> None:
        counted = weights > 0.0  # rows without a label weigh nothing
        predictions, labels, weights = predictions[counted], labels[counted], weights[counted]
        self._rows += len(labels)
        self.weight += float(weights.sum())
        self._labels.add(labels, weights)
        codes = self._codes(labels)
        self._total += float(weights @ self._losses(predictions, labels, codes))
        if self._names is None:
            with np.errstate(over="ignore"):
                self._square += float(weights @ np.square(predictions - labels))
                self._absolute += float(weights @ np.abs(predictions - labels))
                self._shift = self._shift if self._moments.any() else float(labels[0]) if len(labels) else 0.0
                shifted = labels - self._shift
                self._moments += weights @ np.column_stack((shifted, np.square(shifted)))
            return
        found = probabilities.decide(self._loss, predictions)
        count = len(self._names)
        self._confusion += np.bincount(codes * count + found, weights, count * count).reshape(count, count)
        if count == 2:
            bins = _order(predictions)
            for side in (0, 1):
                chosen = codes == side
                np.add.at(self._ranks[side], bins[chosen], weights[chosen])
        if self._chances:
            self._add_chances(predictions, codes, found, weights)

    def _codes(self, labels: NDArray[np.float64]) -> NDArray[np.intp]:
        if self._names is None:
            return np.zeros(len(labels), np.intp)
        if len(self._names) > 2:
            return labels.astype(np.intp)
        return (labels > 0.5 * sum(class_labels(self._loss))).astype(np.intp)

    def _losses(
        self, predictions: NDArray[np.float64], labels: NDArray[np.float64], codes: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        if predictions.ndim == 1:
            return row_losses(self._loss, predictions[:, np.newaxis], labels[:, np.newaxis])[:, 0]
        low, high = class_labels(self._loss)
        own = np.where(codes[:, np.newaxis] == np.arange(predictions.shape[1]), high, low)
        return np.asarray(row_losses(self._loss, predictions, own).mean(axis=1))

    def _add_chances(
        self,
        predictions: NDArray[np.float64],
        codes: NDArray[np.intp],
        found: NDArray[np.intp],
        weights: NDArray[np.float64],
    ) -> None:
        chances = probabilities.class_probabilities(self._loss, predictions, self._calibration_of_model)
        rows = np.arange(len(codes))
        actual = np.clip(chances[rows, codes], _LEAST_PROBABILITY, 1.0)
        self._log_loss -= float(weights @ np.log(actual))
        # of two classes the second one's, of more the predicted one's
        looked_at = np.ones_like(found) if chances.shape[1] == 2 else found
        said, right = chances[rows, looked_at], codes == looked_at
        bins = np.minimum((said * _CALIBRATION_BINS).astype(np.int64), _CALIBRATION_BINS - 1)
        for row, amounts in enumerate((weights, weights * said, weights * right)):
            self._calibration[row] += np.bincount(bins, amounts, _CALIBRATION_BINS)

    def result(self) -> dict[str, Any]:
        if self.weight == 0.0:
            raise ValueError("there is nothing to compare with")
        result: dict[str, Any] = {
            "examples": self._rows,
            "weight": self.weight,
            "loss": finite(self._total / self.weight),
        }
        if self._names is None or len(self._names) == 2:
            constant, constant_loss = self._labels.best_constant(self._loss)
            result |= {"best_constant": finite(constant), "best_constant_loss": finite(constant_loss)}
        else:
            place, mean = self._labels.best_class(self._loss, len(self._names))
            result |= {"most_frequent_class": self._names[place], "best_constant_loss": finite(mean)}
        if self._names is None:
            mean, square = self._moments / self.weight
            with np.errstate(over="ignore", invalid="ignore"):
                variance = square - mean**2
            return result | {
                "rmse": finite(float(np.sqrt(self._square / self.weight))),
                "mae": finite(self._absolute / self.weight),
                "r2": finite(1.0 - self._square / self.weight / variance) if variance > 0.0 else None,
            }
        result["accuracy"] = float(np.trace(self._confusion)) / self.weight
        actual = self._confusion.sum(axis=1)
        result["most_frequent_class"] = self._names[int(actual.argmax())]
        result["most_frequent_class_accuracy"] = float(actual.max()) / self.weight
        positive = 1
        if len(self._names) == 2:
            positive = 0 if not self._ordered and actual[0] < _RARER * self.weight else 1
            result |= {"positive_class": self._names[positive], "auc": self._area()}
        result |= self._per_class()
        if self._chances:
            weight, predicted, observed = self._calibration
            if positive == 0:
                weight, predicted, observed = (
                    each[::-1] for each in (weight, weight - predicted, weight - observed)
                )
            result["log_loss"] = self._log_loss / self.weight
            result["calibration_error"] = float(np.abs(predicted - observed).sum() / self.weight)
            result["calibration"] = [
                {"from": k / _CALIBRATION_BINS, "weight": w, "predicted": p / w, "observed": o / w}
                for k, (w, p, o) in enumerate(
                    zip(weight.tolist(), predicted.tolist(), observed.tolist(), strict=True)
                )
                if w > 0.0
            ]
        return result

    def _per_class(self) -> dict[str, Any]:
        assert self._names is not None
        right = np.diag(self._confusion)
        actual, predicted = self._confusion.sum(axis=1), self._confusion.sum(axis=0)
        with np.errstate(invalid="ignore"):
            precision, recall = right / predicted, right / actual
            f1 = 2.0 * right / (actual + predicted)
        figures = [
            {
                "class": name,
                "precision": finite(float(precision[k])),
                "recall": finite(float(recall[k])),
                "f1": finite(float(f1[k])),
                "weight": float(actual[k]),
            }
            for k, name in enumerate(self._names)
        ]
        known = f1[np.isfinite(f1)]
        return {
            "macro_f1": float(known.mean()) if len(known) else None,
            "classes": figures,
            "confusion": self._confusion.tolist(),
            "confusions": self._most_confused(),
        }

    def _most_confused(self) -> list[dict[str, Any]]:
        """The wrong answers of the largest weight, largest first."""
        assert self._names is not None
        wrong = self._confusion * (1.0 - np.eye(len(self._names)))
        order = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_CONFUSED]
        places = np.column_stack(np.unravel_index(order, wrong.shape)).tolist()
        return [
            {"actual": self._names[k], "predicted": self._names[j], "weight": float(wrong[k, j])}
            for k, j in places
            if wrong[k, j] > 0.0
        ]

    def _area(self) -> float | None:
        negative, positive = self._ranks
        pairs = negative.sum() * positive.sum()
        if pairs == 0.0:
            return None
        below = np.cumsum(negative) - 0.5 * negative
        return float(positive @ below / pairs)


def _order(predictions: NDArray[np.float64]) -> NDArray[np.int64]:
    """A number for each prediction that grows with it: the bits of a float, the negative ones reversed."""
    with np.errstate(over="ignore"):
        bits = predictions.astype(np.float32).view(np.int32).astype(np.int64)
    ordered = np.where(bits < 0, -(bits & 0x7FFFFFFF), bits) + (1 << 31)
    return ordered >> (32 - _BITS)
