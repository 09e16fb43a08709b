"""One step of all lanes: from the slopes of their losses to the moves of their coefficients.

It does for many models side by side what `epochs.learn_parts` does for the first part of a row.
"""

import numpy as np

from steelyard.learn.batched_loss import AFTER, CHANGE, PUSH, SLOPE, VALUE, H, U
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
    slopes_beside,
)
from steelyard.learn.lane_features import BY_NOTHING
from steelyard.learn.lanes import ALIVE, LIMIT
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
from steelyard.learn.rows import LARGEST, SMALLEST
from steelyard.native.declare import part

# Further rows of the board: the common factor of rates; ℓ′²; the rate of the bias, and Σ rate·z²
FACTOR, STEEPEST, BIAS_RATE, REACH, ADAPTIVE_ROWS = range(CLOCK_ROWS, CLOCK_ROWS + 5)

LOST = 1e-5  # a drop of the loss by less than this share is lost in rounding


@part
def find_common_rates(lanes, board, multiply, state, kind, levels, steepest):
    """Find the factor that all rates of a lane have in common, and the scale and the height of levels."""
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
def find_reach(lanes, totals, board, state, bias_value):
    """Find Σ rate·z² of each lane, and the push times that."""
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
def finish_step(lanes, board, multiply, state, moments, bias_value, slopes, factors, gains, lates):
    """Find how far coefficients move along `moves`, and the gains of sums of squares and lags; move the biases."""
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
