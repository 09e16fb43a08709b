"""Logistic loss."""

import math
from dataclasses import dataclass

from steelyard.losses import _numeric as numeric
from steelyard.losses import _special as special
from steelyard.losses._base import Loss
from steelyard.losses._labels import PLUS_MINUS_ONE, Interval


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + e^−yp): −log of the probability 1/(1 + e^−yp) that the model gives to the label.

    A label between −1 and 1 stands for both, the share (1 + y)/2 of it for 1: its loss is their mean.
    """

    labels = PLUS_MINUS_ONE
    soft_labels = Interval(-1.0, 1.0)
    default_learning_rate = 2.0

    def value(self, p: float, y: float) -> float:
        if abs(y) < 1.0:
            return max(0.0, p) - 0.5 * (1.0 + y) * p + special.log1p_of_fraction(math.exp(-abs(p)))
        q = y * p
        return max(0.0, -q) + special.log1p_of_fraction(math.exp(-abs(q)))

    def probability(self, p: float, y: float) -> float:
        e = math.exp(-abs(p))
        return (1.0 if y * p > 0.0 else e) / (1.0 + e)

    def derivative(self, p: float, y: float) -> float:
        if abs(y) < 1.0:
            return 0.5 * (math.tanh(0.5 * p) - y)  # σ(p) − (1 + y)/2
        q = y * p
        e = math.exp(-abs(q))
        return -y * (e if q > 0.0 else 1.0) / (1.0 + e)

    def curvature(self, p: float, y: float) -> float:
        e = math.exp(-abs(p))
        return e / ((1.0 + e) * (1.0 + e))

    def flow(self, p: float, y: float, u: float) -> float:
        if abs(y) < 1.0:
            return numeric.flow(self, p, y, u)
        return y * special.logistic_flow(y * p, u)

    def implicit(self, p: float, y: float, u: float) -> float:
        if abs(y) < 1.0:
            return numeric.implicit(self, p, y, u)
        return y * special.logistic_implicit(y * p, u)

    def push_for(self, p: float, y: float, change: float) -> float:
        if abs(y) < 1.0:
            return numeric.push_for(self, p, y, change)
        return special.logistic_push_for(y * p, y * change)
