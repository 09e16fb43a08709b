"""How much weight the other label would need to carry a prediction to the decision point, row by row.

The loss, its update and the schedule come in as pointers:

    time(p, y, change)   the push that makes this change; infinite where none does
    weight(t, H)         the importance whose stretch of the clock holds the rate integral H
    derivative(p, y)     where features have rates of their own

A row that nothing can move (x·x = 0) is given 0: the model knows nothing of it.
"""

import math

import numpy as np

from steelyard.learn.adaptive import LARGEST, SMALLEST
from steelyard.numba_tools.jit import kernel, part


@kernel
def plain(
    indptr, indices, values, dense, offsets, weights, bias, bias_value, clock, unit,
    low, high, boundary, time, weight, predictions, flips, row_norm,
):  # fmt: skip
    """With one rate for all features, or one divided by x·x."""
    based = len(offsets) > 0
    for row in range(len(flips)):
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        base = start if dense else np.uint64(0)
        total = 0.0
        squares = 0.0
        for j in range(start, end):
            x = values[j]
            total += weights[np.uint64(indices[j - base])] * x
            squares += x * x
        p = total + bias + (offsets[row] if based else 0.0)
        n = squares + bias_value
        predictions[row] = p
        flips[row] = 0.0
        if n > 0.0:
            other = low if p > boundary else high
            pushed = _push(p, other, boundary, time) / unit
            flips[row] = weight(clock, pushed if row_norm else pushed / n)


@kernel
def adaptive(
    indptr, indices, values, dense, offsets, weights, bias, bias_value, clock, unit,
    low, high, boundary, time, weight, predictions, flips,
    derivative, squares, scales, bias_squares, norm, seen,
):  # fmt: skip
    """With rates of their own, as they would be if the row came now with the other label and weight 1.

    If `scales` are there, rates are normalized; a value beyond its scale counts in the units it would make.
    (In learning it would also shrink its weight, and so move the prediction beforehand; that is left out.)
    """
    based = len(offsets) > 0
    normalized = len(scales) > 0
    for row in range(len(flips)):
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        base = start if dense else np.uint64(0)
        total = 0.0
        for j in range(start, end):
            total += weights[np.uint64(indices[j - base])] * values[j]
        p = total + bias + (offsets[row] if based else 0.0)
        predictions[row] = p
        other = low if p > boundary else high
        slope = derivative(p, other)
        slope_squared = min(slope * slope, LARGEST)
        flips[row] = 0.0
        n = 0.0
        norms = 0.0
        for j in range(start, end):
            i = np.uint64(indices[j - base])
            x = values[j]
            square = squares[i]
            if normalized:
                ratio = 1.0 / max(max(abs(x), scales[i]), SMALLEST)
                x *= ratio
                square *= (scales[i] * ratio) * (scales[i] * ratio)
            squared = x * x
            norms += squared
            n += squared / math.sqrt(min(max(square + squared * slope_squared, SMALLEST), LARGEST))
        if bias_value > 0.0:
            n += 1.0 / math.sqrt(min(max(bias_squares + slope_squared, SMALLEST), LARGEST))
        if normalized and norms + bias_value > 0.0:
            n *= math.sqrt((seen + 1.0) / (norm + norms + bias_value))
        if n > 0.0:
            flips[row] = weight(clock, _push(p, other, boundary, time) / (n * unit))


@part
def _push(p, other, boundary, time):
    """From the prediction to the decision point."""
    change = boundary - p
    return time(p, other, change) if change != 0.0 else 0.0
