"""Sets of labels and predictions, as data: error messages print them and tests draw from them."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """The open interval from low to high."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low < value < self.high

    def __str__(self) -> str:
        if math.isinf(self.low) and math.isinf(self.high):
            return "any finite number"
        return f"a number between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class OneOf:
    """A few single values."""

    values: tuple[float, ...]

    def __contains__(self, value: float) -> bool:
        return value in self.values

    def __str__(self) -> str:
        return " or ".join(f"{value:g}" for value in self.values)


REAL_LINE = Interval(-math.inf, math.inf)
UNIT_INTERVAL = Interval(0.0, 1.0)
PLUS_MINUS_ONE = OneOf((-1.0, 1.0))
ZERO_ONE = OneOf((0.0, 1.0))
