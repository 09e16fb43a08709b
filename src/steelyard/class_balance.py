"""Which losses have longer steps where one of two classes is rare, and the array that a model keeps for it.

`learn.rare_classes` says how, and why.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.rare_classes import FACTOR, SECOND, SIZE, WEIGHT, factor_for
from steelyard.losses import REAL_LINE, Loss, OneOf

__all__ = ["FACTOR", "SECOND", "SIZE", "WEIGHT", "follow", "look_up", "new_state"]


def follow(loss: Loss) -> bool:
    """Return whether the labels of this loss are two classes, and its predictions are not probabilities."""
    return isinstance(loss.labels, OneOf) and len(set(loss.labels.values)) == 2 and loss.domain == REAL_LINE


def new_state(*lanes: int) -> NDArray[np.float64]:
    """Return the array before any label was seen; with a number of lanes, one column for each."""
    state = np.zeros((SIZE, *lanes))
    state[FACTOR] = 1.0
    return state


def look_up(state: NDArray[np.float64]) -> None:
    """Update the factor for the weights in the array."""
    state[FACTOR] = factor_for(float(state[WEIGHT]), float(state[SECOND]))
