"""The clocks of lanes: what `clock`, `label_units` and `class_steps` do, for many models side by side.

Each lane has a clock of its own, and a column of `moments`, `known` and `seen`. What every row needs is done
for all lanes at once; what happens now and then, such as the beginning of a level of time, is done on copies
of what belongs to one lane (`take_lane`). Numbers of a lane that change as seldom lie beside those of the
row, on the board.
"""

import math

import numpy as np

from steelyard.learn import class_steps, label_units
from steelyard.learn.averages import lasts_until, next_reference, raised
from steelyard.learn.batched_loss import PUSH, ROWS, SLOPE, VALUE, H, P, Y, address
from steelyard.learn.class_steps import class_factor
from steelyard.learn.clock import (
    AT_REST,
    EXACT_REST,
    LOOKS,
    NOTHING,
    PUSHED,
    UNTIL,
    begin_level,
    look_at_time,
)
from steelyard.learn.label_units import look_at_label, typical_slope
from steelyard.learn.lane_features import BY_UNITS
from steelyard.learn.lanes import ALIVE
from steelyard.learn.levels import level_scale, octave
from steelyard.learn.linear import (
    BIAS,
    BIAS_LAG,
    CLOCK,
    FRACTION,
    REFERENCE,
    SCALE,
    SCALE_LAG,
    SLIVER,
    WEIGHT,
)
from steelyard.learn.shrinkage import SMALLEST_SCALE
from steelyard.native.declare import part

# Further rows of the board. Of a lane: the unit of its labels, what its sums of squares are multiplied by to
# look up their levels, its push for a weight of 1; from which clock on its unit, and its reference, are
# looked at anew; whether its rows are cut into epochs. Of a row: its weight in lanes that learn it in one
# step, Σ z²; slopes of all lanes; where else slopes are wanted, and these; what was there before.
(
    UNIT,
    TYPICAL,
    LEVELS,
    RATE,
    LOOK_AT,
    LASTS,
    CUT,
    WHOLE,
    SQUARES,
    SLOPES,
    SHIFT,
    BESIDE,
    KEPT_P,
    KEPT_SLOPE,
    CLOCK_ROWS,
) = range(ROWS, ROWS + 15)


@part
def take_lane(k, state, moments, known, seen, now, moment, own_known, own_seen):
    """Copy what a lane has of these."""
    for i in range(len(now)):
        now[i] = state[i, k]
    for i in range(len(moment)):
        moment[i] = moments[i, k]
    for i in range(len(own_known)):
        own_known[i] = known[i, k]
    for i in range(len(own_seen)):
        own_seen[i] = seen[i, k]


@part
def put_lane(k, state, moments, known, seen, now, moment, own_known, own_seen, board, power, derivative):
    """The reverse, and what the board has of it."""
    for i in range(len(now)):
        state[i, k] = now[i]
    for i in range(len(moment)):
        moments[i, k] = moment[i]
    for i in range(len(own_known)):
        known[i, k] = own_known[i]
    for i in range(len(own_seen)):
        seen[i, k] = own_seen[i]
    unit, look = 1.0, math.inf
    if len(own_known) > 0:
        unit = own_known[label_units.UNIT]
        look = math.ldexp(1.0, octave(own_known[label_units.SET_AT])) if unit > 0.0 else 0.0
    if unit != board[UNIT, k]:
        board[UNIT, k] = unit
        board[TYPICAL, k] = typical_slope(own_known, unit, derivative)
        board[LEVELS, k] = level_scale(board[TYPICAL, k])
    board[RATE, k] = moment[PUSHED] * unit * class_factor(own_seen)
    board[LOOK_AT, k] = look
    board[LASTS, k] = lasts_until(now[REFERENCE], power)


@part
def begin_chunk(
    lanes, cut, state, moments, known, seen, now, moment, own_known, own_seen, board, power, derivative
):
    for k in range(lanes):
        board[CUT, k] = cut[k]
        board[UNIT, k] = -1.0
        take_lane(k, state, moments, known, seen, now, moment, own_known, own_seen)
        look_at_time(now, moment)
        put_lane(k, state, moments, known, seen, now, moment, own_known, own_seen, board, power, derivative)


@part
def begin_labels(lanes, board, state, known, bias_value):
    """As in `label_units`."""
    if len(known) > 0 and bias_value > 0.0:
        for k in range(lanes):
            y, origin, bias = board[Y, k], known[label_units.ORIGIN, k], state[BIAS, k]
            first = (board[H, k] > 0.0) & (known[label_units.WEIGHT, k] == 0.0)
            known[label_units.ORIGIN, k] = y if first else origin
            state[BIAS, k] = y if first else bias


@part
def weigh(lanes, board, state):
    """Count the weight, and set apart the lanes that learn the row part by part; returns whether any does."""
    broken = np.uint64(0)
    for k in range(lanes):
        h, fraction = board[H, k], state[FRACTION, k]
        apart = (board[CUT, k] > 0.0) & (h > 0.0) & ((h != 1.0) | (fraction != 0.0))
        board[WHOLE, k] = 0.0 if apart else h
        state[WEIGHT, k] += h
        broken |= np.uint64(apart)
    return broken > 0


@part
def look_at_labels(
    lanes, board, state, moments, known, seen, now, moment, own_known, own_seen, power, derivative, bias_value
):
    """The unit of the labels, where it is time."""
    if len(known) == 0:
        return
    some = np.uint64(0)
    for k in range(lanes):
        some |= np.uint64((board[H, k] > 0.0) & (state[CLOCK, k] >= board[LOOK_AT, k]))
    for k in range(lanes if some > 0 else np.uint64(0)):
        if board[H, k] > 0.0 and state[CLOCK, k] >= board[LOOK_AT, k]:
            take_lane(k, state, moments, known, seen, now, moment, own_known, own_seen)
            look_at_label(now, own_known, board[Y, k], board[H, k], bias_value, board[CUT, k] > 0.0)
            put_lane(
                k, state, moments, known, seen, now, moment, own_known, own_seen, board, power, derivative
            )


@part
def grow_references(
    lanes, board, state, moments, known, seen, now, moment, own_known, own_seen, power, derivative,
    flat, stride, lag_at, factors,
):  # fmt: skip
    """As in `standardized`; where references grow, lags are multiplied in one walk through the features."""
    some = np.uint64(0)
    for k in range(lanes):
        some |= np.uint64(
            (board[H, k] > 0.0) & (state[CLOCK, k] + state[FRACTION, k] + board[H, k] > board[LASTS, k])
        )
    if some == 0:
        return
    walks = False
    for k in range(lanes):
        factors[k] = 1.0
        clock = state[CLOCK, k] + state[FRACTION, k] + board[H, k]
        if board[H, k] > 0.0 and clock > board[LASTS, k]:
            before = state[REFERENCE, k]
            grown = next_reference(before, clock, power)
            shrink = raised(before / grown, power)
            state[BIAS_LAG, k] *= shrink
            state[SCALE_LAG, k] *= shrink
            state[REFERENCE, k] = grown
            factors[k] = shrink
            walks = walks or before > 0.0
            take_lane(k, state, moments, known, seen, now, moment, own_known, own_seen)
            look_at_time(now, moment)
            put_lane(
                k, state, moments, known, seen, now, moment, own_known, own_seen, board, power, derivative
            )
    for lag in range(lag_at, np.uint64(len(flat)) if walks else lag_at, stride):
        some = np.uint64(0)
        for k in range(lanes):
            some |= np.uint64(flat[lag + k] != 0.0)
        for k in range(lanes if some > 0 else np.uint64(0)):  # memory that no row has needed is not touched
            flat[lag + k] *= factors[k]


@part
def find_slopes(lanes, board, state, moments, bias_value, offset, slopes):
    """Pushes, and slopes as `slope_at` has them; returns whether a lane learns the row in one step."""
    slopes(address(board), np.int64(lanes), np.int64(0), np.int64(lanes))
    near = np.uint64(0)
    for k in range(lanes):
        h, p, slope, loss = board[H, k], board[P, k], board[SLOPE, k], board[VALUE, k]
        pushed = board[RATE, k] * (1.0 if board[CUT, k] > 0.0 else h)
        slope = slope if pushed > 0.0 else 0.0
        slope = slope if abs(slope) > NOTHING * board[UNIT, k] else 0.0
        slope = slope if h > 0.0 else 0.0
        slope = slope if state[ALIVE, k] > 0.0 else 0.0
        size = board[UNIT, k] + abs(p - (state[BIAS, k] * bias_value + offset))
        clear = loss > moments[LOOKS, k] * size * abs(slope)
        rests = (slope != 0.0) & (not clear)
        shift = -math.copysign(moments[AT_REST, k] * size + EXACT_REST * abs(p), slope)
        board[PUSH, k] = pushed
        board[SLOPE, k] = slope
        board[SHIFT, k] = shift if rests else 0.0
        near |= np.uint64(rests)
    if near > 0:
        slopes_beside(lanes, board, SHIFT, slopes)
        for k in range(lanes):
            slope, shift = board[SLOPE, k], board[SHIFT, k]
            stays = (shift == 0.0) | (board[BESIDE, k] * slope > 0.0)
            board[SLOPE, k] = slope if stays else 0.0
    some = np.uint64(0)
    for k in range(lanes):
        slope = board[SLOPE, k]
        board[SLOPES, k] = slope
        slope = slope if board[WHOLE, k] > 0.0 else 0.0
        board[SLOPE, k] = slope
        some |= np.uint64(slope != 0.0)
    return some > 0


@part
def slopes_beside(lanes, board, shift, slopes):
    """Slopes so far from the predictions, into BESIDE."""
    for k in range(lanes):
        p, slope = board[P, k], board[SLOPE, k]
        board[KEPT_P, k] = p
        board[KEPT_SLOPE, k] = slope
        board[P, k] = p + board[shift, k]
    slopes(address(board), np.int64(lanes), np.int64(0), np.int64(lanes))
    for k in range(lanes):
        p, slope, beside = board[KEPT_P, k], board[KEPT_SLOPE, k], board[SLOPE, k]
        board[BESIDE, k] = beside
        board[P, k] = p
        board[SLOPE, k] = slope


@part
def count_rows(lanes, board, state, moments, known, seen, low, spread):
    """`count_part` and `advance`, but for levels of time; returns whether any begins."""
    begins = np.uint64(0)
    for k in range(lanes):
        h, clock = board[WHOLE, k], state[CLOCK, k]
        total = state[FRACTION, k] + h
        whole = np.floor(total + SLIVER)
        rest = total - whole
        rest = rest if (whole == 0.0) | (rest > SLIVER) else 0.0
        clock += whole
        state[FRACTION, k] = rest
        state[CLOCK, k] = clock
        begins |= np.uint64(clock >= moments[UNTIL, k])
    if len(known) > 0:
        for k in range(lanes):
            h, apart = board[WHOLE, k], board[Y, k] - known[label_units.ORIGIN, k]
            apart = min(max(apart, -label_units.LONGEST), label_units.LONGEST)
            apart = apart if h > 0.0 else 0.0
            known[label_units.WEIGHT, k] += h
            known[label_units.SUM, k] += h * apart
            known[label_units.SQUARES, k] += h * apart * apart
    if len(seen) > 0:
        for k in range(lanes):
            h, share = board[WHOLE, k], (board[Y, k] - low) * spread
            share = share if h > 0.0 else 0.0
            seen[class_steps.WEIGHT, k] += h
            seen[class_steps.SECOND, k] += h * share
    return begins > 0


@part
def begin_levels(
    lanes, board, state, moments, known, seen, now, moment, own_known, own_seen, power, derivative
):
    for k in range(lanes):
        if state[CLOCK, k] >= moments[UNTIL, k]:
            take_lane(k, state, moments, known, seen, now, moment, own_known, own_seen)
            begin_level(now, moment, own_seen)
            put_lane(
                k, state, moments, known, seen, now, moment, own_known, own_seen, board, power, derivative
            )


@part
def decay(lanes, board, state, l2, power, kind, flat, stride, lag_at):
    """L2 of a row, as `pay` has it, in lanes that learned it in one step."""
    for k in range(lanes):
        if board[WHOLE, k] > 0.0 and l2[k] > 0.0 and board[UNIT, k] > 0.0:
            before, clock = state[SCALE, k], state[CLOCK, k] + state[FRACTION, k]
            kept = before / (1.0 + board[PUSH, k] * (l2[k] / board[UNIT, k]))
            if power > 0:
                late = raised(clock / state[REFERENCE, k], power)
                state[SCALE_LAG, k] += late * (before - kept)
            state[SCALE, k] = kept
            if kept < SMALLEST_SCALE:
                settle_lane(k, state, kind, flat, stride, lag_at)


@part
def settle_lane(k, state, kind, flat, stride, lag_at):
    """As `shrinkage.settle`, without L1."""
    scale, behind = state[SCALE, k], state[SCALE_LAG, k]
    for i in range(k, np.uint64(len(flat)), stride):
        v = flat[i]
        if kind == BY_UNITS:
            flat[i + lag_at] -= behind * v
        flat[i] = scale * v
    state[SCALE, k], state[SCALE_LAG, k] = 1.0, 0.0
