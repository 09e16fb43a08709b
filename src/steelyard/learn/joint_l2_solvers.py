"""The two kinds of step that `joint` takes, and the tables of the second.

- `alternate` alternates the loss's own flow and the shrinking of L2, and extrapolates: for weak L2.
- `collocate_twice` is Radau collocation, solved by sweeps of the loss's implicit step: for stiff problems and
  for sliding along a kink.
"""

import math
from fractions import Fraction

from steelyard.numba_tools.jit import helper

EXTRAPOLATIONS = 5  # rows of the table, at most


@helper
def alternate(m, b, y, u, v, shrinkage, relative, absolute, flow, room):
    """A step of unit time by alternating flow and shrinking: the changes, a bound on their error, rows used.

    It is done twice: with half a flow first and last, and with half a shrinking first and last. Both orders
    are symmetric, so their errors are series in 1/count², and the results for count = 1, 2, 3, … are
    extrapolated (Aitken and Neville). The difference of the two orders measures the error: a kink passed
    within the first or last turn deceives one of them but not both, and a stiff loss deceives neither.
    """
    m_change = b_change = 0.0
    error = last_error = math.inf
    row = 0
    while row < EXTRAPOLATIONS and (row < 3 or error < 0.3 * last_error):
        last_error = error
        row += 1
        m_other, b_other = _flow_outside(m, b, y, u, v, shrinkage, row, flow)
        m_change, b_change = _flow_inside(m, b, y, u, v, shrinkage, row, flow)
        m_other = _extrapolate(m_other, row, room[0])
        b_other = _extrapolate(b_other, row, room[1])
        m_change = _extrapolate(m_change, row, room[2])
        b_change = _extrapolate(b_change, row, room[3])
        error = abs(m_change - m_other) + abs(b_change - b_other)
        if error <= relative * (abs(m_change) + abs(b_change)) + absolute:
            break
    return m_change, b_change, error, row


@helper
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


@helper
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


@helper
def _extrapolate(value, row, last_row):
    """Add a row to the table of an extrapolation in 1/row²; returns its last entry."""
    for column in range(1, row):
        above = last_row[column - 1]
        last_row[column - 1] = value
        ratio = row / (row - column)
        value += (value - above) / (ratio * ratio - 1.0)
    last_row[row - 1] = value
    return value


_EPSILON = 2.0**-52
_FEW_SWEEPS, _MOST_SWEEPS = 8, 40


@helper
def collocate_twice(m, b, y, u, v, shrinkage, relative, absolute, implicit, table, room):
    """A step of unit time by collocation, whole and in two halves: the changes, a bound on their error."""
    noise = _EPSILON * (abs(m) + abs(b))
    m_whole, b_whole, rest, astray, late = _collocate(
        m, b, y, u, v, shrinkage, 0.01 * absolute + noise, implicit, table, room
    )
    allowed = relative * (abs(m_whole) + abs(b_whole)) + absolute
    missed = _remaining_error(astray, m, b, y, u, v, shrinkage, implicit, table)
    if not rest + missed < 1e4 * allowed:
        return m_whole, b_whole, rest + missed
    enough = 0.01 * allowed + noise
    m_first, b_first, rest, first_astray, _ = _collocate(
        m, b, y, 0.5 * u, 0.5 * v, 0.5 * shrinkage, enough, implicit, table, room
    )
    # Half a step has 1/64 of the discrepancy, unless there is a kink or a transient before its first node
    missed = 0.0
    if first_astray > 0.1 * astray:
        missed = _remaining_error(first_astray, m, b, y, u, v, shrinkage, implicit, table)
    kept = math.exp(-0.5 * shrinkage)
    m_second, b_second, more_rest, _, second_late = _collocate(
        m * kept + m_first, b + b_first, y, 0.5 * u, 0.5 * v, 0.5 * shrinkage, enough, implicit, table, room
    )
    # Likewise for a kink between the last two nodes, at which p ends: m got there too late
    if second_late > 0.1 * late:
        missed += second_late * min(1.0, shrinkage)
    m_moved, b_moved = m_first * kept + m_second, b_first + b_second
    error = abs(m_moved - m_whole) + abs(b_moved - b_whole)
    return m_moved, b_moved, error + rest + more_rest + missed


@helper
def _remaining_error(astray, m, b, y, u, v, shrinkage, implicit, table):
    """How much of an error at the first node is left at the end: in p, by an implicit step, and through m."""
    p = m * math.exp(-shrinkage) + b
    p += implicit(p, y, u + v)
    still = implicit(p, y, u + v)
    above = astray + implicit(p + astray, y, u + v) - still
    below = -astray + implicit(p - astray, y, u + v) - still  # on one side of a kink the loss may be flat
    return max(abs(above), abs(below)) + astray * min(1.0, shrinkage * table[0][0])


@helper
def _collocate(m, b, y, u, v, shrinkage, enough, implicit, table, room):
    """A step of unit time with g a polynomial through its values at the nodes.

    Returns the changes, how much the last sweep still moved, and how wrong p may be before the first node and
    before the last.

    At the nodes the changes M of m and B of b obey M = −A(u·g + θ(m + M)) and B = −v·A·g. Write A = D·R, and
    sweep: node i takes the nodes before it from this sweep, those after it from the last sweep, and its own g
    from one implicit step p = r − K·g(p), however large K is. Whatever the stiffness, a sweep leaves less
    than a third of the error. The implicit step handles kinks, and so do the sweeps: g becomes what keeps p
    there.
    """
    nodes, lower, upper, probe, at_probe, at_end = table
    slope, gain, slopes, gains = room  # of the last sweep; and of this one, times R
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
    # No node sees what happens before the first one. So the polynomial is compared with a tiny implicit step
    # from the start, which is right at a kink too; differences due to its length and to rounding are
    # subtracted.
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


NODES = (
    0.03980985705146874,
    0.19801341787360818,
    0.43797481024738615,
    0.6954642733536361,
    0.9014649142011736,
    1.0,
)

PROBE = 1e-4 * NODES[0]  # almost the start

Matrix = list[list[float]]


def radau_tables() -> tuple[tuple[float, ...], Matrix, Matrix, float, list[float], list[float]]:
    """The nodes, D, R, PROBE, the weights for the value at PROBE, and those for the last node from the
    others.
    """
    return NODES, *radau_factors(), PROBE, extrapolation(NODES, PROBE), extrapolation(NODES[:-1], NODES[-1])


def radau_integrals() -> Matrix:
    """A[i][j]: the integral from 0 to node i of the polynomial that is 1 at node j and 0 at the others.

    Computed exactly: the rows sum to the nodes, and an error there would be made in every step.
    """
    nodes = [Fraction(node) for node in NODES]
    columns = []
    for node in nodes:
        polynomial = [Fraction(1)]  # its coefficients, lowest first
        for other in nodes:
            if other != node:
                raised, lowered = [Fraction(0), *polynomial], [*(-other * c for c in polynomial), Fraction(0)]
                polynomial = [(a + b) / (node - other) for a, b in zip(raised, lowered, strict=True)]
        columns.append([sum(c * end ** (k + 1) / (k + 1) for k, c in enumerate(polynomial)) for end in nodes])
    return [[float(column[i]) for column in columns] for i in range(len(NODES))]


def radau_factors() -> tuple[Matrix, Matrix]:
    """A = D·R: D lower triangular, R upper triangular with ones on its diagonal."""
    a = radau_integrals()
    size = len(a)
    d = [[0.0] * size for _ in range(size)]
    r = [[float(i == j) for j in range(size)] for i in range(size)]
    for k in range(size):
        for i in range(k, size):
            d[i][k] = a[i][k] - math.fsum(d[i][j] * r[j][k] for j in range(k))
        for i in range(k + 1, size):
            r[k][i] = (a[k][i] - math.fsum(d[k][j] * r[j][i] for j in range(k))) / d[k][k]
    return d, r


def extrapolation(nodes: tuple[float, ...], to: float) -> list[float]:
    """The weights with which the values at the nodes give the polynomial's value elsewhere."""
    return [math.prod((other - to) / (other - node) for other in nodes if other != node) for node in nodes]
