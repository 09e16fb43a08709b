"""How one example moves a prediction while L2 pulls at it all the time.

Let m be w·x without the bias, b the bias and g = ℓ′(m + b, y). While an example's time runs from 0 to 1,

    dm/dt = −(u·g + θ·m),   db/dt = −v·g,   u = H·x·x,  v = H (without a bias 0),  θ = λ·H

(row_norm divides u and v by x·x + 1). Then w becomes e^−θ·w plus a multiple of x. `changes` finds what m,
beyond its shrinking, and b gain. Few losses have a closed form for that. So all that is asked of a loss
is its flow, its implicit step and its derivative, and two kinds of step share the work:

- `by_turns`, for the common case that θ is small: the loss's own flow and the shrinking alternate, which
  extrapolates fast if done symmetrically. The error has θ as a factor, whatever the loss does.
- `doubled`, for what is stiff and for sliding along a kink, where no alternation settles.

Both say how wrong they may be, and a step is cut until that is next to nothing.
"""

import math

from steelyard.learn.collocation import doubled
from steelyard.learn.splitting import ROWS, by_turns
from steelyard.numba_tools.jit import kernel

_AGREEMENT = 1e-11  # of two results for one step, relative to what has moved
_ROUNDING = 2.0**-49  # relative to where it stands
_TINY = 1e-300  # a push below this moves nothing
_PATIENCE = 3  # with steps that do not grow
_APPROACHES = 20  # to a kink: once near it, each leaves a thousandth of the way
_FREE_CUTS = 300


@kernel
def changes(m, b, y, u, v, shrinkage, derivative, flow, implicit, table, room):
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
            m_moved, b_moved, error, row = by_turns(
                m, b, y, u * step, v * step, shrinkage * step, relative, absolute, flow, room
            )
            order = 2 * row + 1
        if error > relative * (abs(m_moved) + abs(b_moved)) + absolute:
            m_moved, b_moved, error = doubled(
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
            if row < ROWS - 1:
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
