"""`LabelRule`: which label of a file is the negative class and which the positive one.

Numbers that a loss takes need no rule. Two classes called anything else do: `0,1` for a loss of −1
and 1, `ham,spam`, or `*,spam` where whatever is not spam is negative.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ANYTHING = "*"


@dataclass(frozen=True)
class LabelRule:
    """The two names as they stand in the file, and the labels that the loss calls them by."""

    negative: str
    positive: str
    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if self.negative == self.positive or self.positive == ANYTHING:
            raise ValueError(
                f"labels {self.negative},{self.positive}: give the negative and the positive label, "
                "the negative one may be * for anything else"
            )

    def numbers(self, labels: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Numeric labels as the loss takes them, and which of them are neither. NaN, no label, stays."""
        positive = labels == _number(self.positive)
        negative = ~positive if self.negative == ANYTHING else labels == _number(self.negative)
        known = positive | negative | np.isnan(labels)
        found = np.where(positive, self.high, self.low)
        return np.where(np.isnan(labels) | ~known, np.nan, found), ~known


def rule(text: str, low: float, high: float) -> LabelRule:
    """From `negative,positive`."""
    names = text.split(",")
    if len(names) != 2:
        raise ValueError(f"labels {text!r}: give two, as negative,positive (for example 0,1 or *,spam)")
    return LabelRule(names[0].strip(), names[1].strip(), low, high)


def plain(label: float) -> str:
    """A number as people write it, with all the digits it takes: 1, not 1.0."""
    return f"{label:g}" if float(f"{label:g}") == label else repr(label).removesuffix(".0")


def is_number(name: str) -> bool:
    return not np.isnan(_number(name))


def _number(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return float("nan")
