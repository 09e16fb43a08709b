"""The clocks of lanes: `clock`, `label_units` and `rare_classes` for many models side by side.

Each lane has its own clock, and its own column in each array of `LaneStates`. What every row needs is done for
all lanes at once. What happens now and then, such as the beginning of a level of time, is done on copies of
one lane's columns (`take_lane`). Numbers of a lane that change as rarely are kept on the board.
"""

import math
from typing import NamedTuple

import numpy as np

from steelyard.learn import label_units, rare_classes
from steelyard.learn.averages import lasts_until, next_reference, raise_to
from steelyard.learn.batched_loss import PUSH, ROWS, SLOPE, VALUE, H, P, Y, address
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
from steelyard.learn.rare_classes import rare_class_factor
from steelyard.learn.shrinkage import SMALLEST_SCALE
from steelyard.native.declare import part
from steelyard.native.kinds import Numbers, Table

# Further rows of the board. For the lane: the unit of its labels; the typical slope and the scale of levels that
# follow from it; its push for a weight of 1; the clocks at which its unit, and its reference, must be renewed;
# whether its rows are cut into epochs. For the row: its weight in lanes that learn it in one step; Σ z²; the
# slopes of all lanes; the distance at which other slopes are wanted, and these; what they overwrite meanwhile.
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


class LaneStates(NamedTuple):
    """The scalars of all lanes: arrays with a column for each lane."""

    state: Table
    moments: Table
    label_state: Table
    class_state: Table


class OneLane(NamedTuple):
    """Copies of one lane's columns."""

    now: Numbers
    moment: Numbers
    label_state: Numbers
    class_state: Numbers


@part
def take_lane(k, every_lane, one_lane):
    """Copy the columns of a lane."""
    state, moments, label_state, class_state = every_lane
    now, moment, own_label_state, own_class_state = one_lane
    for i in range(len(now)):
        now[i] = state[i, k]
    for i in range(len(moment)):
        moment[i] = moments[i, k]
    for i in range(len(own_label_state)):
        own_label_state[i] = label_state[i, k]
    for i in range(len(own_class_state)):
        own_class_state[i] = class_state[i, k]


@part
def put_lane(k, every_lane, one_lane, board, power, derivative):
    """Copy the columns back, and update what the board has of the lane."""
    state, moments, label_state, class_state = every_lane
    now, moment, own_label_state, own_class_state = one_lane
    for i in range(len(now)):
        state[i, k] = now[i]
    for i in range(len(moment)):
        moments[i, k] = moment[i]
    for i in range(len(own_label_state)):
        label_state[i, k] = own_label_state[i]
    for i in range(len(own_class_state)):
        class_state[i, k] = own_class_state[i]
    unit, look = 1.0, math.inf
    if len(own_label_state) > 0:
        unit = own_label_state[label_units.UNIT]
        look = math.ldexp(1.0, octave(own_label_state[label_units.SET_AT])) if unit > 0.0 else 0.0
    if unit != board[UNIT, k]:
        board[UNIT, k] = unit
        board[TYPICAL, k] = typical_slope(own_label_state, unit, derivative)
        board[LEVELS, k] = level_scale(board[TYPICAL, k])
    board[RATE, k] = moment[PUSHED] * unit * rare_class_factor(own_class_state)
    board[LOOK_AT, k] = look
    board[LASTS, k] = lasts_until(now[REFERENCE], power)


@part
def begin_chunk(lanes, cut, every_lane, one_lane, board, power, derivative):
    """Fill in what the board has of each lane."""
    for k in range(lanes):
        board[CUT, k] = cut[k]
        board[UNIT, k] = -1.0
        take_lane(k, every_lane, one_lane)
        look_at_time(one_lane.now, one_lane.moment)
        put_lane(k, every_lane, one_lane, board, power, derivative)


@part
def begin_labels(lanes, board, state, label_state, bias_value):
    """Let distances and biases begin at the first label, as `label_units.begin_labels` does."""
    if len(label_state) > 0 and bias_value > 0.0:
        for k in range(lanes):
            y, origin, bias = board[Y, k], label_state[label_units.ORIGIN, k], state[BIAS, k]
            first = (board[H, k] > 0.0) & (label_state[label_units.WEIGHT, k] == 0.0)
            label_state[label_units.ORIGIN, k] = y if first else origin
            state[BIAS, k] = y if first else bias


@part
def weigh(lanes, board, state):
    """Count the weight, and exclude lanes that learn the row part by part; returns whether any does."""
    broken = np.uint64(0)
    for k in range(lanes):
        h, fraction = board[H, k], state[FRACTION, k]
        apart = (board[CUT, k] > 0.0) & (h > 0.0) & ((h != 1.0) | (fraction != 0.0))
        board[WHOLE, k] = 0.0 if apart else h
        state[WEIGHT, k] += h
        broken |= np.uint64(apart)
    return broken > 0


@part
def look_at_labels(lanes, board, every_lane, one_lane, power, derivative, bias_value):
    """Update the unit of the labels in lanes where it is time."""
    if len(every_lane.label_state) == 0:
        return
    state = every_lane.state
    some = np.uint64(0)
    for k in range(lanes):
        some |= np.uint64((board[H, k] > 0.0) & (state[CLOCK, k] >= board[LOOK_AT, k]))
    for k in range(lanes if some > 0 else np.uint64(0)):
        if board[H, k] > 0.0 and state[CLOCK, k] >= board[LOOK_AT, k]:
            take_lane(k, every_lane, one_lane)
            look_at_label(
                one_lane.now, one_lane.label_state, board[Y, k], board[H, k], bias_value, board[CUT, k] > 0.0
            )
            put_lane(k, every_lane, one_lane, board, power, derivative)


@part
def grow_references(lanes, board, every_lane, one_lane, power, derivative, flat, stride, lag_at, factors):
    """Grow the references of times where clocks have run ahead; lags follow in one walk through the features."""
    state = every_lane.state
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
            shrink = raise_to(before / grown, power)
            state[BIAS_LAG, k] *= shrink
            state[SCALE_LAG, k] *= shrink
            state[REFERENCE, k] = grown
            factors[k] = shrink
            walks = walks or before > 0.0
            take_lane(k, every_lane, one_lane)
            look_at_time(one_lane.now, one_lane.moment)
            put_lane(k, every_lane, one_lane, board, power, derivative)
    for lag in range(lag_at, np.uint64(len(flat)) if walks else lag_at, stride):
        some = np.uint64(0)
        for k in range(lanes):
            some |= np.uint64(flat[lag + k] != 0.0)
        for k in range(lanes if some > 0 else np.uint64(0)):  # memory that no row has needed is not touched
            flat[lag + k] *= factors[k]


@part
def find_slopes(lanes, board, state, moments, bias_value, offset, slopes):
    """Fill in pushes, and slopes as `slope_at` does; returns whether any lane learns the row in one step."""
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
    """Fill in BESIDE: the slopes at the distances in row `shift` from the predictions."""
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
def count_rows(lanes, board, state, moments, label_state, class_state, low, spread):
    """Do what `count_part` and `advance` do, without beginning levels of time; returns whether any begins."""
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
    if len(label_state) > 0:
        for k in range(lanes):
            h, apart = board[WHOLE, k], board[Y, k] - label_state[label_units.ORIGIN, k]
            apart = min(max(apart, -label_units.LONGEST), label_units.LONGEST)
            apart = apart if h > 0.0 else 0.0
            label_state[label_units.WEIGHT, k] += h
            label_state[label_units.SUM, k] += h * apart
            label_state[label_units.SQUARES, k] += h * apart * apart
    if len(class_state) > 0:
        for k in range(lanes):
            h, share = board[WHOLE, k], (board[Y, k] - low) * spread
            share = share if h > 0.0 else 0.0
            class_state[rare_classes.WEIGHT, k] += h
            class_state[rare_classes.SECOND, k] += h * share
    return begins > 0


@part
def begin_levels(lanes, board, every_lane, one_lane, power, derivative):
    """Begin a level of time in lanes whose clock has reached it."""
    for k in range(lanes):
        if every_lane.state[CLOCK, k] >= every_lane.moments[UNTIL, k]:
            take_lane(k, every_lane, one_lane)
            begin_level(one_lane.now, one_lane.moment, one_lane.class_state)
            put_lane(k, every_lane, one_lane, board, power, derivative)


@part
def decay(lanes, board, state, l2, power, kind, flat, stride, lag_at):
    """Charge the L2 of a row, as `epochs.owe` does, in lanes that learned it in one step."""
    for k in range(lanes):
        if board[WHOLE, k] > 0.0 and l2[k] > 0.0 and board[UNIT, k] > 0.0:
            before, clock = state[SCALE, k], state[CLOCK, k] + state[FRACTION, k]
            kept = before / (1.0 + board[PUSH, k] * (l2[k] / board[UNIT, k]))
            if power > 0:
                late = raise_to(clock / state[REFERENCE, k], power)
                state[SCALE_LAG, k] += late * (before - kept)
            state[SCALE, k] = kept
            if kept < SMALLEST_SCALE:
                pay_all_in_lane(k, state, kind, flat, stride, lag_at)


@part
def pay_all_in_lane(k, state, kind, flat, stride, lag_at):
    """Apply lazy L2 in one lane, as `shrinkage.pay_all` does."""
    scale, behind = state[SCALE, k], state[SCALE_LAG, k]
    for i in range(k, np.uint64(len(flat)), stride):
        v = flat[i]
        if kind == BY_UNITS:
            flat[i + lag_at] -= behind * v
        flat[i] = scale * v
    state[SCALE, k], state[SCALE_LAG, k] = 1.0, 0.0
