"""One linear model with a learning rate for each feature: learn a chunk of rows.

Adaptive: feature i has the rate 1/√(G + x²·ℓ′²), where G is the sum of its squared gradients so far.
Normalized: in addition, each feature is measured in units of its largest |value| so far (`max_abs`). Lazy L1
and L2 work as in `linear`.

Three things make it fast. A weight and its G are the real and the imaginary part of one complex number:
scattered reads and writes cost the most, and so there is one for both. A row works on copies that lie side by
side in memory, so that the arithmetic is vectorised; the results are written back at the end, and a row of
weight 0 writes nothing. And the copies are padded with x = 0 to whole blocks, so that no loop ends with
single values.

As in `linear`, a loop that sums does not store. Each part has one loop, or the compiler would count
references to its arrays in every row.
"""

import math

import numpy as np

from steelyard.learn.linear import (  # fmt: skip
    BIAS,
    BIAS_SQUARES,
    CLOCK,
    L1_TOTAL,
    LOSS,
    NORM,
    SCALE,
    SEEN,
    SMALLEST_SCALE,
    WEIGHT,
    soft,
)
from steelyard.learn.rate_flow import counted, follow
from steelyard.learn.rate_panels import WORK_SIZE
from steelyard.learn.rows import BLOCK, LARGEST, SMALLEST, dot, fill, longest
from steelyard.numba_tools.jit import borrow, kernel, part

# A feature whose values were never larger counts as 0: its weight would be beyond the range of float32.
TINIEST = 1e-30

# A row nearer than this to the best prediction for its label counts for less in the mean of the norms.
_NEAR = 1e-3


@kernel
def learn(
    indptr, indices, values, dense, labels, sample_weight, offsets, order,
    pairs, max_abs, l1_applied, state, predictions, bias_value, push, step, value, derivative,
    unit, normalized, multiply, l1, l2,
    flow,
):  # fmt: skip
    """As `linear.learn`, for `pairs` of weights and sums of squares, and `max_abs` if normalized.

    `unit` multiplies the learning rate: see `target_scale`. With `multiply` the sums of squares use the
    gradient times the weight, as the explicit baseline does. `flow` has the learning rate and the tables
    of `rate_panels` if rates follow the flow (see `rate_flow`), or it is None, and that is left uncompiled.
    """
    clock, bias, loss, weight = state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT]
    bias_squares, scale, l1_total = state[BIAS_SQUARES], state[SCALE], state[L1_TOTAL]
    norm, seen = state[NORM], state[SEEN]
    # The row's copies: its pairs, and from them the weights w and sums of squares g; the values x, their
    # max_abs and 1/max_abs; and x·rate.
    room = longest(indptr) + 2 * BLOCK
    own = np.zeros(room, pairs.dtype)
    w, g, x = np.zeros(room, max_abs.dtype), np.zeros(room, max_abs.dtype), np.zeros(room, max_abs.dtype)
    sizes, units = np.zeros(room, max_abs.dtype), np.zeros(room, max_abs.dtype)
    moves = np.zeros(room, max_abs.dtype)
    if flow is not None:
        flow_rate, tables = flow
        fans = np.zeros((len(tables[0]), room), max_abs.dtype)
        gains, late_moves = np.zeros(room, max_abs.dtype), np.zeros(room, max_abs.dtype)
        work, now = np.zeros((WORK_SIZE, len(tables[2]))), np.zeros_like(state)
    typed = np.empty(3, max_abs.dtype)  # gives scalars the type of the weights
    ordered = len(order) > 0
    based = len(offsets) > 0
    for turn in range(np.uint64(len(order) if ordered else len(labels))):
        row = np.uint64(order[turn]) if ordered else turn
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        filled = fill(start, end, values, x)
        for j in range(start, end):
            own[j - start] = pairs[np.uint64(indices[j - base])]
        for k in range(filled):
            w[k] = own[k].real
            g[k] = own[k].imag
        if l1 > 0.0:
            for j in range(start, end):
                w[j - start] = soft(w[j - start], l1_total - l1_applied[np.uint64(indices[j - base])])
        offset = bias * bias_value + (offsets[row] if based else 0.0)
        p = scale * dot(filled, w, x) + offset
        predictions[row] = p
        h = sample_weight[row]
        if h == 0.0:
            continue
        y = labels[row]
        before = value(p, y)
        loss += h * before
        weight += h
        pushed = push(clock, h) * unit
        clock += h
        slope = derivative(p, y)
        if slope != 0.0:
            if normalized:  # max_abs grows only if there is something to learn
                for j in range(start, end):
                    sizes[j - start] = max_abs[np.uint64(indices[j - base])]
                if _any_larger(filled, x, sizes):
                    _grow(filled, x, w, g, sizes, typed)
                    for j in range(start, end):
                        max_abs[np.uint64(indices[j - base])] = sizes[j - start]
                    p = scale * dot(filled, w, x) + offset  # the prediction has changed
                    before, slope = value(p, y), derivative(p, y)
                _to_units(filled, x, sizes, units, typed)
            if normalized and flow is None:
                counts_for = h * share(before, slope, unit)
                seen += counts_for
                norm += counts_for * (bias_value + dot(filled, x, x))
            if flow is not None:
                now[BIAS], now[BIAS_SQUARES], now[SEEN], now[NORM] = bias, bias_squares, seen, norm
                _squares_of(filled, x, gains)
                gained = follow(
                    filled, borrow(x), borrow(gains), borrow(g), bias_value, borrow(now), p, y,
                    share(before, slope, unit), flow_rate * unit, h, normalized, np.inf, 0,
                    tables, step, derivative,
                    borrow(fans), borrow(moves), borrow(late_moves), borrow(work), borrow(typed),
                )  # fmt: skip
                bias, bias_squares = now[BIAS], now[BIAS_SQUARES]
                s = common = 1.0
                if normalized:
                    seen, norm = now[SEEN], now[NORM]
            else:
                slope *= h if multiply else 1.0
                slope_squared = min(slope * slope, LARGEST)
                n = s = gained = bias_rate = 0.0
                common = math.sqrt(seen / norm) if norm > 0.0 else 1.0
                if slope_squared > 0.0:
                    bias_rate = common / math.sqrt(bias_squares + slope_squared) * bias_value
                    _rates(filled, x, g, slope_squared, moves, typed)
                    n = bias_rate + common * dot(filled, moves, x)
                if n > 0.0:
                    change = step(p, y, pushed * n)
                    s = change / n
                    gained = slope_squared
                    if not multiply:
                        drop = before - value(p + change, y)
                        gained = h * mean_square(drop, before, pushed * n, slope_squared)
                    bias += s * bias_rate
                    bias_squares = min(bias_squares + gained * bias_value, LARGEST)
            if normalized:
                _multiply(filled, moves, units)
            _move(filled, x, w, g, moves, common * s / scale, gained, own, typed)
            for j in range(start, end):
                pairs[np.uint64(indices[j - base])] = own[j - start]
            if l1 > 0.0:
                for j in range(start, end):
                    l1_applied[np.uint64(indices[j - base])] = l1_total
        elif flow is not None:
            if normalized:
                for j in range(start, end):
                    sizes[j - start] = max_abs[np.uint64(indices[j - base])]
                _to_units(filled, x, sizes, units, typed)
                seen, norm = counted(seen, norm, bias_value + dot(filled, x, x), h)
        if l1 > 0.0 or l2 > 0.0:
            l1_total += pushed * l1 / scale
            scale /= 1.0 + pushed * l2
            if scale < SMALLEST_SCALE:
                _materialise(pairs, scale, l1_total, l1_applied)
                l1_total = 0.0
                scale = 1.0
    state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT] = clock, bias, loss, weight
    state[BIAS_SQUARES], state[SCALE], state[L1_TOTAL] = bias_squares, scale, l1_total
    state[NORM], state[SEEN] = norm, seen


@part
def _squares_of(count, x, gains):
    for k in range(count):
        gains[k] = x[k] * x[k]


@part
def _multiply(count, a, b):
    for k in range(count):
        a[k] *= b[k]


@part
def _any_larger(count, x, sizes):
    larger = np.uint32(0)
    for k in range(count):
        larger |= np.uint32(abs(x[k]) > sizes[k])
    return larger > 0


@part
def _grow(count, x, w, g, sizes, typed):
    """Raise max_abs to the row's values, and convert weights and sums of squares to the new units."""
    typed[0] = 1.0
    one = typed[0]
    for k in range(count):
        size = abs(x[k])
        shrink = sizes[k] / size if size > sizes[k] else one
        w[k] *= shrink
        g[k] *= shrink * shrink
        sizes[k] = max(size, sizes[k])


@part
def _to_units(count, x, sizes, units, typed):
    """x in units of its max_abs, and 1/max_abs."""
    typed[0], typed[1], typed[2] = 1.0, TINIEST, 0.0
    one, tiniest, zero = typed[0], typed[1], typed[2]
    for k in range(count):
        units[k] = one / sizes[k] if sizes[k] > tiniest else zero
        x[k] *= units[k]


@part
def share(loss, slope, unit):
    """How much of a row counts in the mean of the norms: less if next to nothing is left to learn.

    An update often ends exactly where the slope becomes 0. Whether a copy that comes next still has a slope
    depends on rounding, so its share must fade. |ℓ/ℓ′| is about the distance left, in the units of the
    labels.
    """
    near = _NEAR * unit * abs(slope)
    if abs(loss) >= near:
        return 1.0 if slope != 0.0 else 0.0
    return abs(loss) / near


@part
def _rates(count, x, g, slope_squared, moves, typed):
    """Write x times its rate 1/√(G + x²·ℓ′²) into `moves`."""
    typed[0], typed[1], typed[2] = slope_squared, SMALLEST, LARGEST
    slope_squared_typed, smallest, largest = typed[0], typed[1], typed[2]
    for k in range(count):
        square = g[k] + x[k] * x[k] * slope_squared_typed
        moves[k] = x[k] / np.sqrt(min(max(square, smallest), largest))


@part
def _move(count, x, w, g, moves, s, gained, own, typed):
    """Move the weights and raise the sums of squares, as pairs."""
    typed[0], typed[1], typed[2] = s, min(gained, LARGEST), LARGEST
    s_typed, gained_typed, largest = typed[0], typed[1], typed[2]
    for k in range(count):
        square = min(g[k] + x[k] * x[k] * gained_typed, largest)
        own[k] = complex(w[k] + s_typed * moves[k], square)


@part
def mean_square(drop, before, u, slope_squared):
    """The mean of ℓ′² along the flow: as dℓ/du = −ℓ′², it is the drop of the loss divided by the push.

    If the drop is lost in rounding, it is the squared slope at the start, which also bounds it.
    """
    if drop < 1e-9 * abs(before):
        return slope_squared
    return min(slope_squared, drop / u)


@part
def _materialise(pairs, scale, l1_total, l1_applied):
    """Apply lazy L1 and L2 in place."""
    for i in range(len(pairs)):
        owed = l1_total - l1_applied[i] if len(l1_applied) > 0 else 0.0
        pairs[i] = complex(scale * soft(pairs[i].real, owed), pairs[i].imag)
    l1_applied[:] = 0.0
