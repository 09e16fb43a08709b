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

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.adaptive import LARGEST, SMALLEST
from steelyard.learn.averages import raised
from steelyard.learn.row_copies import dot
from steelyard.numba_tools.jit import apart, kernel, part

_MOST_PANELS = 400
_NEARLY = 1.0 - 1e-9
_GROWTH = 1.0  # of ρ + A within a panel, relative

# The rows of `work`, of one number for each node of a panel
(
    SLOPES, GAINED, PLACES, SLOWNESS, TIMES, BIAS_RATES, REACH, CURVE, MOVED, LATE, WEIGHTS, WORK_SIZE
) = range(12)  # fmt: skip

# The results of `follow`
BIAS_CHANGE, BIAS_LATE, SQUARED = range(3)


def tables(dtype: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
    """Gauss's nodes on [0, 1]; polynomials from values there; integrals from 0 to each node; a tolerance."""
    count, tolerance = (9, 1e-9) if dtype == "float64" else (5, 1e-5)
    nodes, weights = np.polynomial.legendre.leggauss(count)
    nodes = 0.5 * (nodes + 1.0)
    powers = np.arange(count)
    coefficients = np.linalg.inv(nodes[:, np.newaxis] ** powers)
    integrals = (nodes[:, np.newaxis] ** (powers + 1) / (powers + 1)) @ coefficients
    top = np.polynomial.legendre.Legendre.basis(count - 1)(2.0 * nodes - 1.0) * weights * (count - 0.5)
    return nodes, np.vstack((coefficients, top, coefficients.sum(axis=0))), integrals, tolerance


@part
def stretch(seen, norm, q, h):
    """∫ t/N over a weight of h, in which t grows from `seen` by 1 and N from `norm` by q."""
    grown = q * h / norm
    if grown < 1e-4:
        # (seen/norm)·(h − grown·h/2 …) + h²/(2·norm) …, to the fourth order
        return h / norm * (
            seen * (1.0 - grown * (0.5 - grown * (1.0 / 3.0 - 0.25 * grown)))
            + h * (0.5 - grown * (1.0 / 3.0 - grown * (0.25 - 0.2 * grown)))
        )
    return (h + (seen - norm / q) * math.log1p(grown)) / q


@part
def weight_for(seen, norm, q, s, guess):
    """The weight with this stretch."""
    h = guess
    for _ in range(60):
        error = stretch(seen, norm, q, h) - s
        h -= error * (norm + q * h) / (seen + h)
        if abs(error) <= 1e-13 * s:
            break
    return h


@part
def raise_to_floor(count, m, g, least, typed):
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
def _polynomial(row, work, x):
    value = 0.0
    count = work.shape[1]
    for n in range(count):
        value = value * x + work[row, count - 1 - n]
    return value


@part
def _fit(values, row, work, coefficients):
    """The polynomial on [0, 1] with these values at the nodes."""
    count = work.shape[1]
    for n in range(count):
        total = 0.0
        for k in range(count):
            total += coefficients[n, k] * work[values, k]
        work[row, n] = total


@kernel
def follow(
    filled, z, m, g, bias_value, bias_squares, p, y, rate, rho, seen, norm, q, h, s_limit, u_limit,
    clock, reference, power, nodes, coefficients, integrals, tolerance, step, derivative,
    fans, moved, late, work, typed, results,
):  # fmt: skip
    """Follow the flow for the stretch `s_limit` or the push `u_limit`, whichever ends first; returns the stretch.

    Adds the moves of the coefficients to `moved`, and those times their time to `late`.
    """
    apart()
    count = len(nodes)
    u_done = s_done = a = 0.0
    bias_change = bias_late = 0.0
    slope = derivative(p, y)
    u_next = np.inf
    resting = False
    while not resting and slope != 0.0 and s_limit - s_done > 1e-15 * s_limit and u_done < u_limit:
        # S as a polynomial of x = (ζ_a − ζ)/(ζ_a − ζ_b), from rates at the nodes
        near = rho + a
        most = min(slope * slope * (s_limit - s_done), _GROWTH * near)
        zeta = 1.0 / math.sqrt(near)
        far = 1.0 / math.sqrt(near + most)
        width = most * (zeta * far) * (zeta * far) / (zeta + far)
        for k in range(count):
            at = zeta - nodes[k] * width
            a_k = a + nodes[k] * width * (zeta + at) / ((zeta * at) * (zeta * at))
            _fan(filled, z, m, g, a_k, fans[k], typed)
            work[BIAS_RATES, k] = bias_value / math.sqrt(min(max(bias_squares + a_k, SMALLEST), LARGEST))
            work[REACH, k] = work[BIAS_RATES, k] * bias_value + dot(filled, fans[k], z)
            work[MOVED, k] = work[LATE, k] = 0.0
        _fit(REACH, CURVE, work, coefficients)
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
                    work[SLOWNESS, k] = 1.0 / (rate * _polynomial(CURVE, work, work[PLACES, k]))
                if error <= 1e-2 * tolerance * work[GAINED, count - 1]:
                    break
            # Where the stretch is used up
            _fit(SLOWNESS, TIMES, work, coefficients)
            share = 1.0
            used = u_panel * _integral(TIMES, work, 1.0)
            if used > s_left:
                share = s_left / used
                for _turn in range(20):
                    error = u_panel * _integral(TIMES, work, share) - s_left
                    share -= error / (u_panel * _polynomial(TIMES, work, share))
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
                    lasted = weight_for(seen, norm, q, s_k, h * s_k / s_limit)
                    time = raised((clock + lasted) / reference, power)
                for n in range(count):
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
            speed = rate * _polynomial(CURVE, work, _place(gained, near, zeta, width))
        a += gained
        for j in range(count):
            factor = late_factor = 0.0
            for n in range(count):
                factor += coefficients[n, j] * work[MOVED, n]
                late_factor += coefficients[n, j] * work[LATE, n]
            _add(filled, factor, fans[j], moved, typed)
            bias_change += factor * work[BIAS_RATES, j]
            if power > 0:
                _add(filled, late_factor, fans[j], late, typed)
                bias_late += late_factor * work[BIAS_RATES, j]
    results[BIAS_CHANGE], results[BIAS_LATE], results[SQUARED] = bias_change, bias_late, a
    return s_done


@part
def _place(gained, near, zeta, width):
    """Where in the panel A is: x."""
    own = 1.0 / math.sqrt(near + gained)
    return gained * (zeta * own) * (zeta * own) / (zeta + own) / width


@part
def _integral(row, work, x):
    """From 0 to x, of a polynomial."""
    count = work.shape[1]
    value = 0.0
    for n in range(count):
        value = value * x + work[row, count - 1 - n] / (count - n)
    return value * x
