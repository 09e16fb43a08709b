"""One linear model with a rate and a unit for each feature, both found while it learns: learn a chunk of rows.

Coefficients v are in units of the feature (see `units`): the prediction is Σ v·z. A feature has the rate
1/√(G + m·ℓ′²) with m = min(z², |z|): n counts add to G what n rows with one would. Rates change when the
clock reaches a whole number: `epochs` says how a row of any weight is learned; a row of weight 1 that begins
with an epoch is one step, and is learned here.

A row works on copies that lie side by side in memory, padded with 0 to whole blocks, so that the arithmetic
is vectorised; results are written back at the end, and a row of weight 0 writes nothing. A prediction needs one
complex number of each feature, and learning another one: `pairs` has coefficients and units, `sums` has G and
the lags of averages (see `averages`), in float64, or rounding would decide on levels. `typed` is a small array
that gives scalars the type of coefficients.

As in `linear`, a loop that sums does not store. Each part has one loop, or the compiler would count
references to its arrays in every row.
"""

import math
from typing import NamedTuple

import numpy as np

from steelyard.learn.averages import lasts_until, next_reference, raise_to
from steelyard.learn.clock import (
    LATE,
    POWER,
    PUSHED,
    advance,
    common_factor,
    count_norm,
    count_part,
    look_at_time,
    slope_at,
)
from steelyard.learn.epoch_rates import bias_level, fill_moves, gain_of
from steelyard.learn.epochs import (
    Rule,
    learn_parts,
    leave_open,
    open_epoch,
    owe,
    pass_by,
)
from steelyard.learn.label_units import begin_labels, look_at_label, teaches_unit, typical_slope
from steelyard.learn.levels import level_scale
from steelyard.learn.linear import (
    BIAS,
    BIAS_LAG,
    BIAS_SQUARES,
    CLOCK,
    FRACTION,
    L1_LAG,
    L1_TOTAL,
    LOSS,
    PAYMENTS,
    REFERENCE,
    SCALE,
    SCALE_LAG,
    WEIGHT,
    soft,
)
from steelyard.learn.origins import move_origins, note_columns
from steelyard.learn.rare_classes import rare_class_factor
from steelyard.learn.row_copies import Scratch, clear, put, split_pairs, take, take_pairs
from steelyard.learn.rows import LARGEST, Rows, dot, fill
from steelyard.learn.shrinkage import lag_of_payment, must_pay_all, pay_all, rescale_lags
from steelyard.learn.units import any_misfit, change_units, divide, has_length_1
from steelyard.native.declare import kernel, part
from steelyard.native.kinds import Counts, ExactPairs, Numbers, Pairs, Table, Weights

_NONE, _ONE = np.uint64(0), np.uint64(1)


class Model(NamedTuple):
    """The arrays of a model.

    `gained` and `touched` are those of `epochs`, empty if all weights were whole. `columns[:counts[0]]` are the
    features that have origins, `candidates[:counts[1]]` those that may get one. `l1_lags` and `payments` are those of
    `shrinkage`, empty without L1 or averages. `label_state` (see `label_units`) is empty where labels have no unit,
    `class_state` (see `rare_classes`) where steps do not depend on classes.
    """

    pairs: Pairs
    sums: ExactPairs
    gained: Numbers
    touched: Counts
    origins: Weights
    columns: Counts
    candidates: Table
    counts: Counts
    l1_applied: Numbers
    l1_lags: Numbers
    payments: Table
    state: Numbers
    label_state: Numbers
    class_state: Numbers


@kernel
def learn(rows: Rows, model: Model, rule: Rule, predictions: Numbers, scratch: Scratch):
    """Learn the rows; `scratch` is that of `scratch_for` them."""
    indptr, indices, values, dense, labels, sample_weight, offsets, order = rows
    pairs, sums, gained, touched, origins, columns, candidates, counts = model[:8]
    l1_applied, l1_lags, payments, now, label_state, class_state = model[8:]
    bias_value, low, high, step, value, derivative, cut, multiply, l1, l2 = rule
    own, own_sums, numbers, exact, typed, moment, places, flags, marks = (
        scratch  # `typed` gives scalars the type of v
    )
    v, units, x, z, moves = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    typed_g, g, lags, fresh = numbers[5], exact[0], exact[1], exact[2]
    ordered = len(order) > 0
    based = len(offsets) > 0
    shrinks = l1 > 0.0 or l2 > 0.0
    scaled_for, typical, scale = (-1.0 if len(label_state) > 0 else 1.0), 1.0, level_scale(1.0)
    root = math.sqrt(scale)
    power, spread = np.int64(moment[POWER]), 1.0 / (high - low)
    lasts = lasts_until(now[REFERENCE], power)
    look_at_time(now, moment)
    note_columns(columns, counts[0], marks)
    for turn in range(np.uint64(len(order) if ordered else len(labels))):
        row = np.uint64(order[turn]) if ordered else turn
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        h = sample_weight[row]
        y = labels[row]
        if h > 0.0:
            begin_labels(now, label_state, y, bias_value)
            if counts[1] > 0:
                move_origins(
                    start, end, base, indices, values, dense, pairs, sums, gained, origins, columns,
                    candidates, counts, l1_applied, l1_lags, payments, now,
                )  # fmt: skip
                note_columns(columns, counts[0], marks)
        filled = fill(start, end, values, x)
        near = take_pairs(start, end, base, indices, dense, counts[0] > 0, pairs, own, marks, places)
        if counts[0] > 0 and dense:
            for k in range(end - start):
                x[k] = x[k] - origins[k] if x[k] != 0.0 else x[k]
        for c in range(near):
            k = places[c]
            x[k] = x[k] - origins[np.uint64(indices[start + k - base])] if x[k] != 0.0 else x[k]
        divide(filled, own, x, v, units, z, typed)
        if l1 > 0.0:
            for j in range(start, end):
                v[j - start] = soft(v[j - start], now[L1_TOTAL] - l1_applied[np.uint64(indices[j - base])])
        offset = offsets[row] if based else 0.0
        product = dot(filled, v, z)
        still = now[BIAS] * bias_value + offset
        p = now[SCALE] * product + still
        predictions[row] = p
        if h == 0.0:
            continue
        before = value(p, y)
        now[LOSS] += h * before
        now[WEIGHT] += h
        if now[CLOCK] + now[FRACTION] + h > lasts:
            grown = next_reference(now[REFERENCE], now[CLOCK] + now[FRACTION] + h, power)
            rescale_lags(sums, l1_lags, payments, now, raise_to(now[REFERENCE] / grown, power))
            now[REFERENCE], lasts = grown, lasts_until(grown, power)
            look_at_time(now, moment)
        share = (y - low) * spread
        unit = look_at_label(now, label_state, y, h, bias_value, cut)
        pushed = moment[PUSHED] * unit * rare_class_factor(class_state)  # by a weight of 1
        slope = slope_at(p, still, y, before, unit, moment, derivative) if pushed > 0.0 else 0.0
        if cut and (h != 1.0 or now[FRACTION] != 0.0):
            if slope == 0.0 and not shrinks and not teaches_unit(label_state, y):
                pass_by(
                    now, moment, label_state, class_state, gained, _ONE, _NONE, touched, y, share, h,
                    bias_value,
                )  # fmt: skip
                continue
            _learn_in_epochs(
                start, end, base, indices, values, dense, filled, product, pairs, sums, gained, touched,
                l1_applied, l1_lags, payments, now, moment, label_state, class_state, own, own_sums, numbers,
                exact, flags, places, typed, offset, y, share, h, bias_value, l1, l2, step, value, derivative,
            )  # fmt: skip
            continue
        if slope != 0.0:
            if len(l1_lags) > 0:
                _pay_lags(start, end, base, indices, pairs, sums, l1_applied, l1_lags, payments, now)
            take(start, end, base, indices, dense, sums, own_sums)
            if any_misfit(filled, x, units, z, typed):
                split_pairs(filled, own_sums, g, lags)
                length_1 = has_length_1(start, end, values)
                change_units(filled, x, z, v, g, fresh, units, lags, flags, places, length_1, typed)
                _join(filled, g, lags, own_sums)
                p = now[SCALE] * dot(filled, v, z) + still  # it has changed
                before = value(p, y)
                slope = slope_at(p, still, y, before, unit, moment, derivative)
            if unit != scaled_for:
                scaled_for, typical = unit, typical_slope(label_state, unit, derivative)
                scale = level_scale(typical)
                root = math.sqrt(scale)
            q = bias_value + dot(filled, z, z)
            _learn_step(
                filled, z, v, units, typed_g, moves, own, own_sums, typed, now, moment, p, y, before, slope,
                h, q, pushed, typical, scale, root, bias_value, multiply, step, value, derivative,
            )  # fmt: skip
            put(start, end, base, indices, dense, own_sums, sums)
            put(start, end, base, indices, dense, own, pairs)
            for j in range(start if l1 > 0.0 else end, end):
                l1_applied[np.uint64(indices[j - base])] = now[L1_TOTAL]
        count_part(label_state, class_state, y, share, h)
        advance(now, moment, class_state, h)
        if shrinks:
            # the row's own features pay when they are needed, as all others do
            owe(now, payments, pushed * (1.0 if cut else h), l1, l2 / unit if unit > 0.0 else 0.0, moment)
            if must_pay_all(now, payments):
                pay_all(pairs, sums, l1_applied, l1_lags, payments, now)


@part
def _learn_in_epochs(
    start, end, base, indices, values, dense, filled, product, pairs, sums, gained, touched, l1_applied,
    l1_lags, payments, now, moment, label_state, class_state, own, own_sums, numbers, exact, flags, places,
    typed, offset, y, share, h, bias_value, l1, l2, step, value, derivative,
):  # fmt: skip
    """Learn a row of any weight, from any clock on."""
    v, units, x, z, moves = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    g, lags, fresh = exact[0], exact[1], exact[2]
    if len(l1_lags) > 0:
        _pay_lags(start, end, base, indices, pairs, sums, l1_applied, l1_lags, payments, now)
    clear(filled, fresh)
    if now[FRACTION] > 0.0:
        take(start, end, base, indices, dense, gained, fresh)
    take(start, end, base, indices, dense, sums, own_sums)
    misfits = any_misfit(filled, x, units, z, typed)
    split_pairs(filled, own_sums, g, lags)
    open_epoch(filled, g, fresh)
    features = indices[start - base : end - base]
    left = h
    while left > 0.0:
        left = learn_parts(
            filled, product, z, z, units[:0], v, g, fresh, lags, moves, typed,
            now, moment, label_state, class_state, payments, gained, _ONE, _NONE, touched,
            offset, y, share, left, misfits, bias_value, True, True, l1, l2, step, value, derivative,
        )  # fmt: skip
        all_pay = must_pay_all(now, payments)
        if left > 0.0 and not all_pay:  # there is something to learn, in units that do not fit
            misfits = False
            length_1 = has_length_1(start, end, values)
            change_units(filled, x, z, v, g, fresh, units, lags, flags, places, length_1, typed)
            product = dot(filled, v, z)
            continue
        _write_sums(filled, g, fresh, lags, own_sums)
        put(start, end, base, indices, dense, own_sums, sums)
        _join(filled, v, units, own)
        put(start, end, base, indices, dense, own, pairs)
        for j in range(start if l1 > 0.0 else end, end):
            l1_applied[np.uint64(indices[j - base])] = now[L1_TOTAL]
        for j in range(start if len(l1_lags) > 0 else end, end):
            l1_lags[np.uint64(indices[j - base])] = now[L1_LAG]
        if all_pay:
            pay_all(pairs, sums, l1_applied, l1_lags, payments, now)
            for j in range(start, end):
                v[j - start] = pairs[np.uint64(indices[j - base])].real
                lags[j - start] = sums[np.uint64(indices[j - base])].imag
            product = dot(filled, v, z)
    if now[FRACTION] > 0.0:
        leave_open(features, fresh, gained, _ONE, _NONE, touched, now)


@part
def _learn_step(
    count, z, v, units, g, moves, own, own_sums, typed, now, moment, p, y, before, slope, h, q, pushed,
    typical, scale, root, bias_value, multiply, step, value, derivative,
):  # fmt: skip
    """Learn a row in one step, and leave the numbers to write in `own` and `own_sums`."""
    s = gain = late = 0.0
    if slope != 0.0:  # a change of units may have left none
        steep = slope * (h if multiply else 1.0)
        steepest = min(steep * steep, LARGEST)
        split_pairs(
            count, own_sums, g, moves
        )  # lags are not needed yet, but every second number would be slower
        fill_moves(count, z, g, steepest, scale, True, moves, typed)
        factor = common_factor(now, q, typical) * root
        bias_rate = factor / math.sqrt(bias_level(now, steepest, scale)) * bias_value
        n = bias_rate + factor * dot(count, moves, z)
        if n > 0.0:
            speed = pushed * n
            change = step(p, y, speed * h)
            after = value(p + change, y)
            count_norm(now, q, change, speed)
            gain = steepest if multiply else gain_of(before, after, h, speed, slope, p, change, y, derivative)
            s = change / n
            now[BIAS] += s * bias_rate
            now[BIAS_SQUARES] = min(now[BIAS_SQUARES] + gain * bias_value, LARGEST)
            now[BIAS_LAG] += moment[LATE] * s * bias_rate
            s *= factor / now[SCALE]
            late = now[SCALE] * moment[LATE] + now[SCALE_LAG]
    _grow(count, z, moves, s * late, gain, own_sums)
    _compose(count, v, units, moves, s, own, typed)


@part
def _join(count, first, second, pairs):
    for k in range(count):
        pairs[k] = complex(first[k], second[k])


@part
def _write_sums(count, g, fresh, lags, sums):
    for k in range(count):
        sums[k] = complex(min(g[k] + fresh[k], LARGEST), lags[k])


@part
def _grow(count, z, moves, late, gain, sums):
    """Raise sums of squares and lags."""
    for k in range(count):
        m = np.float64(min(z[k] * z[k], abs(z[k])))
        sums[k] = complex(min(sums[k].real + m * gain, LARGEST), sums[k].imag + late * moves[k])


@part
def _compose(count, v, units, moves, s, own, typed):
    """Write coefficients after a step, with their units, as pairs."""
    typed[0] = s
    s_typed = typed[0]
    for k in range(count):
        own[k] = complex(v[k] + s_typed * moves[k], units[k])


@part
def _pay_lags(start, end, base, indices, pairs, sums, l1_applied, l1_lags, payments, now):
    """Subtract what L1 has cost the averages of the row's features since they were last learned."""
    for j in range(start, end):
        i = np.uint64(indices[j - base])
        lag = lag_of_payment(
            pairs[i].real, l1_applied[i], l1_lags[i], now[L1_TOTAL], now[L1_LAG], payments,
            np.int64(now[PAYMENTS]),
        )  # fmt: skip
        sums[i] = complex(sums[i].real, sums[i].imag - lag)
        l1_lags[i] = now[L1_LAG]
