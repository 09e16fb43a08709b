"""One linear model with a rate for each feature, in units that it finds itself: learn a chunk of rows.

Coefficients v are in units of the feature (see `units`): the prediction is Σ v·z. As in `adaptive`, a row
works on copies, padded with 0 to whole blocks, and a feature has the rate 1/√(G + z²·ℓ′²); but n counts add
to G what n rows with one would, n·ℓ′² instead of n²·ℓ′².

What is needed to predict is one complex number, and what is needed to learn another: `pairs` has coefficients
and units, `sums` has G and the lags of averages (see `averages`).
"""

import math

import numpy as np

from steelyard.learn.adaptive import mean_square, share
from steelyard.learn.averages import next_reference, raised, time_weight
from steelyard.learn.linear import (  # fmt: skip
    BIAS,
    BIAS_LAG,
    BIAS_SQUARES,
    CLOCK,
    L1_LAG,
    L1_TOTAL,
    LOSS,
    NORM,
    PAYMENTS,
    REFERENCE,
    SCALE,
    SCALE_LAG,
    SEEN,
    WEIGHT,
    soft,
)
from steelyard.learn.rate_flow import counted, follow
from steelyard.learn.rate_panels import WORK_SIZE
from steelyard.learn.row_copies import put, take, take_pairs
from steelyard.learn.rows import LARGEST, SMALLEST, dot, fill
from steelyard.learn.shrinkage import SMALLEST_SCALE, fade, lag_of_payment, note_payment, settle
from steelyard.learn.units import (
    FARTHEST,
    FIRST,
    INDEX,
    any_misfit,
    change_units,
    divide,
    find,
    forget,
    has_length_1,
    look_at,
    note_columns,
)
from steelyard.numba_tools.jit import borrow, kernel, part


@kernel
def learn(
    indptr, indices, values, dense, labels, sample_weight, offsets, order,
    pairs, sums, origins, columns, candidates, counts, l1_applied, l1_lags, payments,
    state, predictions, bias_value,
    push, step, value, derivative, unit, factors, multiply, l1, l2, power,
    flow, rooms,
):  # fmt: skip
    """As `adaptive.learn`. `power` is that of the average, or 0.

    `factors` multiply the learning rate: one for each turn, or one for all.
    `flow` as there. `columns[:counts[0]]` are the features that have origins, `candidates[:counts[1]]` those
    that may get one. `l1_lags` and `payments` are those of `shrinkage`, empty without L1 or
    averages. `rooms` are those of `rooms_for` these rows.
    """
    clock, bias, loss, weight = state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT]
    bias_squares, scale, l1_total = state[BIAS_SQUARES], state[SCALE], state[L1_TOTAL]
    norm, seen = state[NORM], state[SEEN]
    bias_lag, reference = state[BIAS_LAG], state[REFERENCE]
    scale_lag, l1_lag, paid = state[SCALE_LAG], state[L1_LAG], np.int64(state[PAYMENTS])
    # The row's copies: its pairs or sums, what they are made of, values in the user's units and in own ones,
    # and z times its rate. All are borrowed, or their references would be counted in every row.
    pairs_room, numbers, scalars, places_room, flags_room, marks_room = rooms
    kind, room = origins.dtype, len(pairs_room)
    v, g, units, lags = borrow(numbers[0]), borrow(numbers[1]), borrow(numbers[2]), borrow(numbers[3])
    x, z, moves, own = borrow(numbers[4]), borrow(numbers[5]), borrow(numbers[6]), borrow(pairs_room)
    places, flags, marks = borrow(places_room), borrow(flags_room), borrow(marks_room)
    typed = borrow(scalars)  # gives scalars the type of the coefficients
    indptr, indices, values, order = borrow(indptr), borrow(indices), borrow(values), borrow(order)
    labels, sample_weight, offsets = borrow(labels), borrow(sample_weight), borrow(offsets)
    pairs, sums, origins, columns = borrow(pairs), borrow(sums), borrow(origins), borrow(columns)
    candidates, counts, l1_applied = borrow(candidates), borrow(counts), borrow(l1_applied)
    l1_lags, payments = borrow(l1_lags), borrow(payments)
    predictions, factors = borrow(predictions), borrow(factors)
    if flow is not None:
        flow_rate, tables = flow
        fans = np.zeros((len(tables[0]), room), kind)
        gains, late_moves = np.zeros(room, kind), np.zeros(room, kind)
        work, now = np.zeros((WORK_SIZE, len(tables[2]))), np.zeros_like(state)
    ordered = len(order) > 0
    based = len(offsets) > 0
    own_factors = len(factors) > 1
    note_columns(columns, counts[0], marks)
    for turn in range(np.uint64(len(order) if ordered else len(labels))):
        row = np.uint64(order[turn]) if ordered else turn
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        h = sample_weight[row]
        if counts[1] > 0 and h > 0.0:
            bias, bias_lag = _move_origins(
                start, end, base, indices, values, dense, pairs, sums, origins, columns, candidates, counts,
                bias, bias_lag, scale, scale_lag, l1, l1_total, l1_lag, l1_applied, l1_lags, payments, paid,
            )  # fmt: skip
            note_columns(columns, counts[0], marks)
        filled = fill(start, end, values, x)
        near = take_pairs(start, end, base, indices, dense, counts[0] > 0, pairs, own, marks, places)
        if counts[0] > 0 and dense:
            for k in range(end - start):
                x[k] = x[k] - origins[k] if x[k] != 0.0 else x[k]
        for m in range(near):
            k = places[m]
            x[k] = x[k] - origins[np.uint64(indices[start + k - base])] if x[k] != 0.0 else x[k]
        divide(filled, own, x, v, units, z, typed)
        if l1 > 0.0:
            for j in range(start, end):
                v[j - start] = soft(v[j - start], l1_total - l1_applied[np.uint64(indices[j - base])])
        offset = bias * bias_value + (offsets[row] if based else 0.0)
        p = scale * dot(filled, v, z) + offset
        predictions[row] = p
        if h == 0.0:
            continue
        y = labels[row]
        before = value(p, y)
        loss += h * before
        weight += h
        rate_factor = factors[turn] if own_factors else factors[0]
        pushed = push(clock, h) * unit * rate_factor
        at = clock
        clock += h
        if power > 0:
            grown = next_reference(reference, at, h, power)
            if grown != reference and reference > 0.0:
                shrink = raised(reference / grown, power)
                bias_lag *= shrink
                scale_lag *= shrink
                l1_lag *= shrink
                fade(sums, l1_lags, payments, shrink)
            reference = grown
        slope = derivative(p, y)
        if slope != 0.0:
            take(start, end, base, indices, dense, sums, own)
            for k in range(filled):
                g[k] = own[k].real
                lags[k] = own[k].imag
            if len(l1_lags) > 0:
                for j in range(start, end):
                    i = np.uint64(indices[j - base])
                    lags[j - start] -= lag_of_payment(
                        pairs[i].real, l1_applied[i], l1_lags[i], l1_total, l1_lag, payments, paid
                    )
                    l1_lags[i] = l1_lag
            if any_misfit(filled, x, units, z, typed):
                length_1 = has_length_1(start, end, values)
                change_units(filled, x, z, v, g, units, lags, flags, places, length_1, typed)
                p = scale * dot(filled, v, z) + offset  # the prediction has changed
                before, slope = value(p, y), derivative(p, y)
            if flow is not None:
                now[BIAS], now[BIAS_SQUARES], now[BIAS_LAG] = bias, bias_squares, bias_lag
                now[SEEN], now[NORM], now[CLOCK], now[REFERENCE] = seen, norm, at, reference
                _squares_of(filled, z, gains)
                gained = follow(
                    filled, borrow(z), borrow(gains), borrow(g), bias_value, borrow(now), p, y,
                    share(before, slope, unit), flow_rate * unit * rate_factor, h, True, np.inf, power,
                    tables, step, derivative,
                    borrow(fans), borrow(moves), borrow(late_moves), borrow(work), borrow(typed),
                )  # fmt: skip
                bias, bias_squares, bias_lag = now[BIAS], now[BIAS_SQUARES], now[BIAS_LAG]
                seen, norm = now[SEEN], now[NORM]
                _blend(filled, late_moves, moves, scale, scale_lag, typed)
                _add_squares(filled, z, g, lags, late_moves, 1.0 / scale, gained, 1.0, own, typed)
                put(start, end, base, indices, dense, own, sums)
                _move(filled, v, units, moves, 1.0 / scale, own, typed)
                put(start, end, base, indices, dense, own, pairs)
            else:
                counts_for = h * share(before, slope, unit)
                seen += counts_for
                norm += counts_for * (bias_value + dot(filled, z, z))
                slope *= h if multiply else 1.0
                slope_squared = min(slope * slope, LARGEST)
                n = s = gained = bias_rate = late = 0.0
                common = math.sqrt(seen / norm) if norm > 0.0 else 1.0
                if slope_squared > 0.0:
                    bias_rate = common / math.sqrt(bias_squares + slope_squared) * bias_value
                    _rates(filled, z, g, slope_squared, moves, typed)
                    n = bias_rate + common * dot(filled, moves, z)
                if n > 0.0:
                    change = step(p, y, pushed * n)
                    s = change / n
                    gained = slope_squared
                    if not multiply:
                        drop = before - value(p + change, y)
                        gained = h * mean_square(drop, before, pushed * n, slope_squared)
                    bias += s * bias_rate
                    bias_squares = min(bias_squares + gained * bias_value, LARGEST)
                    if power > 0:
                        late = time_weight(at, reference, power, h, change, pushed * n * slope)
                        bias_lag += late * s * bias_rate
                        late = scale * late + scale_lag
                _add_squares(filled, z, g, lags, moves, common * s / scale, gained, late, own, typed)
                put(start, end, base, indices, dense, own, sums)
                _move(filled, v, units, moves, common * s / scale, own, typed)
                put(start, end, base, indices, dense, own, pairs)
            if l1 > 0.0:
                for j in range(start, end):
                    l1_applied[np.uint64(indices[j - base])] = l1_total
        elif flow is not None:
            seen, norm = counted(seen, norm, bias_value + dot(filled, z, z), h)
        if l1 > 0.0 or l2 > 0.0:
            late = raised(clock / reference, power) if power > 0 else 0.0
            owed = pushed * l1 / scale
            l1_total += owed
            l1_lag += (scale * late + scale_lag) * owed
            before = scale
            scale /= 1.0 + pushed * l2
            scale_lag += late * (before - scale)
            paid = note_payment(payments, paid, l1_total, l1_lag)
            if scale < SMALLEST_SCALE or (paid > 0 and paid == len(payments)):
                settle(
                    pairs, sums, l1_applied, l1_lags, payments, paid, scale, l1_total, l1_lag, scale_lag
                )  # fmt: skip
                l1_total = l1_lag = scale_lag = 0.0
                scale = 1.0
                paid = np.int64(0)
    state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT] = clock, bias, loss, weight
    state[BIAS_SQUARES], state[SCALE], state[L1_TOTAL] = bias_squares, scale, l1_total
    state[NORM], state[SEEN] = norm, seen
    state[BIAS_LAG], state[REFERENCE] = bias_lag, reference
    state[SCALE_LAG], state[L1_LAG], state[PAYMENTS] = scale_lag, l1_lag, paid


@part
def _move_origins(
    start, end, base, indices, values, dense, pairs, sums, origins, columns, candidates, counts,
    bias, bias_lag, scale, scale_lag, l1, l1_total, l1_lag, l1_applied, l1_lags, payments, paid,
):  # fmt: skip
    """Give candidates that are ready their origins, for which the bias makes up; forget those absent."""
    kept = place = np.int64(0)
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
        unit = abs(pairs[i].imag)
        v, lag = pairs[i].real, sums[i].imag
        if len(l1_lags) > 0:
            lag -= lag_of_payment(v, l1_applied[i], l1_lags[i], l1_total, l1_lag, payments, paid)
            l1_lags[i] = l1_lag
        if l1 > 0.0:
            v = soft(v, l1_total - l1_applied[i])
            l1_applied[i] = l1_total
        longer = farthest / unit if unit > 0.0 else 0.0  # 0: no row has taught anything yet
        bias += scale * v * (origin / farthest * longer)
        bias_lag += (lag - scale_lag * v) * (origin / farthest * longer)
        pairs[i] = complex(v * longer, -farthest)
        sums[i] = complex(0.0, lag * longer)
        origins[i] = origin
        columns[counts[0]] = i
        counts[0] += 1
    forget(candidates, kept, counts[1])
    counts[1] = kept
    return bias, bias_lag


@part
def _rates(count, z, g, slope_squared, moves, typed):
    """Write z times its rate into `moves`."""
    typed[0], typed[1], typed[2] = slope_squared, SMALLEST, LARGEST
    slope_squared_typed, smallest, largest = typed[0], typed[1], typed[2]
    for k in range(count):
        square = g[k] + min(z[k] * z[k], abs(z[k])) * slope_squared_typed
        moves[k] = z[k] / np.sqrt(min(max(square, smallest), largest))


@part
def _squares_of(count, z, gains):
    """What a row adds to the sums of squares, for each ℓ′²."""
    for k in range(count):
        gains[k] = min(z[k] * z[k], abs(z[k]))


@part
def _move(count, v, units, moves, s, own, typed):
    """Move the coefficients."""
    typed[0] = s
    s_typed = typed[0]
    for k in range(count):
        own[k] = complex(v[k] + s_typed * moves[k], units[k])


@part
def _blend(count, late_moves, moves, scale, scale_lag, typed):
    """∫ C dv out of ∫ τ dv: see `shrinkage`."""
    typed[0], typed[1] = scale, scale_lag
    scale_typed, lag_typed = typed[0], typed[1]
    for k in range(count):
        late_moves[k] = scale_typed * late_moves[k] + lag_typed * moves[k]


@part
def _add_squares(count, z, g, lags, moves, s, gained, late, own, typed):
    """Raise the sums of squares, and the lags by the moves, late as they are."""
    typed[0], typed[1], typed[2] = s * late, min(gained, LARGEST), LARGEST
    late_typed, gained_typed, largest = typed[0], typed[1], typed[2]
    for k in range(count):
        square = min(g[k] + min(z[k] * z[k], abs(z[k])) * gained_typed, largest)
        own[k] = complex(square, lags[k] + late_typed * moves[k])
