"""Loops over the features of a row, in all lanes: units, predictions, rates and moves.

`flat` are the weights, laid out as `lane_parts` says, and `g_flat` is the same memory as float64, for sums of
squares. `kind` says how features are measured: BY_UNITS, in units found while learning (see `units`); BY_LARGEST,
in units of the largest |value| so far, while coefficients remain those of raw values; BY_NOTHING, as they are.
"""

import numpy as np

from steelyard.learn.batched_loss import SLOPE
from steelyard.learn.linear import BIAS, BIAS_LAG, SCALE, SCALE_LAG
from steelyard.learn.origins import FARTHEST, FIRST, INDEX, find, forget, look_at
from steelyard.learn.rows import LARGEST, SMALLEST
from steelyard.learn.units import MOST, NEAR, TINIEST, fits, has_length_1, new_unit, scaled_gain
from steelyard.learn.vector_arithmetic import (
    absolute,
    add,
    add_products,
    any_above,
    convert_like,
    divide,
    floor,
    full_like,
    maximum,
    middles,
    minimum,
    multiply,
    sqrt,
    subtract,
    where,
)
from steelyard.learn.vectors import LANES, load, store
from steelyard.native.declare import part

BY_NOTHING, BY_LARGEST, BY_UNITS = range(3)
_VECTOR = np.uint64(LANES)


@part
def standardize(start, end, base, indices, x, flat, stride, lanes, unit_at, kind, z, totals):
    """Fill in `z`, if BY_UNITS, and `totals`: Σ v·z of each lane, or else Σ v·x."""
    zero, tiniest = full_like(flat, 0.0), full_like(flat, TINIEST)
    for k in range(np.uint64(0), lanes, _VECTOR):
        store(totals, k, zero)
    for j in range(start, end):
        value = full_like(flat, x[j - start])
        v = np.uint64(indices[j - base]) * stride
        m = (j - start) * lanes
        for k in range(np.uint64(0), lanes, _VECTOR):
            own = value
            if kind == BY_UNITS:
                size = absolute(load(flat, v + unit_at + k, 1))
                own = where(size, tiniest, divide(value, maximum(size, tiniest)), zero)
            if kind != BY_LARGEST:
                store(z, m + k, own)
            store(totals, k, add_products(load(totals, k, 1), load(flat, v + k, 1), own))


@part
def fill_units(start, end, base, indices, flat, stride, lanes, unit_at, unit_fill):
    """Give features that no lane has met their fixed unit."""
    for j in range(start, end):
        u = np.uint64(indices[j - base]) * stride + unit_at
        if flat[u] == 0.0:
            for k in range(lanes):
                flat[u + k] = unit_fill if flat[u + k] == 0.0 else flat[u + k]


@part
def sum_squares(start, end, base, indices, x, flat, stride, lanes, unit_at, kind, z, squares):
    """Fill in `squares`: Σ z² of each lane; and `z`: 1/unit, if BY_LARGEST."""
    zero, one, tiniest = full_like(flat, 0.0), full_like(flat, 1.0), full_like(flat, TINIEST)
    for k in range(np.uint64(0), lanes, _VECTOR):
        store(squares, k, zero)
    for j in range(start, end):
        value = full_like(flat, x[j - start])
        u = np.uint64(indices[j - base]) * stride + unit_at
        m = (j - start) * lanes
        for k in range(np.uint64(0), lanes, _VECTOR):
            if kind == BY_LARGEST:
                size = absolute(load(flat, u + k, 1))
                factor = where(size, tiniest, divide(one, maximum(size, tiniest)), zero)
                store(z, m + k, factor)
                own = multiply(value, factor)
            else:
                own = load(z, m + k, 1)
            store(squares, k, add_products(load(squares, k, 1), own, own))


@part
def change_units(
    start, end, base, indices, values, x, flat, g_flat, stride, g_stride, g_at, lanes, unit_at, lag_at,
    board, z,
):  # fmt: skip
    """Change units that values do not fit, in lanes that learn; returns whether any has changed."""
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
    """Return whether the value of one feature does not fit its unit in some lane (see `units.any_misfit`)."""
    half, many, one = full_like(flat, 0.5), full_like(flat, MOST), full_like(flat, 1.0)
    near, tiniest, less = full_like(flat, NEAR), full_like(flat, TINIEST), full_like(flat, -abs(x))
    misfits = False
    for k in range(np.uint64(0), lanes, _VECTOR):
        own, unit = absolute(load(z, m + k, 1)), load(flat, u + k, 1)
        limit = where(absolute(unit), tiniest, where(unit, tiniest, many, one), less)
        slack = where(unit, tiniest, multiply(near, own), one)
        apart = absolute(subtract(own, floor(add(own, half))))
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
    """Do in all lanes what `origins.move_origins` does in one model."""
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
def fill_moves(
    start, end, base, indices, x, g_flat, g_stride, g_at, lanes, kind, levels, steepest, bend,
    z, moves, totals,
):  # fmt: skip
    """Find how far a step of 1 moves coefficients (`moves`) and predictions (`totals`), as in `epoch_rates`."""
    smallest, largest, bent = full_like(z, SMALLEST), full_like(z, LARGEST), full_like(z, bend)
    for k in range(np.uint64(0), lanes, _VECTOR):
        store(totals, k, full_like(z, 0.0))
    for j in range(start, end):
        g = np.uint64(indices[j - base]) * g_stride + g_at
        m = (j - start) * lanes
        value = full_like(z, x[j - start])
        for k in range(np.uint64(0), lanes, _VECTOR):
            factor = load(z, m + k, 1)
            own = multiply(value, factor) if kind == BY_LARGEST else factor
            grown = multiply(load(levels, k, 1), convert_like(z, load(g_flat, g + k, 1)))
            total = add_products(grown, _counted(own, bent), load(steepest, k, 1))
            total = minimum(maximum(total, smallest), largest)
            move = divide(own, sqrt(middles(total)))
            store(moves, m + k, multiply(move, factor) if kind == BY_LARGEST else move)
            store(totals, k, add_products(load(totals, k, 1), move, own))


@part
def _counted(own, bent):
    """Return what a row adds to sums of squares for each ℓ′²: min(z², |z|), or z² where `bent` is large."""
    return minimum(multiply(own, own), multiply(absolute(own), bent))


@part
def move(
    start, end, base, indices, x, flat, g_flat, stride, g_stride, g_at, lanes, lag_at, kind, bend,
    factors, gains, lates, lags, z, moves,
):  # fmt: skip
    """Move coefficients and lags along `moves`, and raise sums of squares."""
    largest, bent = full_like(g_flat, LARGEST), full_like(z, bend)
    for j in range(start, end):
        i = np.uint64(indices[j - base])
        v, g, m = i * stride, i * g_stride + g_at, (j - start) * lanes
        value = full_like(z, x[j - start])
        for k in range(np.uint64(0), lanes, _VECTOR):
            along = load(moves, m + k, 1)
            own = load(z, m + k, 1)
            own = multiply(value, own) if kind == BY_LARGEST else own
            counted = convert_like(g_flat, _counted(own, bent))
            square = add_products(load(g_flat, g + k, 1), counted, load(gains, k, 1))
            if lags:
                lag = load(flat, v + lag_at + k, 1)
                store(flat, v + lag_at + k, add_products(lag, load(lates, k, 1), along))
            store(flat, v + k, add_products(load(flat, v + k, 1), load(factors, k, 1), along))
            store(g_flat, g + k, minimum(square, largest))
