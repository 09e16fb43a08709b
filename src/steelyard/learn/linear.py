"""Kernels of one linear model with one learning rate for all features: predict, and learn a chunk of rows.

Rows are CSR arrays; in a dense matrix all rows share one list of indices. The loss, the update and the
schedule are function pointers:

    push(t, h)      ∫ η over the stretch of the clock that weight h takes, called H
    step(p, y, u)   the change of the prediction
    value(p, y), derivative(p, y)

`learn` is the plain, fast loop. `learn_regularised` adds L1 and L2 by splitting, lazily: a weight is stored
as v, and the true weight is S·soft(v, A − A_i). A (`l1_total`) is the L1 so far, and A_i (`l1_applied`) is
its value when feature i was last updated, so a row costs no more than its nonzeros. `state` holds the scalars
of the model, in float64.

A loop that sums does not store. A loop that did both would be compiled twice, with vectors and without, and
where its arrays lie in memory would decide which one runs: the order of the sum, and so its last bit, would
differ from run to run.
"""

import math
from typing import NamedTuple

import numpy as np

from steelyard.learn.rows import Rows
from steelyard.native.declare import helper, kernel, part
from steelyard.native.kinds import (
    Counts,
    Function2,
    Function3,
    Ints,
    Number,
    Numbers,
    StoredWeights,
    Switch,
    Values,
    Weights,
)

# The index of each scalar in `state`. The second line belongs to averages (see `averages` and `shrinkage`), the
# third to what changes at whole numbers of the clock only (see `clock` and `epochs`).
(
    CLOCK, BIAS, BIAS_SQUARES, SCALE, L1_TOTAL, NORM, SEEN, LOSS, WEIGHT,
    BIAS_LAG, REFERENCE, SCALE_LAG, L1_LAG, PAYMENTS,
    FRACTION, STEEPEST, BIAS_GAINED, SEEN_START, NORM_START, TOUCHED, STATE_SIZE,
) = range(21)  # fmt: skip

# A clock this close to a whole number has reached it: weights of 1e6 are not known more precisely.
SLIVER = 1e-9

# The global scale S of lazy L2 is folded into the weights before float32 runs out of digits.
SMALLEST_SCALE = 1e-6


class PlainModel(NamedTuple):
    """The arrays of a model with one rate; `l1_applied` is empty without L1."""

    weights: Weights
    state: Numbers
    l1_applied: Numbers


class Rule(NamedTuple):
    """How a model learns: the push of a schedule, the step of an update, the value of a loss, L1 and L2."""

    row_norm: Switch
    bias_value: Number
    push: Function2
    step: Function3
    value: Function2
    cut: Switch
    l1: Number
    l2: Number


@kernel
def predict(
    indptr: Counts, indices: Ints, values: Values, dense: Switch, offsets: Numbers, weights: Weights,
    bias: Number, predictions: Numbers,
):  # fmt: skip
    based = len(offsets) > 0
    for row in range(len(predictions)):
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        base = start if dense else np.uint64(0)
        total = 0.0
        for j in range(start, end):
            total += weights[np.uint64(indices[j - base])] * values[j]
        predictions[row] = total + bias + (offsets[row] if based else 0.0)


@kernel
def learn(rows: Rows, model: PlainModel, rule: Rule, predictions: Numbers):
    """Learn the rows; `predictions` gets the prediction of each from just before it was learned."""
    indptr, indices, values, dense, labels, sample_weight, offsets, order = rows
    weights, state, _ = model
    row_norm, bias_value, push, step, value, _, _, _ = rule
    clock, bias, loss, weight = state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT]
    ordered = len(order) > 0
    based = len(offsets) > 0
    for turn in range(np.uint64(len(order) if ordered else len(labels))):
        row = np.uint64(order[turn]) if ordered else turn
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        total = 0.0
        squares = 0.0
        for j in range(start, end):
            x = np.float64(values[j])
            total += weights[np.uint64(indices[j - base])] * values[j]
            squares += x * x
        p = total + bias * bias_value + (offsets[row] if based else 0.0)
        n = squares + bias_value
        predictions[row] = p
        h = sample_weight[row]
        if h == 0.0:
            continue
        y = labels[row]
        weight += h
        pushed = push(clock, h)
        clock += h
        s = step(p, y, pushed if row_norm else pushed * n) / n if n > 0.0 else 0.0
        loss += h * value(p, y)  # the update does not wait for it
        if s != 0.0:
            s_typed = weights.dtype.type(s)
            for j in range(start, end):
                weights[np.uint64(indices[j - base])] += s_typed * values[j]
            bias += s * bias_value
    state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT] = clock, bias, loss, weight


@kernel
def learn_regularised(rows: Rows, model: PlainModel, rule: Rule, predictions: Numbers):
    """Learn the rows as `learn` does, with lazy L1 and L2.

    With `cut` they are paid at each whole number that the clock passes, and rows are cut there, so that a
    weight of h is h copies. Without, they are paid once for each row.
    """
    indptr, indices, values, dense, labels, sample_weight, offsets, order = rows
    weights, state, l1_applied = model
    row_norm, bias_value, push, step, value, cut, l1, l2 = rule
    ordered = len(order) > 0
    based = len(offsets) > 0
    for turn in range(np.uint64(len(order) if ordered else len(labels))):
        row = np.uint64(order[turn]) if ordered else turn
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        h = sample_weight[row]
        offset = offsets[row] if based else 0.0
        if h == 0.0:  # the row leaves no trace: predict without writing
            total = 0.0
            for j in range(start, end):
                i = np.uint64(indices[j - base])
                w = soft(weights[i], state[L1_TOTAL] - l1_applied[i]) if l1 > 0.0 else weights[i]
                total += w * values[j]
            predictions[row] = state[SCALE] * total + state[BIAS] * bias_value + offset
            continue
        total = _pay_and_move(start, end, base, indices, values, weights, 0.0, l1, state, l1_applied)
        squares = 0.0
        for j in range(start, end):
            x = np.float64(values[j])
            squares += x * x
        n = squares + bias_value
        p = state[SCALE] * total + state[BIAS] * bias_value + offset
        predictions[row] = p
        y = labels[row]
        state[LOSS] += h * value(p, y)
        state[WEIGHT] += h
        moved, left = 0.0, h
        while left > 0.0:
            weight = min(left, 1.0 - state[FRACTION]) if cut else left
            pushed = push(state[CLOCK] + state[FRACTION], weight)
            if n > 0.0:
                s = step(p, y, pushed if row_norm else pushed * n) / n
                state[BIAS] += s * bias_value
                moved += s / state[SCALE]
                total += s / state[SCALE] * squares
                p += s * n
            epoch = state[CLOCK]
            left = left - weight if left - weight > SLIVER else 0.0
            if tick(state, weight) == 0.0 and cut:
                continue
            due = push(epoch, 1.0) if cut else pushed
            state[L1_TOTAL] += due * l1 / state[SCALE]
            state[SCALE] /= 1.0 + due * l2
            if l1 > 0.0:
                total = _pay_and_move(
                    start, end, base, indices, values, weights, moved, l1, state, l1_applied
                )
                moved = 0.0
            if state[SCALE] < SMALLEST_SCALE:
                _pay_and_move(start, end, base, indices, values, weights, moved, l1, state, l1_applied)
                materialise(weights, state[SCALE], state[L1_TOTAL], l1_applied, weights)
                l1_applied[:] = 0.0
                state[L1_TOTAL], state[SCALE], moved = 0.0, 1.0, 0.0
                total = _pay_and_move(
                    start, end, base, indices, values, weights, moved, l1, state, l1_applied
                )
            p = state[SCALE] * total + state[BIAS] * bias_value + offset
        if moved != 0.0:
            _pay_and_move(start, end, base, indices, values, weights, moved, l1, state, l1_applied)


@part
def _pay_and_move(start, end, base, indices, values, weights, s, l1, state, l1_applied):
    """Move the row's weights, then subtract the L1 that is due; returns Σ v·x."""
    s_typed = weights.dtype.type(s)
    total = 0.0
    for j in range(start, end):
        i = np.uint64(indices[j - base])
        w = weights[i] + s_typed * weights.dtype.type(values[j])
        if l1 > 0.0:
            w = soft(w, state[L1_TOTAL] - l1_applied[i])
            l1_applied[i] = state[L1_TOTAL]
        weights[i] = w
        total += w * values[j]
    return total


@part
def tick(now, weight):
    """Move the clock; returns how many whole numbers it has passed."""
    if weight == 1.0 and now[FRACTION] == 0.0:
        now[CLOCK] += 1.0
        return 1.0
    total = now[FRACTION] + weight
    whole = np.floor(total + SLIVER)
    now[FRACTION] = total - whole if whole == 0.0 or total - whole > SLIVER else 0.0
    now[CLOCK] += whole
    return whole


@kernel
def materialise(weights: StoredWeights, scale: Number, l1_total: Number, l1_applied: Numbers, out: Weights):
    """Write the true weights into `out`: those with lazy L1 and L2 applied."""
    for i in range(len(weights)):
        out[i] = scale * soft(weights[i], l1_total - l1_applied[i] if len(l1_applied) > 0 else 0.0)


@helper
def soft(v, threshold):
    """Move v towards zero by the threshold, and not past it."""
    return math.copysign(max(abs(v) - threshold, 0.0), v)
