"""Hinge loss."""

import math
from dataclasses import dataclass

from steelyard.losses._base import Loss
from steelyard.losses._labels import PLUS_MINUS_ONE


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 − yp). The flow walks straight to the hinge and stops: at yp = 1 the slope is 0."""

    labels = PLUS_MINUS_ONE
    smooth = False

    def value(self, p: float, y: float) -> float:
        return max(0.0, 1.0 - y * p)

    def derivative(self, p: float, y: float) -> float:
        return -y if y * p < 1.0 else 0.0

    def curvature(self, p: float, y: float) -> float:
        return 0.0

    def flow(self, p: float, y: float, u: float) -> float:
        return y * min(u, max(0.0, 1.0 - y * p))

    def implicit(self, p: float, y: float, u: float) -> float:
        return y * min(u, max(0.0, 1.0 - y * p))

    def push_for(self, p: float, y: float, change: float) -> float:
        d = y * change
        return d if 0.0 <= d <= max(0.0, 1.0 - y * p) else math.inf
