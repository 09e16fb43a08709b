"""Predictions as text: as they are, as probabilities, or as the labels of the file."""

import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard.cli.stored import Stored
from steelyard.io.errors import InputError
from steelyard.learn.rows import fill_scalar
from steelyard.losses import Loss, OneOf
from steelyard.numba_tools import jit


class Converter:
    """Numbers in, lines out."""

    def __init__(self, kept: Stored, kind: str) -> None:
        self._loss = kept.model.settings.loss
        self._kind = kind
        name = losses.name_of(self._loss) or type(self._loss).__name__
        if kind == "probability" and type(self._loss).probability is Loss.probability:
            raise InputError(f"{name} loss has no probabilities; train with --loss logistic for them")
        if kind == "label" and not isinstance(self._loss.labels, OneOf):
            raise InputError(f"{name} loss has no classes to name: its prediction is a number, --as raw")
        original = kept.reading.original  # where names had become numbers when the files were converted
        rule = kept.reading.label_rule or (None if original is None else original.label_rule)
        low, high = (rule.negative, rule.positive) if rule is not None else self._own_labels()
        self._names = (low.encode(), high.encode())

    def _own_labels(self) -> tuple[str, str]:
        if not isinstance(self._loss.labels, OneOf):
            return "", ""
        low, high = sorted(self._loss.labels.values)
        return f"{low:g}", f"{high:g}"

    def __call__(self, predictions: NDArray[np.float64]) -> list[bytes]:
        if self._kind == "label":
            positive = predictions > decision_point(self._loss)
            return [self._names[int(side)] for side in positive.tolist()]
        if self._kind == "probability":
            predictions = probabilities(self._loss, predictions)
        return [b"%.9g" % value for value in predictions.tolist()]


def probabilities(loss: Loss, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the positive class."""
    out = np.empty(len(predictions))
    high = max(loss.labels.values) if isinstance(loss.labels, OneOf) else 1.0
    fill_scalar(jit.pointer(loss, "probability"), predictions, high, out)
    return out


def decision_point(loss: Loss) -> float:
    """Above it the prediction is for the positive class: 0, or the middle of a bounded domain."""
    domain = loss.domain
    bounded = np.isfinite(domain.low) and np.isfinite(domain.high)
    return 0.5 * (domain.low + domain.high) if bounded else 0.0
