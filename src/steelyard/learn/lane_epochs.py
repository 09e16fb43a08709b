"""A row in one lane, epoch by epoch: for weights other than 0 and 1, and where an epoch is open.

`epochs` learns it on copies of the lane's numbers, as for a single model.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.learn import clock, label_units, rare_classes
from steelyard.learn.batched_loss import H, Y
from steelyard.learn.epochs import learn_parts, leave_open, open_epoch, pass_by
from steelyard.learn.label_units import teaches_unit
from steelyard.learn.lane_clocks import SLOPES, OneLane, pay_all_in_lane, put_lane, take_lane
from steelyard.learn.lane_features import BY_LARGEST, BY_NOTHING, BY_UNITS
from steelyard.learn.lanes import ALIVE
from steelyard.learn.linear import FRACTION, SCALE, SCALE_LAG, STATE_SIZE
from steelyard.learn.rows import BLOCK, LARGEST, dot
from steelyard.learn.shrinkage import must_pay_all
from steelyard.learn.units import TINIEST, any_misfit, change_units, has_length_1, scaled_gain
from steelyard.native.declare import apart, helper, part
from steelyard.native.kinds import Keys, Table, WeightRows, Weights, Words


class Scratch(NamedTuple):
    """Buffers for copies of the longest row, and of one lane's columns."""

    numbers: WeightRows
    sums: Table
    features: Words
    places: Words
    flags: Keys
    typed: Weights
    payments: Table
    lane: OneLane


def scratch_for(indptr: NDArray[Any], dtype: str, label_state: bool, class_state: bool) -> Scratch:
    """Make the buffers; labels have a unit, and rare classes a factor, where their states are wanted."""
    lane = OneLane(
        np.zeros(STATE_SIZE), np.zeros(clock.MOMENT_SIZE), np.zeros(label_units.SIZE if label_state else 0),
        np.zeros(rare_classes.SIZE if class_state else 0),
    )  # fmt: skip
    size = (int(np.diff(indptr).max(initial=0)) // BLOCK + 3) * BLOCK
    return Scratch(
        np.zeros((6, size), dtype), np.zeros((3, size)), np.zeros(size, np.uint64), np.zeros(size, np.uint64),
        np.zeros(size, np.uint32), np.zeros(5, dtype), np.zeros((0, 2)), lane,
    )  # fmt: skip


@helper
def learn_lane(
    k, start, end, base, indices, values, lanes, flat, squares, stride, g_stride, g_at, unit_at, lag_at, kind,
    gained, touched, every_lane, board, power, offset, low, spread, bias_value, l2, scratch,
    step, value, derivative,
):  # fmt: skip
    """Learn the row in lane k."""
    apart()
    numbers, sums, features, places, flags, typed, payments, one_lane = scratch
    now, moment, label_state, class_state = one_lane
    state = every_lane.state
    x, v, units, z, moves, factors = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
    g, lags, fresh = sums[0], sums[1], sums[2]
    y, left = board[Y, k], board[H, k]
    share = (y - low) * spread
    count = end - start
    filled = (count + np.uint64(BLOCK - 1)) // np.uint64(BLOCK) * np.uint64(BLOCK)
    take_lane(k, every_lane, one_lane)
    idle = board[SLOPES, k] == 0.0 and l2 == 0.0 and not teaches_unit(label_state, y)
    if idle or state[ALIVE, k] == 0.0:
        pass_by(now, moment, label_state, class_state, gained, lanes, k, touched, y, share, left, bias_value)
    else:
        for j in range(count):
            features[j] = np.uint64(indices[start + j - base])
        for j in range(count, filled):
            x[j] = v[j] = units[j] = lags[j] = g[j] = 0.0
        for j in range(filled):
            fresh[j] = 0.0
        _take(count, features, flat, stride, unit_at, lag_at, kind, k, v, units, lags)
        for j in range(count):
            g[j] = squares[features[j] * g_stride + g_at + k]
        if now[FRACTION] > 0.0:
            for j in range(count):
                fresh[j] = gained[features[j] * lanes + k]
            open_epoch(count, g, fresh)
        _standardize(filled, x, units, kind, z, factors, typed)
        misfits = _misfits(filled, x, units, kind, z, typed)
        inputs = z if kind == BY_UNITS else x  # what coefficients multiply
        used_factors = factors[: filled if kind == BY_LARGEST else np.uint64(0)]
        while left > 0.0:
            left = learn_parts(
                filled, dot(filled, v, inputs), inputs, z, used_factors, v, g, fresh, lags, moves,
                typed, now, moment, label_state, class_state, payments, gained, lanes, k, touched,
                offset, y, share, left, misfits, bias_value,
                kind == BY_UNITS, kind != BY_NOTHING, 0.0, l2, step, value, derivative,
            )  # fmt: skip
            if must_pay_all(now, payments):
                _put(count, features, flat, stride, unit_at, lag_at, kind, k, v, units, lags)
                state[SCALE, k], state[SCALE_LAG, k] = now[SCALE], now[SCALE_LAG]
                pay_all_in_lane(k, state, kind, flat, stride, lag_at)
                now[SCALE], now[SCALE_LAG] = 1.0, 0.0
                _take(count, features, flat, stride, unit_at, lag_at, kind, k, v, units, lags)
            elif left > 0.0:  # there is something to learn, in units that do not fit
                misfits = False
                if kind == BY_UNITS:
                    length_1 = has_length_1(start, end, values)
                    change_units(filled, x, z, v, g, fresh, units, lags, flags, places, length_1, typed)
                else:
                    _grow(count, x, v, g, fresh, units)
                    _standardize(filled, x, units, kind, z, factors, typed)
        _put(count, features, flat, stride, unit_at, lag_at, kind, k, v, units, lags)
        for j in range(count):
            squares[features[j] * g_stride + g_at + k] = min(g[j] + fresh[j], LARGEST)
        if now[FRACTION] > 0.0:  # pragma: no branch  (heavy rows may end whole)
            leave_open(features[:count], fresh, gained, lanes, k, touched, now)
    put_lane(k, every_lane, one_lane, board, power, derivative)


@part
def _take(count, features, flat, stride, unit_at, lag_at, kind, k, v, units, lags):
    for j in range(count):
        i = features[j] * stride + k
        v[j] = flat[i]
        units[j] = flat[i + unit_at] if kind != BY_NOTHING else units.dtype.type(1.0)
        lags[j] = flat[i + lag_at] if kind == BY_UNITS else 0.0


@part
def _standardize(count, x, units, kind, z, factors, typed):
    """Write z, and where coefficients are those of raw values, the factors of moves."""
    typed[0], typed[1], typed[2] = TINIEST, 0.0, 1.0
    tiniest, zero, one = typed[0], typed[1], typed[2]
    if kind == BY_NOTHING:
        for j in range(count):
            z[j] = x[j]
    elif kind == BY_LARGEST:
        for j in range(count):
            factors[j] = one / units[j] if units[j] > tiniest else zero
            z[j] = x[j] * factors[j]
    else:
        for j in range(count):
            size = abs(units[j])
            own = x[j] / max(size, tiniest)
            z[j] = own if size > tiniest else zero


@part
def _misfits(count, x, units, kind, z, typed):
    if kind == BY_UNITS:
        return any_misfit(count, x, units, z, typed)
    larger = False
    for j in range(count):
        larger = larger or (kind == BY_LARGEST and abs(x[j]) > units[j])
    return larger


@part
def _grow(count, x, v, g, fresh, units):
    """Raise the largest |value|, and convert coefficients and sums of squares to it."""
    for j in range(count):
        size = abs(x[j])
        if size > units[j]:
            shrink = units[j] / size
            squared = np.float64(shrink) * shrink
            v[j] *= shrink
            g[j] *= squared
            fresh[j] = scaled_gain(fresh[j], squared)
            units[j] = size


@part
def _put(count, features, flat, stride, unit_at, lag_at, kind, k, v, units, lags):
    for j in range(count):
        i = features[j] * stride + k
        flat[i] = v[j]
        if kind != BY_NOTHING:
            flat[i + unit_at] = units[j]
        if kind == BY_UNITS:
            flat[i + lag_at] = lags[j]
