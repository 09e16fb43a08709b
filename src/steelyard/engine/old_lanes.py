"""NDArray[Any]s of models side by side, as earlier releases stored them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.learn import lanes, linear
from steelyard.learn.lane_parts import COEFFICIENT, GRADIENTS, UNIT, numbers_before


def upgraded(name: str, stored: NDArray[Any], now: NDArray[Any]) -> NDArray[Any]:
    """Convert an array of an older file, where arrays of this name may have another shape."""
    if name.endswith("state") and stored.ndim < now.ndim:  # the unit of the labels, once for all lanes
        return np.broadcast_to(stored[:, np.newaxis], now.shape)
    if name.endswith(".state"):
        return _state(stored, now)
    if name.endswith(".weights") and now.ndim > 2:
        return _with_units(stored if stored.shape == now.shape else _weights(stored, now), now)
    return stored


def _state(stored: NDArray[Any], now: NDArray[Any]) -> NDArray[Any]:
    """Convert the state of a model or of lanes: earlier releases had fewer scalars, and no open epochs."""
    if len(stored) == len(now):
        return stored
    known = len(stored) - (lanes.LANE_STATE_SIZE - linear.STATE_SIZE if stored.ndim > 1 else 0)
    state = np.zeros_like(now)
    state[:known] = stored[:known]
    state[linear.STATE_SIZE :] = stored[known:]
    fraction = state[linear.CLOCK] % 1.0
    state[linear.CLOCK] -= fraction
    state[linear.FRACTION] = fraction
    state[[linear.SEEN_START, linear.NORM_START]] = state[[linear.SEEN, linear.NORM]]
    return state


def _weights(stored: NDArray[Any], now: NDArray[Any]) -> NDArray[Any]:
    """Convert weights in which sums of squares had the type of coefficients."""
    weights = np.zeros_like(now)
    weights[:, COEFFICIENT] = stored[:, COEFFICIENT]
    long = stored[:, GRADIENTS].astype(np.float64).view(now.dtype).reshape(len(now), 2, -1)
    weights[:, GRADIENTS : numbers_before(UNIT, 2)] = long
    weights[:, numbers_before(UNIT, 2) :] = stored[:, UNIT:]
    return weights


def _with_units(stored: NDArray[Any], now: NDArray[Any]) -> NDArray[Any]:
    """Mark features that are excepted from fixed units, which were 0 before (see `LaneBlock.fix_units`)."""
    unit = numbers_before(UNIT, 8 // now.itemsize)
    before = now[:, unit : unit + 1].copy()
    now[...] = stored
    np.copyto(now[:, unit : unit + 1], before, where=stored[:, unit : unit + 1] == 0.0)
    return now
