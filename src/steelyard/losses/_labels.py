"""Labels: sets of labels and predictions, and the two classes of a loss.

Sets are data: error messages print them and tests draw from them.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.losses._base import Loss


@dataclass(frozen=True)
class Interval:
    """The open interval from low to high."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low < value < self.high

    def __str__(self) -> str:
        if math.isinf(self.low) and math.isinf(self.high):
            return "any finite number"
        return f"a number between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class OneOf:
    """A few single values."""

    values: tuple[float, ...]

    def __contains__(self, value: float) -> bool:
        return value in self.values

    def __str__(self) -> str:
        return " or ".join(f"{value:g}" for value in self.values)


REAL_LINE = Interval(-math.inf, math.inf)
UNIT_INTERVAL = Interval(0.0, 1.0)
PLUS_MINUS_ONE = OneOf((-1.0, 1.0))
ZERO_ONE = OneOf((0.0, 1.0))


def class_labels(loss: "Loss") -> tuple[float, float]:
    """The labels of two classes: the loss's own pair, or −1 and 1 if it takes any number."""
    values = loss.labels.values if isinstance(loss.labels, OneOf) else (-1.0, 1.0)
    low, high = min(values), max(values)
    if low == high or low not in loss.labels or high not in loss.labels:
        raise ValueError(
            f"{type(loss).__name__} loss takes {loss.labels}, which makes no two classes: use OnlineRegressor"
        )
    return low, high


def decision_point(loss: "Loss") -> float:
    """Predictions above this number mean the second class: ½ if predictions are probabilities, else 0."""
    width = loss.domain.high - loss.domain.low
    return loss.domain.low + 0.5 * width if math.isfinite(width) else 0.0
