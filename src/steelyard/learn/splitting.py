"""The loss's own flow and the shrinking of L2 by turns, extrapolated: for `joint_flow`, where L2 is weak."""

import math

from steelyard.numba_tools.jit import kernel

ROWS = 5  # of an extrapolation


@kernel
def by_turns(m, b, y, u, v, shrinkage, relative, absolute, flow, room):
    """A step of unit time by alternating flow and shrinking: the changes, a bound on their error, rows used.

    Once with half a flow first and last, once with half a shrinking. Both orders are symmetric, so that
    their errors are series in 1/count² and the results for count = 1, 2, 3, … extrapolate to none
    (Aitken and Neville). What the orders differ in is the measure of error: a kink passed within the
    first or last turn deceives one of them, but not both, and a stiff loss neither.
    """
    m_change = b_change = 0.0
    error = last_error = math.inf
    row = 0
    while row < ROWS and (row < 3 or error < 0.3 * last_error):
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
