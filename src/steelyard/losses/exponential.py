"""Exponential loss."""

import math
from dataclasses import dataclass

from steelyard.losses import _solvers as solvers
from steelyard.losses._base import Loss
from steelyard.losses._labels import PLUS_MINUS_ONE

# From here on 1 + e^s equals e^s in float64, and only the logarithm of the push is used.
_LARGE = 37.0
# Below the margin −EDGE the loss continues as its tangent: adaptive rates use squares of slopes, and those of
# steeper ones would leave the range of float32.
EDGE = 36.0
STEEPEST = math.exp(EDGE)


@dataclass(frozen=True)
class Exponential(Loss):
    """e^−yp, the loss of AdaBoost. The flow grows like the logarithm of the push.

    Where yp is below −36 it is the tangent there: 4e15 steep, and no steeper.
    """

    labels = PLUS_MINUS_ONE
    default_learning_rate = 0.2

    def value(self, p: float, y: float) -> float:
        q = y * p
        return math.exp(min(-q, EDGE)) + STEEPEST * max(0.0, -EDGE - q)

    def derivative(self, p: float, y: float) -> float:
        return -y * math.exp(min(-y * p, EDGE))

    def curvature(self, p: float, y: float) -> float:
        return math.exp(-y * p) if -y * p < EDGE else 0.0

    def flow(self, p: float, y: float, u: float) -> float:
        straight = max(0.0, -EDGE - y * p)
        if u * STEEPEST <= straight:
            return y * u * STEEPEST
        q = max(y * p, -EDGE)
        v = max(0.0, u - straight / STEEPEST)
        s = math.log(max(v, 1.0)) - q
        return y * (straight + (s if s > _LARGE and v > 1.0 else math.log1p(v * math.exp(-q))))

    def implicit(self, p: float, y: float, u: float) -> float:
        if u * STEEPEST <= max(0.0, -EDGE - y * p):
            return y * u * STEEPEST
        s = math.log(u) - y * p
        if s > _LARGE:
            return y * solvers.lambert_w_of_exp(s)
        return y * solvers.lambert_w(u * math.exp(-y * p))

    def push_for(self, p: float, y: float, change: float) -> float:
        d = y * change
        if d < 0.0:
            return math.inf
        straight = min(d, max(0.0, -EDGE - y * p))
        return straight / STEEPEST + solvers.exponential_push_for(max(y * p, -EDGE), d - straight)
