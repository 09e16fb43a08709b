"""`Faults`: what is wrong with the rows of a table, looked for only where something is."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.io.parsed_block import RowError

DESCRIBED = 64  # of the rows of a chunk; all are counted


class Faults:
    """Of each row the first thing that is wrong with it."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._found: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._found)

    @property
    def notes(self) -> list[RowError]:
        return [RowError(row, self._found[row]) for row in sorted(self._found)[:DESCRIBED]]

    @property
    def sound(self) -> NDArray[np.int64] | slice:
        """The rows with which nothing is."""
        return np.setdiff1d(np.arange(self._rows), list(self._found)) if self._found else slice(None)

    def add(self, bad: NDArray[np.bool_], describe: Callable[[int], str]) -> None:
        for row in np.flatnonzero(bad).tolist():
            self._found.setdefault(row, describe(row))

    def add_entries(
        self, offsets: NDArray[np.int64], bad: NDArray[np.bool_], describe: Callable[[int], str]
    ) -> None:
        """The same for features: of each row the first that is bad, by its place among all."""
        places = np.flatnonzero(bad)
        before = np.searchsorted(places, offsets)
        self.add(np.diff(before) > 0, lambda row: describe(int(places[before[row]])))

    def add_labels(self, labels: NDArray[np.float64], unlabelled: NDArray[np.bool_]) -> None:
        self.add(
            ~(np.isfinite(labels) | unlabelled),
            lambda row: f"the label {labels[row]} is not finite; null says that there is none",
        )

    def add_importances(self, sample_weight: NDArray[np.float64]) -> None:
        self.add(
            ~((sample_weight >= 0.0) & np.isfinite(sample_weight)),
            lambda row: f"the importance {said(sample_weight[row])}: weights must be finite, 0 or more",
        )

    def add_bases(self, offsets: NDArray[np.float64]) -> None:
        self.add(~np.isfinite(offsets), lambda row: f"the base {said(offsets[row])} must be finite")


def said(number: Any) -> str:
    return "null or NaN" if number != number else str(number)
