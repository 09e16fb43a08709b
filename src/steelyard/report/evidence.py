"""`Evidence`: predictions and labels of the rows that a report is about, and the figures made of them."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import Examples

Column = NDArray[np.float64]


@dataclass
class Mistake:
    """A row about which the model is far off: where, what, and why."""

    size: float
    number: int
    tag: str
    actual: str
    cells: list[tuple[str, str]]
    row: tuple[Examples, Any]
    """The row itself, and its prediction."""
    about: dict[str, Any] = field(default_factory=dict)
    """As `steelyard explain --json` has it, of the difference to the average row."""


@dataclass
class Evidence:
    """All arrays have an entry for each row with a label and a weight.

    `scores` order the rows, and are the probability of the positive class where it is known, at first that of
    the second; of more classes there are none. Of numbers, `scores` are the predictions and `actual` the
    labels.
    """

    scores: Column
    actual: Column
    """Of classes, whether it is the positive one; of more, whether the prediction was right."""
    weights: Column
    right: NDArray[np.bool_]
    worst: list[Mistake]

    def of_other_class(self, *, probable: bool) -> "Evidence":
        """The same with the other one of two classes as the positive one."""
        scores = 1.0 - self.scores if probable else -self.scores
        return replace(self, scores=scores, actual=1.0 - self.actual)

    def curves(self, most: int = 200) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        """(ROC, precision over recall), each of at most so many points; ties are one step."""
        order = np.argsort(-self.scores, kind="stable")
        scores, positive = self.scores[order], self.actual[order]
        weights = self.weights[order]
        found, wrong = np.cumsum(weights * positive), np.cumsum(weights * (1.0 - positive))
        ends = np.flatnonzero(np.append(np.diff(scores) != 0.0, True))
        found, wrong = found[ends], wrong[ends]
        keep = np.unique(np.linspace(0, len(ends) - 1, most).astype(np.int64))
        recall, false = found / found[-1], wrong / wrong[-1]
        precision = found / (found + wrong)
        roc = [(0.0, 0.0), *zip(false[keep].tolist(), recall[keep].tolist(), strict=True)]
        return roc, list(zip(recall[keep].tolist(), precision[keep].tolist(), strict=True))

    @property
    def has_both(self) -> bool:
        """Whether there are rows of both classes."""
        return 0.0 < float(self.actual.mean()) < 1.0

    def weighted(self) -> dict[str, float] | None:
        """What weights did, if they differ: shares that are right, by weight and by row."""
        weights = self.weights
        if not len(weights) or weights.max() <= weights.min():
            return None
        heavy = np.argsort(-weights, kind="stable")[: max(1, len(weights) // 10)]
        return {
            "by_weight": float(self.right @ weights / weights.sum()),
            "by_row": float(self.right.mean()),
            "heavy": float(self.right[heavy].mean()),
            "heavy_share": float(weights[heavy].sum() / weights.sum()),
            "effective": float(weights.sum() ** 2 / (weights @ weights)),
            "smallest": float(weights.min()),
            "largest": float(weights.max()),
        }


def short(values: NDArray[Any]) -> list[float]:
    """Nine digits, to keep the page small."""
    return [float(f"{value:.9g}") for value in values.tolist()]
