"""Modified Huber loss: squared loss for classification, flat once the margin is 1."""

import math
from dataclasses import dataclass

from steelyard.losses._base import Loss
from steelyard.losses._labels import PLUS_MINUS_ONE


@dataclass(frozen=True)
class ModifiedHuber(Loss):
    """½(1 − q)² for the margin q = yp between −1 and 1, 0 above, the tangent −2q below.

    This is the squared loss to the label with the prediction held within the labels' range. The
    flow walks at speed 2 up to q = −1 and from there closes the gap to 1 exponentially.
    """

    labels = PLUS_MINUS_ONE
    default_learning_rate = 0.4

    def value(self, p: float, y: float) -> float:
        gap = max(0.0, 1.0 - y * p)
        return 0.5 * gap * gap if gap < 2.0 else 2.0 * (gap - 1.0)

    def probability(self, p: float, y: float) -> float:
        """The best p for a label that is 1 with probability π is 2π − 1, so read it backwards."""
        return 0.5 * (1.0 + min(max(y * p, -1.0), 1.0))

    def derivative(self, p: float, y: float) -> float:
        return -y * min(2.0, max(0.0, 1.0 - y * p))

    def curvature(self, p: float, y: float) -> float:
        return 1.0 if -1.0 < y * p < 1.0 else 0.0

    def flow(self, p: float, y: float, u: float) -> float:
        gap = max(0.0, 1.0 - y * p)
        straight = max(0.0, gap - 2.0)
        if 2.0 * u <= straight:
            return y * 2.0 * u
        return y * (straight - (gap - straight) * math.expm1(0.5 * straight - u))

    def implicit(self, p: float, y: float, u: float) -> float:
        gap = max(0.0, 1.0 - y * p)
        return y * min(2.0 * u, gap * (u / (1.0 + u)))

    def push_for(self, p: float, y: float, change: float) -> float:
        d = y * change
        if d == 0.0:
            return 0.0
        gap = max(0.0, 1.0 - y * p)
        if not 0.0 < d < gap:
            return math.inf
        straight = min(d, max(0.0, gap - 2.0))
        return 0.5 * straight - math.log1p(-(d - straight) / (gap - straight))
