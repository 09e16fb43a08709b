"""Adaptive rates under which a weight of h is h copies: they change at whole numbers of the clock.

Within one unit of the clock, an *epoch*, feature i has the rate

    1/√(G_i + m_i·B)    G_i: its sum of squares when the epoch began
                        m_i: what a row adds to that sum for each ℓ′²
                        B: the largest ℓ′² met so far in this epoch

rounded to levels. Along one example |ℓ′| only falls, so B is the ℓ′² at which its first part in this epoch
began, however the example is cut into parts. While rates stay the same, the flow of the loss is exact, and
∫ ℓ′² = (loss before − loss after)/speed adds up over parts. Each row of weight 1 is an epoch.

A weight of h takes h epochs, which *join* as long as no level changes. After epochs in which sums have grown
by m·A, a rate depends on G + m·(A + ℓ′²). At the first epoch A is 0; at every later one A is at least one
epoch of the last ℓ′². So A + ℓ′² lies between the smaller of ℓ′(start)² and 2·ℓ′(end)², and
A(end) + ℓ′(start)². Epochs join if no level changes between these two. That is sufficient, so joining never
changes a result.

L1 and L2 are paid at the end of each epoch, and shrinking coefficients move the prediction, so epochs do not
join. Under L2 alone the coefficients of a row stay combinations of what they were and its moves: while no
level changes, an epoch takes a few scalars.

A weight that is not whole leaves an epoch open, and later rows end it. The gains of features in it are added
to their sums at once, and are also kept in `gained`, to be subtracted as long as the epoch lasts; `touched`
lists these features.

The functions here work on the row's own copies: z, values in units; v, coefficients; g, sums of squares when
the epoch began; fresh, their gains since; lags; and moves, z times its rate without the factor that all rates
have in common.
"""

import math
from typing import NamedTuple

import numpy as np

from steelyard.learn.clock import (
    LATE,
    PUSHED,
    UNTIL,
    advance,
    common_factor,
    count_norm,
    count_part,
    late_at,
    slope_at,
)
from steelyard.learn.epoch_rates import HEAVY, bias_level, count_joining, fill_moves, gain_of, level_bounds
from steelyard.learn.label_units import look_at_label, teaches_unit, typical_slope
from steelyard.learn.levels import level_scale
from steelyard.learn.linear import (
    BIAS,
    BIAS_GAINED,
    BIAS_LAG,
    BIAS_SQUARES,
    CLOCK,
    FRACTION,
    L1_LAG,
    L1_TOTAL,
    PAYMENTS,
    SCALE,
    SCALE_LAG,
    SLIVER,
    STEEPEST,
    TOUCHED,
)
from steelyard.learn.rare_classes import rare_class_factor
from steelyard.learn.rows import LARGEST, dot
from steelyard.learn.shrinkage import must_pay_all, note_payment
from steelyard.native.declare import apart, helper, part
from steelyard.native.kinds import Function2, Function3, Number, Switch


class Rule(NamedTuple):
    """How kernels with rates of features learn.

    Labels lie between `low` and `high`. Without `cut` a row of any weight is one step, as in updates that are not
    invariant; with `multiply` sums of squares use the gradient times the weight, as the explicit baseline does.
    """

    bias_value: Number
    low: Number
    high: Number
    step: Function3
    value: Function2
    derivative: Function2
    cut: Switch
    multiply: Switch
    l1: Number
    l2: Number


@part
def learn_parts(
    count, product, x, z, units, v, g, fresh, lags, moves, typed, now, moment, label_state, class_state,
    payments, gained, stride, at, touched, offset, y, share, left, misfits, bias_value, counts, normed, l1,
    l2, step, value, derivative,
):  # fmt: skip
    """Learn a weight of `left`, epoch by epoch; returns the weight left if the caller has to act first.

    The caller then lets all features pay L1 and L2 (`must_pay_all`), or changes the units of a row that
    `misfits` them and has something to teach. `product` is Σ v·x, and moves of v are multiplied by `units`, if
    there are any. `counts` says whether m is min(z², |z|) or z², `normed` whether rates have a common factor;
    `offset` is added to the prediction of coefficients and bias. The gain of feature i is
    gained[i·stride + at].
    """
    q = bias_value + dot(count, z, z)
    shrinks = l1 > 0.0 or l2 > 0.0
    p = now[SCALE] * product + (now[BIAS] * bias_value + offset)
    before = value(p, y)
    while left > 0.0:
        if now[FRACTION] <= SLIVER:  # a sliver of an epoch must not decide for all of it
            now[STEEPEST] = 0.0
        unit = look_at_label(now, label_state, y, 1.0, bias_value, True)
        pushed = moment[PUSHED] * unit * rare_class_factor(class_state)
        moves_something = pushed > 0.0 and (q > 0.0 or misfits)
        still = now[BIAS] * bias_value + offset
        slope = slope_at(p, still, y, before, unit, moment, derivative) if moves_something else 0.0
        if misfits and slope != 0.0:
            return left
        if slope == 0.0 and not shrinks and not (now[FRACTION] > 0.0 and teaches_unit(label_state, y)):
            if pass_by(
                now, moment, label_state, class_state, gained, stride, at, touched, y, share, left, bias_value
            ):
                _begin_epoch(count, g, fresh)
            return 0.0
        until = 1.0 - now[FRACTION]
        weight = left if left <= until + SLIVER else until
        several = until == 1.0 and left >= 2.0 - SLIVER and l1 == 0.0 and slope != 0.0
        low, high = 0.0, np.inf
        gain = n = factor = bias_rate = along = 0.0
        if slope != 0.0:
            now[STEEPEST] = max(now[STEEPEST], min(slope * slope, LARGEST))
            typical = typical_slope(label_state, unit, derivative)
            steepest, scale = now[STEEPEST], level_scale(typical)
            fill_moves(count, z, g, steepest, scale, counts, moves, typed)
            factor = (common_factor(now, q, typical) if normed else 1.0) * math.sqrt(scale)
            bias_rate = factor / math.sqrt(bias_level(now, steepest, scale)) * bias_value
            n = bias_rate + factor * dot(count, moves, z)
            if len(units) > 0:
                multiply_by(count, moves, units)
            if several:
                low, high = level_bounds(count, z, g, now, scale, bias_value, counts, typed)
                along = dot(count, moves, x) if shrinks else 0.0
        last = moment[UNTIL]
        if several and not shrinks:
            most = min(np.floor(left + SLIVER), last - now[CLOCK])
            weight = most
            if n > 0.0:  # pragma: no branch  (numbers may be out of range)
                heavy = now[CLOCK] + left > HEAVY
                weight = count_joining(
                    p, y, before, slope, pushed * n, low, high, most, heavy, step, value, derivative
                )
        moved = late = owed = 0.0
        while True:  # under L2, epoch after epoch as long as no level changes
            if slope != 0.0 and n > 0.0:
                change = step(p, y, pushed * n * weight)
                after = value(p + change, y)
                gain += gain_of(before, after, weight, pushed * n, slope, p, change, y, derivative)
                count_norm(now, q, change, pushed * n)
                p, before = p + change, after
                s = change / n
                now[BIAS] += s * bias_rate
                now[BIAS_LAG] += moment[LATE] * s * bias_rate
                s *= factor / now[SCALE]
                moved += s
                late += (now[SCALE] * moment[LATE] + now[SCALE_LAG]) * s
                product += s * along
            count_part(label_state, class_state, y, share, weight)
            left = left - weight if left - weight > SLIVER else 0.0
            ended = advance(now, moment, class_state, weight)
            if not (ended and shrinks):
                break
            owed = owe(now, payments, pushed, l1, l2 / unit if unit > 0.0 else 0.0, moment)
            still = now[BIAS] * bias_value + offset
            p = now[SCALE] * product + still
            before = value(p, y)
            if not several or left < 1.0 or now[CLOCK] == last or must_pay_all(now, payments):
                break
            slope = slope_at(p, still, y, before, unit, moment, derivative)
            if slope != 0.0 and not low <= gain + slope * slope < high:
                break
            weight = 1.0
        if slope != 0.0 or moved != 0.0:
            now[BIAS_GAINED] += gain * bias_value
            _move(count, v, lags, g, fresh, z, moves, moved, late, gain, ended, counts, typed)
        elif ended:
            _begin_epoch(count, g, fresh)
        if ended:
            close_epoch(gained, stride, at, touched, now)
        if ended and shrinks:
            if l1 > 0.0:
                _pay_l1(count, v, lags, owed, _behind(now, moment), typed)
            product = dot(count, v, x)
            p = now[SCALE] * product + (now[BIAS] * bias_value + offset)
            before = value(p, y)
            if must_pay_all(now, payments):
                return left
    return 0.0


@helper
def pass_by(now, moment, label_state, class_state, gained, stride, at, touched, y, share, left, bias_value):
    """Let a row that teaches nothing move the clock by `left`; returns whether an epoch has ended."""
    apart()
    some = False
    while left > 0.0:
        look_at_label(now, label_state, y, 1.0, bias_value, True)
        until = 1.0 - now[FRACTION] if now[FRACTION] > 0.0 else moment[UNTIL] - now[CLOCK]
        weight = left if left <= until + SLIVER else until
        count_part(label_state, class_state, y, share, weight)
        left = left - weight if left - weight > SLIVER else 0.0
        if advance(now, moment, class_state, weight):
            close_epoch(gained, stride, at, touched, now)
            some = True
    return some


@part
def open_epoch(count, g, fresh):
    """Subtract the gains of the row's features in the open epoch."""
    for k in range(count):
        g[k] -= fresh[k]


@part
def leave_open(features, fresh, gained, stride, at, touched, now):
    """Store the gains of the row's features in the open epoch."""
    listed = np.uint64(now[TOUCHED])
    for k in range(len(features)):
        place = np.uint64(features[k]) * stride + at
        touched[listed] = features[k]  # without a branch, which would be hard to predict
        listed += np.uint64((gained[place] == 0.0) & (fresh[k] > 0.0))
        gained[place] = fresh[k]
    now[TOUCHED] = listed


@part
def close_epoch(gained, stride, at, touched, now):
    """End an epoch: its gains count from now on."""
    for t in range(np.int64(now[TOUCHED])):
        gained[np.uint64(touched[t]) * stride + at] = 0.0
    now[BIAS_SQUARES] = min(now[BIAS_SQUARES] + now[BIAS_GAINED], LARGEST)
    now[TOUCHED] = now[BIAS_GAINED] = 0.0


@part
def _move(count, v, lags, g, fresh, z, moves, s, late, gain, ended, counts, typed):
    """Move coefficients and lags, and raise sums of squares: at once if the epoch has ended, else as gains."""
    typed[0] = s
    s_typed, kept = typed[0], 0.0 if ended else 1.0
    for k in range(count):
        square = np.float64(z[k] * z[k])
        m = min(square, np.float64(abs(z[k]))) if counts else square
        v[k] += s_typed * moves[k]
        lags[k] += late * moves[k]
        grown = min(fresh[k] + m * gain, LARGEST)
        g[k] = min(g[k] + (1.0 - kept) * grown, LARGEST)
        fresh[k] = kept * grown


@part
def multiply_by(count, moves, units):
    for k in range(count):
        moves[k] *= units[k]


@part
def _begin_epoch(count, g, fresh):
    """Add the gains to sums of squares, as a new epoch begins."""
    for k in range(count):
        g[k] = min(g[k] + fresh[k], LARGEST)
        fresh[k] = 0.0


@part
def owe(now, payments, pushed, l1, l2, moment):
    """Charge all features with the L1 and L2 of an epoch; returns the L1."""
    owed = pushed * l1 / now[SCALE]
    now[L1_TOTAL] += owed
    now[L1_LAG] += _behind(now, moment) * owed
    kept = now[SCALE] / (1.0 + pushed * l2)
    now[SCALE_LAG] += late_at(now[CLOCK] + now[FRACTION], now, moment) * (now[SCALE] - kept)
    now[SCALE] = kept
    now[PAYMENTS] = note_payment(payments, np.int64(now[PAYMENTS]), now[L1_TOTAL], now[L1_LAG])
    return owed


@part
def _behind(now, moment):
    """Return C of `shrinkage`: the growth of a lag for each unit of its coefficient at this time."""
    return now[SCALE] * late_at(now[CLOCK] + now[FRACTION], now, moment) + now[SCALE_LAG]


@part
def _pay_l1(count, v, lags, owed, behind, typed):
    typed[0] = owed
    owed_typed = typed[0]
    for k in range(count):
        paid = math.copysign(min(abs(v[k]), owed_typed), v[k])
        v[k] -= paid
        lags[k] -= behind * paid
