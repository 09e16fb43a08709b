"""One linear model: predict, and learn a chunk of rows in some order.

Rows come as CSR arrays. A dense matrix is the case in which all rows share one list of indices.
Everything about the loss, the update and the schedule comes in as pointers:

    push(t, h)      ∫ η over the stretch of the clock that weight h takes, called H
    step(p, y, u)   the change of the prediction
    value(p, y), derivative(p, y)

`learn` is the plain loop and the fast one. `learn_regularised` has L1 and L2 by splitting: there a
weight is stored as v with the true weight S·soft(v, A − A_then), where A_then is the debt A when the
feature was last settled, so a row costs no more than its nonzeros. Rates of their own for every
feature are in `adaptive`. `order` holds the numbers of the rows as they are to be learned, or nothing: then
they are learned as they come. `state` holds the scalars of the model, in float64.

A loop that sums stores nothing. One that did both would be compiled twice over, in vectors and
singly, and which one runs would depend on where its arrays happen to lie in memory: the order of
the sum, and with it the last bit, would differ from run to run.
"""

import math

import numpy as np

from steelyard.numba_tools.jit import kernel

# The places of the scalars in `state`
CLOCK, BIAS, BIAS_SQUARES, SCALE, DEBT, NORM, SEEN, LOSS, WEIGHT, STATE_SIZE = range(10)

# The global scale S of lazy L2 is folded into the weights before float32 runs out of digits.
SMALLEST_SCALE = 1e-6


@kernel
def predict(indptr, indices, values, dense, offsets, weights, bias, predictions):
    based = len(offsets) > 0
    for row in range(len(predictions)):
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        base = start if dense else np.uint64(0)
        total = 0.0
        for j in range(start, end):
            total += weights[np.uint64(indices[j - base])] * values[j]
        predictions[row] = total + bias + (offsets[row] if based else 0.0)


@kernel
def learn(
    indptr, indices, values, dense, labels, sample_weight, offsets, order,
    weights, state, predictions, row_norm, bias_value, push, step, value,
):  # fmt: skip
    clock, bias, loss, weight = state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT]
    factor = np.empty(1, weights.dtype)
    ordered = len(order) > 0
    based = len(offsets) > 0
    for turn in range(np.uint64(len(order) if ordered else len(labels))):
        row = np.uint64(order[turn]) if ordered else turn
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        total = 0.0
        squares = 0.0
        for j in range(start, end):
            x = values[j]
            total += weights[np.uint64(indices[j - base])] * x
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
        loss += h * value(p, y)  # beside the update, which need not wait for it
        if s != 0.0:
            factor[0] = s
            s_typed = factor[0]
            for j in range(start, end):
                weights[np.uint64(indices[j - base])] += s_typed * values[j]
            bias += s * bias_value
    state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT] = clock, bias, loss, weight


@kernel
def learn_regularised(
    indptr, indices, values, dense, labels, sample_weight, offsets, order,
    weights, state, predictions, row_norm, bias_value, push, step, value, l1, l2, debts,
):  # fmt: skip
    """As `learn`, with lazy L1 and L2."""
    clock, bias, loss, weight = state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT]
    scale, debt = state[SCALE], state[DEBT]
    factor = np.empty(1, weights.dtype)
    ordered = len(order) > 0
    based = len(offsets) > 0
    for turn in range(np.uint64(len(order) if ordered else len(labels))):
        row = np.uint64(order[turn]) if ordered else turn
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        h = sample_weight[row]
        if h == 0.0:  # as if absent, to the last bit: look without touching
            total = 0.0
            for j in range(start, end):
                i = np.uint64(indices[j - base])
                w = soft(weights[i], debt - debts[i]) if l1 > 0.0 else weights[i]
                total += w * values[j]
            predictions[row] = scale * total + bias * bias_value + (offsets[row] if based else 0.0)
            continue
        if l1 > 0.0:
            for j in range(start, end):
                i = np.uint64(indices[j - base])
                weights[i] = soft(weights[i], debt - debts[i])
                debts[i] = debt
        total = 0.0
        squares = 0.0
        for j in range(start, end):
            x = values[j]
            total += weights[np.uint64(indices[j - base])] * x
            squares += x * x
        p = scale * total + bias * bias_value + (offsets[row] if based else 0.0)
        n = squares + bias_value
        predictions[row] = p
        y = labels[row]
        loss += h * value(p, y)
        weight += h
        pushed = push(clock, h)
        clock += h
        if n > 0.0:
            s = step(p, y, pushed if row_norm else pushed * n) / n
            bias += s * bias_value
            factor[0] = s / scale
            s_typed = factor[0]
            for j in range(start, end):
                weights[np.uint64(indices[j - base])] += s_typed * values[j]
        debt += pushed * l1 / scale
        scale /= 1.0 + pushed * l2
        if scale < SMALLEST_SCALE:
            settled(weights, scale, debt, debts, weights)
            debts[:] = 0.0
            debt = 0.0
            scale = 1.0
    state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT] = clock, bias, loss, weight
    state[SCALE], state[DEBT] = scale, debt


@kernel
def settled(weights, scale, debt, debts, out):
    """The true weights behind lazy L1 and L2."""
    for i in range(len(weights)):
        out[i] = scale * soft(weights[i], debt - debts[i] if len(debts) > 0 else 0.0)


@kernel
def soft(v, debt):
    """v moved towards zero by the debt, not past it."""
    return math.copysign(max(abs(v) - debt, 0.0), v)
