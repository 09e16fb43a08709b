"""Flip importances and query probabilities of rows.

The flip importance of a row is the weight that the other label would need to move the prediction to the
decision point. The loss, its update and the schedule are function pointers:

    time(p, y, change)   the push that makes this change; infinite if none does
    weight(t, H)         the importance whose stretch of the clock has the rate integral H
    derivative(p, y)     needed if features have rates of their own

A row that nothing can move (x·x = 0) gets 0: the model knows nothing about it.
"""

import math
from typing import NamedTuple

import numpy as np

from steelyard.learn.rows import LARGEST, SMALLEST
from steelyard.native.declare import kernel, part
from steelyard.native.kinds import (
    Count,
    Counts,
    Function2,
    Function3,
    Ints,
    Number,
    Numbers,
    NumbersInPairs,
    Switch,
    Values,
    Weights,
)


class Question(NamedTuple):
    """Rows, the model that predicts them, and its two labels."""

    indptr: Counts
    indices: Ints
    values: Values
    dense: Switch
    offsets: Numbers
    weights: Weights
    bias: Number
    bias_value: Number
    clock: Number
    unit: Number
    low: Number
    high: Number
    boundary: Number
    time: Function3
    weight: Function2


class Rates(NamedTuple):
    """The numbers from which rates of features follow; `max_abs` is empty unless they are normalized."""

    derivative: Function2
    squares: NumbersInPairs
    max_abs: Weights
    bias_squares: Number
    norm: Number
    seen: Number


@kernel
def flip_plain(question: Question, row_norm: Switch, predictions: Numbers, flips: Numbers):
    """Fill in flip importances under one rate for all features, or, with `row_norm`, that rate divided by x·x."""
    indptr, indices, values, dense, offsets, weights, bias, bias_value = question[:8]
    clock, unit, low, high, boundary, time, weight = question[8:]
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
            pushed = _push_to_boundary(p, other, boundary, time) / unit
            flips[row] = weight(clock, pushed if row_norm else pushed / n)


@kernel
def flip_adaptive(question: Question, rates: Rates, predictions: Numbers, flips: Numbers):
    """Fill in flip importances under a rate for each feature, as if the row came now with the other label.

    With normalized rates a value beyond its max_abs counts in the new unit. (Learning would also shrink its
    weight and so move the prediction beforehand; that is left out.)
    """
    indptr, indices, values, dense, offsets, weights, bias, bias_value = question[:8]
    clock, unit, low, high, boundary, time, weight = question[8:]
    derivative, squares, max_abs, bias_squares, norm, seen = rates
    based = len(offsets) > 0
    normalized = len(max_abs) > 0
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
                ratio = 1.0 / max(max(abs(x), max_abs[i]), SMALLEST)
                x *= ratio
                square *= (max_abs[i] * ratio) * (max_abs[i] * ratio)
            squared = x * x
            norms += squared
            n += squared / math.sqrt(min(max(square + squared * slope_squared, SMALLEST), LARGEST))
        if bias_value > 0.0:
            n += 1.0 / math.sqrt(min(max(bias_squares + slope_squared, SMALLEST), LARGEST))
        if normalized and norms + bias_value > 0.0:
            n *= math.sqrt((seen + 1.0) / (norm + norms + bias_value))
        if n > 0.0:
            flips[row] = weight(clock, _push_to_boundary(p, other, boundary, time) / (n * unit))


@part
def _push_to_boundary(p, other, boundary, time):
    """Return the push that moves the prediction to the decision point."""
    change = boundary - p
    return time(p, other, change) if change != 0.0 else 0.0


_LARGEST_K = 1e300  # beyond this 4·c₂·K would overflow


@part
def probability(g, b, c1, c2):
    """Return P, the root of G = (c₁/√P − c₁ + 1)·√b + (c₂/P − c₂ + 1)·b, or 1 for G up to √b + b."""
    root = math.sqrt(b)
    if g <= root + b:
        return 1.0
    if g == np.inf:
        return 0.0
    k = min(g + (c1 - 1.0) * root + (c2 - 1.0) * b, _LARGEST_K)
    s = (c1 + math.sqrt(c1 * c1 + 4.0 * c2 * k)) / (2.0 * k)
    return min(b * s * s, 1.0)


@kernel
def fill_probabilities(confidences: Numbers, bounds: Numbers, c1: Number, c2: Number, out: Numbers):
    """Fill in P for each row; an infinite bound is never exceeded."""
    for row in range(len(out)):
        out[row] = probability(confidences[row], bounds[row], c1, c2)


@kernel
def bound_for(
    share: Number, confidences: Numbers, least: Number, c1: Number, c2: Number, low: Number, high: Number,
    halvings: Count,
):  # fmt: skip
    """Return the b, between e^low and e^high, with which this share of all rows would be queried.

    A probability below `least` counts as `least`.
    """
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        b = math.exp(middle)
        total = 0.0
        for g in confidences:
            total += max(probability(g, b, c1, c2), least)
        if total < share * len(confidences):
            low = middle
        else:
            high = middle
    return math.exp(high)
