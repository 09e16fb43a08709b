"""Logarithmic loss through the tanh link."""

import math
from dataclasses import dataclass

from steelyard.losses import _solvers as solvers
from steelyard.losses._base import Loss
from steelyard.losses._labels import ZERO_ONE


@dataclass(frozen=True)
class TanhLogarithmic(Loss):
    """−log of the probability (1 + tanh p)/2 given to the label 1, or of the rest given to 0.

    With s = 1 for the label 1 and −1 for 0 it is log(1 + e^−2sp): the logistic loss at 2p. That
    moves half as far under four times the push.
    """

    labels = ZERO_ONE
    default_learning_rate = 1.0

    def value(self, p: float, y: float) -> float:
        q = 2.0 * (2.0 * y - 1.0) * p
        return max(0.0, -q) + solvers.log1p_of_fraction(math.exp(-abs(q)))

    def probability(self, p: float, y: float) -> float:
        e = math.exp(-2.0 * abs(p))
        return (1.0 if (2.0 * y - 1.0) * p > 0.0 else e) / (1.0 + e)

    def derivative(self, p: float, y: float) -> float:
        sign = 2.0 * y - 1.0
        e = math.exp(-2.0 * abs(p))
        return -2.0 * sign * (e if sign * p > 0.0 else 1.0) / (1.0 + e)

    def curvature(self, p: float, y: float) -> float:
        e = math.exp(-2.0 * abs(p))
        return 4.0 * e / ((1.0 + e) * (1.0 + e))

    def flow(self, p: float, y: float, u: float) -> float:
        sign = 2.0 * y - 1.0
        return 0.5 * sign * solvers.logistic_flow(2.0 * sign * p, 4.0 * u)

    def implicit(self, p: float, y: float, u: float) -> float:
        sign = 2.0 * y - 1.0
        return 0.5 * sign * solvers.logistic_implicit(2.0 * sign * p, 4.0 * u)

    def push_for(self, p: float, y: float, change: float) -> float:
        sign = 2.0 * y - 1.0
        return 0.25 * solvers.logistic_push_for(2.0 * sign * p, 2.0 * sign * change)
