"""Many linear models side by side, in units that they find themselves (see `units`): learn a chunk of rows.

The same as `standardized`, lane by lane, laid out as in `lanes`: `weights[feature, part, lane]` holds the
coefficient v, the sum of squared gradients G and the lag of the average. Units and origins depend on the rows
only, and all lanes share them: a row counts for them if any lane learns it.
"""

import numpy as np

from steelyard.learn.adaptive import LARGEST, SMALLEST, mean_square, share
from steelyard.learn.adaptive_lanes import keep_live_slopes, longest_of, reach_of, square_slopes
from steelyard.learn.averages import next_reference, raised, time_weight
from steelyard.learn.batched_loss import (
    AFTER,
    CHANGE,
    PUSH,
    ROWS,
    SLOPE,
    VALUE,
    H,
    P,
    U,
    Y,
    address,
    fill_board,
)
from steelyard.learn.lane_ops import dots
from steelyard.learn.lanes import ALIVE, LIMIT, copy, count_loss, predict_all, push, spread
from steelyard.learn.linear import (
    BIAS,
    BIAS_LAG,
    BIAS_SQUARES,
    CLOCK,
    NORM,
    REFERENCE,
    SCALE,
    SEEN,
    SMALLEST_SCALE,
)
from steelyard.learn.units import (
    FARTHEST,
    FILTER_SIZE,
    FIRST,
    INDEX,
    find,
    fits,
    look_at,
    new_unit,
    note_columns,
    standard,
)
from steelyard.numba_tools.jit import kernel, part


@kernel
def learn(
    indptr, indices, values, dense, rows, labels, sample_weight, offsets, pushes, schedules,
    weights, state, rates, l2, units, origins, columns, candidates, counts, bias_value, middle, boundary,
    predictions, bounds, steps, value, slopes, values_after, multiply, unit, power,
):  # fmt: skip
    """As `adaptive_lanes.learn`; `columns`, `candidates` and `counts` as in `standardized.learn`."""
    lanes, parts = np.uint64(weights.shape[2]), np.uint64(weights.shape[1])
    flat = weights.reshape(-1)
    stride = parts * lanes
    board = np.zeros((ROWS, lanes))
    # for each lane: sums; Σ rate·z²; the common factor of the rates; ℓ′²; moves of coefficients, gains of squares and
    # of lags; what larger values than ever take from the prediction; the clock
    totals, squares = np.zeros(lanes, weights.dtype), np.zeros(lanes, weights.dtype)
    reach, common = np.zeros(lanes), np.zeros(lanes)
    factors, gains = np.zeros(lanes, weights.dtype), np.zeros(lanes, weights.dtype)
    late_factors, excess = np.zeros(lanes, weights.dtype), np.zeros(lanes)
    clocks = state[CLOCK].copy()
    moves = np.zeros(np.uint64(longest_of(indptr, rows)) * lanes, weights.dtype)
    z = np.empty(len(values), weights.dtype)
    filter = np.zeros(FILTER_SIZE, np.uint8)
    note_columns(columns, counts[0], filter)
    decays = l2.any()
    for turn in range(np.uint64(len(rows))):
        row = np.uint64(rows[turn])
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        offset = offsets[row] if len(offsets) > 0 else 0.0
        learned = spread(lanes, turn, sample_weight, board, H)
        if learned and counts[1] > 0:
            _move_origins(
                start, end, base, indices, values, dense, flat, stride, lanes, units, origins, columns,
                candidates, counts, state,
            )  # fmt: skip
            note_columns(columns, counts[0], filter)
        too_much = _standardize(
            start, end, base, indices, values, learned, flat, stride, lanes, units, origins, filter, z, excess
        )
        dots(start, end, base, indices, z, flat, stride, lanes, totals)
        predict_all(lanes, totals, state, bias_value, offset, board)
        if too_much:
            for k in range(lanes):
                board[P, k] += state[SCALE, k] * excess[k]
        if len(predictions) > 0:
            copy(lanes, turn, board, state, predictions)
        if not learned:
            continue
        spread(lanes, turn, labels, board, Y)
        count_loss(lanes, board, state, middle, boundary, value)
        where, wide = address(board), np.int64(lanes)
        if too_much:
            predict_all(lanes, totals, state, bias_value, offset, board)
            value(where, wide, np.int64(0), wide)
        push(lanes, turn, pushes, schedules, rates, 1.0, board)
        slopes(where, wide, np.int64(0), wide)
        if power > 0:
            _grow_references(lanes, stride, clocks, power, board, state, flat)
        if keep_live_slopes(lanes, board, state):
            _count_norms(lanes, _square(start, end, z), board, state, bias_value, unit)
            square_slopes(lanes, board, multiply, state, squares, common)
            _rates(start, end, base, indices, z, flat, stride, lanes, squares, moves, totals)
            reach_of(lanes, totals, common, board, state, bias_value, reach)
            fill_board(steps, board, bounds)
            values_after(where, wide, np.int64(0), wide)
            _decide(lanes, board, reach, common, multiply, state, bias_value, clocks, power, factors, gains, late_factors)
            _move(start, end, base, indices, z, flat, stride, lanes, factors, gains, late_factors, moves)
        for k in range(lanes):
            clocks[k] += board[H, k]
        if decays:
            _decay(lanes, stride, board, l2, state, flat)


@part
def _standardize(start, end, base, indices, values, learned, flat, stride, lanes, units, origins, filter, z, excess):
    """z of the row, and new units where values do not fit theirs; returns whether a prediction shrinks by that."""
    too_much = False
    for j in range(start, end):
        i = np.uint64(indices[j - base])
        x = flat.dtype.type(values[j])
        if filter[i & np.uint64(FILTER_SIZE - 1)] and x != 0.0:
            x -= origins[i]
        own = standard(x, units[i])
        z[j] = own
        if not learned or x == 0.0 or (abs(units[i]) > 0.0 and fits(units[i], own)):
            continue
        changed, scale, square, beyond = new_unit(x, units[i])
        units[i] = changed
        z[j] = standard(x, changed)
        if not too_much:
            excess[:] = 0.0
        too_much |= beyond != 0.0
        w = i * stride
        g, lag = w + lanes, w + lanes + lanes
        for k in range(lanes):
            excess[k] += flat[w + k] * beyond
            flat[w + k] *= scale
            flat[lag + k] *= scale
            flat[g + k] = min(flat[g + k] * square, LARGEST)
    return too_much


@part
def _move_origins(
    start, end, base, indices, values, dense, flat, stride, lanes, units, origins, columns,
    candidates, counts, state,
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
        unit = abs(units[i])
        w = np.uint64(i) * stride
        g, lag = w + lanes, w + lanes + lanes
        for k in range(lanes):
            state[BIAS, k] += state[SCALE, k] * flat[w + k] * (origin / unit)
            state[BIAS_LAG, k] += state[SCALE, k] * flat[lag + k] * (origin / unit)
            flat[w + k] *= farthest / unit
            flat[lag + k] *= farthest / unit
            flat[g + k] = 0.0
        units[i] = -farthest
        origins[i] = origin
        columns[counts[0]] = i
        counts[0] += 1
    counts[1] = kept


@part
def _square(start, end, z):
    total = 0.0
    for j in range(start, end):
        total += np.float64(z[j]) * np.float64(z[j])
    return total


@part
def _grow_references(lanes, stride, clocks, power, board, state, flat):
    for k in range(lanes):
        if board[H, k] > 0.0:
            grown = next_reference(state[REFERENCE, k], clocks[k], board[H, k])
            if grown != state[REFERENCE, k]:
                shrink = raised(state[REFERENCE, k] / grown, power)
                state[BIAS_LAG, k] *= shrink
                for i in range(lanes + lanes + k, np.uint64(len(flat)), stride):
                    flat[i] *= shrink
                state[REFERENCE, k] = grown


@part
def _count_norms(lanes, square, board, state, bias_value, unit):
    for k in range(lanes):
        counted = board[H, k] * share(board[VALUE, k], board[SLOPE, k], unit)
        counted = counted if board[SLOPE, k] != 0.0 else 0.0
        state[SEEN, k] += counted
        state[NORM, k] += counted * (bias_value + square)


@part
def _rates(start, end, base, indices, z, flat, stride, lanes, squares, moves, totals):
    """How far a step of 1 moves each coefficient, into `moves`, and each lane's prediction, into `totals`."""
    smallest, largest = flat.dtype.type(SMALLEST), flat.dtype.type(LARGEST)
    for k in range(lanes):
        totals[k] = 0.0
    for j in range(start, end):
        own = z[j]
        counted = min(own * own, abs(own))
        g = np.uint64(indices[j - base]) * stride + lanes
        m = (j - start) * lanes
        for k in range(lanes):
            square = flat[g + k] + counted * squares[k]
            square = max(smallest, square)
            square = min(largest, square)
            move = own / np.sqrt(square)
            totals[k] += move * own
            moves[m + k] = move


@part
def _decide(lanes, board, reach, common, multiply, state, bias_value, clocks, power, factors, gains, late_factors):
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
        late_factors[k] = 0.0
        if power > 0 and s != 0.0:
            full_speed = board[PUSH, k] * n * np.sqrt(square)
            late = time_weight(clocks[k], state[REFERENCE, k], power, h, s * n, full_speed)
            state[BIAS_LAG, k] += late * s * (bias_rate * bias_value)
            late_factors[k] = late * factor


@part
def _move(start, end, base, indices, z, flat, stride, lanes, factors, gains, late_factors, moves):
    largest = flat.dtype.type(LARGEST)
    for j in range(start, end):
        own = z[j]
        counted = min(own * own, abs(own))
        w = np.uint64(indices[j - base]) * stride
        g, lag = w + lanes, w + lanes + lanes
        m = (j - start) * lanes
        for k in range(lanes):
            flat[w + k] += factors[k] * moves[m + k]
        for k in range(lanes):
            square = flat[g + k] + counted * gains[k]
            flat[g + k] = min(largest, square)
        for k in range(lanes):
            flat[lag + k] += late_factors[k] * moves[m + k]


@part
def _decay(lanes, stride, board, l2, state, flat):
    """As `lanes.decay`, for lags too."""
    for k in range(lanes):
        state[SCALE, k] /= 1.0 + board[PUSH, k] * l2[k]
    for k in range(lanes):
        if state[SCALE, k] < SMALLEST_SCALE:
            for i in range(k, np.uint64(len(flat)), stride):
                flat[i] *= state[SCALE, k]
                flat[i + lanes + lanes] *= state[SCALE, k]
            state[SCALE, k] = 1.0
