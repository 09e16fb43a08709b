"""Two classes in the eyes of a loss: their labels, and the prediction that decides between them."""

import math

from steelyard.losses.base import Loss
from steelyard.losses.sets import OneOf


def labels(loss: Loss) -> tuple[float, float]:
    """The labels of the two: the loss's own pair, or −1 and 1 where it takes any number."""
    values = loss.labels.values if isinstance(loss.labels, OneOf) else (-1.0, 1.0)
    low, high = min(values), max(values)
    if low == high or low not in loss.labels or high not in loss.labels:
        raise ValueError(
            f"{type(loss).__name__} loss takes {loss.labels}, which makes no two classes: use OnlineRegressor"
        )
    return low, high


def boundary(loss: Loss) -> float:
    """Predictions above it are for the second class: ½ where they are probabilities themselves, else 0."""
    width = loss.domain.high - loss.domain.low
    return loss.domain.low + 0.5 * width if math.isfinite(width) else 0.0
