"""`StreamTotals`: totals over a stream of rows. `LabelWeights`: the best constant prediction for its labels.

A model has to beat the loss of that constant. Labels are stored with their weights; if there are too many
distinct ones, neighbours are merged into their mean, so that memory stays bounded and the constant good to a few
digits.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import weight_summary
from steelyard._messages import counted
from steelyard.examples import Examples
from steelyard.learn import rows
from steelyard.losses import Loss, class_labels
from steelyard.native import methods
from steelyard.weight_summary import WeightSummary

MOST_LABELS = 1 << 15
# Rows seem sorted by label if there are more of them than this, with less than this share of the expected changes.
MANY_ROWS, FEW_CHANGES = 100, 0.25


class RowOrderWarning(UserWarning):
    """Rows of a file were learned in its order, and seem to be sorted by label.

    Examples
    --------
    If that is their order in time, and meant:

    >>> import warnings, steelyard
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", steelyard.RowOrderWarning)
    """


@dataclass
class StreamTotals:
    """Totals over the rows learned in the first pass."""

    rows: int = 0
    learned: int = 0
    labels: "LabelWeights" = field(default_factory=lambda: LabelWeights())
    weights: WeightSummary = weight_summary.NOTHING
    last_label: float | None = None
    label_changes: int = 0
    unlabelled: int = 0

    def add(self, examples: Examples) -> None:
        self.rows += len(examples)
        self.learned += int(np.count_nonzero(examples.sample_weight))
        self.unlabelled += int(np.count_nonzero(np.isnan(examples.labels)))
        self.labels.add(examples.labels, examples.sample_weight)
        labels = examples.labels[examples.sample_weight > 0.0]
        if len(labels):
            before = labels[0] if self.last_label is None else self.last_label
            self.label_changes += int(np.count_nonzero(np.diff(labels, prepend=before)))
            self.last_label = float(labels[-1])
        self.weights = self.weights.followed_by(examples.sample_weight)

    def order_warnings(self, remedy: str) -> list[str]:
        """Warn where rows of classes are sorted by label, or come in long runs of one."""
        if self.learned <= MANY_ROWS:
            return []
        expected = self.labels.expected_changes(self.learned)
        if self.label_changes >= FEW_CHANGES * expected:
            return []
        return [
            f"the label changes {counted(self.label_changes, 'time')} from row to row, where shuffled rows "
            f"would have about {expected:,.0f}: repeating the last label does well, so the average loss says "
            f"little, and the last class is learned best; unless this is their order in time, {remedy}"
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the totals for a checkpoint, which also takes `labels.arrays()`."""
        return {
            "rows": self.rows,
            "learned": self.learned,
            "weights": asdict(self.weights),
            "changes": [self.last_label, self.label_changes],
            "unlabelled": self.unlabelled,
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "StreamTotals":
        totals = cls(stored["rows"], stored["learned"], weights=WeightSummary(**stored["weights"]))
        totals.last_label, totals.label_changes = stored["changes"]
        totals.unlabelled = stored.get("unlabelled", 0)
        totals.labels.restore(arrays, totals.learned)
        return totals


class LabelWeights:
    """The weight that each label has had so far."""

    def __init__(self) -> None:
        self._labels = np.zeros(0)
        self._weights = np.zeros(0)
        self._rows = 0

    def add(self, labels: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Count labels; they are merged after every `MOST_LABELS` rows, whatever the chunks."""
        labels, weights = labels[weights > 0.0], weights[weights > 0.0]
        while len(labels):
            now = MOST_LABELS - self._rows % MOST_LABELS
            distinct, place = np.unique(np.concatenate([self._labels, labels[:now]]), return_inverse=True)
            amounts = np.concatenate([self._weights, weights[:now]])
            totals = np.bincount(place, amounts, len(distinct)).astype(np.float64, copy=False)
            self._rows += len(labels[:now])
            while len(distinct) > MOST_LABELS and self._rows % MOST_LABELS == 0:
                distinct, totals = _halved(distinct, totals)
            self._labels, self._weights = distinct, totals
            labels, weights = labels[now:], weights[now:]

    def expected_changes(self, rows: int) -> float:
        """Return how often the label would change from row to row if the rows were shuffled."""
        shares = self._weights / self._weights.sum()
        return float(rows * (1.0 - shares @ shares))

    @property
    def only(self) -> float | None:
        """The label that all rows have had; None if there are several, or none."""
        return float(self._labels[0]) if len(self._labels) == 1 else None

    def among(self, most: int) -> list[float]:
        """Return all labels if there are at most so many, else none."""
        return self._labels.tolist() if len(self._labels) <= most else []

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return the labels and weights for a checkpoint."""
        return {"run_labels": self._labels, "run_label_weights": self._weights}

    def restore(self, arrays: dict[str, NDArray[np.float64]], rows: int) -> None:
        self._rows = rows
        self._labels, self._weights = arrays["run_labels"], arrays["run_label_weights"]

    def best_constant(self, loss: Loss) -> tuple[float, float]:
        """Return the constant and its average loss, by bisection on the slope of the total loss."""
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

    def best_class(self, loss: Loss, classes: int) -> tuple[int, float]:
        """Return the most frequent class, where labels are their numbers, and the mean loss of the best constants."""
        low, high = class_labels(loss)
        shares = self.class_shares(classes)
        rest = shares.sum() - shares
        mean = 0.0
        for own, others in zip(shares.tolist(), rest.tolist(), strict=True):
            one_class = LabelWeights()
            one_class.add(np.array([low, high]), np.array([others, own]))
            mean += one_class.best_constant(loss)[1] / classes
        return int(shares.argmax()), mean

    def class_shares(self, classes: int) -> NDArray[np.float64]:
        """Return the weight of each class, where labels are their numbers."""
        shares = np.zeros(classes)
        shares[self._labels.astype(np.int64)] = self._weights
        return shares

    def _bracket(self, loss: Loss) -> tuple[float, float]:
        """Return an interval with the minimum in it, or a wide one if there is none, as for one class alone."""
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
        labels, out = np.ascontiguousarray(self._labels), np.empty(len(self._labels))
        with np.errstate(all="ignore"):
            rows.fill_pairs(methods.pointer(loss, function), np.full(len(out), constant), labels, out)
            return float(out @ self._weights / self._weights.sum())


def _halved(
    labels: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Merge each two neighbours into their mean; an odd one at the end stays."""
    even = len(labels) // 2 * 2
    pairs, shares = labels[:even].reshape(-1, 2), weights[:even].reshape(-1, 2)
    totals = shares.sum(axis=1)
    means = (pairs * shares).sum(axis=1) / totals
    return np.concatenate([means, labels[even:]]), np.concatenate([totals, weights[even:]])
