"""Logistic loss."""

import math
from dataclasses import dataclass

from steelyard.losses import _solvers as solvers
from steelyard.losses._base import Loss
from steelyard.losses._labels import PLUS_MINUS_ONE


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + e^−yp): −log of the probability 1/(1 + e^−yp) that the model gives to the label."""

    labels = PLUS_MINUS_ONE
    default_learning_rate = 2.0

    def value(self, p: float, y: float) -> float:
        q = y * p
        return max(0.0, -q) + solvers.log1p_of_fraction(math.exp(-abs(q)))

    def probability(self, p: float, y: float) -> float:
        e = math.exp(-abs(p))
        return (1.0 if y * p > 0.0 else e) / (1.0 + e)

    def derivative(self, p: float, y: float) -> float:
        q = y * p
        e = math.exp(-abs(q))
        return -y * (e if q > 0.0 else 1.0) / (1.0 + e)

    def curvature(self, p: float, y: float) -> float:
        e = math.exp(-abs(p))
        return e / ((1.0 + e) * (1.0 + e))

    def flow(self, p: float, y: float, u: float) -> float:
        return y * solvers.logistic_flow(y * p, u)

    def implicit(self, p: float, y: float, u: float) -> float:
        return y * solvers.logistic_implicit(y * p, u)

    def push_for(self, p: float, y: float, change: float) -> float:
        return solvers.logistic_push_for(y * p, y * change)
