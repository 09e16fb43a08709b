"""Measures of quality, weighted by row. Predictions are log-odds of the label 1.

Log-odds do not overflow: a probability of 1 − 1e-300 would round to 1.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

CELLS = 15


def log_losses(odds: Floats, labels: Floats) -> Floats:
    """−log of the probability given to the label, row by row."""
    return np.logaddexp(0.0, -labels * odds)


def log_loss(odds: Floats, labels: Floats, weights: Floats | None = None) -> float:
    return float(np.average(log_losses(odds, labels), weights=weights))


def error(odds: Floats, labels: Floats, weights: Floats | None = None) -> float:
    """The share of rows on the wrong side."""
    return float(np.average((odds > 0.0) != (labels > 0.0), weights=weights))


def reliability(odds: Floats, labels: Floats, weights: Floats | None = None) -> Floats:
    """Cells of equal weight, by prediction: share of all rows, mean prediction, share of label 1."""
    weights = np.ones_like(odds) if weights is None else weights
    order = np.argsort(odds, kind="stable")
    passed = np.cumsum(weights[order])
    cell = np.minimum((passed / passed[-1] * CELLS).astype(np.int64), CELLS - 1)
    columns = np.ones_like(odds), expit(odds), labels > 0.0
    sums = np.array([np.bincount(cell, (weights * column)[order], CELLS) for column in columns])
    full = sums[:, sums[0] > 0.0]
    return np.stack([full[0] / full[0].sum(), full[1] / full[0], full[2] / full[0]], axis=1)


def calibration_error(odds: Floats, labels: Floats, weights: Floats | None = None) -> float:
    """The mean gap between predicted and observed shares, over the cells of `reliability`."""
    share, predicted, came = reliability(odds, labels, weights).T
    return float(share @ np.abs(predicted - came))
