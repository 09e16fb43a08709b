"""L2 in lanes with one rate for all features: paid at each whole number that a lane's clock passes.

As in `linear.learn_regularised`, a row of a lane whose update can be split is cut where the clock reaches a
whole number. Rows of weight 1 that begin there need no cut; all others are learned lane by lane.
"""

import numpy as np

from steelyard import schedules
from steelyard.learn.batched_loss import PUSH, H, P, U, Y
from steelyard.learn.linear import BIAS, CLOCK, FRACTION, SCALE, SLIVER, SMALLEST_SCALE, tick
from steelyard.native.declare import apart, helper, outside, part

_integral = outside(schedules.integral)


@part
def set_apart(lanes, board, l2, cut, state, alone):
    """Mark the lanes that learn the row part by part, and give them no push for now; returns whether any does."""
    some = np.uint64(0)
    for k in range(lanes):
        h, u, pushed = board[H, k], board[U, k], board[PUSH, k]
        shrinks = (l2[k] > 0.0) & (h > 0.0)
        parts = shrinks & (cut[k] > 0) & ((h != 1.0) | (state[FRACTION, k] != 0.0))
        alone[k] = parts
        board[U, k] = 0.0 if parts else u
        board[PUSH, k] = 0.0 if parts else pushed
        some |= np.uint64(parts)
    return some > 0


@part
def decay(lanes, stride, board, l2, alone, state, flat):
    """Pay L2 by splitting, lazily: the weights of a lane are its SCALE times what is stored. Move the clocks."""
    for k in range(lanes):
        h = board[H, k] if l2[k] > 0.0 else 0.0
        total = state[FRACTION, k] + (0.0 if alone[k] else h)
        whole = np.floor(total + SLIVER)
        rest = total - whole
        state[FRACTION, k] = rest if (whole == 0.0) | (rest > SLIVER) else 0.0
        state[CLOCK, k] += whole
        state[SCALE, k] /= 1.0 + board[PUSH, k] * l2[k]
    for k in range(lanes):
        if state[SCALE, k] < SMALLEST_SCALE:
            fold(k, stride, state, flat)


@part
def fold(k, stride, state, flat):
    """Multiply the weights of a lane by its scale, which becomes 1."""
    for i in range(k, np.uint64(len(flat)), stride):
        flat[i] *= state[SCALE, k]
    state[SCALE, k] = 1.0


@helper
def learn_alone(
    k, start, end, base, indices, values, flat, stride, state, board, n, row_norm, bias_value, offset,
    schedule, l2, step,
):  # fmt: skip
    """Learn the row in one lane; `schedule` has the learning rate, initial_t and power_t of each."""
    apart()
    rate, initial_t, power_t = schedule[0, k], schedule[1, k], schedule[2, k]
    p, y, left = board[P, k], board[Y, k], board[H, k]
    total, moved, squares = 0.0, 0.0, n - bias_value
    for j in range(start, end):
        total += flat[np.uint64(indices[j - base]) * stride + k] * values[j]
    while left > 0.0:
        weight = min(left, 1.0 - state[FRACTION, k])
        pushed = _integral(rate, initial_t, power_t, state[CLOCK, k] + state[FRACTION, k], weight)
        if n > 0.0:  # pragma: no branch  (a row of zeros)
            s = step(p, y, pushed if row_norm else pushed * n) / n
            state[BIAS, k] += s * bias_value
            moved += s / state[SCALE, k]
            total += s / state[SCALE, k] * squares
            p += s * n
        epoch = state[CLOCK, k]
        left = left - weight if left - weight > SLIVER else 0.0
        if tick(state[:, k], weight) > 0.0:
            state[SCALE, k] /= 1.0 + _integral(rate, initial_t, power_t, epoch, 1.0) * l2
            if state[SCALE, k] < SMALLEST_SCALE:
                _move(start, end, base, indices, values, flat, stride, k, moved)
                moved, total = 0.0, state[SCALE, k] * total
                fold(k, stride, state, flat)
            p = state[SCALE, k] * total + (state[BIAS, k] * bias_value + offset)
    _move(start, end, base, indices, values, flat, stride, k, moved)


@part
def _move(start, end, base, indices, values, flat, stride, k, s):
    for j in range(start, end):
        flat[np.uint64(indices[j - base]) * stride + k] += s * flat.dtype.type(values[j])
