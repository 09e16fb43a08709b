"""Which losses have predictions in the units of their labels, so that the scale of labels need not matter.

`learn.label_units` says how, and why.
"""

import math

from steelyard.learn.label_units import ORIGIN, SET_AT, SIZE, SQUARES, SUM, UNIT, WEIGHT
from steelyard.losses import REAL_LINE, Loss

__all__ = ["ORIGIN", "SET_AT", "SIZE", "SQUARES", "SUM", "UNIT", "WEIGHT", "follow"]


def follow(loss: Loss) -> bool:
    """Return whether the predictions of this loss have the units of its labels: whether it depends on p − y only."""
    if loss.labels != REAL_LINE or loss.domain != REAL_LINE:
        return False
    try:
        return all(
            math.isclose(loss.derivative(p + shift, y + shift), loss.derivative(p, y), rel_tol=1e-6)
            for p, y in ((0.0, 1.0), (0.5, -0.25), (1.0, 3.0), (-2.0, -1.0))
            for shift in (-1.0, 2.0)
        )
    except (ArithmeticError, ValueError):  # it is not defined for such labels
        return False
