"""Where steps are longer if one of two classes is rare, and what a model remembers for it.

`learn.class_steps` says how, and why.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.class_steps import SECOND, SIZE, STEPS, WEIGHT, steps
from steelyard.losses import REAL_LINE, Loss, OneOf

__all__ = ["SECOND", "SIZE", "STEPS", "WEIGHT", "follow", "look_up", "new_state"]

Numbers = NDArray[np.float64]


def follow(loss: Loss) -> bool:
    """Whether the labels of this loss are two classes, and its predictions no probabilities."""
    return isinstance(loss.labels, OneOf) and len(set(loss.labels.values)) == 2 and loss.domain == REAL_LINE


def new_state(*lanes: int) -> Numbers:
    """Nothing seen yet; with a column for each lane."""
    state = np.zeros((SIZE, *lanes))
    state[STEPS] = 1.0
    return state


def look_up(state: Numbers) -> None:
    """Bring the factor up to date, whatever the weight."""
    state[STEPS] = steps(float(state[WEIGHT]), float(state[SECOND]))
