"""One linear model with L2 inside the flow, so that a weight of h is exactly h copies with L2, too.

An example scales w and adds a multiple of itself; `joint_changes` finds how much of each. Let m be w·x
without the bias, b the bias and g = ℓ′(m + b, y). While an example's time runs from 0 to 1,

    dm/dt = −(u·g + θ·m),   db/dt = −v·g,   u = H·x·x,  v = H (0 without a bias),  θ = λ·H

(row_norm divides u and v by x·x + 1). Then w becomes e^−θ·w plus a multiple of x. `joint_changes` finds what
m gains beyond its shrinking, and what b gains. Few losses have a closed form for that. So it uses only the
loss's flow, implicit step and derivative, and two kinds of step (`joint_solvers`) share the work:

- `alternate` for the common case of a small θ: the loss's own flow and the shrinking alternate. Done
  symmetrically, that extrapolates fast. The error has θ as a factor, whatever the loss does.
- `collocate_twice` for stiff problems and for sliding along a kink, where no alternation converges.

Both bound their error, and a step is cut until the bound is negligible.
"""

import math

import numpy as np

from steelyard.learn.joint_l2_solvers import EXTRAPOLATIONS, alternate, collocate_twice
from steelyard.learn.linear import BIAS, CLOCK, LOSS, SCALE, SMALLEST_SCALE, WEIGHT
from steelyard.numba_tools.jit import helper, kernel


@kernel
def learn(
    indptr, indices, values, dense, labels, sample_weight, offsets, order,
    weights, state, predictions, row_norm, bias_value, push, flow, value,
    derivative, implicit, l2, nodes, lower, upper, probe, at_probe, at_end,
):  # fmt: skip
    """As `linear.learn`; `nodes` and the rest are from `joint_solvers.radau_tables`."""
    clock, bias, loss, weight, scale = state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT], state[SCALE]
    table = (nodes, lower, upper, probe, at_probe, at_end)
    room = np.empty((4, max(EXTRAPOLATIONS, len(nodes))))
    factor = np.empty(1, weights.dtype)
    ordered = len(order) > 0
    based = len(offsets) > 0
    for turn in range(np.uint64(len(order) if ordered else len(labels))):
        row = np.uint64(order[turn]) if ordered else turn
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        total = 0.0
        squares = 0.0
        for j in range(start, end):
            x = values[j]
            total += weights[np.uint64(indices[j - base])] * x
            squares += x * x
        m = scale * total
        offset = bias * bias_value + (offsets[row] if based else 0.0)
        predictions[row] = m + offset
        h = sample_weight[row]
        if h == 0.0:
            continue
        y = labels[row]
        weight += h
        loss += h * value(predictions[row], y)
        pushed = push(clock, h)
        clock += h
        rate = pushed / (squares + bias_value) if row_norm and squares + bias_value > 0.0 else pushed
        m_change, b_change = joint_changes(
            m, offset, y, rate * squares, rate * bias_value, pushed * l2,
            derivative, flow, implicit, table, room,
        )  # fmt: skip
        bias += b_change
        scale *= math.exp(-pushed * l2)
        if scale < SMALLEST_SCALE:
            for i in range(len(weights)):
                weights[i] *= scale
            scale = 1.0
        if m_change != 0.0:
            factor[0] = m_change / squares / scale
            s_typed = factor[0]
            for j in range(start, end):
                weights[np.uint64(indices[j - base])] += s_typed * values[j]
    state[CLOCK], state[BIAS], state[LOSS], state[WEIGHT], state[SCALE] = clock, bias, loss, weight, scale


_AGREEMENT = 1e-11  # of two results for one step, relative to the change
_ROUNDING = 2.0**-49  # relative to the position
_TINY = 1e-300  # a push below this moves nothing
_PATIENCE = 3  # with steps that do not grow, before turning to collocation
_APPROACHES = 20  # to a kink: each leaves a thousandth of the way
_FREE_CUTS = 300
_MOST_STEPS = 200_000  # noisy slopes take thousands; numbers without room for steps would take for ever


@kernel
def joint_changes(m, b, y, u, v, shrinkage, derivative, flow, implicit, table, room):
    """What m gains beyond its shrinking, and what b gains."""
    if u + v < _TINY:
        return 0.0, 0.0
    if shrinkage == 0.0 or u == 0.0:
        change = flow(m + b, y, u + v)
        return change * (u / (u + v)), change * (v / (u + v))
    m_change = b_change = 0.0
    left = step = 1.0
    stiff = False
    patience = _PATIENCE
    kink = math.nan  # a kink on the way, if known
    approaches = 0
    cuts = 0
    for _ in range(_MOST_STEPS):
        if not left > 0.0:
            break
        step = min(step, left)
        kept = math.exp(-shrinkage * step)
        relative = _agreement(cuts)
        absolute = relative * (kept * (abs(m_change) + abs(m) * (1.0 - kept)) + abs(b_change))
        absolute += _ROUNDING * (kept * abs(m) + abs(b))
        m_moved = b_moved = 0.0
        error = math.inf
        order = row = 7
        if not stiff:
            m_moved, b_moved, error, row = alternate(
                m, b, y, u * step, v * step, shrinkage * step, relative, absolute, flow, room
            )
            order = 2 * row + 1
        if error > relative * (abs(m_moved) + abs(b_moved)) + absolute:
            m_moved, b_moved, error = collocate_twice(
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
            approaches = _APPROACHES if abs(kink - (m + b)) > 0.1 * allowed else 0  # else it is already there
            longest = step
            step *= max(0.1, min(0.5, factor))
        else:
            m = m * kept + m_moved
            b += b_moved
            m_change = m_change * kept + m_moved
            b_change += b_moved
            left -= step
            if row < EXTRAPOLATIONS - 1:
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
                step = 0.999 * way / speed  # Newton towards the kink, always a little short of it
                stiff = True  # alternation would reach it too early
                approaches -= 1
        elif kink == kink:  # at the kink, to slide along it or to leave it
            kink = math.nan
            if error <= allowed:
                step = left
                stiff = False
    return m_change, b_change


@helper
def _agreement(cuts):
    """How well two results must agree. After very many cuts the derivative must be noisy: demand less."""
    return _AGREEMENT * math.pow(2.0, min(60.0, max(0, cuts - _FREE_CUTS) / 4.0))


@helper
def _kink_ahead(p, y, push, derivative, implicit):
    """The kink at which an implicit step ends, with a slope between those of its two sides; else NaN."""
    change = implicit(p, y, push)
    end = p + change
    near = 1e-7 * (1e-3 + abs(end))
    below, above = derivative(end - near, y), derivative(end + near, y)
    jump = derivative(end + 10.0 * near, y) - derivative(end - 10.0 * near, y)
    return end if below < -change / push < above and above - below > 0.5 * jump else math.nan
