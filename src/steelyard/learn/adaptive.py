"""One linear model with rates of their own for its features: learn a chunk of rows.

Adaptive: feature i has the rate 1/√(G + x²·ℓ′²), where G is the sum of its squared gradients so far.
Normalized: besides, each feature is counted in units of its scale, its largest |value| so far. Lazy L1
and L2 are those of `linear`.

The speed lies in three things. A weight and its G are one complex number, the real and the imaginary
part: the reads and writes all over the memory, which cost the most, are one for both. A row works
on its own copies, side by side in memory, so that all arithmetic runs many features at a time; what
was learned goes back at the end, and a row of weight 0 touches nothing. And the copies are filled up
with x = 0 to a whole number of blocks, so that no loop has leftovers to do one by one.

As in `linear`, a loop that sums stores nothing. Each part has one loop, or the compiler would count
references to its arrays in every row.
"""

import math

import numpy as np

from steelyard.learn.linear import (  # fmt: skip
    BIAS,
    BIAS_SQUARES,
    CLOCK,
    DEBT,
    LOSS,
    NORM,
    SCALE,
    SEEN,
    SMALLEST_SCALE,
    WEIGHT,
    soft,
)
from steelyard.numba_tools.jit import kernel, part

# What is divided by is held within float32's range: a feature of value 0 which was never seen gets a
# finite rate, and the exponential loss has slopes whose squares would be infinite.
SMALLEST, LARGEST = 1.2e-38, 1e38

# A feature that was never larger counts as 0: a weight in its units would be beyond float32's range.
TINIEST = 1e-30

# Nearer than this to the best prediction for its label, a row counts for less in the mean of the norms.
_NEAR = 1e-3

_BLOCK = 32  # features: four vectors of eight, the most that the compiler takes in one turn of a loop


@kernel
def learn(
    indptr, indices, values, dense, labels, sample_weight, offsets, order,
    pairs, scales, debts, state, predictions, bias_value, push, step, value, derivative,
    unit, normalized, multiply, l1, l2,
):  # fmt: skip
    """As `linear.learn`, for `pairs` of weights and sums of squares, and `scales` if normalized.

    `unit` multiplies the learning rate: see `label_units`. `multiply`: the sums of squares see the
    gradient times the weight, as the explicit baseline does.
    """
    clock, bias, loss, weight = state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT]
    bias_squares, scale, debt = state[BIAS_SQUARES], state[SCALE], state[DEBT]
    norm, seen = state[NORM], state[SEEN]
    # The row's own copies: its pairs, and taken apart the weights w and sums of squares g; the values x,
    # scales and 1/scales; and x·rate.
    room = _longest(indptr) + 2 * _BLOCK
    own = np.zeros(room, pairs.dtype)
    w, g, x = np.zeros(room, scales.dtype), np.zeros(room, scales.dtype), np.zeros(room, scales.dtype)
    sizes, units = np.zeros(room, scales.dtype), np.zeros(room, scales.dtype)
    moves = np.zeros(room, scales.dtype)
    typed = np.empty(3, scales.dtype)  # scalars pass through it to get the weights' type
    ordered = len(order) > 0
    based = len(offsets) > 0
    for turn in range(np.uint64(len(order) if ordered else len(labels))):
        row = np.uint64(order[turn]) if ordered else turn
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        filled = _fill(start, end, values, x)
        for j in range(start, end):
            own[j - start] = pairs[np.uint64(indices[j - base])]
        for k in range(filled):
            w[k] = own[k].real
            g[k] = own[k].imag
        if l1 > 0.0:
            for j in range(start, end):
                w[j - start] = soft(w[j - start], debt - debts[np.uint64(indices[j - base])])
        offset = bias * bias_value + (offsets[row] if based else 0.0)
        p = scale * _dot(filled, w, x) + offset
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
            if normalized:  # scales grow only where something is to be learned
                for j in range(start, end):
                    sizes[j - start] = scales[np.uint64(indices[j - base])]
                if _any_larger(filled, x, sizes):
                    _grow(filled, x, w, g, sizes, typed)
                    for j in range(start, end):
                        scales[np.uint64(indices[j - base])] = sizes[j - start]
                    p = scale * _dot(filled, w, x) + offset  # what the row predicts now
                    before, slope = value(p, y), derivative(p, y)
                _to_units(filled, x, sizes, units, typed)
                counted = h * share(before, slope, unit)
                seen += counted
                norm += counted * (bias_value + _dot(filled, x, x))
            slope *= h if multiply else 1.0
            slope_squared = min(slope * slope, LARGEST)
            n = s = gained = bias_rate = 0.0
            common = math.sqrt(seen / norm) if norm > 0.0 else 1.0
            if slope_squared > 0.0:
                bias_rate = common / math.sqrt(bias_squares + slope_squared) * bias_value
                _rates(filled, x, g, slope_squared, moves, typed)
                n = bias_rate + common * _dot(filled, moves, x)
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
                    debts[np.uint64(indices[j - base])] = debt
        if l1 > 0.0 or l2 > 0.0:
            debt += pushed * l1 / scale
            scale /= 1.0 + pushed * l2
            if scale < SMALLEST_SCALE:
                _settle(pairs, scale, debt, debts)
                debt = 0.0
                scale = 1.0
    state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT] = clock, bias, loss, weight
    state[BIAS_SQUARES], state[SCALE], state[DEBT] = bias_squares, scale, debt
    state[NORM], state[SEEN] = norm, seen


@part
def _fill(start, end, values, x):
    """The row's values into x, and 0 after them up to a whole number of blocks: that is returned."""
    block = np.uint64(_BLOCK)
    count = end - start
    filled = (count + block - np.uint64(1)) // block * block
    # in whole blocks, though that takes along some values of the next rows, where there are any
    copied = filled if start + filled <= np.uint64(len(values)) else count
    for k in range(copied):
        x[k] = values[start + k]
    for k in range(block):
        x[count + k] = 0.0
    return filled


@part
def _dot(count, a, b):
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total


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
    """Let scales grow to the row's values; weights and sums of squares are kept in the new units."""
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
    """Each x in units of its scale, and 1/scale."""
    typed[0], typed[1], typed[2] = 1.0, TINIEST, 0.0
    one, tiniest, zero = typed[0], typed[1], typed[2]
    for k in range(count):
        units[k] = one / sizes[k] if sizes[k] > tiniest else zero
        x[k] *= units[k]


@part
def share(loss, slope, unit):
    """How much of a row counts in the mean of the norms: less where next to nothing is to be learned.

    An update often ends just where the slope becomes 0. Whether a copy that comes next still has a slope
    is a matter of rounding, so what it counts must fade. |ℓ/ℓ′| is about the distance to go, in the
    units of the labels.
    """
    near = _NEAR * unit * abs(slope)
    if abs(loss) >= near:
        return 1.0 if slope != 0.0 else 0.0
    return abs(loss) / near


@part
def _rates(count, x, g, slope_squared, moves, typed):
    """The rates of a row, 1/√(G + x²·ℓ′²), times x into `moves`."""
    typed[0], typed[1], typed[2] = slope_squared, SMALLEST, LARGEST
    slope_squared_typed, smallest, largest = typed[0], typed[1], typed[2]
    for k in range(count):
        square = g[k] + x[k] * x[k] * slope_squared_typed
        moves[k] = x[k] / np.sqrt(min(max(square, smallest), largest))


@part
def _move(count, x, w, g, moves, s, gained, own, typed):
    """The weights moved, the sums of squares grown, as pairs again."""
    typed[0], typed[1], typed[2] = s, min(gained, LARGEST), LARGEST
    s_typed, gained_typed, largest = typed[0], typed[1], typed[2]
    for k in range(count):
        square = min(g[k] + x[k] * x[k] * gained_typed, largest)
        own[k] = complex(w[k] + s_typed * moves[k], square)


@part
def mean_square(drop, before, u, slope_squared):
    """The mean of ℓ′² along the flow: since dℓ/du = −ℓ′² it is the loss's drop divided by the push.

    For a drop lost in rounding it is the square of the slope at the start, which also bounds it.
    """
    if drop < 1e-9 * abs(before):
        return slope_squared
    return min(slope_squared, drop / u)


@part
def _settle(pairs, scale, debt, debts):
    """The true weights behind lazy L1 and L2, in place."""
    for i in range(len(pairs)):
        owed = debt - debts[i] if len(debts) > 0 else 0.0
        pairs[i] = complex(scale * soft(pairs[i].real, owed), pairs[i].imag)
    debts[:] = 0.0


@part
def _longest(indptr):
    longest = 0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    return longest
