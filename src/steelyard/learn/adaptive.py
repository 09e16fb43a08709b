"""One linear model with a learning rate for each feature: learn a chunk of rows.

Adaptive: feature i has the rate 1/√(G + x²·ℓ′²), where G is the sum of its squared gradients so far.
Normalized: in addition, each feature is measured in units of its largest |value| so far (`max_abs`). Rates
change at whole numbers of the clock, and a row of weight 1 that begins with an epoch is one step, as in
`standardized`. Lazy L1 and L2 work as in `linear`.

Three things make it fast. A weight and its G are the real and the imaginary part of one complex number:
scattered reads and writes cost the most, and so one access serves both. A row works on copies that lie side by
side in memory, so that the arithmetic is vectorised; the results are written back at the end, and a row of
weight 0 writes nothing. The copies are padded with x = 0 to whole blocks, so that no loop ends with single
values. The complex numbers are of float64, or rounding would decide which level a G has; weights are rounded
to the type of the model. `typed` is a small array that gives scalars this type.

As in `linear`, a loop that sums does not store. Each part has one loop, or the compiler would count
references to its arrays in every row.
"""

import math
from typing import NamedTuple

import numpy as np

from steelyard.learn.clock import (
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
    multiply_by,
    open_epoch,
    owe,
    pass_by,
)
from steelyard.learn.label_units import begin_labels, look_at_label, teaches_unit, typical_slope
from steelyard.learn.levels import level_scale
from steelyard.learn.linear import (
    BIAS,
    BIAS_SQUARES,
    FRACTION,
    L1_TOTAL,
    LOSS,
    SCALE,
    WEIGHT,
    soft,
)
from steelyard.learn.rare_classes import rare_class_factor
from steelyard.learn.row_copies import AdaptiveScratch, clear, put, split_pairs, take
from steelyard.learn.rows import LARGEST, Rows, dot, fill
from steelyard.learn.shrinkage import must_pay_all, pay_all
from steelyard.learn.units import TINIEST, scaled_gain
from steelyard.native.declare import kernel, part
from steelyard.native.kinds import Counts, ExactPairs, Numbers, Switch, Table, Weights

_NONE, _ONE = np.uint64(0), np.uint64(1)


class Model(NamedTuple):
    """The arrays of a model: `pairs` of weights and sums of squares, and `max_abs` if normalized.

    The others are those of `standardized.Model`; `sums`, `l1_lags` and `payments` are empty, as nothing is averaged.
    """

    pairs: ExactPairs
    sums: ExactPairs
    gained: Numbers
    touched: Counts
    max_abs: Weights
    l1_applied: Numbers
    l1_lags: Numbers
    payments: Table
    state: Numbers
    label_state: Numbers
    class_state: Numbers


@kernel
def learn(
    rows: Rows, model: Model, rule: Rule, normalized: Switch, predictions: Numbers, scratch: AdaptiveScratch
):
    """Learn the rows; `predictions` gets the prediction of each from just before it was learned."""
    indptr, indices, values, dense, labels, sample_weight, offsets, order = rows
    pairs, sums, gained, touched, max_abs, l1_applied, l1_lags, payments, now, label_state, class_state = (
        model
    )
    bias_value, low, high, step, value, derivative, cut, multiply, l1, l2 = rule
    own, numbers, exact, typed, moment = scratch
    w, x, sizes, units, g, moves = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
    z = numbers[6] if normalized else x
    exact_g, fresh = exact[0], exact[2]
    ordered = len(order) > 0
    based = len(offsets) > 0
    shrinks = l1 > 0.0 or l2 > 0.0
    scaled_for, typical, scale = (-1.0 if len(label_state) > 0 else 1.0), 1.0, level_scale(1.0)
    spread = 1.0 / (high - low)
    root = math.sqrt(scale)
    look_at_time(now, moment)
    for turn in range(np.uint64(len(order) if ordered else len(labels))):
        row = np.uint64(order[turn]) if ordered else turn
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        h = sample_weight[row]
        y = labels[row]
        if h > 0.0:
            begin_labels(now, label_state, y, bias_value)
        filled = fill(start, end, values, x)
        take(start, end, base, indices, dense, pairs, own)
        split_pairs(filled, own, w, g)
        if l1 > 0.0:
            for j in range(start, end):
                w[j - start] = soft(w[j - start], now[L1_TOTAL] - l1_applied[np.uint64(indices[j - base])])
        offset = offsets[row] if based else 0.0
        still = now[BIAS] * bias_value + offset
        p = now[SCALE] * dot(filled, w, x) + still
        predictions[row] = p
        if h == 0.0:
            continue
        before = value(p, y)
        now[LOSS] += h * before
        now[WEIGHT] += h
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
                start, end, base, indices, dense, filled, pairs, gained, touched, max_abs, l1_applied,
                sums, l1_lags, payments, now, moment, label_state, class_state, own, z, numbers, exact, typed,
                offset, y, share, h, bias_value, normalized, l1, l2, step, value, derivative,
            )  # fmt: skip
            continue
        if slope != 0.0:
            if normalized:
                take(start, end, base, indices, dense, max_abs, sizes)
            if normalized and _any_larger(filled, x, sizes):  # only if there is something to learn
                for k in range(filled):
                    exact_g[k] = own[k].imag
                clear(filled, fresh)
                _grow(filled, x, w, exact_g, fresh, sizes, typed)
                put(start, end, base, indices, dense, sizes, max_abs)
                _write(filled, w, exact_g, fresh, own)
                split_pairs(filled, own, w, g)
                p = now[SCALE] * dot(filled, w, x) + still  # it has changed
                before = value(p, y)
                slope = slope_at(p, still, y, before, unit, moment, derivative)
            if unit != scaled_for:
                scaled_for, typical = unit, typical_slope(label_state, unit, derivative)
                scale = level_scale(typical)
                root = math.sqrt(scale)
            if normalized:
                _to_units(filled, x, sizes, units, z, typed)
            q = bias_value + dot(filled, z, z) if normalized else 0.0
            s = gain = 0.0
            if slope != 0.0:  # pragma: no branch  (larger units may leave none)
                steep = slope * (h if multiply else 1.0)
                steepest = min(steep * steep, LARGEST)
                fill_moves(filled, z, g, steepest, scale, False, moves, typed)
                factor = (common_factor(now, q, typical) if normalized else 1.0) * root
                bias_rate = factor / math.sqrt(bias_level(now, steepest, scale)) * bias_value
                n = bias_rate + factor * dot(filled, moves, z)
                if n > 0.0:
                    speed = pushed * n
                    change = step(p, y, speed * h)
                    after = value(p + change, y)
                    count_norm(now, q, change, speed)
                    gain = steepest
                    if not multiply:
                        gain = gain_of(before, after, h, speed, slope, p, change, y, derivative)
                    s = change / n
                    now[BIAS] += s * bias_rate
                    now[BIAS_SQUARES] = min(now[BIAS_SQUARES] + gain * bias_value, LARGEST)
                    s *= factor / now[SCALE]
                if normalized:
                    multiply_by(filled, moves, units)
            _move(filled, z, w, moves, s, gain, own, typed)
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
    start, end, base, indices, dense, filled, pairs, gained, touched, max_abs, l1_applied,
    sums, l1_lags, payments, now, moment, label_state, class_state, own, z, numbers, exact, typed,
    offset, y, share, h, bias_value, normalized, l1, l2, step, value, derivative,
):  # fmt: skip
    """Learn a row of any weight, from any clock on."""
    w, x, sizes, units, moves = numbers[0], numbers[1], numbers[2], numbers[3], numbers[5]
    g, lags, fresh = exact[0], exact[1], exact[2]
    for k in range(filled):
        g[k] = own[k].imag
    clear(filled, fresh)
    features = indices[start - base : end - base]
    if now[FRACTION] > 0.0:
        take(start, end, base, indices, dense, gained, fresh)
        open_epoch(filled, g, fresh)
    if normalized:
        take(start, end, base, indices, dense, max_abs, sizes)
        _to_units(filled, x, sizes, units, z, typed)
    misfits = normalized and _any_larger(filled, x, sizes)
    factors = units[: filled if normalized else _NONE]
    left = h
    while left > 0.0:
        left = learn_parts(
            filled, dot(filled, w, x), x, z, factors, w, g, fresh, lags, moves, typed,
            now, moment, label_state, class_state, payments, gained, _ONE, _NONE, touched,
            offset, y, share, left, misfits, bias_value, False, normalized, l1, l2, step, value, derivative,
        )  # fmt: skip
        all_pay = must_pay_all(now, payments)
        if left > 0.0 and not all_pay:  # there is something to learn, from values larger than ever
            misfits = False
            _grow(filled, x, w, g, fresh, sizes, typed)
            put(start, end, base, indices, dense, sizes, max_abs)
            _to_units(filled, x, sizes, units, z, typed)
            continue
        _write(filled, w, g, fresh, own)
        put(start, end, base, indices, dense, own, pairs)
        for j in range(start if l1 > 0.0 else end, end):
            l1_applied[np.uint64(indices[j - base])] = now[L1_TOTAL]
        if all_pay:
            pay_all(pairs, sums, l1_applied, l1_lags, payments, now)
            for j in range(start, end):
                w[j - start] = pairs[np.uint64(indices[j - base])].real
    if now[FRACTION] > 0.0:
        leave_open(features, fresh, gained, _ONE, _NONE, touched, now)


@part
def _write(count, w, g, fresh, pairs):
    for k in range(count):
        pairs[k] = complex(np.float64(w[k]), min(g[k] + fresh[k], LARGEST))


@part
def _any_larger(count, x, sizes):
    larger = np.uint32(0)
    for k in range(count):
        larger |= np.uint32(abs(x[k]) > sizes[k])
    return larger > 0


@part
def _grow(count, x, w, g, fresh, sizes, typed):
    """Raise max_abs to the row's values, and convert weights and sums of squares to the new units."""
    typed[0] = 1.0
    one = typed[0]
    for k in range(count):
        size = abs(x[k])
        shrink = sizes[k] / size if size > sizes[k] else one
        w[k] *= shrink
        squared = np.float64(shrink) * shrink
        g[k] *= squared
        fresh[k] = scaled_gain(fresh[k], squared)
        sizes[k] = max(size, sizes[k])


@part
def _to_units(count, x, sizes, units, z, typed):
    """Write x/max_abs into `z`, and 1/max_abs into `units`."""
    typed[0], typed[1], typed[2] = 1.0, TINIEST, 0.0
    one, tiniest, zero = typed[0], typed[1], typed[2]
    for k in range(count):
        units[k] = one / sizes[k] if sizes[k] > tiniest else zero
        z[k] = x[k] * units[k]


@part
def _move(count, z, w, moves, s, gain, own, typed):
    """Move the weights and raise the sums of squares, as pairs."""
    typed[0] = s
    s_typed = typed[0]
    for k in range(count):
        square = min(own[k].imag + np.float64(z[k] * z[k]) * gain, LARGEST)
        own[k] = complex(np.float64(w[k] + s_typed * moves[k]), square)
