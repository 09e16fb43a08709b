"""Radau collocation by sweeps of the loss's implicit step: for `joint_flow`, where it is stiff or slides."""

import math

from steelyard.numba_tools.jit import kernel

_EPSILON = 2.0**-52
_FEW_SWEEPS, _MOST_SWEEPS = 8, 40


@kernel
def doubled(m, b, y, u, v, shrinkage, relative, absolute, implicit, table, room):
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
