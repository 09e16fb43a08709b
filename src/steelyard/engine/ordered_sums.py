"""Sums in the order of the rows: bit for bit the same, however rows are cut into chunks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats


def add_in_order(total: Floats, amounts: Floats) -> Floats:
    """Return `total` plus each row of `amounts`, added one after the other."""
    return running_totals(total, amounts)[-1]  # type: ignore[no-any-return]


def running_totals(total: Floats, amounts: Floats) -> Floats:
    """Return `total`, and its value after each row of `amounts`."""
    with np.errstate(over="ignore", invalid="ignore"):  # infinite sums are noticed in the model
        return np.asarray(np.cumsum(np.concatenate((total[np.newaxis], amounts)), axis=0))


def add_by_place(totals: Floats, places: NDArray[np.integer[Any]], amounts: Floats) -> Floats:
    """Return `totals` plus each amount at its index in `places`, added one after the other."""
    indices = np.concatenate([np.arange(len(totals)), places])
    sums = np.bincount(indices, np.concatenate([totals, amounts]), len(totals))
    return sums.astype(np.float64, copy=False)
