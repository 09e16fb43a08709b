"""From predictions to classes and probabilities, and the calibration of these on rows held out.

A loss may say what its predictions mean as probabilities. Calibration replaces that by a sigmoid,
p = 1/(1 + exp(u/(1 + bend·|u|))) with u = a·s + b for a prediction s. On rows held out it is Platt's: the
bend is 0, a and b have maximal likelihood, and each of several classes has its own. `progressive_calibration`
fits another. The probabilities of several classes are then divided by their sum.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.learn import rows
from steelyard.losses import Loss, class_labels, decision_point
from steelyard.native import methods

Calibration = list[list[float]]  # of each model a, b and the bend
Matrix = NDArray[np.float64]

_PRECISE = 1e-10
_LARGEST = 1e100  # of log odds before they are bent: infinity by infinity is not a number


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


def _positive(loss: Loss, predictions: NDArray[np.float64], sigmoid: list[float] | None) -> Matrix:
    if sigmoid is None:
        return _of_label(loss, predictions, class_labels(loss)[1])
    slope, shift, bend = sigmoid
    return _sigmoid(bent(slope * predictions + shift, bend))


def bent(margins: NDArray[np.float64], bend: float) -> NDArray[np.float64]:
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


def calibrate(predictions: Matrix, codes: NDArray[np.intp], weights: NDArray[np.float64]) -> Calibration:
    """The sigmoid of each model; `predictions` has a column for each, one in all for two classes."""
    if predictions.ndim == 1:
        return [_fit_sigmoid(predictions, codes == 1, weights)]
    return [_fit_sigmoid(column, codes == k, weights) for k, column in enumerate(predictions.T)]


def _fit_sigmoid(
    scores: NDArray[np.float64], positive: NDArray[np.bool_], weights: NDArray[np.float64]
) -> list[float]:
    """Newton's method on the two parameters, with Platt's targets, which keep them finite."""
    for_positive, for_negative = float(weights[positive].sum()), float(weights[~positive].sum())
    targets = np.where(positive, (for_positive + 1.0) / (for_positive + 2.0), 1.0 / (for_negative + 2.0))
    parameters = np.array([0.0, np.log((for_negative + 1.0) / (for_positive + 1.0))])
    design = np.column_stack((scores, np.ones(len(scores))))

    def cost(point: NDArray[np.float64]) -> float:
        margins = design @ point  # −log p = log(1 + e^margin), −log(1 − p) = log(1 + e^margin) − margin
        return float(weights @ (np.logaddexp(0.0, margins) - (1.0 - targets) * margins))

    now = cost(parameters)
    while True:
        chances = _sigmoid(design @ parameters)
        slope = design.T @ (weights * (targets - chances))
        curvature = (design * (weights * chances * (1.0 - chances))[:, np.newaxis]).T @ design
        step: Any = np.linalg.solve(curvature + 1e-12 * np.eye(2), slope)
        length = 1.0
        while (after := cost(parameters - length * step)) > now and length > _PRECISE:
            length *= 0.5
        parameters = parameters - length * step
        if not now - after > _PRECISE * abs(now):  # also where nothing is a number
            return [*map(float, parameters), 0.0]
        now = after


def _sigmoid(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """1/(1 + e^margin), which cannot overflow."""
    small = np.exp(-np.abs(margins))
    return np.where(margins > 0.0, small, 1.0) / (1.0 + small)
