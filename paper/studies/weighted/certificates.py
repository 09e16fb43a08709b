"""The steps of Table 1: how far the formulas in the code are from their definitions.

The flow is held against the equation dp/du = −ℓ′(p, y) itself. A change Δ takes the time

    T(Δ) = ∫ dx / −ℓ′(p + x),   x from 0 to Δ,

which QUADPACK finds from the derivative alone. If T is not the push u, the change is off by (T − u) times the
speed at the end. The implicit change is held against the root of Δ = −u·ℓ′(p + Δ), which bisection finds.
Both are done in double precision, so a deviation of some 1e-14 may be the check's own.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

from scipy.integrate import quad

from paper.study import Row, Step
from steelyard import losses
from steelyard.losses import Loss

TABLE = "table1"
PUSHES = tuple(10.0**k for k in (-12, -8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12))
_REAL = (-20.0, -5.0, -1.5, -1.0, -0.3, 0.0, 0.3, 1.0, 1.5, 5.0, 20.0)
_UNIT = (0.0, 1e-6, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, 1.0)
_ROUNDING = 2.0**-52

# Panels shrink towards both ends, so that neither a steep start nor a slow end is overlooked.
_CUTS = (0.0, *(0.5**k for k in range(50, 0, -1)), *(1.0 - 0.5**k for k in range(2, 50)), 1.0)


def step(name: str, soft: bool) -> Step:
    """The step for the loss called `name`; with `soft`, for labels between its two."""
    key = f"{name} soft" if soft else name
    return Step(TABLE, key, {"pushes": PUSHES}, lambda: [_certify(name, soft)])


@dataclass(frozen=True)
class Case:
    loss: Loss
    p: float
    y: float
    u: float


def cases(loss: Loss, soft: bool) -> Iterator[Case]:
    labels = (0.1, 0.5, 0.8) if soft else tuple(y for y in (-2.0, -1.0, 0.0, 1.0, 7.0) if y in loss.labels)
    predictions = _REAL if math.isinf(loss.domain.low) else _UNIT
    for p, y, u in product(predictions, labels, PUSHES):
        yield Case(loss, p, y, u)


def _certify(name: str, soft: bool) -> Row:
    loss = losses.by_name(name)
    tried = list(cases(loss, soft))
    row: Row = {
        "loss": name,
        "soft": soft,
        "cases": len(tried),
        "flow": max(flow_deviation(case, loss.flow(case.p, case.y, case.u)) for case in tried),
        "implicit": max(implicit_deviation(case, loss.implicit(case.p, case.y, case.u)) for case in tried),
        "invariance": max(map(_invariance, tried)),
    }
    if name in _PRINTED:
        row["printed"] = max(flow_deviation(case, _PRINTED[name](case)) for case in tried)
    return row


def flow_deviation(case: Case, change: float) -> float:
    """The relative deviation of a change from the equation's; infinite if it is not downhill."""
    loss, p, y, u = case.loss, case.p, case.y, case.u
    if change == 0.0:
        return abs(u * loss.derivative(p, y))
    rounding = math.copysign(4.0 * _ROUNDING * max(abs(p), abs(p + change)), change)
    if _downhill(case, change + rounding):
        return abs((_time(case, change) - u) * loss.derivative(p + change, y) / change)
    # As near to the minimiser as numbers go. Just before it, the time must not be up.
    arrived = _downhill(case, change - rounding) and _time(case, change - rounding) <= u
    return abs(rounding / change) if arrived else math.inf


def implicit_deviation(case: Case, change: float) -> float:
    """The relative deviation of a change from the root."""
    root = _root(case)
    return abs(change - root) / abs(root) if root else abs(change)


def _downhill(case: Case, change: float) -> bool:
    """Whether there still is a way to go where the change ends, and on the way that it went."""
    return case.loss.derivative(case.p + change, case.y) * change < 0.0


def _time(case: Case, change: float) -> float:
    def slowness(x: float) -> float:
        slope = case.loss.derivative(case.p + x, case.y)
        return -1.0 / slope if slope else math.inf

    ends = [cut * change for cut in _CUTS]
    parts = (quad(slowness, a, b, epsabs=0.0, epsrel=1e-13, full_output=1)[0] for a, b in pairwise(ends))
    return math.fsum(parts)


def _root(case: Case) -> float:
    """The root of Δ + u·ℓ′(p + Δ), which grows with Δ since the loss is convex."""
    slope = case.loss.derivative(case.p, case.y)
    near, far = 0.0, -case.u * slope
    if math.isinf(far):
        far = math.copysign(1e308, far)
    while True:
        middle = 0.5 * (near + far)
        if middle in (near, far):
            return middle
        excess = middle + case.u * case.loss.derivative(case.p + middle, case.y)
        if (excess > 0.0) == (far > 0.0):
            far = middle
        else:
            near = middle


def _invariance(case: Case) -> float:
    """The relative difference between one push and two, of 30 % and 70 %."""
    loss, p, y, u = case.loss, case.p, case.y, case.u
    once = loss.flow(p, y, u)
    first = loss.flow(p, y, 0.3 * u)
    both = first + loss.flow(p + first, y, 0.7 * u)
    return abs(both - once) / (abs(once) + abs(p) * _ROUNDING) if once else abs(both)


def _hinge_as_printed(case: Case) -> float:
    return case.y * min(case.u, 1.0 - case.y * case.p)


_PRINTED = {"hinge": _hinge_as_printed}
