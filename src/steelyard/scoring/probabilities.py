"""Predictions become classes and probabilities.

A loss may say what its predictions mean as probabilities. A calibration replaces that by sigmoids (see
`engine/calibration.py`). The probabilities of several classes are then divided by their sum.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Matrix
from steelyard.engine.calibration import Calibration, sigmoid
from steelyard.learn import rows
from steelyard.losses import Loss, class_labels, decision_point
from steelyard.native import methods

_LARGEST = 1e100  # log odds that are bent: infinity divided by infinity would be no number


def has_probabilities(loss: Loss) -> bool:
    return type(loss).probability is not Loss.probability


def decide(loss: Loss, predictions: NDArray[np.float64]) -> NDArray[np.intp]:
    """The number of the predicted class. Predictions are a column for two classes, else a matrix."""
    if predictions.ndim == 2:
        return np.asarray(predictions.argmax(axis=1))
    return (predictions > decision_point(loss)).astype(np.intp)


def class_probabilities(
    loss: Loss, predictions: NDArray[np.float64], calibration: Calibration | None = None
) -> Matrix:
    """The probability of each class, a column for each; rows sum to 1."""
    if predictions.ndim == 1:
        positive = _positive(loss, predictions, None if calibration is None else calibration[0])
        if calibration is None:
            negative = _of_label(loss, predictions, class_labels(loss)[0])
            return np.column_stack((negative, positive))
        return np.column_stack((1.0 - positive, positive))
    columns = [
        _positive(loss, column, None if calibration is None else calibration[k])
        for k, column in enumerate(predictions.T)
    ]
    return _divide_by_sum(np.column_stack(columns), predictions)


def _positive(loss: Loss, predictions: NDArray[np.float64], fitted: list[float] | None) -> Matrix:
    if fitted is None:
        return _of_label(loss, predictions, class_labels(loss)[1])
    slope, shift, bend = fitted
    return sigmoid(bend_log_odds(slope * predictions + shift, bend))


def bend_log_odds(margins: NDArray[np.float64], bend: float) -> NDArray[np.float64]:
    """Log odds that never exceed 1/bend; 0 leaves them as they are."""
    if bend == 0.0:
        return margins
    margins = np.clip(margins, -_LARGEST, _LARGEST)
    return margins / (1.0 + bend * np.abs(margins))


def _of_label(loss: Loss, predictions: NDArray[np.float64], label: float) -> Matrix:
    out = np.empty(len(predictions))
    rows.fill_scalar(methods.pointer(loss, "probability"), np.ascontiguousarray(predictions), label, out)
    return out


def _divide_by_sum(probabilities: Matrix, predictions: Matrix) -> Matrix:
    """Where all are 0 the class of the largest prediction has it all."""
    none = ~probabilities.any(axis=1)
    probabilities[none, predictions[none].argmax(axis=1)] = 1.0
    shares: Matrix = probabilities / probabilities.sum(axis=1, keepdims=True)
    return shares
