"""Exponential loss."""

import math
from dataclasses import dataclass

from steelyard.losses import _solvers as solvers
from steelyard.losses._base import Loss
from steelyard.losses._labels import PLUS_MINUS_ONE

# Where 1 + e^s is e^s to float64: from there on only the logarithm of the push is used.
_LARGE = 37.0


@dataclass(frozen=True)
class Exponential(Loss):
    """e^−yp, the loss of AdaBoost. The flow grows like the logarithm of the push."""

    labels = PLUS_MINUS_ONE
    default_learning_rate = 0.2

    def value(self, p: float, y: float) -> float:
        return solvers.bounded_exp(-y * p)

    def derivative(self, p: float, y: float) -> float:
        return -y * solvers.bounded_exp(-y * p)

    def curvature(self, p: float, y: float) -> float:
        return solvers.bounded_exp(-y * p)

    def flow(self, p: float, y: float, u: float) -> float:
        if u == 0.0:
            return 0.0
        s = math.log(u) - y * p
        return y * s if s > _LARGE else y * math.log1p(u * solvers.bounded_exp(-y * p))

    def implicit(self, p: float, y: float, u: float) -> float:
        if u == 0.0:
            return 0.0
        s = math.log(u) - y * p
        if s > _LARGE:
            return y * solvers.lambert_w_of_exp(s)
        return y * solvers.lambert_w(u * solvers.bounded_exp(-y * p))

    def push_for(self, p: float, y: float, change: float) -> float:
        d = y * change
        return solvers.exponential_push_for(y * p, d) if d >= 0.0 else math.inf
