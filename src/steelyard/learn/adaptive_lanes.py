"""Many linear models side by side, each with a learning rate for each feature: learn a chunk of rows.

The same as `adaptive` and `standardized`, lane by lane, laid out as in `lanes`. Rows that a lane learns in
one step, as those of weight 1 are, are learned in all lanes at once; a lane that has nothing to learn from a
row changes none of its coefficients. All others are learned lane by lane (see `lane_epochs`).

Which features are columns with an origin depends on the rows only, and all lanes share it: a row counts if
any lane learns it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.learn import lane_epochs
from steelyard.learn.batched_loss import AFTER, CHANGE, PUSH, SLOPE, VALUE, H, U, Y, address, fill_board
from steelyard.learn.clock import LATE
from steelyard.learn.lane_clocks import (
    BESIDE,
    CLOCK_ROWS,
    LEVELS,
    RATE,
    SHIFT,
    SQUARES,
    TYPICAL,
    WHOLE,
    begin_chunk,
    begin_labels,
    begin_levels,
    count_rows,
    decay,
    find_slopes,
    grow_references,
    look_at_labels,
    slopes_beside,
    weigh,
)
from steelyard.learn.lane_epochs import learn_lane
from steelyard.learn.lane_features import (
    BY_LARGEST,
    BY_NOTHING,
    BY_UNITS,
    change_units,
    fill_units,
    grow_largest,
    move,
    move_origins,
    rates,
    standardize,
    sum_squares,
)
from steelyard.learn.lane_parts import GRADIENTS, LAG, UNIT, place_of
from steelyard.learn.lanes import (
    ALIVE,
    CUTS,
    LIMIT,
    Target,
    Turns,
    any_of,
    copy,
    count_loss,
    predict_all,
    spread,
)
from steelyard.learn.levels import level_of
from steelyard.learn.linear import (
    BIAS,
    BIAS_LAG,
    BIAS_SQUARES,
    NORM,
    NORM_START,
    SCALE,
    SCALE_LAG,
    SEEN,
    SEEN_START,
)
from steelyard.learn.origins import MARKS, note_columns
from steelyard.learn.rows import LARGEST, SMALLEST
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

# Further rows of the board: the common factor of rates; ℓ′²; the rate of the bias, and Σ rate·z²
FACTOR, STEEPEST, BIAS_RATE, REACH, ADAPTIVE_ROWS = range(CLOCK_ROWS, CLOCK_ROWS + 5)

LOST = 1e-5  # of a loss: a drop that is less is lost in rounding


class Model(NamedTuple):
    """weights[feature, part, lane] (see `lane_features`), whose bytes as float64 are `squares`.

    A unit of exactly 0 stands for `unit_fill`: memory that no row has needed is never touched.
    `gained` and `touched` are those of `epochs`, one list a lane, empty if no weight was ever broken. `state`, `known`
    and `seen` have a column for each lane. `columns`, `candidates` and `counts` are those of `standardized`.
    """

    weights: WeightCube
    squares: Numbers
    unit_fill: Number
    gained: Numbers
    touched: IntRows
    state: Table
    known: Table
    seen: Table
    origins: Weights
    columns: Counts
    candidates: Table
    counts: Counts


class Rule(NamedTuple):
    """How lanes learn. Forms are of all lanes, `single_…` of one.

    `moments` has a column for each lane (see `clock`), `power` is that of averages. `does` says what a lane does with
    rows that are not one step; those marked in `multiply` square the gradient times the weight.
    """

    kind: Count
    moments: Table
    does: Counts
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


class Rooms(NamedTuple):
    """A board; of each lane sums, those of squares, scales and heights of levels, moves of coefficients and lags,
    and gains; of each feature of the longest row in each lane z, or 1/unit, and its move; marks of columns."""

    board: Table
    lanes: WeightRows
    gains: Numbers
    features: WeightRows
    marks: Bytes
    single: lane_epochs.Rooms


def rooms_for(indptr: NDArray[Any], weights: NDArray[Any], single: lane_epochs.Rooms) -> Rooms:
    lanes = weights.shape[2]
    longest = int(np.diff(indptr).max(initial=0))
    return Rooms(
        np.zeros((ADAPTIVE_ROWS, lanes)), np.zeros((6, lanes), weights.dtype), np.zeros(lanes),
        np.zeros((2, longest * lanes), weights.dtype), np.zeros(MARKS, np.uint8), single,
    )  # fmt: skip


@kernel
def learn(turns: Turns, model: Model, target: Target, rule: Rule, predictions: Table, rooms: Rooms):
    """As `lanes.learn`."""
    indptr, indices, values, dense, rows, labels, sample_weight, offsets = turns
    weights, squares, unit_fill, gained, touched, state, known, seen, origins, columns, candidates, counts = (
        model
    )
    bias_value, middle, boundary = target
    kind, moments, does, multiply, l2, low, high, power = rule[:8]
    bounds, steps, value, slopes, values_after, single_step, single_value, single_derivative = rule[8:]
    lanes, numbers = np.uint64(weights.shape[2]), np.uint64(weights.shape[1])
    flat = flat_view(weights)
    singles = 8 // weights.itemsize  # numbers in the place of a float64
    stride, g_stride = numbers * lanes, numbers * lanes // np.uint64(singles)
    g_at = np.uint64(place_of(GRADIENTS, singles)) * lanes // np.uint64(singles)
    unit_at = np.uint64(place_of(UNIT, singles)) * lanes
    lag_at = np.uint64(place_of(LAG, singles)) * lanes
    board, own, gains, far, marks, single_rooms = rooms
    now, moment, own_known, own_seen = single_rooms[7:]
    totals, norms, levels, steepest, factors, lates = own[0], own[1], own[2], own[3], own[4], own[5]
    x, z, moves = single_rooms.numbers[0], far[0], far[1]
    bend = weights.dtype.type(1.0 if kind == BY_UNITS else LARGEST)  # of squares that grow as |z| beyond 1
    note_columns(columns, counts[0], marks)
    decays = any_of(l2)
    share = 1.0 / (high - low)
    begin_chunk(
        lanes, does, state, moments, known, seen, now, moment, own_known, own_seen, board, power, single_derivative,
    )  # fmt: skip
    for turn in range(np.uint64(len(rows))):
        row = np.uint64(rows[turn])
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        offset = offsets[row] if len(offsets) > 0 else 0.0
        learned = spread(lanes, turn, sample_weight, board, H)
        if learned:
            spread(lanes, turn, labels, board, Y)
            begin_labels(lanes, board, state, known, bias_value)
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
                lanes, board, state, moments, known, seen, now, moment, own_known, own_seen, power,
                single_derivative, flat, stride, lag_at, factors,
            )  # fmt: skip
        look_at_labels(
            lanes, board, state, moments, known, seen, now, moment, own_known, own_seen, power,
            single_derivative, bias_value,
        )  # fmt: skip
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
            _steepen(lanes, board, multiply, state, kind, levels, steepest)
            rates(
                start, end, base, indices, x, squares, g_stride, g_at, lanes, kind, levels, steepest, bend, z,
                moves, totals,
            )  # fmt: skip
            _reach(lanes, totals, board, state, bias_value)
            fill_board(steps, board, bounds)
            values_after(address(board), np.int64(lanes), np.int64(0), np.int64(lanes))
            _decide(lanes, board, multiply, state, moments, bias_value, slopes, factors, gains, lates)
            move(
                start, end, base, indices, x, flat, squares, stride, g_stride, g_at, lanes, lag_at, kind,
                bend, factors, gains, lates, power > 0, z, moves,
            )  # fmt: skip
        begins = count_rows(lanes, board, state, moments, known, seen, low, share)
        if begins:
            begin_levels(
                lanes, board, state, moments, known, seen, now, moment, own_known, own_seen, power,
                single_derivative,
            )  # fmt: skip
        if decays:
            decay(lanes, board, state, l2, power, kind, flat, stride, lag_at)
        for k in range(lanes if broken else np.uint64(0)):
            if board[WHOLE, k] != board[H, k] and does[k] == CUTS:
                learn_lane(
                    k, start, end, base, indices, values, lanes, flat, squares, stride, g_stride, g_at,
                    unit_at, lag_at, kind, gained, touched[k], state, moments, known, seen, board, power,
                    offset, low, share, bias_value, l2[k], single_rooms, single_step, single_value,
                    single_derivative,
                )  # fmt: skip


@part
def _fit_units(
    start, end, base, indices, values, x, flat, squares, stride, g_stride, g_at, lanes, unit_at, lag_at, kind,
    board, z,
):  # fmt: skip
    """Units change only if there is something to learn; returns whether any has."""
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


@part
def _steepen(lanes, board, multiply, state, kind, levels, steepest):
    """What the rates of each lane have in common."""
    for k in range(lanes):
        scale, slope, typical = board[LEVELS, k], board[SLOPE, k], board[TYPICAL, k]
        norm = state[NORM_START, k] + typical * board[SQUARES, k]
        slope *= board[H, k] if multiply[k] else 1.0
        square = min(slope * slope, LARGEST)
        common = np.sqrt((state[SEEN_START, k] + typical) / norm)
        common = common if norm > 0.0 else 1.0
        common = common if kind != BY_NOTHING else 1.0
        board[STEEPEST, k] = square
        board[FACTOR, k] = common * np.sqrt(scale)
        levels[k] = scale
        steepest[k] = min(scale * square, LARGEST)


@part
def _reach(lanes, totals, board, state, bias_value):
    """Σ rate·z² of each lane, and the push times that."""
    for k in range(lanes):
        square, factor = board[STEEPEST, k], board[FACTOR, k]
        level = board[LEVELS, k] * (state[BIAS_SQUARES, k] + square)
        level = max(level, SMALLEST)
        level = min(level, LARGEST)
        bias_rate = factor / np.sqrt(level_of(level)) * bias_value
        n = bias_rate + factor * totals[k]
        n = n if board[SLOPE, k] != 0.0 else 0.0
        board[BIAS_RATE, k] = bias_rate
        board[REACH, k] = n
        board[U, k] = board[PUSH, k] * n


@part
def _decide(lanes, board, multiply, state, moments, bias_value, slopes, factors, gains, lates):
    """How far each lane's coefficients move along `moves`, and what its sums of squares and its lags gain."""
    lost = np.uint64(0)
    for k in range(lanes):
        before, after, change, n = board[VALUE, k], board[AFTER, k], board[CHANGE, k], board[REACH, k]
        small = (before - after < LOST * abs(before)) & (n > 0.0)
        board[SHIFT, k] = 0.5 * change
        lost |= np.uint64(small)
    if lost > 0:
        slopes_beside(lanes, board, SHIFT, slopes)
    for k in range(lanes):
        n, h, slope, change = board[REACH, k], board[WHOLE, k], board[SLOPE, k], board[CHANGE, k]
        alive, scale, square, middle = state[ALIVE, k], state[SCALE, k], board[STEEPEST, k], board[BESIDE, k]
        before, drop, bias_rate = board[VALUE, k], board[VALUE, k] - board[AFTER, k], board[BIAS_RATE, k]
        s = change / n if n > 0.0 else 0.0
        alive = alive if abs(s) < LIMIT else 0.0
        n = n if alive > 0.0 else 0.0
        s = s if n > 0.0 else 0.0
        # as `gained_in`
        drop = abs(change) * abs(middle) if drop < LOST * abs(before) else drop
        speed, most = board[RATE, k] * n, h * slope * slope
        taught = abs(change) / speed  # as `count_norm`
        taught = taught if speed > 0.0 else 0.0
        gain = drop / speed
        gain = gain if speed > 0.0 else most
        gain = min(gain, most)
        gain = square if multiply[k] else gain
        gain = min(gain, LARGEST)
        gain = gain if n > 0.0 else 0.0
        bias = s * bias_rate
        bias = bias if n > 0.0 else 0.0
        late = moments[LATE, k]
        late = late if n > 0.0 else 0.0  # before its first row, a lane has no reference for times
        factor = board[FACTOR, k] * s / scale
        factor = factor if n > 0.0 else 0.0
        state[ALIVE, k] = alive
        state[SEEN, k] += taught
        state[NORM, k] += taught * board[SQUARES, k]
        state[BIAS, k] += bias
        state[BIAS_SQUARES, k] = min(state[BIAS_SQUARES, k] + gain * bias_value, LARGEST)
        state[BIAS_LAG, k] += late * bias
        factors[k] = factor
        gains[k] = gain
        lates[k] = (scale * late + state[SCALE_LAG, k]) * factor
