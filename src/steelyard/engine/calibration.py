"""Sigmoids that make probabilities of predictions, fitted to rows held out: Platt's calibration.

p = 1/(1 + exp(u/(1 + bend·|u|))) with u = a·s + b for a prediction s. Here the bend is 0, a and b have maximal
likelihood, and each of several classes has its own. `progressive_calibration` fits others.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Matrix

Calibration = list[list[float]]  # a, b and the bend of each model

_PRECISE = 1e-10


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
        chances = sigmoid(design @ parameters)
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


def sigmoid(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """1/(1 + e^margin), which cannot overflow."""
    small = np.exp(-np.abs(margins))
    return np.where(margins > 0.0, small, 1.0) / (1.0 + small)
