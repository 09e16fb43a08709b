"""The base class of losses whose prediction is itself a probability.

Such a loss is infinitely steep at one end of (0, 1), where a model with w = 0 starts. So, for the label 1, it
continues as its tangent below EDGE and is flat above TOP; mirrored for the label 0. That keeps it convex, and
the flow exact, wherever p is. (Clipping p while moving the raw prediction would
break the semigroup law.)
"""

from dataclasses import dataclass

from steelyard.losses import _numeric as numeric
from steelyard.losses._base import Loss
from steelyard.losses._labels import UNIT_INTERVAL, ZERO_ONE

EDGE = 1e-6
TOP = 1.0 - EDGE


@dataclass(frozen=True)
class UnitIntervalLoss(Loss):
    """A loss of a probability. Subclasses define how a, that of the true label, rises by at most `limit`."""

    labels = ZERO_ONE
    soft_labels = UNIT_INTERVAL
    domain = UNIT_INTERVAL

    def rise(self, a: float, limit: float, u: float) -> float:
        """The flow for the label 1 from p = a, which stops after `limit`."""
        raise NotImplementedError

    def implicit_rise(self, a: float, limit: float, u: float) -> float:
        """The implicit change for the label 1 from p = a."""
        raise NotImplementedError

    def push_for_rise(self, a: float, limit: float, change: float) -> float:
        """The push that makes `rise` reach this change."""
        raise NotImplementedError

    def probability(self, p: float, y: float) -> float:
        return min(max(p if y == 1.0 else 1.0 - p, 0.0), 1.0)

    def flow(self, p: float, y: float, u: float) -> float:
        if y == 1.0:
            return self.rise(p, max(0.0, TOP - p), u)
        if y == 0.0:
            return -self.rise(1.0 - p, max(0.0, p - EDGE), u)
        return numeric.flow(self, p, y, u)

    def implicit(self, p: float, y: float, u: float) -> float:
        if y == 1.0:
            return self.implicit_rise(p, max(0.0, TOP - p), u)
        if y == 0.0:
            return -self.implicit_rise(1.0 - p, max(0.0, p - EDGE), u)
        return numeric.implicit(self, p, y, u)

    def push_for(self, p: float, y: float, change: float) -> float:
        if y == 1.0:
            return self.push_for_rise(p, max(0.0, TOP - p), change)
        if y == 0.0:
            return self.push_for_rise(1.0 - p, max(0.0, p - EDGE), -change)
        return numeric.push_for(self, p, y, change)
