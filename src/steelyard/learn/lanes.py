"""Many linear models abreast: learn a chunk of rows, measure another, predict.

All lanes see the same rows. `weights[feature, 0, lane]` keeps what a feature weighs in all of them side by
side, so that one visit to the feature serves them all, many lanes an instruction. Lanes may differ in
everything else: their labels and sample_weight (matrices of one column, or one for each lane), their
learning rates (`pushes[turn, schedule]` times the lane's own `rates`), L2, and the update. Lanes of one
update lie side by side: `bounds[i]` to `bounds[i + 1]` are those of `steps[i]`.

`state` has the scalars of `linear`, a row each, and ERROR and ALIVE. A lane whose prediction has left the
range of its numbers, as the explicit update's may, is no longer alive: it stays as it is and disturbs
nobody. The number of lanes is a multiple of `WIDTH`.

In a loop over lanes everything is read before anything is written, or the compiler would have to do one lane
after the other. A choice between two numbers comes before the sum it goes into: the compiler may fuse a
product with a sum into one operation, and does so in the same way for a lane among others and for one on its
own only then. For that reason, too, no sum has more than one product.

Array forms (`steps`, `value`) are explained in `array_form`.
"""

import numpy as np

from steelyard.learn.batched_loss import CHANGE, PUSH, ROWS, VALUE, WIDTH, H, P, T, U, Y, address, fill_board
from steelyard.learn.lane_ops import announce, dots, move, squares
from steelyard.learn.linear import BIAS, LOSS, SCALE, SMALLEST_SCALE, STATE_SIZE
from steelyard.numba_tools.jit import kernel, part

ERROR, ALIVE, LANE_STATE_SIZE = range(STATE_SIZE, STATE_SIZE + 3)
LIMIT = 1e37  # predictions and steps of a lane that is alive
_STRETCH = 32 * WIDTH  # turns of a clock that are reckoned at once: a board of them fits the nearest cache


@kernel
def pushes(clock, sample_weight, initial_t, power_t, moments):
    """∫ η from turn to turn of the clock, by the array form of a schedule, for a rate of 1."""
    found = np.empty(len(sample_weight))
    board = np.zeros((PUSH + 1, _STRETCH))  # the rows that schedules know come first
    for start in range(0, len(sample_weight), _STRETCH):
        turns = min(_STRETCH, len(sample_weight) - start)
        for turn in range(turns):
            board[T, turn] = clock
            board[H, turn] = sample_weight[start + turn]
            clock += sample_weight[start + turn]
        moments(address(board), _STRETCH, initial_t, power_t)
        found[start : start + turns] = board[PUSH, :turns]
    return found


@kernel
def learn(
    indptr, indices, values, dense, rows, labels, sample_weight, offsets, pushes, schedules,
    weights, state, rates, l2, row_norm, bias_value, middle, boundary, predictions,
    bounds, steps, value,
):  # fmt: skip
    """Learn the rows of these numbers, in this order; labels, sample_weight and pushes go by turn.

    An error is a prediction on the other side of `boundary` than its label is of `middle`.
    `predictions` gets those made before each row was learned, if it has any rows.
    """
    lanes = np.uint64(weights.shape[2])
    flat = weights.reshape(-1)
    board = np.zeros((ROWS, lanes))
    totals, moves = np.zeros(lanes, weights.dtype), np.zeros(lanes, weights.dtype)
    decays = l2.any()
    for turn in range(np.uint64(len(rows))):
        row = np.uint64(rows[turn])
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        n = bias_value + squares(start, end, values, flat)
        dots(start, end, base, indices, values, flat, lanes, lanes, totals)
        announce(turn + np.uint64(1), rows, indptr, dense, indices, flat, lanes, lanes)
        predict_all(lanes, totals, state, bias_value, offsets[row] if len(offsets) > 0 else 0.0, board)
        if len(predictions) > 0:
            copy(lanes, turn, board, state, predictions)
        if not spread(lanes, turn, sample_weight, board, H):
            continue
        spread(lanes, turn, labels, board, Y)
        count_loss(lanes, board, state, middle, boundary, value)
        push(lanes, turn, pushes, schedules, rates, 1.0 if row_norm else n, board)
        if n > 0.0:
            fill_board(steps, board, bounds)
            if _decide(lanes, board, n, bias_value, state, moves):
                move(start, end, base, indices, values, flat, lanes, np.uint64(0), lanes, moves)
        if decays:
            decay(lanes, lanes, board, l2, state, flat)


@kernel
def measure(
    indptr, indices, values, dense, rows, labels, sample_weight, offsets,
    weights, state, totals, bias_value, middle, boundary, predictions, value,
):  # fmt: skip
    """The loss and the errors of rows as they are predicted now, added to `totals`.

    Nothing is learned. `totals` is like `state`: its rows LOSS and ERROR count.
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
        announce(turn + np.uint64(1), rows, indptr, dense, indices, flat, stride, lanes)
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
    """What a lane predicts; NaN once it has diverged."""
    for k in range(lanes):
        predictions[turn, k] = board[P, k] if state[ALIVE, k] > 0.0 else np.nan


@part
def spread(lanes, turn, given, board, place):
    """One number for all lanes, or one for each; whether there is any but 0."""
    one_for_all = given.shape[1] == 1
    some = np.uint64(0)
    for k in range(lanes):
        number = given[turn, np.uint64(0) if one_for_all else k]
        some |= np.uint64(number != 0.0)
        board[place, k] = number
    return some > 0


@part
def count_loss(lanes, board, state, middle, boundary, value):
    """Count what is lost before anything is learned, and see which lanes are still alive."""
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
    """How hard the row pushes each lane."""
    for k in range(lanes):
        push = rates[k] * pushes[turn, np.uint64(schedules[k])]
        board[PUSH, k] = push
        board[U, k] = n * push


@part
def _decide(lanes, board, n, bias_value, state, moves):
    """The factor of x by which each lane's weights move; whether any does."""
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


@part
def decay(lanes, stride, board, l2, state, flat):
    """L2 by splitting, lazily: the weights of a lane are its SCALE times what is stored."""
    for k in range(lanes):
        state[SCALE, k] /= 1.0 + board[PUSH, k] * l2[k]
    for k in range(lanes):
        if state[SCALE, k] < SMALLEST_SCALE:
            for i in range(k, np.uint64(len(flat)), stride):
                flat[i] *= state[SCALE, k]
            state[SCALE, k] = 1.0
