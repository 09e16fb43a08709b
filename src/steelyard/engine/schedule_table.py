"""The clocks of many lanes, and how hard each turn of them pushes by the lanes' schedules."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard import schedules
from steelyard.learn import batched_loss, lanes
from steelyard.model import Settings

Column = NDArray[np.float64]


def after(totals: Column, sample_weight: NDArray[np.float64]) -> Column:
    """Each lane's total plus the sample_weight of all turns, added one by one: the same in any chunks."""
    if sample_weight.shape[1] > 1:
        ends_by_lane: Column = np.cumsum(np.vstack((totals, sample_weight)), axis=0)[-1]
        return ends_by_lane
    ends = {start: float(np.cumsum(np.append(start, sample_weight))[-1]) for start in set(totals.tolist())}
    return np.array([ends[start] for start in totals.tolist()])


def pushes(
    settings: Sequence[Settings], clocks: Column, sample_weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """∫ η over each turn for a learning rate of 1: a table of columns, and the column of each lane.

    Lanes share a column if they have the same schedule and their clocks go together.
    """
    together = sample_weight.shape[1] == 1
    columns: dict[tuple[float, ...], int] = {}
    column = np.empty(len(settings), np.int64)
    filled = []
    for lane, each in enumerate(settings):
        # the explicit update takes the rate as it is at the start; without decay it stands still anyway
        frozen = each.update == "explicit" or each.power_t == 0.0
        initial_t = each.initial_t if each.power_t > 0.0 else 1.0
        alike = (frozen, initial_t, each.power_t, clocks[lane], 0 if together else lane)
        if alike not in columns:
            columns[alike] = len(columns)
            moments = batched_loss.pushes(schedules.frozen if frozen else schedules.integral)
            turns = np.ascontiguousarray(sample_weight[:, alike[-1]])
            filled.append(lanes.pushes(clocks[lane], turns, initial_t, each.power_t, moments))
        column[lane] = columns[alike]
    return np.stack(filled, axis=1), column
