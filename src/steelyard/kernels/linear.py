"""One linear model: predict, and learn a chunk of rows in order.

Rows come as CSR arrays. A dense matrix is the case in which all rows share one list of indices.
Everything about the loss, the update and the schedule comes in as pointers:

    push(t, h)      ∫ η over the stretch of the clock that weight h takes, called H
    step(p, y, u)   the change of the prediction
    value(p, y), derivative(p, y)

`learn` is the plain loop and the fast one. `learn_general` has everything else: rates of their own
for every feature, and L1 and L2 by splitting. There a weight is stored as v with the true weight
S·soft(v, A − A_then), where A_then is the debt A when the feature was last settled: so a row costs
no more than its nonzeros. `state` holds the scalars of the model, in float64.
"""

import math

import numpy as np

from steelyard.kernels.jit import kernel

# The places of the scalars in `state`
CLOCK, BIAS, BIAS_SQUARES, SCALE, DEBT, NORM, LOSS, WEIGHT, STATE_SIZE = range(9)

# The global scale S of lazy L2 is folded into the weights before float32 runs out of digits.
_SMALLEST_SCALE = 1e-6

# Under the root of an adaptive rate: float32's smallest normal number, so that a feature of value 0
# which was never seen gets a finite rate.
_SMALLEST_SQUARE = 1.2e-38
_LARGEST_SQUARE = 1e38  # and its largest, as the exponential loss has slopes to exceed it


@kernel
def predict(indptr, indices, values, shared, weights, bias, predictions):
    for row in range(len(predictions)):
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        base = start if shared else np.uint64(0)
        total = 0.0
        for j in range(start, end):
            total += weights[np.uint64(indices[j - base])] * values[j]
        predictions[row] = total + bias


@kernel
def learn(
    indptr, indices, values, shared, labels, importances,
    weights, state, predictions, row_norm, bias_value, push, step, value,
):  # fmt: skip
    clock, bias, loss, weight = state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT]
    factor = np.empty(1, weights.dtype)
    for row in range(len(labels)):
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        base = start if shared else np.uint64(0)
        total = 0.0
        squares = 0.0
        for j in range(start, end):
            x = values[j]
            total += weights[np.uint64(indices[j - base])] * x
            squares += x * x
        p = total + bias * bias_value
        n = squares + bias_value
        predictions[row] = p
        h = importances[row]
        if h == 0.0:
            continue
        y = labels[row]
        loss += h * value(p, y)
        weight += h
        pushed = push(clock, h)
        clock += h
        if n > 0.0:
            s = step(p, y, pushed if row_norm else pushed * n) / n
            factor[0] = s
            s_typed = factor[0]
            for j in range(start, end):
                weights[np.uint64(indices[j - base])] += s_typed * values[j]
            bias += s * bias_value
    state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT] = clock, bias, loss, weight


@kernel
def learn_general(
    indptr, indices, values, shared, labels, importances,
    weights, state, predictions, row_norm, bias_value, push, step, value,
    derivative, adaptive, normalized, squares, scales, multiply, l1, l2, debts,
):  # fmt: skip
    """As `learn`, with adaptive rates (`squares`; `scales` if normalized) and lazy L1 and L2 (`debts`).

    `multiply`: the sums of squares see the gradient times the weight, as the explicit baseline does.
    """
    clock, bias, loss, weight = state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT]
    bias_squares, scale, debt, norm = state[BIAS_SQUARES], state[SCALE], state[DEBT], state[NORM]
    rates = np.ones(_longest(indptr), weights.dtype)
    typed = np.empty(4, weights.dtype)  # scalars pass through it to get the weights' type
    for row in range(len(labels)):
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        base = start if shared else np.uint64(0)
        h = importances[row]
        if h == 0.0:  # as if absent, to the last bit: look without touching
            total = 0.0
            for j in range(start, end):
                i = np.uint64(indices[j - base])
                total += (_soft(weights[i], debt - debts[i]) if l1 > 0.0 else weights[i]) * values[j]
            predictions[row] = scale * total + bias * bias_value
            continue
        if l1 > 0.0:
            _settle_row(start, end, base, indices, weights, debts, debt)
        if normalized:
            norm += h * (bias_value + _rescale(start, end, base, indices, values, weights, squares, scales))
        total = 0.0
        for j in range(start, end):
            total += weights[np.uint64(indices[j - base])] * values[j]
        p = scale * total + bias * bias_value
        predictions[row] = p
        y = labels[row]
        before = value(p, y)
        loss += h * before
        weight += h
        pushed = push(clock, h)
        clock += h
        n = 0.0
        bias_rate = 1.0
        slope_squared = 0.0
        if adaptive:
            slope = derivative(p, y) * (h if multiply else 1.0)
            slope_squared = min(slope * slope, _LARGEST_SQUARE)
            common = math.sqrt(clock / norm) if normalized else 1.0
            if slope_squared > 0.0:
                bias_rate = common / math.sqrt(bias_squares + slope_squared)
                n = bias_rate * bias_value
                if normalized:
                    n += _rates_normalized(
                        start,
                        end,
                        base,
                        indices,
                        values,
                        squares,
                        scales,
                        slope_squared,
                        common,
                        rates,
                        typed,
                    )
                else:
                    n += _rates_adaptive(
                        start, end, base, indices, values, squares, slope_squared, rates, typed
                    )
        else:
            n = bias_value
            for j in range(start, end):
                n += values[j] * values[j]
        if n > 0.0:
            u = pushed if row_norm else pushed * n
            change = step(p, y, u)
            s = change / n
            bias += s * bias_rate * bias_value
            if adaptive:
                gained = slope_squared
                if not multiply:
                    gained = h * _mean_square(before - value(p + change, y), before, u, slope_squared)
                bias_squares = min(bias_squares + gained * bias_value, _LARGEST_SQUARE)
                _apply_adaptive(
                    start,
                    end,
                    base,
                    indices,
                    values,
                    weights,
                    squares,
                    scales,
                    normalized,
                    rates,
                    s / scale,
                    gained,
                    typed,
                )
            else:
                typed[0] = s / scale
                s_typed = typed[0]
                for j in range(start, end):
                    weights[np.uint64(indices[j - base])] += s_typed * values[j]
        debt += pushed * l1 / scale
        scale /= 1.0 + pushed * l2
        if scale < _SMALLEST_SCALE:
            settled(weights, scale, debt, debts, weights)
            debts[:] = 0.0
            debt = 0.0
            scale = 1.0
    state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT] = clock, bias, loss, weight
    state[BIAS_SQUARES], state[SCALE], state[DEBT], state[NORM] = bias_squares, scale, debt, norm


@kernel
def settled(weights, scale, debt, debts, out):
    """The true weights behind lazy L1 and L2."""
    for i in range(len(weights)):
        out[i] = scale * _soft(weights[i], debt - debts[i] if len(debts) > 0 else 0.0)


@kernel
def _soft(v, debt):
    """v moved towards zero by the debt, not past it."""
    return math.copysign(max(abs(v) - debt, 0.0), v)


@kernel
def _settle_row(start, end, base, indices, weights, debts, debt):
    for j in range(start, end):
        i = np.uint64(indices[j - base])
        weights[i] = _soft(weights[i], debt - debts[i])
        debts[i] = debt


@kernel
def _rates_adaptive(start, end, base, indices, values, squares, slope_squared, rates, typed):
    """1/√(G + x²·ℓ′²) for each feature of the row; returns Σ rate·x²."""
    typed[0], typed[1], typed[2], typed[3] = slope_squared, _SMALLEST_SQUARE, 1.0, _LARGEST_SQUARE
    slope_squared_typed, smallest, one, largest = typed[0], typed[1], typed[2], typed[3]
    n = 0.0
    for j in range(start, end):
        xx = values[j] * values[j]
        g = squares[np.uint64(indices[j - base])] + xx * slope_squared_typed
        rate = one / np.sqrt(min(max(g, smallest), largest))
        rates[j - start] = rate
        n += rate * xx
    return n


@kernel
def _rates_normalized(
    start, end, base, indices, values, squares, scales, slope_squared, common, rates, typed
):
    """The same in units of each feature's scale s, which comes back when the rate is applied."""
    typed[0], typed[1], typed[2], typed[3] = slope_squared, _SMALLEST_SQUARE, _LARGEST_SQUARE, common
    slope_squared_typed, smallest, largest, common_typed = typed[0], typed[1], typed[2], typed[3]
    n = 0.0
    for j in range(start, end):
        i = np.uint64(indices[j - base])
        z = values[j] / max(scales[i], smallest)
        zz = z * z
        g = squares[i] + zz * slope_squared_typed
        rate = common_typed / np.sqrt(min(max(g, smallest), largest))
        rates[j - start] = rate
        n += rate * zz
    return n


@kernel
def _apply_adaptive(
    start, end, base, indices, values, weights, squares, scales, normalized, rates, s, gained, typed
):
    typed[0], typed[1], typed[2], typed[3] = (
        s,
        min(gained, _LARGEST_SQUARE),
        _SMALLEST_SQUARE,
        _LARGEST_SQUARE,
    )
    s_typed, gained_typed, smallest, largest = typed[0], typed[1], typed[2], typed[3]
    if normalized:
        for j in range(start, end):
            i = np.uint64(indices[j - base])
            scale = max(scales[i], smallest)
            z = values[j] / scale
            weights[i] += s_typed * rates[j - start] * z / scale
            squares[i] = min(squares[i] + z * z * gained_typed, largest)
    else:
        for j in range(start, end):
            i = np.uint64(indices[j - base])
            x = values[j]
            weights[i] += s_typed * rates[j - start] * x
            squares[i] = min(squares[i] + x * x * gained_typed, largest)


@kernel
def _mean_square(drop, before, u, slope_squared):
    """The mean of ℓ′² along the flow: since dℓ/du = −ℓ′² it is the loss's drop divided by the push.

    For a drop lost in rounding it is the square of the slope at the start, which also bounds it.
    """
    if drop < 1e-9 * abs(before):
        return slope_squared
    return min(slope_squared, drop / u)


@kernel
def _rescale(start, end, base, indices, values, weights, squares, scales):
    """Let each feature's scale grow to its largest |x|, its weight with it; returns Σ (x/scale)²."""
    total = 0.0
    for j in range(start, end):
        x = abs(values[j])
        if x > 0.0:
            i = np.uint64(indices[j - base])
            if x > scales[i]:
                shrink = scales[i] / x
                weights[i] *= shrink
                squares[i] *= shrink * shrink
                scales[i] = x
            z = x / scales[i]
            total += z * z
    return total


@kernel
def _longest(indptr):
    longest = 0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    return longest
