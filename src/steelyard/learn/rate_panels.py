"""Panels of the flow of an example under adaptive rates: polynomials through a few nodes (see `rate_flow`).

A panel is a stretch of pushes in which slopes are smooth enough for a polynomial. `take_slopes` finds it,
`settle` finds how far A has come at each node, `end_of` where the stretch of the example is used up, and
`weigh` what each node counts for in integrals up to there. All polynomials are of x from 0 to 1, in terms of
its powers. The numbers of a panel are rows of `work`, one column a node.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from steelyard.numba_tools.jit import part

(
    SLOPES, PLACES, SLOWNESS, TIMES, WEIGHTS,  # at the nodes of a panel; TIMES is the polynomial of SLOWNESS
    BIAS_RATES, REACH, CURVE, MOVED, LATE,  # at the nodes of rates; CURVE is the polynomial of REACH, S
    WORK_SIZE,
) = range(11)  # fmt: skip


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
def polynomial(count, row, work, x):
    value = 0.0
    for n in range(count):
        value = value * x + work[row, count - 1 - n]
    return value


@part
def fit(count, values, row, work, coefficients):
    """The polynomial on [0, 1] with these values at the nodes."""
    for n in range(count):
        total = 0.0
        for k in range(count):
            total += coefficients[n, k] * work[values, k]
        work[row, n] = total


@part
def place(gained, near, zeta, width):
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


@part
def take_slopes(
    count, p, y, u_done, u_panel, slope, nodes, coefficients, tolerance, step, derivative, work
):  # fmt: skip
    """Halve the panel until its slopes are a polynomial, also at its ends; returns its push.

    Tolerated are an error relative to the mean slope, and what comes from rounding p.
    """
    from_here = step(p, y, u_done)
    for _ in range(60):  # pragma: no branch - it ends long before
        there = step(p, y, u_done + u_panel)
        top, first, last = 0.0, -slope, -derivative(p + there, y)
        bend = abs((slope + last) / (there - from_here)) if there != from_here else np.inf
        for k in range(count):
            work[SLOPES, k] = derivative(p + step(p, y, u_done + nodes[k] * u_panel), y)
            top += coefficients[count, k] * work[SLOPES, k]
            first += coefficients[0, k] * work[SLOPES, k]
            last += coefficients[count + 1, k] * work[SLOPES, k]
        error = max(abs(top), 0.1 * max(abs(first), abs(last)))
        mean_slope = abs((there - from_here) / u_panel)
        if error <= tolerance * mean_slope + 1e-15 * (abs(p) + abs(from_here)) * bend:
            break
        u_panel *= 0.5
    return u_panel


@part
def settle(
    rates, count, gained, u_panel, speed, rate, near, zeta, width, integrals, tolerance, work
):  # fmt: skip
    """Where A is at each node, and the slowness ds/du = 1/(η·S) there, by iteration: dA = ℓ′²·ds."""
    for k in range(count):
        work[SLOWNESS, k] = 1.0 / speed
    for _ in range(40):  # pragma: no branch - it ends long before
        for k in range(count):
            more = 0.0
            for j in range(count):
                more += integrals[k, j] * work[SLOPES, j] * work[SLOPES, j] * work[SLOWNESS, j]
            work[PLACES, k] = place(gained + u_panel * more, near, zeta, width)
        error = 0.0
        for k in range(count):
            slowness = 1.0 / (rate * polynomial(rates, CURVE, work, work[PLACES, k]))
            error = max(error, abs(slowness - work[SLOWNESS, k]))
            work[SLOWNESS, k] = slowness
        if error * speed <= 0.1 * tolerance:
            break


@part
def end_of(count, u_panel, s_left, coefficients, work):
    """At which part of the panel the stretch is used up, at most 1; and how much of it is used."""
    fit(count, SLOWNESS, TIMES, work, coefficients)
    used = u_panel * _integral(count, TIMES, work, 1.0)
    if used <= s_left:
        return 1.0, used
    ended = s_left / used
    for _ in range(20):  # pragma: no branch - it ends long before
        error = u_panel * _integral(count, TIMES, work, ended) - s_left
        ended -= error / (u_panel * polynomial(count, TIMES, work, ended))
        if abs(error) <= 1e-15 * s_left:
            break
    return ended, s_left


@part
def weigh(count, ended, coefficients, work):
    """What each node counts for in an integral from 0 to `ended`."""
    for k in range(count):
        work[WEIGHTS, k] = 0.0
    raised = 1.0
    for n in range(count):
        raised *= ended
        for k in range(count):
            work[WEIGHTS, k] += coefficients[n, k] * raised / (n + 1)
