"""Quantile ("pinball") loss."""

import math
from dataclasses import dataclass

from steelyard.losses._base import Loss


@dataclass(frozen=True)
class Quantile(Loss):
    """τ(y − p) below y, (1 − τ)(p − y) above: least for the τ-quantile. At p = y the slope is 0."""

    tau: float = 0.5

    smooth = False
    default_learning_rate = 0.6

    def __post_init__(self) -> None:
        if not 0.0 < self.tau < 1.0:
            raise ValueError(f"quantile: tau must lie between 0 and 1, exclusive; got {self.tau!r}")

    def value(self, p: float, y: float) -> float:
        return self.tau * (y - p) if p < y else (1.0 - self.tau) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        if p == y:
            return 0.0
        return -self.tau if p < y else 1.0 - self.tau

    def curvature(self, p: float, y: float) -> float:
        return 0.0

    def flow(self, p: float, y: float, u: float) -> float:
        return min(self.tau * u, y - p) if p < y else -min((1.0 - self.tau) * u, p - y)

    def implicit(self, p: float, y: float, u: float) -> float:
        return min(self.tau * u, y - p) if p < y else -min((1.0 - self.tau) * u, p - y)

    def push_for(self, p: float, y: float, change: float) -> float:
        if change == 0.0:
            return 0.0
        if 0.0 < change <= y - p:
            return change / self.tau
        if y - p <= change < 0.0:
            return -change / (1.0 - self.tau)
        return math.inf
