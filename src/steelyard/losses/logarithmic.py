"""Logarithmic loss of a prediction that is itself a probability."""

import math
from dataclasses import dataclass

from steelyard.losses._unit_interval import EDGE, TOP, UnitIntervalLoss


@dataclass(frozen=True)
class Logarithmic(UnitIntervalLoss):
    """−log p for the label 1, −log(1 − p) for 0, their mixture for labels in between."""

    default_learning_rate = 40.0

    def value(self, p: float, y: float) -> float:
        inside = min(max(p, EDGE), TOP)
        tangent = y * max(0.0, EDGE - p) + (1.0 - y) * max(0.0, p - TOP)
        return -y * math.log(inside) - (1.0 - y) * math.log1p(-inside) + tangent / EDGE

    def derivative(self, p: float, y: float) -> float:
        if p <= EDGE:
            return -y / EDGE
        if p >= TOP:
            return (1.0 - y) / EDGE
        return (p - y) / (p * (1.0 - p))

    def curvature(self, p: float, y: float) -> float:
        if not EDGE < p < TOP:
            return 0.0
        return y / (p * p) + (1.0 - y) / ((1.0 - p) * (1.0 - p))

    def rise(self, a: float, limit: float, u: float) -> float:
        straight = max(0.0, EDGE - a)
        if u <= straight * EDGE:
            return u / EDGE
        v = u - straight * EDGE
        b = max(a, EDGE)
        return min(limit, straight + 2.0 * v / (b + math.sqrt(b * b + 2.0 * v)))

    def implicit_rise(self, a: float, limit: float, u: float) -> float:
        if u <= max(0.0, EDGE - a) * EDGE:
            return u / EDGE
        root = math.sqrt(a * a + 4.0 * u)  # of Δ² + aΔ = u
        return min(limit, 2.0 * u / (a + root) if a > 0.0 else 0.5 * (root - a))

    def push_for_rise(self, a: float, limit: float, change: float) -> float:
        if not 0.0 <= change <= limit:
            return math.inf
        straight = min(change, max(0.0, EDGE - a))
        rest = change - straight
        return straight * EDGE + 0.5 * rest * (2.0 * max(a, EDGE) + rest)
