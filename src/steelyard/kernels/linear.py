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

A loop that sums stores nothing. One that did both would be compiled twice over, in vectors and
singly, and which one runs would depend on where its arrays happen to lie in memory: the order of
the sum, and with it the last bit, would differ from run to run.
"""

import math

import numpy as np

from steelyard.kernels.jit import kernel

# The places of the scalars in `state`
CLOCK, BIAS, BIAS_SQUARES, SCALE, DEBT, NORM, SEEN, LOSS, WEIGHT, STATE_SIZE = range(10)

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
        weight += h
        pushed = push(clock, h)
        clock += h
        s = step(p, y, pushed if row_norm else pushed * n) / n if n > 0.0 else 0.0
        loss += h * value(p, y)  # beside the update, which need not wait for it
        if s != 0.0:
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
    bias_squares, scale, debt = state[BIAS_SQUARES], state[SCALE], state[DEBT]
    norm, seen = state[NORM], state[SEEN]
    longest = _longest(indptr)
    # A row's own copies of what its features have: side by side in memory, so that the loop with the
    # roots and divisions runs several at a time.
    x, units = np.ones(longest, weights.dtype), np.ones(longest, weights.dtype)
    gathered, moves = np.empty(longest, weights.dtype), np.empty(longest, weights.dtype)
    typed = np.empty(4, weights.dtype)  # scalars pass through it to get the weights' type
    for row in range(len(labels)):
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        base = start if shared else np.uint64(0)
        h = importances[row]
        if h == 0.0:  # as if absent, to the last bit: look without touching
            total = 0.0
            for j in range(start, end):
                i = np.uint64(indices[j - base])
                w = _soft(weights[i], debt - debts[i]) if l1 > 0.0 else weights[i]
                total += w * values[j]
            predictions[row] = scale * total + bias * bias_value
            continue
        if l1 > 0.0:
            for j in range(start, end):
                i = np.uint64(indices[j - base])
                weights[i] = _soft(weights[i], debt - debts[i])
                debts[i] = debt
        total = 0.0
        held = 0.0
        row_squares = 0.0
        if normalized:
            for j in range(start, end):
                i = np.uint64(indices[j - base])
                total += weights[i] * values[j]
                held += weights[i] * _held(values[j], scales[i])
        else:
            for j in range(start, end):
                total += weights[np.uint64(indices[j - base])] * values[j]
                row_squares += values[j] * values[j]
        p = scale * total + bias * bias_value
        predictions[row] = p
        y = labels[row]
        before = value(p, y)
        loss += h * before
        weight += h
        pushed = push(clock, h)
        clock += h
        if adaptive:
            slope = derivative(p, y)
            if slope != 0.0 and normalized:  # scales grow only where something is to be learned
                p = scale * held + bias * bias_value  # what the row predicts once they have grown
                before, slope = value(p, y), derivative(p, y)
                seen += h
                norm += h * bias_value
                norm += h * _rescale(
                    start, end, base, indices, values, weights, squares, scales, x, units, gathered, typed
                )
            elif slope != 0.0:
                for j in range(start, end):
                    gathered[j - start] = squares[np.uint64(indices[j - base])]
                    x[j - start] = values[j]
            slope *= h if multiply else 1.0
            slope_squared = min(slope * slope, _LARGEST_SQUARE)
            n = 0.0
            bias_rate = 0.0
            if slope_squared > 0.0:
                common = math.sqrt(seen / norm) if norm > 0.0 else 1.0
                bias_rate = common / math.sqrt(bias_squares + slope_squared) * bias_value
                n = bias_rate + _rates(end - start, x, gathered, slope_squared, common, moves, typed)
            if n > 0.0:
                change = step(p, y, pushed * n)
                s = change / n
                gained = slope_squared
                if not multiply:
                    drop = before - value(p + change, y)
                    gained = h * _mean_square(drop, before, pushed * n, slope_squared)
                bias += s * bias_rate
                bias_squares = min(bias_squares + gained * bias_value, _LARGEST_SQUARE)
                _scatter(
                    start, end, base, indices, weights, squares,
                    x, units, gathered, moves, s / scale, gained, typed,
                )  # fmt: skip
        elif row_squares + bias_value > 0.0:
            n = row_squares + bias_value
            s = step(p, y, pushed if row_norm else pushed * n) / n
            bias += s * bias_value
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
    state[BIAS_SQUARES], state[SCALE], state[DEBT] = bias_squares, scale, debt
    state[NORM], state[SEEN] = norm, seen


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
def _held(x, scale):
    """x held within its scale: what a larger one predicts once its weight has been rescaled."""
    return min(max(x, -scale), scale)


@kernel
def _rates(count, x, gathered, slope_squared, common, moves, typed):
    """The adaptive rates of a row, common/√(G + x²·ℓ′²), times x into `moves`; returns Σ rate·x²."""
    typed[0], typed[1], typed[2], typed[3] = slope_squared, _SMALLEST_SQUARE, _LARGEST_SQUARE, common
    slope_squared_typed, smallest, largest, common_typed = typed[0], typed[1], typed[2], typed[3]
    for k in range(count):
        g = gathered[k] + x[k] * x[k] * slope_squared_typed
        moves[k] = common_typed / np.sqrt(min(max(g, smallest), largest)) * x[k]
    n = 0.0
    for k in range(count):
        n += moves[k] * x[k]
    return n


@kernel
def _scatter(start, end, base, indices, weights, squares, x, units, gathered, moves, s, gained, typed):
    """Move the weights, and let the sums of squares grow."""
    typed[0], typed[1], typed[2] = s, min(gained, _LARGEST_SQUARE), _LARGEST_SQUARE
    s_typed, gained_typed, largest = typed[0], typed[1], typed[2]
    for j in range(start, end):
        k = j - start
        i = np.uint64(indices[j - base])
        weights[i] += s_typed * moves[k] * units[k]
        squares[i] = min(gathered[k] + x[k] * x[k] * gained_typed, largest)


@kernel
def _mean_square(drop, before, u, slope_squared):
    """The mean of ℓ′² along the flow: since dℓ/du = −ℓ′² it is the loss's drop divided by the push.

    For a drop lost in rounding it is the square of the slope at the start, which also bounds it.
    """
    if drop < 1e-9 * abs(before):
        return slope_squared
    return min(slope_squared, drop / u)


@kernel
def _rescale(start, end, base, indices, values, weights, squares, scales, x, units, gathered, typed):
    """Each feature of the row in units of its scale, its largest |value| so far, which may grow just now.

    The weight and the sum of squares are kept in the new units. Returns Σ (value/scale)².
    """
    typed[0], typed[1] = 1.0, 0.0
    one, zero = typed[0], typed[1]
    for j in range(start, end):
        i = np.uint64(indices[j - base])
        size = abs(values[j])
        if size > scales[i]:
            shrink = scales[i] / size
            weights[i] *= shrink
            squares[i] *= shrink * shrink
            scales[i] = size
        unit = one / scales[i] if scales[i] > zero else zero
        z = values[j] * unit
        units[j - start] = unit
        x[j - start] = z
        gathered[j - start] = squares[i]
    total = 0.0
    for k in range(end - start):
        total += x[k] * x[k]
    return total


@kernel
def _longest(indptr):
    longest = 0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    return longest
