"""Squared loss."""

import math
from dataclasses import dataclass

from steelyard.losses._base import Loss


@dataclass(frozen=True)
class Squared(Loss):
    """½(p − y)². The flow closes the gap to y exponentially."""

    default_learning_rate = 0.6

    def value(self, p: float, y: float) -> float:
        return 0.5 * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return p - y

    def curvature(self, p: float, y: float) -> float:
        return 1.0

    def flow(self, p: float, y: float, u: float) -> float:
        return (p - y) * math.expm1(-u)

    def implicit(self, p: float, y: float, u: float) -> float:
        return -(p - y) * (u / (1.0 + u))

    def push_for(self, p: float, y: float, change: float) -> float:
        gap = y - p
        if change == 0.0:
            return 0.0
        if not (0.0 < change < gap or gap < change < 0.0):
            return math.inf
        return -math.log1p(-change / gap)
