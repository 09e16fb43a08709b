"""The exact flow of an example under adaptive rates: sums of squares grow while the example is learned.

With rates="row" the rates of a row stand still at their values for its first copy. Here they fall along the
way, so that a weight of h is exactly h copies. For the stretch ds of an example,

    dp/ds = −η·ℓ′(p)·S(A)        dA/ds = ℓ′(p)²        S(A) = Σ z²/√(G + m·A)

where m is what a row adds to the G of a feature for each ℓ′². Two numbers move, p and A, and at the end
G grows by m·A. What divides all rates, the mean norm of rows, becomes part of the stretch: a weight of h has
s = ∫ t/N dt over the weight t and the sum of norms N (see `stretch`), which says that rows are measured in
units of their typical norm. So nothing but (coefficients, G, t, N) decides what comes next, and two examples
in a row equal one with the sum of their weights.

Before the first copy G is raised to at least m·ℓ′²·t/N. The slope only falls along the flow, and
t/N grows more slowly than G does, so for later copies this changes nothing. It is what a rate with the
present gradient in its denominator does at first sight.

How it is solved. For a range of A, S becomes a polynomial of ζ = 1/√(ρ + A), with the least G/m for ρ: of a
feature first seen now, 1/√(G + mA) is linear in ζ. It takes the row's rates at a few A, one sweep each. Then
the push u of the loss's own flow is the variable, as p(u) is closed and du = η·S ds: panel by panel, slopes
at a few pushes give A(u) and s(u) by Gauss's quadrature, and the place where s is used up (`rate_panels`). A
second sweep moves the coefficients by the same rates and the same polynomial, so that Σ z·Δv is the change of
p to rounding.
"""

import math

import numpy as np

from steelyard.learn.averages import raised
from steelyard.learn.linear import BIAS, BIAS_LAG, BIAS_SQUARES, CLOCK, NORM, REFERENCE, SEEN
from steelyard.learn.rate_panels import (
    BIAS_RATES,
    CURVE,
    LATE,
    MOVED,
    PLACES,
    REACH,
    SLOPES,
    SLOWNESS,
    WEIGHTS,
    end_of,
    fit,
    place,
    polynomial,
    settle,
    take_slopes,
    weigh,
)
from steelyard.learn.rows import LARGEST, SMALLEST, dot
from steelyard.numba_tools.jit import apart, kernel, part

_MOST_PANELS = 1000  # no example of any loss needs a tenth of it
_NEARLY = 1.0 - 1e-9
_ENDED = 1e-15  # of a stretch that is left, relative
_LEAST = 1e-100  # of A, relative


@part
def stretch(seen, norm, q, h):
    """∫ t/N over a weight of h, in which t grows from `seen` by 1 and N from `norm` by q."""
    grown = q * h / norm
    if grown < 1e-4:
        # log1p(grown) to the fourth order, where its difference from `grown` would be lost in rounding
        of_seen = 1.0 - grown * (0.5 - grown * (1.0 / 3.0 - 0.25 * grown))
        of_h = 0.5 - grown * (1.0 / 3.0 - grown * (0.25 - 0.2 * grown))
        return h / norm * (seen * of_seen + h * of_h)
    return (h + (seen - norm / q) * math.log1p(grown)) / q


@part
def weight_for(seen, norm, q, s, guess):
    """The weight with this stretch."""
    h = guess
    for _ in range(60):  # pragma: no branch - it ends long before
        error = stretch(seen, norm, q, h) - s
        h = max(h - error * (norm + q * h) / (seen + h), 0.0)
        if abs(error) <= 1e-13 * s:
            break
    return h


@part
def counted(seen, norm, q, h):
    """t and N after a row, learned or not. They begin with the first row, counted once with weight 1.

    So t/N never grows faster than G under the same row.
    """
    if q > 0.0:
        if seen == 0.0:
            seen, norm = 1.0, q
        seen += h
        norm += h * q
    return seen, norm


@kernel
def follow(
    filled, z, m, g, bias_value, now, p, y, share, rate, h, normed, u_limit, power,
    tables, step, derivative,
    fans, moves, late_moves, work, typed,
):  # fmt: skip
    """Follow the flow for a weight of h; returns A.

    `now` is the state of the model before this row, and is brought up to date. `g` is raised to its floor,
    `moves` gets the changes of the coefficients, `late_moves` the changes times their time. `share` fades the
    floor out next to where a flow comes to rest, where rounding decides whether there is a slope. Without
    `normed` the stretch of a weight is the weight. A finite `u_limit` ends the flow at that push, and adds
    its weight to `now[CLOCK]`.
    """
    apart()
    rate_nodes, rate_fit, nodes, coefficients, integrals, tolerances = tables
    rates, count, tolerance = len(rate_nodes), len(nodes), tolerances[0]
    slope = derivative(p, y)
    q = bias_value + dot(filled, z, z)
    for k in range(filled):
        moves[k] = 0.0
        late_moves[k] = 0.0
    if q == 0.0:  # no feature that could move
        return 0.0
    if now[SEEN] == 0.0:
        now[SEEN], now[NORM] = 1.0, q
    seen, norm, clock = now[SEEN], now[NORM], now[CLOCK]
    rho = share * min(slope * slope, LARGEST) * (seen / norm if normed else 1.0)
    rho = max(rho, SMALLEST)
    _raise_to_floor(filled, m, g, rho, typed)
    bias_squares = max(now[BIAS_SQUARES], rho * bias_value)
    s_limit = stretch(seen, norm, q, h) if normed else h
    settled = (h / seen) ** 2 < tolerance or not normed  # t/N hardly moves
    u_done = s_done = a = 0.0
    u_next = np.inf
    panels = 0
    going = slope * slope > 0.0 and rate > 0.0
    while going:
        # S for A up to twice ρ + A, from the row's rates at the nodes
        near = rho + a
        most = min(slope * slope * (s_limit - s_done), near)
        if not most > _LEAST * near:  # nothing would be left of it in rounding
            break
        zeta = 1.0 / math.sqrt(near)
        far = 1.0 / math.sqrt(near + most)
        width = most * (zeta * far) * (zeta * far) / (zeta + far)
        for k in range(rates):
            at = zeta - rate_nodes[k] * width
            a_k = a + rate_nodes[k] * width * (zeta + at) / ((zeta * at) * (zeta * at))
            _rates_at(filled, z, m, g, a_k, fans[k], typed)
            work[BIAS_RATES, k] = bias_value / math.sqrt(min(max(bias_squares + a_k, SMALLEST), LARGEST))
            work[REACH, k] = work[BIAS_RATES, k] * bias_value + dot(filled, fans[k], z)
            work[MOVED, k] = work[LATE, k] = 0.0
        fit(rates, REACH, CURVE, work, rate_fit)
        gained = 0.0
        while going and gained < 0.95 * most:
            panels += 1
            speed = rate * polynomial(rates, CURVE, work, place(gained, near, zeta, width))
            # S falls, so the push is less than at this speed
            s_left = s_limit - s_done
            s_panel = min(s_left, (most - gained) / (slope * slope))
            u_panel = min(min(speed * s_panel, u_next), u_limit - u_done)
            from_here, there = step(p, y, u_done), step(p, y, u_done + u_panel)
            if there == step(p, y, u_done + _NEARLY * u_panel):  # it comes to rest on the way
                u_panel = min(u_panel, abs((there - from_here) / slope))
                if u_panel <= _ENDED * u_done:
                    going = False
                    break
            u_panel = take_slopes(
                count, p, y, u_done, u_panel, slope, nodes, coefficients, tolerance, step, derivative, work
            )
            u_next = 2.0 * u_panel
            settle(rates, count, gained, u_panel, speed, rate, near, zeta, width, integrals, tolerance, work)
            ended, used = end_of(count, u_panel, s_left, coefficients, work)
            weigh(count, ended, coefficients, work)
            for k in range(count):
                length = u_panel * work[WEIGHTS, k] * work[SLOPES, k] * work[SLOWNESS, k]
                gained += length * work[SLOPES, k]
                moving = -length * rate
                time = 1.0
                if power > 0:
                    passed = 0.0
                    for j in range(count):
                        passed += integrals[k, j] * work[SLOWNESS, j]
                    s_k = s_done + u_panel * passed
                    lasted = h * s_k / s_limit
                    if not settled:
                        lasted = weight_for(seen, norm, q, s_k, lasted)
                    time = raised((clock + lasted) / now[REFERENCE], power)
                for n in range(rates):
                    work[MOVED, n] += moving
                    work[LATE, n] += moving * time
                    moving *= work[PLACES, k]
            s_done += used
            u_done += ended * u_panel
            slope = derivative(p + step(p, y, u_done), y)
            going = slope * slope > 0.0 and s_limit - s_done > _ENDED * s_limit and u_done < u_limit
            going = going and panels < _MOST_PANELS
        a += gained
        for j in range(rates):
            factor = late_factor = 0.0
            for n in range(rates):
                factor += rate_fit[n, j] * work[MOVED, n]
                late_factor += rate_fit[n, j] * work[LATE, n]
            _add(filled, factor, fans[j], moves, typed)
            now[BIAS] += factor * work[BIAS_RATES, j]
            if power > 0:
                _add(filled, late_factor, fans[j], late_moves, typed)
                now[BIAS_LAG] += late_factor * work[BIAS_RATES, j]
    now[BIAS_SQUARES] = min(bias_squares + a * bias_value, LARGEST)
    if u_limit < np.inf:
        now[CLOCK] += weight_for(seen, norm, q, s_done, s_done * norm / seen) if normed else s_done
    if normed:
        now[SEEN], now[NORM] = counted(seen, norm, q, h)
    return a


@part
def _raise_to_floor(count, m, g, least, typed):
    """At least `least` for each of what a row adds."""
    typed[0] = least
    least_typed = typed[0]
    for k in range(count):
        g[k] = max(g[k], m[k] * least_typed)


@part
def _rates_at(count, z, m, g, a, moves, typed):
    """Write z times its rate at A = a into `moves`."""
    typed[0], typed[1], typed[2] = min(a, LARGEST), SMALLEST, LARGEST
    a_typed, smallest, largest = typed[0], typed[1], typed[2]
    for k in range(count):
        moves[k] = z[k] / np.sqrt(min(max(g[k] + m[k] * a_typed, smallest), largest))


@part
def _add(count, factor, moves, total, typed):
    typed[0] = factor
    factor_typed = typed[0]
    for k in range(count):
        total[k] += factor_typed * moves[k]
