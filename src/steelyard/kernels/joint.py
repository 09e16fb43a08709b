"""One linear model with L2 inside the flow, so that a weight of h is exactly h copies with L2, too.

Let m be w·x without the bias, b the bias and g = ℓ′(m + b, y). While an example's time runs from 0 to 1,

    dm/dt = −(u·g + θ·m),   db/dt = −v·g,   u = H·x·x,  v = H (without a bias 0),  θ = λ·H

(row_norm divides u and v by x·x + 1). Then w becomes e^−θ·w plus a multiple of x. `_changes` finds what m,
beyond its shrinking, and b gain. Few losses have a closed form for that. So all that is asked of a loss
is its flow, its implicit step and its derivative, and two kinds of step share the work:

- `_by_turns`, for the common case that θ is small: the loss's own flow and the shrinking alternate, which
  extrapolates fast if done symmetrically. The error has θ as a factor, whatever the loss does.
- `_collocated`, for what is stiff and for sliding along a kink, where no alternation settles.

Both say how wrong they may be, and a step is cut until that is next to nothing.
"""

import math

import numpy as np

from steelyard.kernels.jit import kernel

# The scalars' places in a model's state are those in its file, so these copies in the disk cache cannot age.
from steelyard.kernels.linear import BIAS, CLOCK, LOSS, SCALE, WEIGHT

_AGREEMENT = 1e-11  # of two results for one step, relative to what has moved
_ROUNDING = 2.0**-49  # relative to where it stands
_EPSILON = 2.0**-52
_TINY = 1e-300  # a push below this moves nothing
_SMALLEST_SCALE = 1e-6  # as in `linear`
_ROWS = 5  # of an extrapolation
_FEW_SWEEPS, _MOST_SWEEPS = 8, 40
_PATIENCE = 3  # with steps that do not grow
_APPROACHES = 20  # to a kink: once near it, each leaves a thousandth of the way
_FREE_CUTS = 300


@kernel
def learn(
    indptr, indices, values, shared, labels, importances, bases, order,
    weights, state, predictions, row_norm, bias_value, push, flow, value,
    derivative, implicit, l2, nodes, lower, upper, probe, at_probe, at_end,
):  # fmt: skip
    """As `linear.learn`, with `nodes` and what follows from `steelyard.radau`."""
    clock, bias, loss, weight, scale = state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT], state[SCALE]
    table = (nodes, lower, upper, probe, at_probe, at_end)
    room = np.empty((4, max(_ROWS, len(nodes))))
    factor = np.empty(1, weights.dtype)
    ordered = len(order) > 0
    based = len(bases) > 0
    for turn in range(np.uint64(len(order) if ordered else len(labels))):
        row = np.uint64(order[turn]) if ordered else turn
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if shared else np.uint64(0)
        total = 0.0
        squares = 0.0
        for j in range(start, end):
            x = values[j]
            total += weights[np.uint64(indices[j - base])] * x
            squares += x * x
        m = scale * total
        offset = bias * bias_value + (bases[row] if based else 0.0)
        predictions[row] = m + offset
        h = importances[row]
        if h == 0.0:
            continue
        y = labels[row]
        weight += h
        loss += h * value(predictions[row], y)
        pushed = push(clock, h)
        clock += h
        rate = pushed / (squares + bias_value) if row_norm and squares + bias_value > 0.0 else pushed
        m_change, b_change = _changes(
            m, offset, y, rate * squares, rate * bias_value, pushed * l2,
            derivative, flow, implicit, table, room,
        )  # fmt: skip
        bias += b_change
        scale *= math.exp(-pushed * l2)
        if scale < _SMALLEST_SCALE:
            for i in range(len(weights)):
                weights[i] *= scale
            scale = 1.0
        if m_change != 0.0:
            factor[0] = m_change / squares / scale
            s_typed = factor[0]
            for j in range(start, end):
                weights[np.uint64(indices[j - base])] += s_typed * values[j]
    state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT], state[SCALE] = clock, bias, loss, weight, scale


@kernel
def _changes(m, b, y, u, v, shrinkage, derivative, flow, implicit, table, room):
    """What m gains beyond its shrinking, and b."""
    if u + v < _TINY:
        return 0.0, 0.0
    if shrinkage == 0.0 or u == 0.0:
        change = flow(m + b, y, u + v)
        return change * (u / (u + v)), change * (v / (u + v))
    m_change = b_change = 0.0
    left = step = 1.0
    stiff = False
    patience = _PATIENCE
    kink = math.nan  # one on the way, if known
    approaches = 0
    cuts = 0
    while left > 0.0:
        step = min(step, left)
        kept = math.exp(-shrinkage * step)
        relative = _agreement(cuts)
        absolute = relative * (kept * (abs(m_change) + abs(m) * (1.0 - kept)) + abs(b_change))
        absolute += _ROUNDING * (kept * abs(m) + abs(b))
        m_moved = b_moved = 0.0
        error = math.inf
        order = row = 7
        if not stiff:
            m_moved, b_moved, error, row = _by_turns(
                m, b, y, u * step, v * step, shrinkage * step, relative, absolute, flow, room
            )
            order = 2 * row + 1
        if error > relative * (abs(m_moved) + abs(b_moved)) + absolute:
            m_moved, b_moved, error = _doubled(
                m, b, y, u * step, v * step, shrinkage * step, relative, absolute, implicit, table, room
            )
            order = row = 7
            stiff = True
        if error != error:
            return math.nan, math.nan
        allowed = relative * (abs(m_moved) + abs(b_moved)) + absolute
        factor = min(10.0, 0.9 * math.pow(allowed / max(error, 1e-12 * allowed), 1.0 / order))
        if error > allowed:
            cuts += 1
            patience = _PATIENCE
            stiff = stiff and factor > 0.2
            kink = _kink_ahead(m * kept + b, y, (u + v) * step, derivative, implicit)
            approaches = _APPROACHES if abs(kink - (m + b)) > 0.1 * allowed else 0  # else it is there already
            longest = step
            step *= max(0.1, min(0.5, factor))
        else:
            m = m * kept + m_moved
            b += b_moved
            m_change = m_change * kept + m_moved
            b_change += b_moved
            left -= step
            if row < _ROWS - 1:
                factor = max(factor, 3.0)  # a longer step has more rows
            step *= factor
            if not stiff and factor < 2.0:
                patience -= 1
                if patience == 0:
                    stiff = True
                    step *= 5.0
            longest = step
        way = kink - (m + b)
        speed = -(u + v) * derivative(m + b, y) - shrinkage * m
        if approaches > 0 and abs(way) > _ROUNDING * (abs(m) + abs(b)):
            if way * speed > 0.0 and way / speed < longest:
                step = 0.999 * way / speed  # Newton's way to the kink, always a little short of it
                stiff = True  # turns would reach it too early
                approaches -= 1
        elif kink == kink:  # it is there, to slide along the kink or to leave it behind
            kink = math.nan
            if error <= allowed:
                step = left
                stiff = False
    return m_change, b_change


@kernel
def _agreement(cuts):
    """How well two results must agree. What needs very many cuts has a noisy derivative: ask less of it."""
    return _AGREEMENT * math.pow(2.0, min(60.0, max(0, cuts - _FREE_CUTS) / 4.0))


@kernel
def _kink_ahead(p, y, push, derivative, implicit):
    """The kink at which an implicit step ends, its slope from between those on the two sides; else NaN."""
    change = implicit(p, y, push)
    end = p + change
    near = 1e-7 * (1e-3 + abs(end))
    below, above = derivative(end - near, y), derivative(end + near, y)
    jump = derivative(end + 10.0 * near, y) - derivative(end - 10.0 * near, y)
    return end if below < -change / push < above and above - below > 0.5 * jump else math.nan


@kernel
def _by_turns(m, b, y, u, v, shrinkage, relative, absolute, flow, room):
    """A step of unit time by alternating flow and shrinking: the changes, a bound on their error, rows used.

    Once with half a flow first and last, once with half a shrinking. Both orders are symmetric, so that
    their errors are series in 1/count² and the results for count = 1, 2, 3, … extrapolate to none
    (Aitken and Neville). What the orders differ in is the measure of error: a kink passed within the
    first or last turn deceives one of them, but not both, and a stiff loss neither.
    """
    m_change = b_change = 0.0
    error = last_error = math.inf
    row = 0
    while row < _ROWS and (row < 3 or error < 0.3 * last_error):
        last_error = error
        row += 1
        m_other, b_other = _flow_outside(m, b, y, u, v, shrinkage, row, flow)
        m_change, b_change = _flow_inside(m, b, y, u, v, shrinkage, row, flow)
        m_other = _extrapolated(m_other, row, room[0])
        b_other = _extrapolated(b_other, row, room[1])
        m_change = _extrapolated(m_change, row, room[2])
        b_change = _extrapolated(b_change, row, room[3])
        error = abs(m_change - m_other) + abs(b_change - b_other)
        if error <= relative * (abs(m_change) + abs(b_change)) + absolute:
            break
    return m_change, b_change, error, row


@kernel
def _flow_outside(m, b, y, u, v, shrinkage, count, flow):
    kept = math.exp(-shrinkage / count)
    push = (u + v) / count
    m_share, b_share = u / (u + v), v / (u + v)
    change = flow(m + b, y, 0.5 * push)
    m_change = change * m_share
    b_change = change * b_share
    for done in range(1, count + 1):
        m *= kept
        m_change *= kept
        change = flow(m + b + (m_change + b_change), y, push if done < count else 0.5 * push)
        m_change += change * m_share
        b_change += change * b_share
    return m_change, b_change


@kernel
def _flow_inside(m, b, y, u, v, shrinkage, count, flow):
    half = math.exp(-0.5 * shrinkage / count)
    push = (u + v) / count
    m_share, b_share = u / (u + v), v / (u + v)
    m_change = b_change = 0.0
    for _ in range(count):
        m *= half
        m_change *= half
        change = flow(m + b + (m_change + b_change), y, push)
        m_change += change * m_share
        b_change += change * b_share
        m *= half
        m_change *= half
    return m_change, b_change


@kernel
def _extrapolated(value, row, last_row):
    """The end of a further row in the table of an extrapolation in 1/row²."""
    for column in range(1, row):
        above = last_row[column - 1]
        last_row[column - 1] = value
        ratio = row / (row - column)
        value += (value - above) / (ratio * ratio - 1.0)
    last_row[row - 1] = value
    return value


@kernel
def _doubled(m, b, y, u, v, shrinkage, relative, absolute, implicit, table, room):
    """A step of unit time by collocation, whole and in two halves: the changes, a bound on their error."""
    noise = _EPSILON * (abs(m) + abs(b))
    m_whole, b_whole, rest, astray, late = _collocated(
        m, b, y, u, v, shrinkage, 0.01 * absolute + noise, implicit, table, room
    )
    allowed = relative * (abs(m_whole) + abs(b_whole)) + absolute
    missed = _left_of(astray, m, b, y, u, v, shrinkage, implicit, table)
    if not rest + missed < 1e4 * allowed:
        return m_whole, b_whole, rest + missed
    enough = 0.01 * allowed + noise
    m_first, b_first, rest, first_astray, _ = _collocated(
        m, b, y, 0.5 * u, 0.5 * v, 0.5 * shrinkage, enough, implicit, table, room
    )
    # Half the step sees 1/64 of the surprise, unless there is a kink or a transient before its first node
    missed = 0.0
    if first_astray > 0.1 * astray:
        missed = _left_of(first_astray, m, b, y, u, v, shrinkage, implicit, table)
    kept = math.exp(-0.5 * shrinkage)
    m_second, b_second, more_rest, _, second_late = _collocated(
        m * kept + m_first, b + b_first, y, 0.5 * u, 0.5 * v, 0.5 * shrinkage, enough, implicit, table, room
    )
    # Likewise for a kink between the last two nodes, at which p is held at the end: m came there too late
    if second_late > 0.1 * late:
        missed += second_late * min(1.0, shrinkage)
    m_moved, b_moved = m_first * kept + m_second, b_first + b_second
    error = abs(m_moved - m_whole) + abs(b_moved - b_whole)
    return m_moved, b_moved, error + rest + more_rest + missed


@kernel
def _left_of(astray, m, b, y, u, v, shrinkage, implicit, table):
    """What the end keeps of being astray at the first node: in p, by an implicit step, and by way of m."""
    p = m * math.exp(-shrinkage) + b
    p += implicit(p, y, u + v)
    still = implicit(p, y, u + v)
    above = astray + implicit(p + astray, y, u + v) - still
    below = -astray + implicit(p - astray, y, u + v) - still  # on one side of a kink the loss may be flat
    return max(abs(above), abs(below)) + astray * min(1.0, shrinkage * table[0][0])


@kernel
def _collocated(m, b, y, u, v, shrinkage, enough, implicit, table, room):
    """A step of unit time with g a polynomial through its values at the nodes.

    Returns the changes, what the last sweep still moved, and how far p may be astray before the first
    node and before the last.

    There the changes M of m and B of b obey M = −A(u·g + θ(m + M)) and B = −v·A·g. Write A = D·R, and
    sweep: node i takes the nodes before it from this sweep, those after it from the last, and its own
    g from one implicit step p = r − K·g(p), however large K is. From no stiffness to infinite, a sweep
    leaves less than a third of the error. As the implicit step knows what to do at a kink, so do
    the sweeps: g becomes what keeps p there.
    """
    nodes, lower, upper, probe, at_probe, at_end = table
    slope, gain, slopes, gains = room  # of the last sweep; and times R, of this one
    size = len(nodes)
    guess = -implicit(m * math.exp(-shrinkage) + b, y, u + v) / (u + v)
    for i in range(size):
        slope[i] = guess
        gain[i] = -(u * guess + shrinkage * m) * nodes[i]
    moved = last_moved = math.inf
    sweeps = 0
    integral = 0.0
    while moved > enough and (sweeps < _FEW_SWEEPS or (moved < 0.7 * last_moved and sweeps < _MOST_SWEEPS)):
        sweeps += 1
        last_moved = moved
        moved = 0.0
        for i in range(size):
            later = later_gain = 0.0
            for j in range(i + 1, size):
                later += upper[i, j] * slope[j]
                later_gain += upper[i, j] * gain[j]
            own = lower[i, i]
            integral = own * later
            gain_integral = own * later_gain
            for j in range(i):
                integral += lower[i, j] * slopes[j]
                gain_integral += lower[i, j] * gains[j]
            damped = 1.0 / (1.0 + own * shrinkage)
            known = -damped * (u * integral + shrinkage * (m * nodes[i] + gain_integral))
            push = own * (damped * u + v)
            g = -implicit(m + b + (known - v * integral), y, push) / push
            new_gain = known - own * damped * u * g
            moved = max(moved, abs(new_gain - gain[i]) + push * abs(g - slope[i]))
            integral += own * g
            slope[i], gain[i] = g, new_gain
            slopes[i], gains[i] = g + later, new_gain + later_gain
    # No node sees what happens before the first. So compare the polynomial with the start, seen through a
    # tiny implicit step, which is right also at a kink; less what its length and rounding explain.
    shrunk = -math.expm1(-probe * shrinkage)
    push = u * shrunk / shrinkage + v * probe
    expected = 0.0
    for i in range(size):
        expected += at_probe[i] * slope[i]
    surprise = abs(implicit(m - m * shrunk + b, y, push) / push + expected)
    surprise -= 2.0 * probe / nodes[0] * abs(slope[0] - expected) + 16.0 * _EPSILON * (abs(m) + abs(b)) / push
    astray = max(0.0, 0.5 * nodes[0] * (u + v) * surprise)
    expected = 0.0
    for i in range(size - 1):
        expected += at_end[i] * slope[i]
    late = lower[size - 1, size - 1] * (u + v) * abs(slope[size - 1] - expected)
    return gain[size - 1] - m * math.expm1(-shrinkage), -v * integral, moved, astray, late
