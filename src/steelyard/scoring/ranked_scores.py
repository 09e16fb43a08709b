"""`RankedScores`: the area under the ROC curve of a stream of scores, by weight, in bounded memory.

The area counts pairs of a positive and a negative row: those in the right order, and ties by half. Every
different score is kept with the weight of both classes. Beyond `MOST` of them neighbours are joined, whose
pairs then count as ties: that is an error of at most half the weight of these pairs, which `error` tells.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats

MOST = 1 << 21  # different scores: 64 MB
_TOGETHER = 1 << 20  # rows that are sorted at once, always as many, so that chunks decide nothing


class RankedScores:
    """Add scores chunk by chunk."""

    def __init__(self) -> None:
        # from and to which score, and the weight there of the negative and of the positive class
        self._steps = np.zeros((4, 0))
        self._waiting: list[Floats] = []
        self._rows_waiting = 0

    def add(self, scores: Floats, positive: NDArray[np.bool_], weights: Floats) -> None:
        rows = np.array([scores, scores, np.where(positive, 0.0, weights), np.where(positive, weights, 0.0)])
        while self._rows_waiting + rows.shape[1] >= _TOGETHER:
            now, rows = np.split(rows, [_TOGETHER - self._rows_waiting], axis=1)
            self._waiting.append(now)
            self._sort()
        self._waiting.append(rows)
        self._rows_waiting += rows.shape[1]

    @property
    def area(self) -> float | None:
        """None where a class has no weight."""
        shares = self._shares()
        if shares is None:
            return None
        negative, positive = shares
        return float(positive @ (np.cumsum(negative) - 0.5 * negative))

    @property
    def error(self) -> float:
        """How far the area may be off: 0 as long as no different scores were joined."""
        shares = self._shares()
        if shares is None:
            return 0.0
        joined = self._steps[0] < self._steps[1]
        return 0.5 * float(shares[0][joined] @ shares[1][joined])

    def _shares(self) -> Floats | None:
        self._sort()
        totals = self._steps[2:].sum(axis=1, keepdims=True)
        return self._steps[2:] / totals if totals.all() else None

    def _sort(self) -> None:
        """Scores that are equal, or lie where neighbours were joined, become one step."""
        rows = np.concatenate([self._steps, *self._waiting], axis=1)
        self._waiting, self._rows_waiting = [], 0
        rows = rows[:, np.argsort(rows[0], kind="stable")]
        reached = np.maximum.accumulate(rows[1])
        self._steps = _joined(rows, np.append(True, rows[0, 1:] > reached[:-1])[: rows.shape[1]])
        while self._steps.shape[1] > MOST:
            self._steps = _joined(self._steps, np.arange(self._steps.shape[1]) % 2 == 0)


def _joined(steps: Floats, begins: NDArray[np.bool_]) -> Floats:
    """Each step that begins something, with all up to the next that does."""
    number = np.cumsum(begins) - 1
    last = np.append(begins[1:], True)[: len(begins)]
    highest = np.maximum.accumulate(steps[1])[last]
    weights = [np.bincount(number, column, len(highest)) for column in steps[2:]]
    return np.array([steps[0, begins], highest, *weights])
