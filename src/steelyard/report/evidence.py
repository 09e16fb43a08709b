"""`Evidence`: predictions and labels of the rows that a report is about, and the figures made of them."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats
from steelyard.examples import Examples

_MOST_POINTS = 200  # of a curve


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
    """As the JSON of `steelyard explain` has it, of the difference to the average row."""


@dataclass
class Evidence:
    """All arrays have an entry for each row with a label and a weight.

    `scores` order the rows, and are the probability of the positive class where it is known, at first that of
    the second; of more classes there are none. Of numbers, `scores` are the predictions and `actual` the
    labels.
    """

    scores: Floats
    actual: Floats
    """Of classes, whether it is the positive one; of more, whether the prediction was right."""
    weights: Floats
    right: NDArray[np.bool_]
    worst: list[Mistake]

    def of_other_class(self, *, probable: bool) -> "Evidence":
        """The same with the other one of two classes as the positive one."""
        scores = 1.0 - self.scores if probable else -self.scores
        return replace(self, scores=scores, actual=1.0 - self.actual)

    def curves(self) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        """(ROC, precision over recall), ties being one step.

        All points where a curve bends, or `_MOST_POINTS` of them: spaced evenly by recall, of ROC half by each rate.
        """
        order = np.argsort(-self.scores, kind="stable")
        scores, positive = self.scores[order], self.actual[order]
        weights = self.weights[order]
        found, wrong = np.cumsum(weights * positive), np.cumsum(weights * (1.0 - positive))
        ends = np.flatnonzero(np.append(np.diff(scores) != 0.0, True))
        ends = ends[_bends(found[ends])]
        recall, false = found[ends] / found[-1], wrong[ends] / wrong[-1]
        precision = found[ends] / (found[ends] + wrong[ends])
        by_recall = _spaced(recall)
        by_both = _spaced(recall, false)
        roc = [(0.0, 0.0), *zip(false[by_both].tolist(), recall[by_both].tolist(), strict=True)]
        return roc, list(zip(recall[by_recall].tolist(), precision[by_recall].tolist(), strict=True))

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


def _bends(found: Floats) -> NDArray[np.intp]:
    """Where what is found has grown, or is about to: in between, both curves are straight."""
    grows = np.diff(found, prepend=0.0) > 0.0
    return np.flatnonzero(grows | np.append(grows[1:], True))


def _spaced(*axes: Floats) -> NDArray[np.intp]:
    """All points of a curve if they are few; otherwise the first to reach each of evenly spaced levels.

    The levels of rates, which grow from 0 to 1, are shared by the axes.
    """
    if len(axes[0]) <= _MOST_POINTS:
        return np.arange(len(axes[0]))
    levels = np.linspace(0.0, 1.0, _MOST_POINTS // len(axes))[:-1]
    chosen = [np.searchsorted(axis, levels) for axis in axes]
    return np.unique(np.concatenate([*chosen, [len(axes[0]) - 1]]))


def short(values: NDArray[Any]) -> list[float]:
    """Nine digits, to keep the page small."""
    return [float(f"{value:.9g}") for value in values.tolist()]
