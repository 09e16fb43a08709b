"""The best constant prediction and its loss: what a model has to beat.

Labels are remembered with their weights. Where there are too many different ones, neighbours are
merged into their mean, so that memory stays bounded and the constant good to a few digits.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.rows import fill_pairs
from steelyard.losses import Loss
from steelyard.numba_tools import jit

MOST_LABELS = 1 << 15


class LabelWeights:
    """The weight that each label has had so far."""

    def __init__(self) -> None:
        self._labels = np.zeros(0)
        self._weights = np.zeros(0)

    def add(self, labels: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        learned = weights > 0.0
        distinct, place = np.unique(np.concatenate([self._labels, labels[learned]]), return_inverse=True)
        amounts = np.concatenate([self._weights, weights[learned]])
        totals = np.bincount(place, amounts, len(distinct)).astype(np.float64, copy=False)
        while len(distinct) > MOST_LABELS:
            distinct, totals = _halved(distinct, totals)
        self._labels, self._weights = distinct, totals

    def expected_changes(self, rows: int) -> float:
        """How often the label of a row differs from the one before it, were the rows shuffled."""
        shares = self._weights / self._weights.sum()
        return float(rows * (1.0 - shares @ shares))

    @property
    def only(self) -> float | None:
        """The label that all rows have had; None if there are several, or none."""
        return float(self._labels[0]) if len(self._labels) == 1 else None

    def among(self, most: int) -> list[float]:
        """All labels, if they are so few at most; else none."""
        return self._labels.tolist() if len(self._labels) <= most else []

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """For a checkpoint."""
        return {"run_labels": self._labels, "run_label_weights": self._weights}

    def restore(self, arrays: dict[str, NDArray[np.float64]]) -> None:
        self._labels, self._weights = arrays["run_labels"], arrays["run_label_weights"]

    def best_constant(self, loss: Loss) -> tuple[float, float]:
        """(constant, its average loss), by bisection on the slope of the total loss."""
        if not len(self._labels):
            return float("nan"), float("nan")
        low, high = self._bracket(loss)
        for _ in range(200):
            middle = 0.5 * (low + high)
            if self._average(loss, "derivative", middle) < 0.0:
                low = middle
            else:
                high = middle
        constant = low if self._average(loss, "value", low) < self._average(loss, "value", high) else high
        return constant, self._average(loss, "value", constant)

    def _bracket(self, loss: Loss) -> tuple[float, float]:
        """An interval with the minimum in it, or wide enough where there is none, as for one class alone."""
        domain = loss.domain
        if np.isfinite(domain.low) and np.isfinite(domain.high):
            return domain.low, domain.high
        reach = 1.0
        while reach < 1e3 * max(1.0, float(np.abs(self._labels).max())) and (
            self._average(loss, "derivative", -reach) > 0.0 or self._average(loss, "derivative", reach) < 0.0
        ):
            reach *= 2.0
        return -reach, reach

    def _average(self, loss: Loss, function: str, constant: float) -> float:
        out = np.empty(len(self._labels))
        with np.errstate(all="ignore"):
            fill_pairs(jit.pointer(loss, function), np.full(len(out), constant), self._labels, out)
        return float(out @ self._weights / self._weights.sum())


def _halved(
    labels: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each two neighbours become one, at their mean; an odd one at the end stays."""
    even = len(labels) // 2 * 2
    pairs, shares = labels[:even].reshape(-1, 2), weights[:even].reshape(-1, 2)
    totals = shares.sum(axis=1)
    means = (pairs * shares).sum(axis=1) / totals
    return np.concatenate([means, labels[even:]]), np.concatenate([totals, weights[even:]])
