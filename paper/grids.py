"""The results of all schedules of one data set, loss and update, from the rows of a sweep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paper.study import Row

VERY_NEAR, NEAR = 0.001, 0.005
"""Distances to the best accuracy: the paper's, and one that is more than luck on a few thousand test rows."""

FloatArray = NDArray[np.float64]
Key = tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """Arrays of shuffles × schedules; the order of schedules is the same in every grid of a table."""

    accuracy: FloatArray
    progressive_error: FloatArray
    progressive_loss: FloatArray
    diverged: NDArray[np.bool_]
    tested: int

    def best(self) -> FloatArray:
        """The accuracy of the best schedule of each shuffle, chosen in hindsight."""
        best: FloatArray = self.accuracy.max(axis=1)
        return best

    def share(self, within: float) -> FloatArray:
        """The share, for each shuffle, of schedules within this distance of the best one of the same grid."""
        # one test row changes the accuracy by more than 1e-9, so this only evens out rounding
        near: FloatArray = (self.accuracy >= self.best()[:, np.newaxis] - within - 1e-9).mean(axis=1)
        return near

    def standard_error(self) -> float:
        """The standard error of the best accuracy, from the number of test rows."""
        best = float(self.best().mean())
        return float(np.sqrt(best * (1.0 - best) / self.tested))

    def by_schedule(self) -> FloatArray:
        """The accuracy of each schedule, averaged over the shuffles."""
        mean: FloatArray = self.accuracy.mean(axis=0)
        return mean


def make_grids(rows: Sequence[Row], by: Sequence[str] = ("data", "loss", "update")) -> dict[Key, Grid]:
    """The grids of a table, in the order of their first rows."""
    groups: dict[Key, dict[int, list[Row]]] = {}
    for row in rows:
        key = tuple(str(row[name]) for name in by)
        groups.setdefault(key, {}).setdefault(int(row["shuffle"]), []).append(row)
    return {key: _grid(list(shuffles.values())) for key, shuffles in groups.items()}


Cells = Mapping[Key, Mapping[str, Grid]]
"""The grids of all updates, by data set and loss."""


def group_by_update(by_key: Mapping[Key, Grid]) -> dict[Key, dict[str, Grid]]:
    """The grids with the last part of the key, the update, as a dict of its own."""
    found: dict[Key, dict[str, Grid]] = {}
    for (*place, update), grid in by_key.items():
        found.setdefault(tuple(place), {})[update] = grid
    return found


def format_spread(values: FloatArray, digits: int = 4, times: float = 1.0) -> str:
    """The mean; with several values also the smallest and the largest."""
    mean = f"{times * values.mean():.{digits}f}"
    if len(values) == 1:
        return mean
    return f"{mean} ({times * values.min():.{digits}f}–{times * values.max():.{digits}f})"


def _grid(shuffles: list[list[Row]]) -> Grid:
    def column(name: str) -> FloatArray:
        return np.array([[float(row[name]) for row in rows] for rows in shuffles])

    return Grid(
        accuracy=column("accuracy"),
        progressive_error=column("progressive_error"),
        progressive_loss=column("progressive_loss"),
        diverged=column("diverged") > 0.0,
        tested=int(shuffles[0][0]["tested"]),
    )
