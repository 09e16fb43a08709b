"""The exact flow of an example under adaptive rates: sums of squares grow while the example is learned.

With rates="row" the rates of a row stand still at their values for its first copy. Here they fall along the
way, so that a weight of h is exactly h copies. For the stretch ds of an example,

    dp/ds = −η·ℓ′(p)·S(A)        dA/ds = ℓ′(p)²        S(A) = Σ z²/√(G + m·A)

where m is what a row adds to the G of a feature for each ℓ′². Two numbers move, p and A, and at the end
G grows by m·A. What divides all rates, the mean norm of rows, becomes part of the stretch: a weight of h has
s = ∫ t/N dt over the weight t and the sum of norms N (see `stretch`), which says that rows are measured in
units of their typical norm. So nothing but (coefficients, G, t, N) decides what comes next, and two examples
in a row equal one with the sum of their weights.

Before the first copy G is raised to at least m·ℓ′²·t/N (`floor`). The slope only falls along the flow, and
t/N grows more slowly than G does, so for later copies this changes nothing. It is what a rate with the
present gradient in its denominator does at first sight.

How it is solved. The pushes u of the loss's own flow are the variable: p(u) is closed, du = η·S ds. A panel
of the flow has a polynomial for S in ζ = 1/√(ρ + A), where ρ is the floor's: for a feature first seen now,
1/√(G + mA) is linear in ζ. It takes the row's rates at a few A (`fan`), one sweep each. The slopes at a few
pushes give A(u) and s(u) by Gauss's quadrature, and the end of the panel where s is used up. A second sweep
moves the coefficients by the same rates. Both sweeps take the same polynomial, so that Σ z·Δv is the change
of p to rounding. Where slopes are not smooth enough for the polynomial, the panel is halved.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.averages import raised
from steelyard.learn.linear import BIAS, BIAS_LAG, BIAS_SQUARES, CLOCK, NORM, REFERENCE, SEEN
from steelyard.learn.row_copies import LARGEST, SMALLEST, dot
from steelyard.numba_tools.jit import apart, kernel, part

_MOST_PANELS = 400
_NEARLY = 1.0 - 1e-9
_GROWTH = 1.0  # of ρ + A within a panel, relative

# The rows of `work`, of one number for each node of a panel
(
    SLOPES, GAINED, PLACES, SLOWNESS, TIMES, BIAS_RATES, REACH, CURVE, MOVED, LATE, WEIGHTS, WORK_SIZE
) = range(12)  # fmt: skip


@cache
def tables(dtype: str) -> tuple[NDArray[np.float64], ...]:
    """What `follow` needs to know of polynomials: of the rates over A, and of the slopes over u.

    Nodes and the coefficients of a polynomial from its values there; for slopes also the integrals from 0 to
    each node, and the relative error to stay below.
    """
    rate_nodes, slope_nodes, tolerance = (9, 11, 1e-9) if dtype == "float64" else (5, 8, 1e-5)
    return *_polynomials(rate_nodes)[:2], *_polynomials(slope_nodes), np.array([tolerance])


def _polynomials(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Gauss's nodes on [0, 1]; the coefficients of the polynomial with given values there, and below them its
    last one in Legendre's terms and its value at 1; its integrals up to each node.
    """
    nodes, weights = np.polynomial.legendre.leggauss(count)
    nodes = 0.5 * (nodes + 1.0)
    powers = np.arange(count)
    coefficients = np.linalg.inv(nodes[:, np.newaxis] ** powers)
    integrals = (nodes[:, np.newaxis] ** (powers + 1) / (powers + 1)) @ coefficients
    top = np.polynomial.legendre.Legendre.basis(count - 1)(2.0 * nodes - 1.0) * weights * (count - 0.5)
    return nodes, np.vstack((coefficients, top, coefficients.sum(axis=0))), integrals


@part
def stretch(seen, norm, q, h):
    """∫ t/N over a weight of h, in which t grows from `seen` by 1 and N from `norm` by q."""
    grown = q * h / norm
    if grown < 1e-4:
        # (seen/norm)·(h − grown·h/2 …) + h²/(2·norm) …, to the fourth order
        return (
            h
            / norm
            * (
                seen * (1.0 - grown * (0.5 - grown * (1.0 / 3.0 - 0.25 * grown)))
                + h * (0.5 - grown * (1.0 / 3.0 - grown * (0.25 - 0.2 * grown)))
            )
        )
    return (h + (seen - norm / q) * math.log1p(grown)) / q


@part
def weight_for(seen, norm, q, s, guess):
    """The weight with this stretch."""
    h = guess
    for _ in range(60):
        error = stretch(seen, norm, q, h) - s
        h = max(h - error * (norm + q * h) / (seen + h), 0.0)
        if abs(error) <= 1e-13 * s:
            break
    return h


@part
def _raise_to_floor(count, m, g, least, typed):
    """At least `least` for each of what a row adds."""
    typed[0] = least
    least_typed = typed[0]
    for k in range(count):
        g[k] = max(g[k], m[k] * least_typed)


@part
def _fan(count, z, m, g, a, moves, typed):
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


@part
def _polynomial(count, row, work, x):
    value = 0.0
    for n in range(count):
        value = value * x + work[row, count - 1 - n]
    return value


@part
def _fit(count, values, row, work, coefficients):
    """The polynomial on [0, 1] with these values at the nodes."""
    for n in range(count):
        total = 0.0
        for k in range(count):
            total += coefficients[n, k] * work[values, k]
        work[row, n] = total


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
    rate_nodes, rate_fit, nodes, coefficients, integrals, tolerances, step, derivative,
    fans, moves, late_moves, work, typed,
):  # fmt: skip
    """Follow the flow for a weight of h, or up to the push `u_limit`; returns A, and in `now[CLOCK]` the weight.

    `now` is the state of the model before this row, and is brought up to date. `g` is raised to its floor,
    `moves` gets the changes of the coefficients, `late_moves` the changes times their time. `share` fades the
    floor out next to where a flow comes to rest, where rounding decides whether there is a slope. Without
    `normed` the stretch of a weight is the weight.
    """
    apart()
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
    resting = False
    while not resting and slope != 0.0 and s_limit - s_done > 1e-15 * s_limit and u_done < u_limit:
        # S as a polynomial of x = (ζ_a − ζ)/(ζ_a − ζ_b), from rates at the nodes
        near = rho + a
        most = min(slope * slope * (s_limit - s_done), _GROWTH * near)
        zeta = 1.0 / math.sqrt(near)
        far = 1.0 / math.sqrt(near + most)
        width = most * (zeta * far) * (zeta * far) / (zeta + far)
        for k in range(rates):
            at = zeta - rate_nodes[k] * width
            a_k = a + rate_nodes[k] * width * (zeta + at) / ((zeta * at) * (zeta * at))
            _fan(filled, z, m, g, a_k, fans[k], typed)
            work[BIAS_RATES, k] = bias_value / math.sqrt(min(max(bias_squares + a_k, SMALLEST), LARGEST))
            work[REACH, k] = work[BIAS_RATES, k] * bias_value + dot(filled, fans[k], z)
            work[MOVED, k] = work[LATE, k] = 0.0
        _fit(rates, REACH, CURVE, work, rate_fit)
        gained = 0.0
        speed = rate * work[CURVE, 0]
        for _ in range(_MOST_PANELS):
            s_left = s_limit - s_done
            # Where to end at most: S falls, so the push is less than at the first speed
            s_panel = min(s_left, (most - gained) / (slope * slope))
            u_panel = min(min(speed * s_panel, u_next), u_limit - u_done)
            from_here = step(p, y, u_done)
            there = step(p, y, u_done + u_panel)
            if there == step(p, y, u_done + _NEARLY * u_panel):
                u_panel = min(u_panel, abs((there - from_here) / slope))  # it comes to rest on the way
                if u_panel <= 1e-15 * u_done:
                    resting = True
                    break
            # The slopes along the way
            for _turn in range(60):
                there = step(p, y, u_done + u_panel)
                mean_slope = abs((there - from_here) / u_panel)
                top, first, last = 0.0, -slope, -derivative(p + there, y)
                bend = abs((slope + last) / (there - from_here)) if there != from_here else np.inf
                for k in range(count):
                    work[SLOPES, k] = derivative(p + step(p, y, u_done + nodes[k] * u_panel), y)
                    top += coefficients[count, k] * work[SLOPES, k]
                    first += coefficients[0, k] * work[SLOPES, k]
                    last += coefficients[count + 1, k] * work[SLOPES, k]
                error = max(abs(top), 0.1 * max(abs(first), abs(last)))
                if error <= tolerance * mean_slope + 1e-15 * (abs(p) + abs(from_here)) * bend:
                    break
                u_panel *= 0.5
            u_next = 2.0 * u_panel
            # A along the way: its increase is ∫ ℓ′²/(η·S(A)) du
            for k in range(count):
                work[SLOWNESS, k] = 1.0 / speed
                work[GAINED, k] = gained
            for _turn in range(40):
                error = 0.0
                for k in range(count):
                    more = 0.0
                    for j in range(count):
                        more += integrals[k, j] * work[SLOPES, j] * work[SLOPES, j] * work[SLOWNESS, j]
                    more *= u_panel
                    error = max(error, abs(gained + more - work[GAINED, k]))
                    work[GAINED, k] = gained + more
                for k in range(count):
                    work[PLACES, k] = _place(work[GAINED, k], near, zeta, width)
                    work[SLOWNESS, k] = 1.0 / (rate * _polynomial(rates, CURVE, work, work[PLACES, k]))
                if error <= 1e-2 * tolerance * work[GAINED, count - 1]:
                    break
            # Where the stretch is used up
            _fit(count, SLOWNESS, TIMES, work, coefficients)
            share = 1.0
            used = u_panel * _integral(count, TIMES, work, 1.0)
            if used > s_left:
                share = s_left / used
                for _turn in range(20):
                    error = u_panel * _integral(count, TIMES, work, share) - s_left
                    share -= error / (u_panel * _polynomial(count, TIMES, work, share))
                    if abs(error) <= 1e-15 * s_left:
                        break
                used = s_left
            # Integrals up to there
            power_of_share = 1.0
            for k in range(count):
                work[WEIGHTS, k] = 0.0
            for n in range(count):
                power_of_share *= share
                for k in range(count):
                    work[WEIGHTS, k] += coefficients[n, k] * power_of_share / (n + 1)
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
            u_done += share * u_panel
            slope = derivative(p + step(p, y, u_done), y)
            if slope == 0.0 or s_limit - s_done <= 1e-15 * s_limit or u_done >= u_limit:
                break
            if most - gained <= 0.05 * most:
                break
            speed = rate * _polynomial(rates, CURVE, work, _place(gained, near, zeta, width))
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
def _place(gained, near, zeta, width):
    """Where in the panel A is: x."""
    own = 1.0 / math.sqrt(near + gained)
    return gained * (zeta * own) * (zeta * own) / (zeta + own) / width


@part
def _integral(count, row, work, x):
    """From 0 to x, of a polynomial."""
    value = 0.0
    for n in range(count):
        value = value * x + work[row, count - 1 - n] / (count - n)
    return value * x
