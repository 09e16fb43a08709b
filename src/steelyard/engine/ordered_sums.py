"""Sums that are made one number after the other: to the bit the same, however rows are cut into chunks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]


def add_in_order(total: Column, amounts: Column) -> Column:
    """`total` plus each row of `amounts`, one after the other."""
    return running_totals(total, amounts)[-1]  # type: ignore[no-any-return]


def running_totals(total: Column, amounts: Column) -> Column:
    """`total`, and what it is after each row of `amounts`."""
    with np.errstate(over="ignore", invalid="ignore"):  # what adds up to infinity is noticed in the model
        return np.asarray(np.cumsum(np.concatenate((total[np.newaxis], amounts)), axis=0))


def add_by_place(totals: Column, places: NDArray[np.integer[Any]], amounts: Column) -> Column:
    """`totals` plus each amount in its place, one after the other."""
    known = np.concatenate([np.arange(len(totals)), places])
    found = np.bincount(known, np.concatenate([totals, amounts]), len(totals))
    return found.astype(np.float64, copy=False)
