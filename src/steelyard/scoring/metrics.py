"""Weighted figures of merit over a stream of predictions, in bounded memory."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.ordered_sums import add_by_place, add_in_order
from steelyard.engine.row_losses import row_losses
from steelyard.engine.totals import LabelWeights
from steelyard.losses import class_labels
from steelyard.scoring.ranked_scores import RankedScores
from steelyard.scoring.scores import Meaning, Scores

_SUMS = range(7)  # over rows, by weight, of:
_WEIGHT, _LOSS, _SQUARE, _ABSOLUTE, _LABEL, _LABEL_SQUARE, _LOG_LOSS = _SUMS
_BINS = 10
_MOST_CONFUSED = 10  # pairs of classes that are listed
_RARER = 0.4  # the share of the weight below which a class is the rarer one: not by chance
_LEAST_PROBABILITY = 1e-15  # so that the log loss of a wrong certainty stays finite


def finite(value: float | None) -> float | None:
    """JSON has no NaN."""
    return value if value is not None and math.isfinite(value) else None


class Metrics:
    """Add predictions chunk by chunk, then ask for the result.

    Labels are as the loss takes them; of more than two classes, their numbers. Unless two classes are
    `ordered`, the rarer one is the positive one, whose probabilities are compared with its share; otherwise
    it is the second.
    """

    def __init__(self, meaning: Meaning, *, ordered: bool = True) -> None:
        self._meaning, self._ordered = meaning, ordered
        self._loss, self._names = meaning.loss, meaning.classes
        count = len(self._names or ())
        self._labels = LabelWeights()
        self._rows = 0
        self._unit: float | None = None  # of weights: the power of two below the first one
        self._origin = 0.0  # the first label, so that the variance of labels keeps its digits
        self._label_unit = 0.0  # the size of the first that is not 0, so that squares stay in range
        self._sums = np.zeros(len(_SUMS))
        self._confusion = np.zeros(count * count)  # actual, then predicted
        self._ranks = RankedScores()
        self._bins = np.zeros((3, _BINS))  # of probabilities: weight, predicted, observed

    def add(
        self, predictions: NDArray[np.float64], labels: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> None:
        counted = weights > 0.0  # rows without a label weigh nothing
        predictions, labels, weights = predictions[counted], labels[counted], weights[counted]
        if not len(labels):
            return
        if self._unit is None:
            self._unit, self._origin = _power_of_two(float(weights[0])), float(labels[0])
        weights = weights / self._unit
        self._rows += len(labels)
        self._labels.add(labels, weights)
        codes, scores = self._codes(labels), self._meaning.of(predictions)
        columns = np.zeros((len(labels), len(_SUMS)))
        with np.errstate(over="ignore", invalid="ignore"):  # what is beyond all numbers is no figure
            columns[:, _WEIGHT] = 1.0
            columns[:, _LOSS] = self._losses(predictions, labels, codes)
            if self._names is None:
                self._find_label_unit(predictions, labels)
                unit = self._label_unit or 1.0
                apart, shifted = (predictions - labels) / unit, (labels - self._origin) / unit
                columns[:, _SQUARE], columns[:, _ABSOLUTE] = np.square(apart), np.abs(apart)
                columns[:, _LABEL], columns[:, _LABEL_SQUARE] = shifted, np.square(shifted)
            elif self._meaning.has_probabilities:
                columns[:, _LOG_LOSS] = self._add_probabilities(scores, codes, weights)
            self._sums = add_in_order(self._sums, weights[:, np.newaxis] * columns)
        if self._names is not None:
            self._confusion = add_by_place(self._confusion, codes * len(self._names) + scores.codes, weights)
            if len(self._names) == 2:
                self._ranks.add(predictions, codes == 1, weights)

    def _find_label_unit(self, predictions: NDArray[np.float64], labels: NDArray[np.float64]) -> None:
        sizes = np.maximum(np.abs(predictions), np.abs(labels))
        if not self._label_unit and sizes.any():
            self._label_unit = _power_of_two(float(sizes[np.argmax(sizes > 0.0)]))

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self._sums[_WEIGHT]) * (self._unit or 1.0)

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

    def _add_probabilities(
        self, scores: Scores, codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Compare probabilities with shares; returns the log loss of each row."""
        predicted = scores.probability  # of the second of two classes, else of the predicted one
        right = codes == (scores.codes if scores.raw.ndim == 2 else 1)
        bins = np.minimum((predicted * _BINS).astype(np.int64), _BINS - 1)
        for row, amounts in enumerate((weights, weights * predicted, weights * right)):
            self._bins[row] = add_by_place(self._bins[row], bins, amounts)
        own = scores.probabilities[np.arange(len(codes)), codes]
        return np.asarray(-np.log(np.clip(own, _LEAST_PROBABILITY, 1.0)))

    def result(self) -> dict[str, Any]:
        if not self._rows:
            raise ValueError("there is nothing to compare with")
        means = self._sums / self._sums[_WEIGHT]
        result: dict[str, Any] = {
            "examples": self._rows,
            "weight": self.weight,
            "loss": finite(float(means[_LOSS])),
        }
        if self._names is None or len(self._names) == 2:
            constant, constant_loss = self._labels.best_constant(self._loss)
            result |= {"best_constant": finite(constant), "best_constant_loss": finite(constant_loss)}
        else:
            place, mean = self._labels.best_class(self._loss, len(self._names))
            result |= {"most_frequent_class": self._names[place], "best_constant_loss": finite(mean)}
        if self._names is None:
            return result | _of_numbers(means, self._label_unit or 1.0)
        return result | self._of_classes(means)

    def _of_classes(self, means: NDArray[np.float64]) -> dict[str, Any]:
        assert self._names is not None
        count = len(self._names)
        shares = self._confusion.reshape(count, count) / self._sums[_WEIGHT]
        actual = shares.sum(axis=1)
        result: dict[str, Any] = {
            "accuracy": float(np.trace(shares)),
            "most_frequent_class": self._names[int(actual.argmax())],
            "most_frequent_class_accuracy": float(actual.max()),
        }
        positive = 1
        if count == 2:
            positive = 0 if not self._ordered and actual[0] < _RARER else 1
            result |= {"positive_class": self._names[positive], "auc": self._ranks.area}
            result["auc_error"] = self._ranks.error
        result |= _per_class(self._names, self._confusion.reshape(count, count) * (self._unit or 1.0))
        if self._meaning.has_probabilities:
            result["log_loss"] = float(means[_LOG_LOSS])
            result |= self._calibration(positive)
        return result

    def _calibration(self, positive: int) -> dict[str, Any]:
        """How far probabilities are from shares, in bins of the probability of the positive class."""
        weight, predicted, observed = self._bins
        if positive == 0:
            weight, predicted, observed = (
                each[::-1] for each in (weight, weight - predicted, weight - observed)
            )
        return {
            "calibration_error": float(np.abs(predicted - observed).sum() / self._sums[_WEIGHT]),
            "calibration": [
                {
                    "from": k / _BINS,
                    "weight": w * (self._unit or 1.0),
                    "predicted": p / w,
                    "observed": o / w,
                }
                for k, (w, p, o) in enumerate(
                    zip(weight.tolist(), predicted.tolist(), observed.tolist(), strict=True)
                )
                if w > 0.0
            ],
        }


def _power_of_two(size: float) -> float:
    """The largest that is not above a positive number."""
    return math.ldexp(1.0, math.frexp(size)[1] - 1)


def _of_numbers(means: NDArray[np.float64], unit: float) -> dict[str, Any]:
    with np.errstate(over="ignore", invalid="ignore"):
        variance = float(means[_LABEL_SQUARE] - means[_LABEL] ** 2)
        known = 0.0 < variance < math.inf
        return {
            "rmse": finite(float(np.sqrt(means[_SQUARE])) * unit),
            "mae": finite(float(means[_ABSOLUTE]) * unit),
            "r2": finite(1.0 - float(means[_SQUARE]) / variance) if known else None,
        }


def _per_class(names: Sequence[str], confusion: NDArray[np.float64]) -> dict[str, Any]:
    right = np.diag(confusion)
    actual, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
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
        for k, name in enumerate(names)
    ]
    known = f1[np.isfinite(f1)]
    return {
        "macro_f1": float(known.mean()) if len(known) else None,
        "classes": figures,
        "confusion": confusion.tolist(),
        "confusions": _most_confused(names, confusion),
    }


def _most_confused(names: Sequence[str], confusion: NDArray[np.float64]) -> list[dict[str, Any]]:
    """The wrong answers of the largest weight, largest first."""
    wrong = confusion * (1.0 - np.eye(len(names)))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_CONFUSED]
    places = np.column_stack(np.unravel_index(order, wrong.shape)).tolist()
    return [
        {"actual": names[k], "predicted": names[j], "weight": float(wrong[k, j])}
        for k, j in places
        if wrong[k, j] > 0.0
    ]
