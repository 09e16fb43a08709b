"""Errors of input: `InputError`, which ends reading, and errors of single rows, which can be skipped."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._parameters import Message, Parameter

DESCRIBED = 64  # errors per chunk that are described; all are counted
POINTS = "numbers have a decimal point here, as in 3.14, not a comma"


class InputError(ValueError):
    """Input that cannot be read: the message says what, where and what to do.

    It is made of text and the parameters that it names; a `Message` may be among its parts.
    """

    def __init__(self, *parts: str | Parameter) -> None:
        super().__init__(Message(*parts))


@dataclass(frozen=True)
class RowError:
    """A line or row of a block that was left out: its number within the block, from 0, and why."""

    line: int
    what: str


@dataclass(frozen=True)
class Problem:
    """A line or row that cannot be read, with its file and number."""

    path: str
    line: int
    what: str
    unit: str = "line"

    @property
    def message(self) -> Message:
        return Message(f"{self.path}, {self.unit} {self.line}: ", self.what)

    def __str__(self) -> str:
        return str(self.message)


class RowErrors:
    """The first error of each row of a table."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._found: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._found)

    def first(self, count: int) -> list[RowError]:
        return [RowError(row, self._found[row]) for row in sorted(self._found)[:count]]

    @property
    def good_rows(self) -> NDArray[np.int64] | slice:
        """The rows without an error."""
        return np.setdiff1d(np.arange(self._rows), list(self._found)) if self._found else slice(None)

    def add(self, bad: NDArray[np.bool_], describe: Callable[[int], str]) -> None:
        for row in np.flatnonzero(bad).tolist():
            self._found.setdefault(row, describe(row))

    def add_entries(
        self, offsets: NDArray[np.int64], bad: NDArray[np.bool_], describe: Callable[[int], str]
    ) -> None:
        """The same for features: the first bad one of each row, by its place among all features."""
        places = np.flatnonzero(bad)
        before = np.searchsorted(places, offsets)
        self.add(np.diff(before) > 0, lambda row: describe(int(places[before[row]])))

    def add_labels(self, labels: NDArray[np.float64], unlabelled: NDArray[np.bool_]) -> None:
        self.add(
            ~(np.isfinite(labels) | unlabelled),
            lambda row: f"the label {labels[row]} is not finite; null means that there is none",
        )

    def add_weights(self, sample_weight: NDArray[np.float64]) -> None:
        self.add(
            ~((sample_weight >= 0.0) & np.isfinite(sample_weight)),
            lambda row: f"the weight {show(sample_weight[row])}: weights must be finite, 0 or more",
        )

    def add_offsets(self, offsets: NDArray[np.float64]) -> None:
        self.add(~np.isfinite(offsets), lambda row: f"the offset {show(offsets[row])} must be finite")


def show(number: Any) -> str:
    return "null or NaN" if number != number else str(number)


def has_decimal_comma(text: str) -> bool:
    """Whether it would be a number if its comma were a point."""
    return re.fullmatch(r"\s*[+-]?\d*,\d+\s*", text) is not None
