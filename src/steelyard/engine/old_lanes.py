"""Arrays of models side by side, as earlier releases stored them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.learn import lanes, linear
from steelyard.learn.lane_parts import COEFFICIENT, GRADIENTS, UNIT, numbers_before

Array = NDArray[Any]


def upgraded(name: str, kept: Array, now: Array) -> Array:
    """What to write into the array of this name, which has another shape in older files."""
    if name.endswith("state") and kept.ndim < now.ndim:  # the unit of the labels, once for all lanes
        return np.broadcast_to(kept[:, np.newaxis], now.shape)
    if name.endswith(".state"):
        return _state(kept, now)
    if name.endswith(".weights") and now.ndim > 2:
        return _with_units(kept if kept.shape == now.shape else _weights(kept, now), now)
    return kept


def _state(kept: Array, now: Array) -> Array:
    """Of one model, or of lanes: before averages it had fewer numbers, and before epochs no open one."""
    if len(kept) == len(now):
        return kept
    known = len(kept) - (lanes.LANE_STATE_SIZE - linear.STATE_SIZE if kept.ndim > 1 else 0)
    state = np.zeros_like(now)
    state[:known] = kept[:known]
    state[linear.STATE_SIZE :] = kept[known:]
    fraction = state[linear.CLOCK] % 1.0
    state[linear.CLOCK] -= fraction
    state[linear.FRACTION] = fraction
    state[[linear.SEEN_START, linear.NORM_START]] = state[[linear.SEEN, linear.NORM]]
    return state


def _weights(kept: Array, now: Array) -> Array:
    """Sums of squares were as short as coefficients."""
    weights = np.zeros_like(now)
    weights[:, COEFFICIENT] = kept[:, COEFFICIENT]
    long = kept[:, GRADIENTS].astype(np.float64).view(now.dtype).reshape(len(now), 2, -1)
    weights[:, GRADIENTS : numbers_before(UNIT, 2)] = long
    weights[:, numbers_before(UNIT, 2) :] = kept[:, UNIT:]
    return weights


def _with_units(kept: Array, now: Array) -> Array:
    """Features that find their own unit had 0 until then; now that is marked (see `LaneBlock.fix_units`)."""
    unit = numbers_before(UNIT, 8 // now.itemsize)
    before = now[:, unit : unit + 1].copy()
    now[...] = kept
    np.copyto(now[:, unit : unit + 1], before, where=kept[:, unit : unit + 1] == 0.0)
    return now
