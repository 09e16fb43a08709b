"""Loops over the features of a row, in all lanes: units, predictions, rates and moves.

`flat` are the weights, in which `lane_parts` says where the numbers of a feature lie, and `g_flat` are the
same bytes as float64, which sums of squares are. What features are measured in depends on `kind`: BY_UNITS,
units that they find themselves (see `units`); BY_LARGEST, the largest |value| so far, while coefficients are
those of raw values; BY_NOTHING.
"""

import numpy as np

from steelyard.learn.batched_loss import SLOPE
from steelyard.learn.linear import BIAS, BIAS_LAG, SCALE, SCALE_LAG
from steelyard.learn.origins import FARTHEST, FIRST, INDEX, find, forget, look_at
from steelyard.learn.rows import LARGEST, SMALLEST
from steelyard.learn.units import MOST, NEAR, TINIEST, fits, has_length_1, new_unit, scaled_gain
from steelyard.learn.vector_arithmetic import (
    absolute,
    any_above,
    chosen,
    converted,
    filled,
    least,
    middles,
    minus,
    most,
    over,
    plus,
    plus_products,
    root,
    rounded_down,
    times,
)
from steelyard.learn.vectors import LANES, load, store
from steelyard.native.declare import part

BY_NOTHING, BY_LARGEST, BY_UNITS = range(3)
_VECTOR = np.uint64(LANES)


@part
def standardize(start, end, base, indices, x, flat, stride, lanes, unit_at, kind, z, totals):
    """z of each feature in each lane, if BY_UNITS, and Σ v·z into `totals`, or Σ v·x."""
    zero, tiniest = filled(flat, 0.0), filled(flat, TINIEST)
    for k in range(np.uint64(0), lanes, _VECTOR):
        store(totals, k, zero)
    for j in range(start, end):
        value = filled(flat, x[j - start])
        v = np.uint64(indices[j - base]) * stride
        m = (j - start) * lanes
        for k in range(np.uint64(0), lanes, _VECTOR):
            own = value
            if kind == BY_UNITS:
                size = absolute(load(flat, v + unit_at + k, 1))
                own = chosen(size, tiniest, over(value, most(size, tiniest)), zero)
            if kind != BY_LARGEST:
                store(z, m + k, own)
            store(totals, k, plus_products(load(totals, k, 1), load(flat, v + k, 1), own))


@part
def fill_units(start, end, base, indices, flat, stride, lanes, unit_at, unit_fill):
    """Give features of which no lane knows anything the unit that they have beforehand."""
    for j in range(start, end):
        u = np.uint64(indices[j - base]) * stride + unit_at
        if flat[u] == 0.0:
            for k in range(lanes):
                flat[u + k] = unit_fill if flat[u + k] == 0.0 else flat[u + k]


@part
def sum_squares(start, end, base, indices, x, flat, stride, lanes, unit_at, kind, z, squares):
    """Σ z² of each lane, and 1/unit into `z`, if BY_LARGEST."""
    zero, one, tiniest = filled(flat, 0.0), filled(flat, 1.0), filled(flat, TINIEST)
    for k in range(np.uint64(0), lanes, _VECTOR):
        store(squares, k, zero)
    for j in range(start, end):
        value = filled(flat, x[j - start])
        u = np.uint64(indices[j - base]) * stride + unit_at
        m = (j - start) * lanes
        for k in range(np.uint64(0), lanes, _VECTOR):
            if kind == BY_LARGEST:
                size = absolute(load(flat, u + k, 1))
                factor = chosen(size, tiniest, over(one, most(size, tiniest)), zero)
                store(z, m + k, factor)
                own = times(value, factor)
            else:
                own = load(z, m + k, 1)
            store(squares, k, plus_products(load(squares, k, 1), own, own))


@part
def change_units(
    start, end, base, indices, values, x, flat, g_flat, stride, g_stride, g_at, lanes, unit_at, lag_at,
    board, z,
):  # fmt: skip
    """New units in lanes that learn, where values do not fit theirs; returns whether there are any."""
    some = length_1 = False
    for j in range(start, end):
        i = np.uint64(indices[j - base])
        v, g = i * stride, i * g_stride + g_at
        u, lag = v + unit_at, v + lag_at
        m = (j - start) * lanes
        if not _any_misfit(lanes, x[j - start], flat, u, z, m):
            continue
        if not some:
            length_1 = has_length_1(start, end, values)
        for k in range(lanes):
            if board[SLOPE, k] != 0.0 and not fits(x[j - start], flat[u + k], z[m + k]):
                unit, scale, square = new_unit(x[j - start], flat[u + k], length_1)
                flat[u + k] = unit
                flat[v + k] *= scale
                flat[lag + k] *= scale
                g_flat[g + k] = min(g_flat[g + k] * np.float64(square), LARGEST)
                some = True
    return some


@part
def _any_misfit(lanes, x, flat, u, z, m):
    """As `units.any_misfit`, for one feature in all lanes."""
    half, many, one = filled(flat, 0.5), filled(flat, MOST), filled(flat, 1.0)
    near, tiniest, less = filled(flat, NEAR), filled(flat, TINIEST), filled(flat, -abs(x))
    misfits = False
    for k in range(np.uint64(0), lanes, _VECTOR):
        own, unit = absolute(load(z, m + k, 1)), load(flat, u + k, 1)
        limit = chosen(absolute(unit), tiniest, chosen(unit, tiniest, many, one), less)
        slack = chosen(unit, tiniest, times(near, own), one)
        apart = absolute(minus(own, rounded_down(plus(own, half))))
        misfits = misfits or any_above(own, limit) or any_above(apart, slack)
    return misfits


@part
def grow_largest(start, end, base, indices, x, flat, g_flat, stride, g_stride, g_at, lanes, unit_at, board):
    """Raise the largest |value| in lanes that learn; returns whether a coefficient changed."""
    changed = np.uint64(0)
    one = flat.dtype.type(1.0)
    for j in range(start, end):
        size = abs(x[j - start])
        i = np.uint64(indices[j - base])
        v, g = i * stride, i * g_stride + g_at
        u = v + unit_at
        larger = np.uint32(0)
        for k in range(lanes):
            larger |= np.uint32(size > flat[u + k])
        if larger > 0:
            for k in range(lanes):
                old = flat[u + k]
                new = max(old, size)
                new = new if board[SLOPE, k] != 0.0 else old
                shrink = old / new if new > old else one
                changed |= np.uint64(new > old)
                flat[v + k] *= shrink
                g_flat[g + k] *= np.float64(shrink) * np.float64(shrink)
                flat[u + k] = new
    return changed > 0


@part
def move_origins(
    start, end, base, indices, values, dense, flat, g_flat, stride, g_stride, g_at, lanes, unit_at, lag_at,
    gained, origins, columns, candidates, counts, state,
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
        v, g = np.uint64(i) * stride, np.uint64(i) * g_stride + g_at
        u, lag = v + unit_at, v + lag_at
        for k in range(lanes):
            unit = abs(flat[u + k])
            longer = farthest / unit if unit > TINIEST else 0.0  # 0: no row has taught anything yet
            state[BIAS, k] += state[SCALE, k] * flat[v + k] * (origin / farthest * longer)
            behind = flat[lag + k] - state[SCALE_LAG, k] * flat[v + k]
            state[BIAS_LAG, k] += behind * (origin / farthest * longer)
            flat[v + k] *= longer
            flat[lag + k] *= longer
            g_flat[g + k] = 0.0
            flat[u + k] = -farthest
        if len(gained) > 0:
            for k in range(lanes):
                gained[np.uint64(i) * lanes + k] = scaled_gain(gained[np.uint64(i) * lanes + k], 0.0)
        origins[i] = origin
        columns[counts[0]] = i
        counts[0] += 1
    forget(candidates, kept, counts[1])
    counts[1] = kept


@part
def rates(
    start, end, base, indices, x, g_flat, g_stride, g_at, lanes, kind, levels, steepest, bend,
    z, moves, totals,
):  # fmt: skip
    """As in `still_rates`: how far a step of 1 moves coefficients (`moves`) and predictions (`totals`)."""
    smallest, largest, bent = filled(z, SMALLEST), filled(z, LARGEST), filled(z, bend)
    for k in range(np.uint64(0), lanes, _VECTOR):
        store(totals, k, filled(z, 0.0))
    for j in range(start, end):
        g = np.uint64(indices[j - base]) * g_stride + g_at
        m = (j - start) * lanes
        value = filled(z, x[j - start])
        for k in range(np.uint64(0), lanes, _VECTOR):
            factor = load(z, m + k, 1)
            own = times(value, factor) if kind == BY_LARGEST else factor
            grown = times(load(levels, k, 1), converted(z, load(g_flat, g + k, 1)))
            total = plus_products(grown, _counted(own, bent), load(steepest, k, 1))
            total = least(most(total, smallest), largest)
            move = over(own, root(middles(total)))
            store(moves, m + k, times(move, factor) if kind == BY_LARGEST else move)
            store(totals, k, plus_products(load(totals, k, 1), move, own))


@part
def _counted(own, bent):
    """What a row adds to sums of squares for each ℓ′²: min(z², |z|), or z² where `bent` is large."""
    return least(times(own, own), times(absolute(own), bent))


@part
def move(
    start, end, base, indices, x, flat, g_flat, stride, g_stride, g_at, lanes, lag_at, kind, bend,
    factors, gains, lates, lags, z, moves,
):  # fmt: skip
    """Move coefficients and lags along `moves`, and raise sums of squares."""
    largest, bent = filled(g_flat, LARGEST), filled(z, bend)
    for j in range(start, end):
        i = np.uint64(indices[j - base])
        v, g, m = i * stride, i * g_stride + g_at, (j - start) * lanes
        value = filled(z, x[j - start])
        for k in range(np.uint64(0), lanes, _VECTOR):
            along = load(moves, m + k, 1)
            own = load(z, m + k, 1)
            own = times(value, own) if kind == BY_LARGEST else own
            counted = converted(g_flat, _counted(own, bent))
            square = plus_products(load(g_flat, g + k, 1), counted, load(gains, k, 1))
            if lags:
                lag = load(flat, v + lag_at + k, 1)
                store(flat, v + lag_at + k, plus_products(lag, load(lates, k, 1), along))
            store(flat, v + k, plus_products(load(flat, v + k, 1), load(factors, k, 1), along))
            store(g_flat, g + k, least(square, largest))
