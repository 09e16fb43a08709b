"""One linear model with L2 inside the flow, so that a weight of h is exactly h copies with L2, too.

What an example does to w is a scaling and a multiple of itself; `joint_flow` finds how much of each.
"""

import math

import numpy as np

from steelyard.learn.joint_flow import changes
from steelyard.learn.linear import BIAS, CLOCK, LOSS, SCALE, SMALLEST_SCALE, WEIGHT
from steelyard.learn.splitting import ROWS
from steelyard.numba_tools.jit import kernel


@kernel
def learn(
    indptr, indices, values, dense, labels, sample_weight, offsets, order,
    weights, state, predictions, row_norm, bias_value, push, flow, value,
    derivative, implicit, l2, nodes, lower, upper, probe, at_probe, at_end,
):  # fmt: skip
    """As `linear.learn`, with `nodes` and what follows from `steelyard.learn.radau`."""
    clock, bias, loss, weight, scale = state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT], state[SCALE]
    table = (nodes, lower, upper, probe, at_probe, at_end)
    room = np.empty((4, max(ROWS, len(nodes))))
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
        m = scale * total
        offset = bias * bias_value + (offsets[row] if based else 0.0)
        predictions[row] = m + offset
        h = sample_weight[row]
        if h == 0.0:
            continue
        y = labels[row]
        weight += h
        loss += h * value(predictions[row], y)
        pushed = push(clock, h)
        clock += h
        rate = pushed / (squares + bias_value) if row_norm and squares + bias_value > 0.0 else pushed
        m_change, b_change = changes(
            m, offset, y, rate * squares, rate * bias_value, pushed * l2,
            derivative, flow, implicit, table, room,
        )  # fmt: skip
        bias += b_change
        scale *= math.exp(-pushed * l2)
        if scale < SMALLEST_SCALE:
            for i in range(len(weights)):
                weights[i] *= scale
            scale = 1.0
        if m_change != 0.0:
            factor[0] = m_change / squares / scale
            s_typed = factor[0]
            for j in range(start, end):
                weights[np.uint64(indices[j - base])] += s_typed * values[j]
    state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT], state[SCALE] = clock, bias, loss, weight, scale
