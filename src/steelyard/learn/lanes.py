"""Many linear models side by side: learn a chunk of rows, measure the loss of another, predict.

All lanes see the same rows. `weights[feature, 0, lane]` keeps the weights of a feature in all lanes side by
side, so that one access serves them all, many lanes an instruction. Lanes may differ in everything else:
labels and sample_weight (matrices with one column, or one for each lane), learning rates (`pushes[turn,
schedule]` times the lane's own `rates`), L2, and the update. Lanes of one update lie side by side:
`bounds[i]` to `bounds[i + 1]` are those of `steps[i]`.

`state` has one row for each scalar of `linear`, and ERROR and ALIVE. A lane whose prediction overflows, as
may happen with the explicit update, is no longer alive: it keeps its state and does not affect other lanes.
The number of lanes is a multiple of `WIDTH`.

A loop over lanes reads everything before it writes anything, or the compiler could not vectorise it. A choice
between two numbers comes before the sum it goes into: only then does the compiler fuse products and sums in
the same way for a lane among others and for a lane on its own. For the same reason no sum has more than one
product.

`batched_loss` explains array forms (`steps`, `value`).
"""

import numpy as np

from steelyard.learn.batched_loss import CHANGE, PUSH, ROWS, VALUE, WIDTH, H, P, T, U, Y, address, fill_board
from steelyard.learn.lane_l2 import decay, learn_alone, set_apart
from steelyard.learn.lane_ops import dots, move, prefetch, squares
from steelyard.learn.linear import BIAS, LOSS, SCALE, SLIVER, STATE_SIZE
from steelyard.numba_tools.jit import kernel, part

ERROR, ALIVE, LANE_STATE_SIZE = range(STATE_SIZE, STATE_SIZE + 3)
# What a lane does with rows that are not one step: it takes them as one all the same, learns them part by
# part, or, being a spare one, lets them go by.
TAKES_WHOLE, CUTS, SKIPS = range(3)
LIMIT = 1e37  # bound on predictions and steps of a lane that is alive
_STRETCH = 32 * WIDTH  # turns that are computed at once: a board of them fits the L1 cache


@kernel
def pushes(clock, fraction, ticks, sample_weight, initial_t, power_t, moments):
    """∫ η over each turn of the clock for a rate of 1; `moments` is the array form of a schedule.

    The clock moves as that of the lane does: with `ticks` from whole number to whole number (see `lane_l2`).
    """
    found = np.empty(len(sample_weight))
    board = np.zeros((PUSH + 1, _STRETCH))  # the rows that schedules use come first
    for start in range(0, len(sample_weight), _STRETCH):
        turns = min(_STRETCH, len(sample_weight) - start)
        for turn in range(turns):
            h = sample_weight[start + turn]
            board[T, turn] = clock + fraction
            board[H, turn] = h
            whole = np.floor(fraction + h + SLIVER) if ticks else h
            rest = fraction + h - whole if ticks else 0.0
            fraction = rest if whole == 0.0 or rest > SLIVER else 0.0
            clock += whole
        moments(address(board), _STRETCH, initial_t, power_t)
        for turn in range(turns):
            found[start + turn] = board[PUSH, turn]
    return found


@kernel
def learn(
    indptr, indices, values, dense, rows, labels, sample_weight, offsets, pushes, schedules,
    weights, state, rates, l2, row_norm, bias_value, middle, boundary, predictions,
    bounds, steps, value, cut, schedule, single_step,
):  # fmt: skip
    """Learn these rows in this order; labels, sample_weight and pushes are indexed by turn.

    `cut`, `schedule` and `single_step` are for L2 (see `lane_l2`).

    A prediction is wrong if it is above `boundary` and its label is not above `middle`, or the reverse. If
    `predictions` has rows, it gets the predictions made before each row was learned.
    """
    lanes = np.uint64(weights.shape[2])
    flat = weights.reshape(-1)
    board = np.zeros((ROWS, lanes))
    totals, moves = np.zeros(lanes, weights.dtype), np.zeros(lanes, weights.dtype)
    alone, decays = np.zeros(lanes, np.bool_), l2.any()
    for turn in range(np.uint64(len(rows))):
        row = np.uint64(rows[turn])
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        n = bias_value + squares(start, end, values, flat)
        dots(start, end, base, indices, values, flat, lanes, lanes, totals)
        prefetch(turn + np.uint64(1), rows, indptr, dense, indices, flat, lanes, lanes)
        offset = offsets[row] if len(offsets) > 0 else 0.0
        predict_all(lanes, totals, state, bias_value, offset, board)
        if len(predictions) > 0:
            copy(lanes, turn, board, state, predictions)
        if not spread(lanes, turn, sample_weight, board, H):
            continue
        spread(lanes, turn, labels, board, Y)
        count_loss(lanes, board, state, middle, boundary, value)
        push(lanes, turn, pushes, schedules, rates, 1.0 if row_norm else n, board)
        parts = decays and set_apart(lanes, board, l2, cut, state, alone)
        if n > 0.0:
            fill_board(steps, board, bounds)
            if _decide(lanes, board, n, bias_value, state, moves):
                move(start, end, base, indices, values, flat, lanes, np.uint64(0), lanes, moves)
        if decays:
            decay(lanes, lanes, board, l2, alone, state, flat)
        for k in range(lanes if parts else np.uint64(0)):
            if alone[k] and cut[k] == CUTS and state[ALIVE, k] > 0.0:
                learn_alone(
                    k, start, end, base, indices, values, flat, lanes, state, board, n, row_norm, bias_value,
                    offset, schedule, l2[k], single_step,
                )  # fmt: skip


@kernel
def measure(
    indptr, indices, values, dense, rows, labels, sample_weight, offsets,
    weights, state, totals, bias_value, middle, boundary, predictions, value,
):  # fmt: skip
    """Add the loss and the errors of the current predictions of rows to `totals`, without learning.

    `totals` is laid out like `state`; only its rows LOSS and ERROR change.
    """
    lanes = np.uint64(weights.shape[2])
    flat = weights.reshape(-1)
    stride = np.uint64(weights.shape[1]) * lanes
    board = np.zeros((ROWS, lanes))
    sums = np.zeros(lanes, weights.dtype)
    for turn in range(np.uint64(len(rows))):
        row = np.uint64(rows[turn])
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        dots(start, end, base, indices, values, flat, stride, lanes, sums)
        prefetch(turn + np.uint64(1), rows, indptr, dense, indices, flat, stride, lanes)
        predict_all(lanes, sums, state, bias_value, offsets[row] if len(offsets) > 0 else 0.0, board)
        if len(predictions) > 0:
            copy(lanes, turn, board, state, predictions)
        if len(labels) > 0:
            spread(lanes, turn, sample_weight, board, H)
            spread(lanes, turn, labels, board, Y)
            count_loss(lanes, board, totals, middle, boundary, value)


@part
def predict_all(lanes, totals, state, bias_value, base, board):
    for k in range(lanes):
        own = state[BIAS, k] * bias_value + base
        board[P, k] = state[SCALE, k] * totals[k] + own


@part
def copy(lanes, turn, board, state, predictions):
    """Copy the predictions; NaN for lanes that have diverged."""
    for k in range(lanes):
        predictions[turn, k] = board[P, k] if state[ALIVE, k] > 0.0 else np.nan


@part
def spread(lanes, turn, given, board, place):
    """Spread one number over all lanes, or copy one for each; returns whether any is not 0."""
    one_for_all = given.shape[1] == 1
    some = np.uint64(0)
    for k in range(lanes):
        number = given[turn, np.uint64(0) if one_for_all else k]
        some |= np.uint64(number != 0.0)
        board[place, k] = number
    return some > 0


@part
def count_loss(lanes, board, state, middle, boundary, value):
    """Add the loss before learning, and mark the lanes that have diverged."""
    value(address(board), np.int64(lanes), np.int64(0), np.int64(lanes))
    for k in range(lanes):
        h, p, y, lost = board[H, k], board[P, k], board[Y, k], board[VALUE, k]
        alive, loss, error = state[ALIVE, k], state[LOSS, k], state[ERROR, k]
        alive = alive if abs(p) < LIMIT else 0.0
        alive = alive if lost < np.inf else 0.0
        lost = lost if alive > 0.0 else 0.0
        above = 1.0 if p > boundary else 0.0
        wrong = above if y <= middle else 1.0 - above
        wrong = wrong if alive > 0.0 else 1.0
        state[ALIVE, k] = alive
        state[LOSS, k] = loss + h * lost
        state[ERROR, k] = error + h * wrong


@part
def push(lanes, turn, pushes, schedules, rates, n, board):
    """The push of the row in each lane."""
    for k in range(lanes):
        push = rates[k] * pushes[turn, np.uint64(schedules[k])]
        board[PUSH, k] = push
        board[U, k] = n * push


@part
def _decide(lanes, board, n, bias_value, state, moves):
    """The factor of x by which the weights of each lane move; returns whether any moves."""
    some = np.uint64(0)
    for k in range(lanes):
        change, u, alive = board[CHANGE, k], board[U, k], state[ALIVE, k]
        bias, scale = state[BIAS, k], state[SCALE, k]
        s = change / n if u > 0.0 else 0.0
        alive = alive if abs(s) < LIMIT else 0.0
        s = s if alive > 0.0 else 0.0
        some |= np.uint64(s != 0.0)
        state[ALIVE, k] = alive
        state[BIAS, k] = bias + s * bias_value
        moves[k] = s / scale
    return some > 0
