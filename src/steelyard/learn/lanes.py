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
between two numbers comes before the sum it goes into: only then does the compiler fuse products and sums alike
for a lane among others and for a single lane. For the same reason no sum has more than one product.

`batched_loss` explains array forms (`steps`, `value`).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.batched_loss import CHANGE, PUSH, ROWS, VALUE, WIDTH, H, P, T, U, Y, address, fill_board
from steelyard.learn.lane_l2 import decay, learn_alone, set_apart
from steelyard.learn.lane_ops import dots, move, prefetch, squares
from steelyard.learn.linear import BIAS, LOSS, SCALE, SLIVER, STATE_SIZE
from steelyard.native.declare import kernel, part
from steelyard.native.kinds import (
    Counts,
    Function3,
    Ints,
    Number,
    Numbers,
    OnBoard,
    OnMoments,
    Places,
    Switch,
    Switches,
    Table,
    Values,
    WeightCube,
    Weights,
)
from steelyard.native.memory import flat_view

ERROR, ALIVE, LANE_STATE_SIZE = range(STATE_SIZE, STATE_SIZE + 3)
# What a lane does with rows that are not one step: it takes them as one step, or learns them part by part; spare
# lanes skip them.
TAKES_WHOLE, CUTS, SKIPS = range(3)
LIMIT = 1e37  # predictions and steps of a lane that is alive stay below this
_STRETCH = 32 * WIDTH  # turns that are computed at a time: their board fits the L1 cache


class Turns(NamedTuple):
    """Examples, and the numbers of the rows to learn in turn.

    `labels` and `sample_weight` are indexed by turn; they have one column for all lanes, or one for each.
    """

    indptr: Counts
    indices: Ints
    values: Values
    dense: Switch
    rows: Counts
    labels: Table
    sample_weight: Table
    offsets: Numbers


class Model(NamedTuple):
    """The arrays of all lanes: weights[feature, 0, lane], and a column of the state for each lane."""

    weights: WeightCube
    state: Table


class Target(NamedTuple):
    """The value of the bias, and the boundary between two classes: that of labels, and that of predictions."""

    bias_value: Number
    middle: Number
    boundary: Number


class Rule(NamedTuple):
    """How lanes learn: column `schedules[lane]` of `pushes` has the push of each turn, and `rates` multiplies it.

    `bounds[i]` to `bounds[i + 1]` are the lanes of the update with `steps[i]`. `splitting` says what each lane does
    with rows that are not one step; it needs their `schedule`, and the step of one prediction.
    """

    pushes: Table
    schedules: Counts
    rates: Numbers
    l2: Numbers
    row_norm: Switch
    bounds: Counts
    steps: Places
    value: OnBoard
    splitting: Counts
    schedule: Table
    single_step: Function3


class Scratch(NamedTuple):
    """Buffers for each lane: a column of the board, a sum, a move, and whether it learns on its own."""

    board: Table
    sums: Weights
    moves: Weights
    alone: Switches


def scratch_for(weights: NDArray[Any]) -> Scratch:
    lanes = weights.shape[2]
    sums, moves = np.zeros((2, lanes), weights.dtype)
    return Scratch(np.zeros((ROWS, lanes)), sums, moves, np.zeros(lanes, np.bool_))


def pushes_of(clock: tuple[float, float, bool], turns: NDArray[Any], *schedule: Any) -> NDArray[np.float64]:
    """Return what `pushes` writes for these turns."""
    out = np.empty(len(turns))
    board = np.zeros((PUSH + 1, _STRETCH))  # schedules use these rows of it
    pushes(*clock, turns, *schedule, board, out)
    return out


@kernel
def pushes(
    clock: Number, fraction: Number, ticks: Switch, sample_weight: Numbers, initial_t: Number,
    power_t: Number, moments: OnMoments, board: Table, out: Numbers,
):  # fmt: skip
    """Write ∫ η over each turn of the clock, for a rate of 1, into `out`; `moments` is the array form of a schedule.

    The clock moves as that of a lane: with `ticks` from whole number to whole number (see `lane_l2`).
    """
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
            out[start + turn] = board[PUSH, turn]


@kernel
def learn(turns: Turns, model: Model, target: Target, rule: Rule, predictions: Table, scratch: Scratch):
    """Learn these rows in this order.

    A prediction is wrong if it is above `boundary` and its label is not above `middle`, or the reverse. If
    `predictions` has rows, it gets the predictions from just before each row was learned.
    """
    indptr, indices, values, dense, rows, labels, sample_weight, offsets = turns
    weights, state = model
    bias_value, middle, boundary = target
    pushes, schedules, rates, l2, row_norm, bounds, steps, value, splitting, schedule, single_step = rule
    lanes = np.uint64(weights.shape[2])
    flat = flat_view(weights)
    board, totals, moves, alone = scratch
    decays = any_of(l2)
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
        parts = decays and set_apart(lanes, board, l2, splitting, state, alone)
        if n > 0.0:
            fill_board(steps, board, bounds)
            if _decide(lanes, board, n, bias_value, state, moves):
                move(start, end, base, indices, values, flat, lanes, np.uint64(0), lanes, moves)
        if decays:
            decay(lanes, lanes, board, l2, alone, state, flat)
        for k in range(lanes if parts else np.uint64(0)):
            if alone[k] and splitting[k] == CUTS and state[ALIVE, k] > 0.0:
                learn_alone(
                    k, start, end, base, indices, values, flat, lanes, state, board, n, row_norm, bias_value,
                    offset, schedule, l2[k], single_step,
                )  # fmt: skip


@kernel
def measure(
    turns: Turns, model: Model, target: Target, value: OnBoard, totals: Table, predictions: Table,
    scratch: Scratch,
):  # fmt: skip
    """Add the loss and the errors of the current predictions of rows to `totals`, without learning.

    `totals` is laid out like the state; only its rows LOSS and ERROR change.
    """
    indptr, indices, values, dense, rows, labels, sample_weight, offsets = turns
    weights, state = model
    bias_value, middle, boundary = target
    lanes = np.uint64(weights.shape[2])
    flat = flat_view(weights)
    stride = np.uint64(weights.shape[1]) * lanes
    board, sums, _, _ = scratch
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
def any_of(numbers):
    """Return whether any of the numbers is not 0."""
    some = False
    for k in range(len(numbers)):
        some |= numbers[k] != 0.0
    return some


@part
def copy(lanes, turn, board, state, predictions):
    """Copy the predictions; NaN for lanes that have diverged."""
    for k in range(lanes):
        predictions[turn, k] = board[P, k] if state[ALIVE, k] > 0.0 else np.nan


@part
def spread(lanes, turn, given, board, row):
    """Fill in a row of the board with one number for all lanes, or one for each; returns whether any is not 0."""
    one_for_all = given.shape[1] == 1
    some = np.uint64(0)
    for k in range(lanes):
        number = given[turn, np.uint64(0) if one_for_all else k]
        some |= np.uint64(number != 0.0)
        board[row, k] = number
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
    """Fill in the push of the row in each lane."""
    for k in range(lanes):
        push = rates[k] * pushes[turn, np.uint64(schedules[k])]
        board[PUSH, k] = push
        board[U, k] = n * push


@part
def _decide(lanes, board, n, bias_value, state, moves):
    """Set the factor of x by which the weights of each lane move; returns whether any moves."""
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
