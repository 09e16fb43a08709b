"""Check at a few points that a user's loss is convex and that its derivative is the slope of its value.

If ℓ is convex and ℓ′ is its slope, the derivative at p lies between the difference quotients to its left
and to its right, however wide they are and whether or not there is a kink at p; and it never falls as p
grows. Both are checked with a generous margin, because values may be noisy. Points where a loss is not
defined are skipped.
"""

import math
from collections.abc import Iterator

from steelyard.losses._base import Loss
from steelyard.losses._labels import Interval, OneOf

_STEP = 1e-3
_MARGIN = 1e-3  # relative; mistakes in a sign or a factor are far larger
_NOISE = 1e-6

# Odd numbers, unlikely to lie on a kink, on both sides of 0, 1 and −1.
_ANYWHERE = (-6.73, -3.11, -1.71, -1.07, -0.89, -0.37, -0.11, 0.13, 0.41, 0.83, 1.09, 1.93, 3.31, 7.27)
_SHARES = (0.013, 0.11, 0.27, 0.41, 0.59, 0.73, 0.89, 0.987)


def check_soundness(loss: Loss) -> None:
    """Raise a ValueError that names a point where the loss is wrong."""
    for y in _labels(loss):
        last = -math.inf, -math.inf
        for p in _points(loss.domain, _ANYWHERE):
            try:
                values = tuple(float(loss.value(p + k * _STEP, y)) for k in (-1, 0, 1))
                slope = float(loss.derivative(p, y))
            except (ArithmeticError, ValueError):
                continue
            if not all(map(math.isfinite, (*values, slope))):
                continue
            _check_slope(loss, p, y, slope, values)
            if _clearly_less(slope, last[1], abs(slope) + abs(last[1])):
                raise ValueError(
                    f"the loss {type(loss).__name__} is not convex in the prediction: for the label {y:g} "
                    f"the derivative falls from {last[1]:.6g} at {last[0]:g} to {slope:.6g} at {p:g}"
                )
            last = p, slope


def _check_slope(loss: Loss, p: float, y: float, slope: float, values: tuple[float, ...]) -> None:
    left, right = (values[1] - values[0]) / _STEP, (values[2] - values[1]) / _STEP
    size = abs(left) + abs(right) + abs(slope)
    if _clearly_less(slope, left, size) or _clearly_less(right, slope, size):
        raise ValueError(
            f"the loss {type(loss).__name__}: derivative({p:g}, {y:g}) is {slope:.6g}, but there value has "
            f"a slope between {min(left, right):.6g} and {max(left, right):.6g}; derivative(p, y) must be "
            "the slope of value(p, y) in p, and value convex in p"
        )


def _clearly_less(a: float, b: float, size: float) -> bool:
    return a < b - _MARGIN * size - _NOISE


def _labels(loss: Loss) -> Iterator[float]:
    """Yield labels that it takes; 0 and 1 if it takes any number, or does not say."""
    if isinstance(loss.labels, OneOf):
        yield from loss.labels.values
    else:
        yield from _points(loss.labels, (0.0, 1.0))


def _points(interval: Interval, anywhere: tuple[float, ...]) -> Iterator[float]:
    """Points spread over a bounded interval; else those of the given points that lie in it."""
    if math.isfinite(interval.low) and math.isfinite(interval.high):
        yield from (interval.low + share * (interval.high - interval.low) for share in _SHARES)
    else:
        yield from (point for point in anywhere if point in interval)
