"""Many linear models side by side, each with a learning rate for each feature: learn a chunk of rows.

Each lane learns as `adaptive` or `standardized` does; arrays are laid out as in `lanes`. Lanes that learn a row
in one step, such as a row of weight 1, do so all at once (see `lane_steps`); a lane that has nothing to learn
from a row changes none of its coefficients. The others learn the row one by one (see `lane_epochs`).

Which features are columns with an origin depends on the rows only, and all lanes share it: a row counts if
any lane learns it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.learn import lane_epochs
from steelyard.learn.batched_loss import H, Y, address, fill_board
from steelyard.learn.lane_clocks import (
    SQUARES,
    WHOLE,
    LaneStates,
    begin_chunk,
    begin_labels,
    begin_levels,
    count_rows,
    decay,
    find_slopes,
    grow_references,
    look_at_labels,
    weigh,
)
from steelyard.learn.lane_epochs import learn_lane
from steelyard.learn.lane_features import (
    BY_LARGEST,
    BY_NOTHING,
    BY_UNITS,
    change_units,
    fill_moves,
    fill_units,
    grow_largest,
    move,
    move_origins,
    standardize,
    sum_squares,
)
from steelyard.learn.lane_parts import GRADIENTS, LAG, UNIT, place_of
from steelyard.learn.lane_steps import ADAPTIVE_ROWS, find_common_rates, find_reach, finish_step
from steelyard.learn.lanes import (
    CUTS,
    Target,
    Turns,
    any_of,
    copy,
    count_loss,
    predict_all,
    spread,
)
from steelyard.learn.origins import MARKS, note_columns
from steelyard.learn.rows import LARGEST
from steelyard.native.declare import kernel, part
from steelyard.native.kinds import (
    Bytes,
    Count,
    Counts,
    Function2,
    Function3,
    IntRows,
    Number,
    Numbers,
    OnBoard,
    Places,
    Switches,
    Table,
    WeightCube,
    WeightRows,
    Weights,
)
from steelyard.native.memory import flat_view


class Model(NamedTuple):
    """The arrays of all lanes: weights[feature, part, lane] (see `lane_parts`), whose memory as float64 is `squares`.

    A unit of exactly 0 stands for `unit_fill`: memory that no row has needed is never touched. `gained` and `touched`
    are those of `epochs`, one list a lane, empty if all weights were whole. `state`, `label_state` and `class_state`
    have a column for each lane. `columns`, `candidates` and `counts` are those of `standardized`.
    """

    weights: WeightCube
    squares: Numbers
    unit_fill: Number
    gained: Numbers
    touched: IntRows
    state: Table
    label_state: Table
    class_state: Table
    origins: Weights
    columns: Counts
    candidates: Table
    counts: Counts


class Rule(NamedTuple):
    """How lanes learn. Forms are for all lanes, `single_…` for one.

    `moments` has a column for each lane (see `clock`), `power` is that of averages. `splitting` says what a lane does
    with rows that are not one step; lanes marked in `multiply` square the gradient times the weight.
    """

    kind: Count
    moments: Table
    splitting: Counts
    multiply: Switches
    l2: Numbers
    low: Number
    high: Number
    power: Count
    bounds: Counts
    steps: Places
    value: OnBoard
    slopes: OnBoard
    values_after: OnBoard
    single_step: Function3
    single_value: Function2
    single_derivative: Function2


class Scratch(NamedTuple):
    """Buffers.

    `lanes` has for each lane: Σ v·z, Σ z², the scale and the height of levels, and the moves of coefficients and lags.
    `features` has for each lane and each feature of the longest row: z, or 1/unit, and its move.
    """

    board: Table
    lanes: WeightRows
    gains: Numbers
    features: WeightRows
    marks: Bytes
    single: lane_epochs.Scratch


def scratch_for(indptr: NDArray[Any], weights: NDArray[Any], single: lane_epochs.Scratch) -> Scratch:
    lanes = weights.shape[2]
    longest = int(np.diff(indptr).max(initial=0))
    return Scratch(
        np.zeros((ADAPTIVE_ROWS, lanes)), np.zeros((6, lanes), weights.dtype), np.zeros(lanes),
        np.zeros((2, longest * lanes), weights.dtype), np.zeros(MARKS, np.uint8), single,
    )  # fmt: skip


@kernel
def learn(turns: Turns, model: Model, target: Target, rule: Rule, predictions: Table, scratch: Scratch):
    """Learn these rows in this order; arguments and `predictions` are those of `lanes.learn`."""
    indptr, indices, values, dense, rows, labels, sample_weight, offsets = turns
    weights, squares, unit_fill, gained, touched, state, label_state, class_state = model[:8]
    origins, columns, candidates, counts = model[8:]
    bias_value, middle, boundary = target
    kind, moments, splitting, multiply, l2, low, high, power = rule[:8]
    bounds, steps, value, slopes, values_after, single_step, single_value, single_derivative = rule[8:]
    lanes, numbers = np.uint64(weights.shape[2]), np.uint64(weights.shape[1])
    flat = flat_view(weights)
    singles = 8 // weights.itemsize  # numbers that make a float64
    stride, g_stride = numbers * lanes, numbers * lanes // np.uint64(singles)
    g_at = np.uint64(place_of(GRADIENTS, singles)) * lanes // np.uint64(singles)
    unit_at = np.uint64(place_of(UNIT, singles)) * lanes
    lag_at = np.uint64(place_of(LAG, singles)) * lanes
    board, by_lane, gains, by_feature, marks, single_scratch = scratch
    every_lane, one_lane = LaneStates(state, moments, label_state, class_state), single_scratch.lane
    totals, norms, levels = by_lane[0], by_lane[1], by_lane[2]
    steepest, factors, lates = by_lane[3], by_lane[4], by_lane[5]
    x, z, moves = single_scratch.numbers[0], by_feature[0], by_feature[1]
    bend = weights.dtype.type(1.0 if kind == BY_UNITS else LARGEST)  # squares grow as |z| beyond 1
    note_columns(columns, counts[0], marks)
    decays = any_of(l2)
    share = 1.0 / (high - low)
    begin_chunk(lanes, splitting, every_lane, one_lane, board, power, single_derivative)
    for turn in range(np.uint64(len(rows))):
        row = np.uint64(rows[turn])
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        offset = offsets[row] if len(offsets) > 0 else 0.0
        learned = spread(lanes, turn, sample_weight, board, H)
        if learned:
            spread(lanes, turn, labels, board, Y)
            begin_labels(lanes, board, state, label_state, bias_value)
        if learned and counts[1] > 0:
            move_origins(
                start, end, base, indices, values, dense, flat, squares, stride, g_stride, g_at, lanes,
                unit_at, lag_at, gained, origins, columns, candidates, counts, state,
            )  # fmt: skip
            note_columns(columns, counts[0], marks)
        if learned and unit_fill != 0.0:
            fill_units(start, end, base, indices, flat, stride, lanes, unit_at, unit_fill)
        for j in range(start, end):
            i = np.uint64(indices[j - base])
            moved = marks[i & np.uint64(MARKS - 1)] > 0 and values[j] != 0.0
            x[j - start] = flat.dtype.type(values[j]) - (origins[i] if moved else flat.dtype.type(0.0))
        standardize(start, end, base, indices, x, flat, stride, lanes, unit_at, kind, z, totals)
        predict_all(lanes, totals, state, bias_value, offset, board)
        if len(predictions) > 0:
            copy(lanes, turn, board, state, predictions)
        if not learned:
            continue
        broken = weigh(lanes, board, state)
        count_loss(lanes, board, state, middle, boundary, value)
        if power > 0:
            grow_references(
                lanes, board, every_lane, one_lane, power, single_derivative, flat, stride, lag_at, factors
            )
        look_at_labels(lanes, board, every_lane, one_lane, power, single_derivative, bias_value)
        learns = find_slopes(lanes, board, state, moments, bias_value, offset, slopes)
        if learns and _fit_units(
            start, end, base, indices, values, x, flat, squares, stride, g_stride, g_at, lanes, unit_at,
            lag_at, kind, board, z,
        ):  # fmt: skip
            standardize(start, end, base, indices, x, flat, stride, lanes, unit_at, kind, z, totals)
            predict_all(lanes, totals, state, bias_value, offset, board)
            value(address(board), np.int64(lanes), np.int64(0), np.int64(lanes))
            learns = find_slopes(lanes, board, state, moments, bias_value, offset, slopes)
        if learns:
            if kind != BY_NOTHING:
                sum_squares(start, end, base, indices, x, flat, stride, lanes, unit_at, kind, z, norms)
                for k in range(lanes):
                    board[SQUARES, k] = bias_value + np.float64(norms[k])
            find_common_rates(lanes, board, multiply, state, kind, levels, steepest)
            fill_moves(
                start, end, base, indices, x, squares, g_stride, g_at, lanes, kind, levels, steepest, bend, z,
                moves, totals,
            )  # fmt: skip
            find_reach(lanes, totals, board, state, bias_value)
            fill_board(steps, board, bounds)
            values_after(address(board), np.int64(lanes), np.int64(0), np.int64(lanes))
            finish_step(lanes, board, multiply, state, moments, bias_value, slopes, factors, gains, lates)
            move(
                start, end, base, indices, x, flat, squares, stride, g_stride, g_at, lanes, lag_at, kind,
                bend, factors, gains, lates, power > 0, z, moves,
            )  # fmt: skip
        begins = count_rows(lanes, board, state, moments, label_state, class_state, low, share)
        if begins:
            begin_levels(lanes, board, every_lane, one_lane, power, single_derivative)
        if decays:
            decay(lanes, board, state, l2, power, kind, flat, stride, lag_at)
        for k in range(lanes if broken else np.uint64(0)):
            if board[WHOLE, k] != board[H, k] and splitting[k] == CUTS:
                learn_lane(
                    k, start, end, base, indices, values, lanes, flat, squares, stride, g_stride, g_at,
                    unit_at, lag_at, kind, gained, touched[k], every_lane, board, power, offset, low, share,
                    bias_value, l2[k], single_scratch, single_step, single_value, single_derivative,
                )  # fmt: skip


@part
def _fit_units(
    start, end, base, indices, values, x, flat, squares, stride, g_stride, g_at, lanes, unit_at, lag_at, kind,
    board, z,
):  # fmt: skip
    """Change the units that do not fit, where there is something to learn; returns whether any has changed."""
    if kind == BY_UNITS:
        return change_units(
            start, end, base, indices, values, x, flat, squares, stride, g_stride, g_at, lanes, unit_at,
            lag_at, board, z,
        )  # fmt: skip
    if kind == BY_LARGEST:
        return grow_largest(
            start, end, base, indices, x, flat, squares, stride, g_stride, g_at, lanes, unit_at, board
        )
    return False
