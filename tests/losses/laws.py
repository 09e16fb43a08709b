"""The laws of a loss, each at one point: an AssertionError says which law fails where.

None names a loss: they hold for closed and numeric ones, smooth or kinked (the last law: for those
with a formula). Where a slope is
compared, the two one-sided slopes bracket it, which is the right thing to ask also at a kink.
"""

from collections.abc import Callable
from types import FunctionType

from mpmath import mp, mpf

from steelyard import updates
from steelyard.losses import Loss
from tests.losses import oracle
from tests.losses.oracle import HighPrecision

EPSILON = 2.0**-52
TINY_CHANGE = 1e-290  # a smaller change may underflow on the way


def tolerance(loss: Loss, y: float) -> float:
    return 1e-13 if oracle.is_closed(loss, y) else 1e-9


def derivative_is_slope_of_value(loss: Loss, p: float, y: float, u: float) -> None:
    _check_slope(HighPrecision(loss).value, loss.derivative(p, y), p, y, 1e-13)


def curvature_is_slope_of_derivative(loss: Loss, p: float, y: float, u: float) -> None:
    own = type(loss).curvature is not Loss.curvature
    if not own:  # a difference of two slopes: only where the loss bends visibly and evenly over its step
        step = 1e-5 * max(1.0, abs(p))
        slopes = [loss.derivative(x, y) for x in (p - step, p, p + step)]
        left, right = slopes[1] - slopes[0], slopes[2] - slopes[1]
        visible = min(left, right) > 1e-8 * max(abs(slope) for slope in slopes)
        if not visible or abs(left - right) > 1e-2 * max(left, right) or abs(p) > 10.0:
            return
    if not _jumps(HighPrecision(loss).derivative, p, y):
        _check_slope(HighPrecision(loss).derivative, loss.curvature(p, y), p, y, 1e-13 if own else 1e-4)


def loss_is_convex(loss: Loss, p: float, y: float, u: float) -> None:
    farther = p + min(u, 100.0)
    here, there = loss.derivative(p, y), loss.derivative(farther, y)
    assert here <= there + 4 * EPSILON * max(abs(here), abs(there))


def push_for_is_the_push_the_flow_takes(loss: Loss, p: float, y: float, u: float) -> None:
    """d(time)/d(change) = −1/ℓ′(p + change), at fifty digits; and float64 agrees with that."""
    change = mpf(loss.flow(p, y, u)) * 0.875
    if not oracle.is_closed(loss, y) or abs(change) < TINY_CHANGE:
        return
    derivative = HighPrecision(loss).derivative
    h = change * mpf(10) ** -18
    slope = (oracle.push_for(loss, p, y, change + h) - oracle.push_for(loss, p, y, change - h)) / (2 * h)
    slopes = sorted(-1 / derivative(p + change + k * h, mpf(y)) for k in (-1, 1))
    margin = 1e-14 * abs(slope)
    assert slopes[0] - margin <= slope <= slopes[1] + margin
    time = loss.push_for(p, y, float(change))
    exact = oracle.push_for(loss, p, y, mpf(float(change)))
    # rounding the end point, which no float64 formula can avoid, costs this much time
    rounding = EPSILON * (abs(p) + abs(y) + abs(change)) * abs(slopes[1] - slopes[0]) / abs(2 * h)
    assert abs(time - exact) <= 1e-12 * exact + 2 * rounding * abs(change) or exact > 1e307


def push_for_is_infinite_where_the_flow_never_gets(loss: Loss, p: float, y: float, u: float) -> None:
    change = loss.flow(p, y, u)
    assert loss.push_for(p, y, 0.0) == 0.0
    if HighPrecision(loss).derivative(mpf(p), mpf(y)) == 0:
        assert loss.push_for(p, y, 0.5) == loss.push_for(p, y, -0.5) == mp.inf
    if abs(change) > TINY_CHANGE:
        assert loss.push_for(p, y, -change) == mp.inf
        limit = loss.flow(p, y, 1e300)
        beyond = limit * 1.001 + EPSILON * p
        if HighPrecision(loss).derivative(mpf(p) + beyond, y) * change > 0:
            assert loss.push_for(p, y, beyond) == mp.inf


def flow_solves_the_equation(loss: Loss, p: float, y: float, u: float) -> None:
    """The exact time to a little less than the change is at most u, to a little more at least u."""
    change = mpf(loss.flow(p, y, u))
    if abs(change) >= TINY_CHANGE:
        margin = change * tolerance(loss, y) + _end_rounding(loss, p, y, change)
        before = oracle.push_for(loss, p, y, change - margin) if abs(margin) < abs(change) else 0
        after = oracle.push_for(loss, p, y, change + margin)
        assert before <= u * (1 + mpf(10) ** -30), f"flow goes too far: {float(before)} > {u}"
        assert u <= after * (1 + mpf(10) ** -30), f"flow stops too early: {float(after)} < {u}"
    elif HighPrecision(loss).derivative(mpf(p), mpf(y)) != 0:
        assert u <= oracle.push_for(loss, p, y, _downhill(loss, p, y) * 2 * TINY_CHANGE)


def flow_is_a_semigroup(loss: Loss, p: float, y: float, u: float) -> None:
    """flow(u + v) is flow(u) followed by flow(v): importance invariance itself."""
    for v in (u, 0.001 * u, 30.0 * u):
        whole = loss.flow(p, y, u + v)
        first = loss.flow(p, y, u)
        both = first + loss.flow(p + first, y, v)
        margin = 2 * tolerance(loss, y) * abs(whole) + 4 * EPSILON * (abs(p) + abs(y) + abs(whole))
        assert abs(both - whole) <= margin + TINY_CHANGE


def no_update_crosses_the_minimiser(loss: Loss, p: float, y: float, u: float) -> None:
    derivative = HighPrecision(loss).derivative
    before = derivative(mpf(p), mpf(y))
    for change in (loss.flow(p, y, u), loss.implicit(p, y, u)):
        end = mpf(p) + mpf(change) * (1 - 4 * EPSILON) - _end_rounding(loss, p, y, mpf(change))
        assert derivative(end, mpf(y)) * before >= 0
        assert mpf(change) * before < 0 or change == 0


def flow_lies_between_implicit_and_explicit(loss: Loss, p: float, y: float, u: float) -> None:
    """The slope only falls on the way: its first value takes too long a step, its last too short a one."""
    flow = abs(loss.flow(p, y, u))
    margin = 2 * tolerance(loss, y) * flow + TINY_CHANGE + float(_end_rounding(loss, p, y, mpf(1)))
    assert abs(loss.implicit(p, y, u)) <= flow + margin
    assert flow <= u * abs(HighPrecision(loss).derivative(mpf(p), mpf(y))) + margin


def small_push_follows_the_gradient(loss: Loss, p: float, y: float, u: float) -> None:
    slope = loss.derivative(p, y)
    push = min(u, 1e-10 / (1e-6 + loss.curvature(p, y)), 1e-10 * (1.0 + abs(p)) / (abs(slope) + TINY_CHANGE))
    step = -push * slope
    before_any_kink = abs(loss.derivative(p + 2.0 * step, y) - slope) <= 1e-6 * abs(slope)
    if abs(step) > TINY_CHANGE and before_any_kink:
        assert abs(loss.flow(p, y, push) - step) <= 1e-8 * abs(step)


def push_for_inverts_every_update(loss: Loss, p: float, y: float, u: float) -> None:
    for name in updates.names_for(loss):
        update = updates.by_name(name)
        change = update.change(loss, p, y, u)
        if TINY_CHANGE < abs(change) < 1e300:
            back = min(update.push_for(loss, p, y, change), 1e300)
            again = update.change(loss, p, y, back)
            margin = 4 * tolerance(loss, y) * abs(change) + 8 * EPSILON * (abs(p) + abs(y))
            assert abs(again - change) <= margin, f"{name}: {change} takes {back}, which makes {again}"
            assert update.push_for(loss, p, y, -change) == mp.inf, f"{name}: uphill"


def implicit_is_stationary(loss: Loss, p: float, y: float, u: float) -> None:
    """Δ + u·ℓ′(p + Δ) changes its sign at the implicit change."""
    change = mpf(loss.implicit(p, y, u))
    derivative = HighPrecision(loss).derivative
    if abs(change) >= TINY_CHANGE:
        margin = change * tolerance(loss, y) + _end_rounding(loss, p, y, change)
        way = _downhill(loss, p, y)
        short, far = change - margin, change + margin
        rests = [(d + u * derivative(mpf(p) + d, mpf(y))) * way for d in (short, far)]
        assert rests[0] <= 0 <= rests[1], "not a root"


def implicit_is_invariant_without_curvature(loss: Loss, p: float, y: float, u: float) -> None:
    if not loss.smooth and oracle.is_closed(loss, y):
        assert loss.implicit(p, y, u) == loss.flow(p, y, u)


Law = Callable[[Loss, float, float, float], None]
ALL: list[Law] = [
    law
    for name, law in list(vars().items())
    if isinstance(law, FunctionType) and law.__module__ == __name__ and name != "tolerance"
]


def _check_slope(
    function: Callable[[mpf, mpf], mpf], slope: float, p: float, y: float, margin: float
) -> None:
    """The slope lies between the one-sided slopes of the function, taken at 120 digits."""
    with mp.workdps(120):
        p, y = mpf(p), mpf(y)
        h = mpf(10) ** -40 * max(1, abs(p))
        here = function(p, y)
        left = (here - function(p - h, y)) / h
        right = (function(p + h, y) - here) / h
    slack = margin * max(abs(left), abs(slope)) + abs(here) * mpf(10) ** -76 + TINY_CHANGE
    low, high = sorted((left, right))
    assert low - slack <= slope <= high + slack, f"slope {slope}, should be {float(left)} to {float(right)}"


def _jumps(function: Callable[[mpf, mpf], mpf], p: float, y: float) -> bool:
    """Whether the function has a jump at p: coming ten orders closer does not bring the sides together."""
    with mp.workdps(120):
        steps = mpf(10) ** -30, mpf(10) ** -40
        far, near = (abs(function(p + h, mpf(y)) - function(p - h, mpf(y))) for h in steps)
        return bool(near > far / 2)


def _downhill(loss: Loss, p: float, y: float) -> int:
    return -int(mp.sign(HighPrecision(loss).derivative(mpf(p), mpf(y))))


def _end_rounding(loss: Loss, p: float, y: float, change: mpf) -> mpf:
    """A numeric solver evaluates the loss at p + change, rounded; a closed form need not."""
    if oracle.is_closed(loss, y):
        return mpf(0)
    return 4 * EPSILON * (abs(p) + abs(change)) * mp.sign(change)
