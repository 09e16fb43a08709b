"""Many linear models side by side, each with a learning rate for each feature: learn a chunk of rows.

The same as `adaptive`, lane by lane, laid out as in `lanes`: `weights[feature, part, lane]` holds the weight,
the sum of squared gradients and, if normalized, the largest |value| of a feature. A lane that has nothing to
learn from a row changes none of them.
"""

import numpy as np

from steelyard.learn.adaptive import TINIEST, mean_square, share
from steelyard.learn.batched_loss import AFTER, CHANGE, PUSH, ROWS, SLOPE, VALUE, H, U, Y, address, fill_board
from steelyard.learn.lane_ops import dots
from steelyard.learn.lanes import ALIVE, LIMIT, copy, count_loss, decay, predict_all, push, spread
from steelyard.learn.linear import BIAS, BIAS_SQUARES, NORM, SCALE, SEEN
from steelyard.learn.rows import LARGEST, SMALLEST
from steelyard.numba_tools.jit import kernel, part


@kernel
def learn(
    indptr, indices, values, dense, rows, labels, sample_weight, offsets, pushes, schedules,
    weights, state, rates, l2, normalized, bias_value, middle, boundary, predictions,
    bounds, steps, value, slopes, values_after, multiply, unit,
):  # fmt: skip
    """As `lanes.learn`. Lanes marked in `multiply` square the gradient times the importance; `unit` is that
    of the labels.
    """
    lanes, parts = np.uint64(weights.shape[2]), np.uint64(weights.shape[1])
    flat = weights.reshape(-1)
    stride = parts * lanes
    board = np.zeros((ROWS, lanes))
    # for each lane: sums; Σ rate·x²; the common factor of the rates; ℓ′²; moves of weights, gains of squares
    totals, squares = np.zeros(lanes, weights.dtype), np.zeros(lanes, weights.dtype)
    reach, common = np.zeros(lanes), np.zeros(lanes)
    factors, gains = np.zeros(lanes, weights.dtype), np.zeros(lanes, weights.dtype)
    # for each feature of the row and each lane
    room = np.uint64(longest_of(indptr, rows)) * lanes
    own_units, moves = np.ones(room, weights.dtype), np.zeros(room, weights.dtype)
    decays = l2.any()
    for turn in range(np.uint64(len(rows))):
        row = np.uint64(rows[turn])
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        offset = offsets[row] if len(offsets) > 0 else 0.0
        dots(start, end, base, indices, values, flat, stride, lanes, totals)
        predict_all(lanes, totals, state, bias_value, offset, board)
        if len(predictions) > 0:
            copy(lanes, turn, board, state, predictions)
        if not spread(lanes, turn, sample_weight, board, H):
            continue
        spread(lanes, turn, labels, board, Y)
        count_loss(lanes, board, state, middle, boundary, value)
        push(lanes, turn, pushes, schedules, rates, 1.0, board)
        where, wide = address(board), np.int64(lanes)
        slopes(where, wide, np.int64(0), wide)
        if keep_live_slopes(lanes, board, state):
            if normalized:
                if _grow(start, end, base, indices, values, flat, stride, lanes, board):
                    dots(start, end, base, indices, values, flat, stride, lanes, totals)
                    predict_all(lanes, totals, state, bias_value, offset, board)
                    value(where, wide, np.int64(0), wide)
                    slopes(where, wide, np.int64(0), wide)
                    keep_live_slopes(lanes, board, state)
                _to_units(start, end, base, indices, values, flat, stride, lanes, own_units, totals)
                count_norms(lanes, totals, board, state, bias_value, unit)
            square_slopes(lanes, board, multiply, state, squares, common)
            _rates(start, end, base, indices, values, flat, stride, lanes, squares, own_units, moves, totals)
            reach_of(lanes, totals, common, board, state, bias_value, reach)
            fill_board(steps, board, bounds)
            values_after(where, wide, np.int64(0), wide)
            _decide(lanes, board, reach, common, multiply, state, bias_value, factors, gains)
            _move(start, end, base, indices, values, flat, stride, lanes, factors, gains, own_units, moves)
        if decays:
            decay(lanes, stride, board, l2, state, flat)


@part
def longest_of(indptr, rows):
    longest = 0
    for row in rows:
        longest = max(longest, indptr[row + 1] - indptr[row])
    return longest


@part
def keep_live_slopes(lanes, board, state):
    """Set the slope to 0 in lanes that must not learn; returns whether any slope is left."""
    some = np.uint64(0)
    for k in range(lanes):
        slope = board[SLOPE, k] if board[U, k] > 0.0 else 0.0
        slope = slope if state[ALIVE, k] > 0.0 else 0.0
        some |= np.uint64(slope != 0.0)
        board[SLOPE, k] = slope
    return some > 0


@part
def _grow(start, end, base, indices, values, flat, stride, lanes, board):
    """Raise max_abs to the row's values in lanes that learn; returns whether a weight changed."""
    changed = np.uint64(0)
    one = flat.dtype.type(1.0)
    for j in range(start, end):
        size = abs(flat.dtype.type(values[j]))
        w = np.uint64(indices[j - base]) * stride
        g, s = w + lanes, w + lanes + lanes
        larger = np.uint32(0)
        for k in range(lanes):
            larger |= np.uint32(size > flat[s + k])
        if larger > 0:
            for k in range(lanes):
                old = flat[s + k]
                new = max(old, size)
                new = new if board[SLOPE, k] != 0.0 else old
                shrink = old / new if new > old else one
                changed |= np.uint64(flat[w + k] * (one - shrink) != 0.0)
                flat[w + k] *= shrink
                flat[g + k] *= shrink * shrink
                flat[s + k] = new
    return changed > 0


@part
def _to_units(start, end, base, indices, values, flat, stride, lanes, own_units, totals):
    """1/max_abs of each feature and lane, and Σ (x/max_abs)² of each lane into `totals`."""
    zero, one, tiniest = flat.dtype.type(0.0), flat.dtype.type(1.0), flat.dtype.type(TINIEST)
    for k in range(lanes):
        totals[k] = 0.0
    for j in range(start, end):
        x = flat.dtype.type(values[j])
        s = np.uint64(indices[j - base]) * stride + lanes + lanes
        m = (j - start) * lanes
        for k in range(lanes):
            size = flat[s + k]
            own_unit = one / size if size > tiniest else zero  # also if the lane has not seen the feature
            own_units[m + k] = own_unit
            totals[k] += (x * own_unit) * (x * own_unit)


@part
def count_norms(lanes, totals, board, state, bias_value, unit):
    for k in range(lanes):
        counted = board[H, k] * share(board[VALUE, k], board[SLOPE, k], unit)
        counted = counted if board[SLOPE, k] != 0.0 else 0.0
        state[SEEN, k] += counted
        state[NORM, k] += counted * (bias_value + totals[k])


@part
def square_slopes(lanes, board, multiply, state, squares, common):
    for k in range(lanes):
        slope = board[SLOPE, k] * (board[H, k] if multiply[k] else 1.0)
        board[SLOPE, k] = min(slope * slope, LARGEST)
        squares[k] = board[SLOPE, k]
        common[k] = np.sqrt(state[SEEN, k] / state[NORM, k]) if state[NORM, k] > 0.0 else 1.0


@part
def _rates(start, end, base, indices, values, flat, stride, lanes, squares, own_units, moves, totals):
    """How far a step of 1 moves each weight, into `moves`, and each lane's prediction, into `totals`.

    A weight moves by x times its rate, with x in units of its max_abs.
    """
    smallest, largest = flat.dtype.type(SMALLEST), flat.dtype.type(LARGEST)
    for k in range(lanes):
        totals[k] = 0.0
    for j in range(start, end):
        value = flat.dtype.type(values[j])
        g = np.uint64(indices[j - base]) * stride + lanes
        m = (j - start) * lanes
        for k in range(lanes):
            x = value * own_units[m + k]
            square = flat[g + k] + x * x * squares[k]
            square = max(smallest, square)
            square = min(largest, square)
            move = x / np.sqrt(square)
            totals[k] += move * x
            moves[m + k] = move * own_units[m + k]


@part
def reach_of(lanes, totals, common, board, state, bias_value, reach):
    """Σ rate·x² of each lane into `reach`, and the push times that."""
    for k in range(lanes):
        square = board[SLOPE, k]
        bias_rate = common[k] / np.sqrt(state[BIAS_SQUARES, k] + square) * bias_value
        n = bias_rate + common[k] * totals[k]
        reach[k] = n if square > 0.0 else 0.0
        board[U, k] = board[PUSH, k] * reach[k]


@part
def _decide(lanes, board, reach, common, multiply, state, bias_value, factors, gains):
    """How far each lane's weights move along `moves`, and what its sums of squares gain."""
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
        factors[k] = common[k] * s / state[SCALE, k]
        gains[k] = min(gained, LARGEST)


@part
def _move(start, end, base, indices, values, flat, stride, lanes, factors, gains, own_units, moves):
    largest = flat.dtype.type(LARGEST)
    for j in range(start, end):
        value = flat.dtype.type(values[j])
        w = np.uint64(indices[j - base]) * stride
        g = w + lanes
        m = (j - start) * lanes
        for k in range(lanes):
            flat[w + k] += factors[k] * moves[m + k]
        for k in range(lanes):
            x = value * own_units[m + k]
            square = flat[g + k] + x * x * gains[k]
            flat[g + k] = min(largest, square)
