"""Many linear models side by side, in units that they find themselves: learn a chunk of rows.

The same as `standardized`, lane by lane, laid out as in `lanes`: `weights[feature, part, lane]` holds the
coefficient v, the sum of squared gradients G, the unit and the lag of the average. Which features are columns
with an origin depends on the rows only, and all lanes share it: a row counts if any lane learns it.
"""

import numpy as np

from steelyard.learn.adaptive import mean_square
from steelyard.learn.adaptive_lanes import count_norms, keep_live_slopes, longest_of, reach_of, square_slopes
from steelyard.learn.averages import next_reference, raised, time_weight
from steelyard.learn.batched_loss import (
    AFTER,
    CHANGE,
    PUSH,
    ROWS,
    SLOPE,
    VALUE,
    H,
    U,
    Y,
    address,
    fill_board,
)
from steelyard.learn.lanes import ALIVE, LIMIT, copy, count_loss, predict_all, push, spread
from steelyard.learn.linear import (
    BIAS,
    BIAS_LAG,
    BIAS_SQUARES,
    CLOCK,
    REFERENCE,
    SCALE,
    SCALE_LAG,
)
from steelyard.learn.rows import LARGEST, SMALLEST
from steelyard.learn.shrinkage import SMALLEST_SCALE
from steelyard.learn.units import (
    FARTHEST,
    FIRST,
    INDEX,
    MARKS,
    MOST,
    NEAR,
    TINIEST,
    find,
    fits,
    forget,
    has_length_1,
    look_at,
    new_unit,
    note_columns,
    standard,
)
from steelyard.numba_tools.jit import kernel, part


@kernel
def learn(
    indptr, indices, values, dense, rows, labels, sample_weight, offsets, pushes, schedules,
    weights, state, rates, l2, origins, columns, candidates, counts, bias_value, middle, boundary,
    predictions, bounds, steps, value, slopes, values_after, multiply, unit, power,
):  # fmt: skip
    """As `adaptive_lanes.learn`; `columns`, `candidates` and `counts` as in `standardized.learn`."""
    lanes, parts = np.uint64(weights.shape[2]), np.uint64(weights.shape[1])
    flat = weights.reshape(-1)
    stride = parts * lanes
    board = np.zeros((ROWS, lanes))
    # for each lane: sums; Σ rate·z²; the common factor of the rates; ℓ′²; moves of coefficients, gains of
    # squares and of lags; the clock
    totals, squares = np.zeros(lanes, weights.dtype), np.zeros(lanes, weights.dtype)
    reach, common = np.zeros(lanes), np.zeros(lanes)
    factors, gains = np.zeros(lanes, weights.dtype), np.zeros(lanes, weights.dtype)
    lates, clocks = np.zeros(lanes, weights.dtype), state[CLOCK].copy()
    # for each feature of the row: its distance from the origin; and in each lane: z, and z times its rate
    longest = np.uint64(longest_of(indptr, rows))
    x = np.zeros(longest, weights.dtype)
    z, moves = np.zeros(longest * lanes, weights.dtype), np.zeros(longest * lanes, weights.dtype)
    marks = np.zeros(MARKS, np.uint8)
    note_columns(columns, counts[0], marks)
    decays = l2.any()
    for turn in range(np.uint64(len(rows))):
        row = np.uint64(rows[turn])
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        offset = offsets[row] if len(offsets) > 0 else 0.0
        learned = spread(lanes, turn, sample_weight, board, H)
        if learned and counts[1] > 0:
            _move_origins(
                start, end, base, indices, values, dense, flat, stride, lanes, origins, columns, candidates,
                counts, state,
            )  # fmt: skip
            note_columns(columns, counts[0], marks)
        for j in range(start, end):
            i = np.uint64(indices[j - base])
            moved = marks[i & np.uint64(MARKS - 1)] > 0 and values[j] != 0.0
            x[j - start] = flat.dtype.type(values[j]) - (origins[i] if moved else flat.dtype.type(0.0))
        _standardize(start, end, base, indices, x, flat, stride, lanes, z, totals)
        predict_all(lanes, totals, state, bias_value, offset, board)
        if len(predictions) > 0:
            copy(lanes, turn, board, state, predictions)
        if not learned:
            continue
        spread(lanes, turn, labels, board, Y)
        count_loss(lanes, board, state, middle, boundary, value)
        push(lanes, turn, pushes, schedules, rates, 1.0, board)
        where, wide = address(board), np.int64(lanes)
        slopes(where, wide, np.int64(0), wide)
        if power > 0:
            _grow_references(lanes, stride, clocks, power, board, state, flat, lates)
        if keep_live_slopes(lanes, board, state):
            if _change_units(start, end, base, indices, values, x, flat, stride, lanes, board, z):
                _dots(start, end, base, indices, flat, stride, lanes, z, totals)
                predict_all(lanes, totals, state, bias_value, offset, board)
                value(where, wide, np.int64(0), wide)
                slopes(where, wide, np.int64(0), wide)
                keep_live_slopes(lanes, board, state)
            _square(start, end, lanes, z, totals)
            count_norms(lanes, totals, board, state, bias_value, unit)
            square_slopes(lanes, board, multiply, state, squares, common)
            _rates(start, end, base, indices, flat, stride, lanes, squares, z, moves, totals)
            reach_of(lanes, totals, common, board, state, bias_value, reach)
            fill_board(steps, board, bounds)
            values_after(where, wide, np.int64(0), wide)
            _decide(
                lanes, board, reach, common, multiply, state, bias_value, clocks, power, factors, gains, lates
            )  # fmt: skip
            _move(start, end, base, indices, flat, stride, lanes, factors, gains, lates, z, moves)
        for k in range(lanes):
            clocks[k] += board[H, k]
        if decays:
            _decay(lanes, stride, clocks, power, board, l2, state, flat)


@part
def _standardize(start, end, base, indices, x, flat, stride, lanes, z, totals):
    """z of each feature in each lane, and Σ v·z of each lane into `totals`."""
    tiniest, zero = flat.dtype.type(TINIEST), flat.dtype.type(0.0)
    for k in range(lanes):
        totals[k] = 0.0
    for j in range(start, end):
        value = x[j - start]
        v = np.uint64(indices[j - base]) * stride
        u = v + lanes + lanes
        m = (j - start) * lanes
        for k in range(lanes):
            size = abs(flat[u + k])
            own = value / max(size, tiniest)
            own = own if size > tiniest else zero
            z[m + k] = own
            totals[k] += flat[v + k] * own


@part
def _dots(start, end, base, indices, flat, stride, lanes, z, totals):
    for k in range(lanes):
        totals[k] = 0.0
    for j in range(start, end):
        v = np.uint64(indices[j - base]) * stride
        m = (j - start) * lanes
        for k in range(lanes):
            totals[k] += flat[v + k] * z[m + k]


@part
def _change_units(start, end, base, indices, values, x, flat, stride, lanes, board, z):
    """New units in lanes that learn, where values do not fit theirs; returns whether there are any."""
    some = length_1 = False
    for j in range(start, end):
        v = np.uint64(indices[j - base]) * stride
        g, u, lag = v + lanes, v + np.uint64(2) * lanes, v + np.uint64(3) * lanes
        m = (j - start) * lanes
        if not _any_misfit(lanes, x[j - start], flat, u, z, m):
            continue
        if not some:
            length_1 = has_length_1(start, end, values)
        for k in range(lanes):
            if board[SLOPE, k] != 0.0 and not fits(x[j - start], flat[u + k], z[m + k]):
                unit, scale, square = new_unit(x[j - start], flat[u + k], length_1)
                flat[u + k] = unit
                flat[v + k] *= scale
                flat[lag + k] *= scale
                flat[g + k] = min(flat[g + k] * square, LARGEST)
                z[m + k] = standard(x[j - start], unit)
                some = True
    return some


@part
def _any_misfit(lanes, x, flat, u, z, m):
    """As `units.any_misfit`, for one feature in all lanes."""
    half, most, one = flat.dtype.type(0.5), flat.dtype.type(MOST), flat.dtype.type(1.0)
    near, tiniest, size = flat.dtype.type(NEAR), flat.dtype.type(TINIEST), abs(x)
    misfits = np.uint32(0)
    for k in range(lanes):
        own, unit = abs(z[m + k]), flat[u + k]
        counted = unit > tiniest
        limit = most if counted else one
        slack = near * own if counted else one
        apart = abs(own - np.float32(np.int32(own + half)))
        limit = limit if abs(unit) > tiniest else -size
        misfits |= np.uint32(own > limit)
        misfits |= np.uint32(apart > slack)
    return misfits > 0


@part
def _move_origins(
    start, end, base, indices, values, dense, flat, stride, lanes, origins, columns, candidates, counts, state
):  # fmt: skip
    """As in `standardized`, in all lanes."""
    kept = place = 0
    for c in range(counts[1]):
        i = np.int64(candidates[c, INDEX])
        at = find(i, place, start, end, base, indices, dense)
        if at < 0 or values[start + np.uint64(at)] == 0.0:
            continue
        place = at + 1
        if not look_at(candidates, c, kept, values[start + np.uint64(at)]):
            kept += 1
            continue
        origin, farthest = candidates[kept, FIRST], candidates[kept, FARTHEST]
        v = np.uint64(i) * stride
        g, u, lag = v + lanes, v + np.uint64(2) * lanes, v + np.uint64(3) * lanes
        for k in range(lanes):
            unit = abs(flat[u + k])
            if unit > 0.0:
                state[BIAS, k] += state[SCALE, k] * flat[v + k] * (origin / unit)
                behind = flat[lag + k] - state[SCALE_LAG, k] * flat[v + k]
                state[BIAS_LAG, k] += behind * (origin / unit)
                flat[v + k] *= farthest / unit
                flat[lag + k] *= farthest / unit
            flat[g + k] = 0.0
            flat[u + k] = -farthest
        origins[i] = origin
        columns[counts[0]] = i
        counts[0] += 1
    forget(candidates, kept, counts[1])
    counts[1] = kept


@part
def _square(start, end, lanes, z, totals):
    """Σ z² of each lane into `totals`."""
    for k in range(lanes):
        totals[k] = 0.0
    for j in range(start, end):
        m = (j - start) * lanes
        for k in range(lanes):
            totals[k] += z[m + k] * z[m + k]


@part
def _grow_references(lanes, stride, clocks, power, board, state, flat, factors):
    """Lags of lanes whose reference grows are multiplied, all in one walk through the features."""
    some = False
    for k in range(lanes):
        factors[k] = 1.0
        if board[H, k] > 0.0:
            before = state[REFERENCE, k]
            grown = next_reference(before, clocks[k], board[H, k], power)
            state[REFERENCE, k] = grown
            if grown != before and before > 0.0:
                shrink = raised(before / grown, power)
                state[BIAS_LAG, k] *= shrink
                state[SCALE_LAG, k] *= shrink
                factors[k] = shrink
                some = True
    if some:
        for lag in range(np.uint64(3) * lanes, np.uint64(len(flat)), stride):
            for k in range(lanes):
                flat[lag + k] *= factors[k]


@part
def _rates(start, end, base, indices, flat, stride, lanes, squares, z, moves, totals):
    """How far a step of 1 moves each coefficient, into `moves`, and each lane's prediction, into `totals`."""
    smallest, largest = flat.dtype.type(SMALLEST), flat.dtype.type(LARGEST)
    for k in range(lanes):
        totals[k] = 0.0
    for j in range(start, end):
        g = np.uint64(indices[j - base]) * stride + lanes
        m = (j - start) * lanes
        for k in range(lanes):
            own = z[m + k]
            counted = min(own * own, abs(own))
            square = flat[g + k] + counted * squares[k]
            square = max(smallest, square)
            square = min(largest, square)
            move = own / np.sqrt(square)
            totals[k] += move * own
            moves[m + k] = move


@part
def _decide(lanes, board, reach, common, multiply, state, bias_value, clocks, power, factors, gains, lates):
    """How far each lane's coefficients move along `moves`, and what its sums of squares and its lags gain."""
    for k in range(lanes):
        n, square, h = reach[k], board[SLOPE, k], board[H, k]
        s = board[CHANGE, k] / n if n > 0.0 else 0.0
        state[ALIVE, k] = state[ALIVE, k] if abs(s) < LIMIT else 0.0
        n = n if state[ALIVE, k] > 0.0 else 0.0
        s = s if n > 0.0 else 0.0
        drop = board[VALUE, k] - board[AFTER, k]
        mean = h * mean_square(drop, board[VALUE, k], board[U, k], square)
        gained = square if multiply[k] else mean
        gained = gained if n > 0.0 else 0.0
        bias_rate = common[k] / np.sqrt(state[BIAS_SQUARES, k] + square) if n > 0.0 else 0.0
        state[BIAS, k] += s * (bias_rate * bias_value)
        state[BIAS_SQUARES, k] = min(state[BIAS_SQUARES, k] + gained * bias_value, LARGEST)
        factor = common[k] * s / state[SCALE, k]
        factors[k] = factor
        gains[k] = min(gained, LARGEST)
        lates[k] = 0.0
        if power > 0 and s != 0.0:
            full_speed = board[PUSH, k] * n * np.sqrt(square)
            late = time_weight(clocks[k], state[REFERENCE, k], power, h, s * n, full_speed)
            state[BIAS_LAG, k] += late * s * (bias_rate * bias_value)
            lates[k] = (state[SCALE, k] * late + state[SCALE_LAG, k]) * factor


@part
def _move(start, end, base, indices, flat, stride, lanes, factors, gains, lates, z, moves):
    largest = flat.dtype.type(LARGEST)
    for j in range(start, end):
        v = np.uint64(indices[j - base]) * stride
        g, lag = v + lanes, v + np.uint64(3) * lanes
        m = (j - start) * lanes
        for k in range(lanes):
            flat[v + k] += factors[k] * moves[m + k]
        for k in range(lanes):
            own = z[m + k]
            counted = min(own * own, abs(own))
            square = flat[g + k] + counted * gains[k]
            flat[g + k] = min(largest, square)
        for k in range(lanes):
            flat[lag + k] += lates[k] * moves[m + k]


@part
def _decay(lanes, stride, clocks, power, board, l2, state, flat):
    """As `lanes.decay`, with what `shrinkage` has to say of the lags."""
    for k in range(lanes):
        before = state[SCALE, k]
        state[SCALE, k] = before / (1.0 + board[PUSH, k] * l2[k])
        if power > 0 and state[REFERENCE, k] > 0.0:
            late = raised(clocks[k] / state[REFERENCE, k], power)
            state[SCALE_LAG, k] += late * (before - state[SCALE, k])
    for k in range(lanes):
        if state[SCALE, k] < SMALLEST_SCALE:
            for i in range(k, np.uint64(len(flat)), stride):
                flat[i + np.uint64(3) * lanes] -= state[SCALE_LAG, k] * flat[i]
                flat[i] *= state[SCALE, k]
            state[SCALE, k], state[SCALE_LAG, k] = 1.0, 0.0
