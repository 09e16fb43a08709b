"""Flow, implicit step and push_for of a loss when only its derivative is known.

The flow dp/du = −ℓ′(p) is solved for the time that a distance takes:

    u = ∫ dx / |ℓ′(p ± x)|,   x from 0 to the distance travelled.

Since ℓ is convex, the speed |ℓ′| only falls along the way. That makes everything safe: a step of
(time left × speed now) can only overshoot, a change of sign shows the minimiser, and a panel on
which the speed falls to no less than a quarter is easy to integrate. Panels shrink geometrically
towards the minimiser, so that a stiff problem costs a few dozen of them and is never crossed; at
a kink they shrink to rounding. Each panel is a Gauss-Kronrod rule of 15 points, accepted when the
embedded rule of 7 agrees to 1e-11; the larger rule then has a far smaller error. For a noisy
derivative the required agreement is relaxed step by step.

Plain scalars and no SciPy: kernels compile this file as it is.
"""

import math
from typing import Protocol

# Kronrod's 15 points on (0, 1), as distances from the middle outwards. Every second one, beginning with the
# middle, is also one of Gauss's 7.
_NODES = (
    0.0,
    0.2077849550078984676006894 / 2,
    0.4058451513773971669066064 / 2,
    0.5860872354676911302941448 / 2,
    0.7415311855993944398638648 / 2,
    0.8648644233597690727897128 / 2,
    0.9491079123427585245261897 / 2,
    0.9914553711208126392068547 / 2,
)
_KRONROD = (
    0.2094821410847278280129992 / 2,
    0.2044329400752988924141620 / 2,
    0.1903505780647854099132564 / 2,
    0.1690047266392679028265834 / 2,
    0.1406532597155259187451896 / 2,
    0.1047900103222501838398763 / 2,
    0.0630920926299785532907007 / 2,
    0.0229353220105292249637320 / 2,
)
_GAUSS = (
    0.4179591836734693877551020 / 2,
    0.0,
    0.3818300505051189449503698 / 2,
    0.0,
    0.2797053914892766679014678 / 2,
    0.0,
    0.1294849661688696932706114 / 2,
    0.0,
)


def _extrapolate(to: float, i: int, side: float) -> float:
    """The weight of point i, on one side of the middle, in the polynomial's value elsewhere."""
    points = [k * node for node in _NODES for k in (1.0, -1.0) if node > 0.0 or k > 0.0]
    here = side * _NODES[i]
    return math.prod((to - x) / (here - x) for x in points if x != here)


_MIDDLE_TO_END = _extrapolate(0.5, 0, 1.0)
_NEAR_TO_END = tuple(_extrapolate(0.5, i, 1.0) for i in range(8))
_FAR_TO_END = tuple(_extrapolate(0.5, i, -1.0) for i in range(8))

_AGREEMENT = 1e-11
_LARGEST_FALL = 4.0  # of the speed, within one panel
_ROUNDING = 2.0**-52
_FREE_CUTS = 300
_TINY = 1e-307  # a slope below this is no slope; its inverse is still a number
_MOST_STEPS = 100_000  # hundreds are usual, noisy slopes take thousands; subnormal numbers may never arrive


class HasDerivative(Protocol):
    """A loss, as far as this file needs it."""

    def derivative(self, p: float, y: float) -> float: ...


def curvature(loss: HasDerivative, p: float, y: float) -> float:
    """The slope of the derivative, by a central difference over about 1e-5 · max(1, |p|).

    Accurate to some six digits for a loss that bends on that scale. Define `curvature` if that is not enough.
    """
    h = 6e-6 * max(1.0, abs(p))
    above = p + h
    below = p - h
    return (loss.derivative(above, y) - loss.derivative(below, y)) / (above - below)


def flow(loss: HasDerivative, p: float, y: float, u: float) -> float:
    """The change of p after a push of u."""
    slope = loss.derivative(p, y)
    way = -math.copysign(1.0, slope)
    speed = abs(slope)
    x = 0.0  # the distance travelled so far
    left = u
    step = min(left * speed, 1.0 + abs(p))
    cuts = 0
    for _ in range(_MOST_STEPS):
        if not (step > 0.0 and speed > _TINY):
            break
        rounding = _ROUNDING * (x + abs(p)) + _TINY
        end_speed = -way * loss.derivative(p + way * (x + max(step, rounding)), y)
        if step > rounding:
            time, error = _panel(loss, p + way * x, y, way * step, speed, end_speed)
            # an error in the time moves the end of the journey at no more than end_speed; and no
            # rule can agree better than the rounding of its points lets it
            if error * max(end_speed, _TINY) > _agreement(cuts) * (x + step) + 4.0 * rounding:
                cuts += 1
                step *= 0.5
                continue
        elif end_speed > 0.0:
            step = min(left * speed, rounding)  # hop over a kink that no panel can resolve
            time = step / speed
        else:
            break  # the minimiser is within rounding
        if time > left:
            excess = (time - left) * end_speed  # Newton from above: it never falls short
            if excess <= _ROUNDING * (x + step):
                return way * (x + step - excess)
            step -= excess
        else:
            x += step
            left -= time
            speed = end_speed
            step = min(left * speed, 2.0 * step)
    return way * x if speed == speed else math.nan


def push_for(loss: HasDerivative, p: float, y: float, change: float) -> float:
    """The push that makes this change; infinite if the flow never gets there."""
    if change == 0.0:
        return 0.0
    way = math.copysign(1.0, change)
    distance = abs(change)
    speed = -way * loss.derivative(p, y)
    last_speed = -way * loss.derivative(p + change, y)
    if last_speed < 0.0:  # past the minimiser, or only by the rounding of p + change
        last_speed = min(0.0, -way * loss.derivative(p + change - way * _ROUNDING * (abs(p) + distance), y))
    if speed <= _TINY or last_speed < 0.0 or (last_speed == 0.0 and _never_arrives(loss, p, y, change)):
        return math.inf
    x = 0.0
    total = 0.0
    step = distance
    cuts = 0
    for _ in range(_MOST_STEPS):
        if not (x < distance and speed > 0.0):
            break
        end_speed = -way * loss.derivative(p + way * (x + step), y)
        rounding = _ROUNDING * (x + abs(p)) + _TINY
        if step > rounding:
            time, error = _panel(loss, p + way * x, y, way * step, speed, end_speed)
            if error > _agreement(cuts) * (total + step / speed) + rounding / speed:
                cuts += 1
                step *= 0.5
                continue
        else:
            time = step / speed
        x += step
        total += time
        speed = end_speed
        step = min(distance - x, 2.0 * step)
    return total


def implicit(loss: HasDerivative, p: float, y: float, u: float) -> float:
    """The change Δ = −u·ℓ′(p + Δ).

    As a function of the distance d = |Δ|, the residual d − u·|ℓ′| grows at least as fast as d, from below 0
    to at least 0 at the explicit step. Its root is found by false position with Illinois weights, with a
    bisection every third time so that a kink cannot stall it.
    """
    slope = loss.derivative(p, y)
    way = -math.copysign(1.0, slope)
    farthest = min(u * abs(slope), 1.0 / _TINY)
    near = 0.0
    near_rest = -farthest
    far = min(farthest, 1.0 + abs(p))
    far_rest = far + u * way * loss.derivative(p + way * far, y)
    while far_rest < 0.0 and far < farthest:
        near = far
        near_rest = far_rest
        far = min(farthest, 2.0 * far)
        far_rest = far + u * way * loss.derivative(p + way * far, y)
    last_side = 0
    for count in range(1, _MOST_STEPS):
        if not far - near > _ROUNDING * far + _TINY:
            break
        share = 0.5 if count % 3 == 0 else near_rest / (near_rest - far_rest)
        d = near + share * (far - near)
        rest = d + u * way * loss.derivative(p + way * d, y)
        if abs(rest) <= _ROUNDING * d:
            return way * d
        side = -1 if rest < 0.0 else 1
        if side < 0:
            near = d
            near_rest = rest
            far_rest *= 0.5 if side == last_side else 1.0
        else:
            far = d
            far_rest = rest
            near_rest *= 0.5 if side == last_side else 1.0
        last_side = side
    return way * near


def _panel(
    loss: HasDerivative, p: float, y: float, width: float, speed: float, end_speed: float
) -> tuple[float, float]:
    """The time from p to p + width and a bound on its error; an infinite bound means that it must be cut."""
    if end_speed * _LARGEST_FALL < speed:
        return 0.0, math.inf
    middle = p + 0.5 * width
    slowness = 1.0 / max(abs(loss.derivative(middle, y)), _TINY)
    kronrod = _KRONROD[0] * slowness
    gauss = _GAUSS[0] * slowness
    start = end = _MIDDLE_TO_END * slowness
    for i in range(1, 8):
        before = 1.0 / max(abs(loss.derivative(middle - _NODES[i] * width, y)), _TINY)
        after = 1.0 / max(abs(loss.derivative(middle + _NODES[i] * width, y)), _TINY)
        kronrod += _KRONROD[i] * (before + after)
        gauss += _GAUSS[i] * (before + after)
        start += _NEAR_TO_END[i] * before + _FAR_TO_END[i] * after
        end += _FAR_TO_END[i] * before + _NEAR_TO_END[i] * after
    # Neither rule sees a kink between an end and the point next to it, but the ends themselves are
    # known: there the polynomial through the fifteen points must come out right.
    surprise = abs(start - 1.0 / speed) + abs(end - 1.0 / end_speed)
    error = abs(kronrod - gauss) + (0.5 - _NODES[7]) * surprise
    return abs(width) * kronrod, abs(width) * error


def _agreement(cuts: int) -> float:
    """How well two rules must agree after this many cuts of panels.

    A dozen kinks need no more than the free cuts. If there are more, the derivative is noisy and cutting
    would never end: so the required agreement is relaxed.
    """
    return _AGREEMENT * math.pow(2.0, min(60.0, max(0, cuts - _FREE_CUTS) / 4.0))


def _never_arrives(loss: HasDerivative, p: float, y: float, change: float) -> bool:
    """Whether the flow only approaches p + change, where the slope is 0.

    It arrives at a kink, because the speed does not vanish before the end. It does not arrive if the speed
    falls in proportion to the distance or faster, or if it came to rest before.
    """
    gap = 1e-6 * change
    speed = abs(loss.derivative(p + change - gap, y))
    half_way = abs(loss.derivative(p + change - 0.5 * gap, y))
    return half_way < 0.55 * speed or speed == 0.0
