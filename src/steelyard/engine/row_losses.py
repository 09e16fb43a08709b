"""Losses and errors of predictions, row by row."""

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Matrix
from steelyard.engine.lane_answers import sides
from steelyard.learn import rows
from steelyard.losses import Loss
from steelyard.native import methods


def row_losses(loss: Loss, predictions: Matrix, labels: Matrix) -> Matrix:
    """Return ℓ(p, y) of each prediction; labels have as many columns, or one for all."""
    values = np.empty(predictions.shape[::-1])
    columns = np.broadcast_to(labels, predictions.shape)
    with np.errstate(all="ignore"):
        for k, out in enumerate(values):
            own = np.ascontiguousarray(predictions[:, k]), np.ascontiguousarray(columns[:, k])
            rows.fill_pairs(methods.pointer(loss, "value"), *own, out)
    return values.T


def row_errors(loss: Loss, predictions: Matrix, labels: Matrix) -> NDArray[np.bool_]:
    """Return which predictions are for the wrong one of two classes; labels as for `row_losses`."""
    middle, boundary = sides(loss)
    wrong: NDArray[np.bool_] = (predictions > boundary) != (labels > middle)
    return wrong
