"""The slow twins of `learn.units`, `label_units` and `rare_classes`: one value at a time."""

import math
from itertools import pairwise

from tests.support.naive_clock import octave


class NaiveUnits:
    """Units and origins of features, found from the rows as they come."""

    def __init__(self, bias: bool) -> None:
        self.unit: dict[int, float] = {}
        self.counted: dict[int, bool] = {}
        self.origin: dict[int, float] = {}
        self.values: dict[int, list[float]] | None = None if bias else {}
        """Of those that were in every row so far: all values, in order. None before the first row."""

    def centre(self, x: dict[int, float]) -> list[tuple[int, float, float, float]]:
        """Origins for columns that are ready: the feature, the old unit, the new one, and the origin."""
        present = {i: value for i, value in x.items() if value != 0.0}
        if self.values is None:
            self.values = {i: [value] for i, value in present.items() if abs(value) > 1e-30}
            return []
        self.values = {i: [*seen, present[i]] for i, seen in self.values.items() if i in present}
        ready = []
        for i, seen in list(self.values.items()):
            if sum(a != b for a, b in pairwise(seen)) >= 16:
                old, origin = self.unit.get(i, 0.0), seen[0]
                self.unit[i] = max(abs(value - origin) for value in seen)
                self.counted[i] = False
                self.origin[i] = origin
                ready.append((i, old, self.unit[i], origin))
                del self.values[i]
        return ready

    def distance(self, i: int, value: float) -> float:
        return value - self.origin.get(i, 0.0) if value != 0.0 else 0.0

    def standard(self, i: int, value: float) -> float:
        unit = self.unit.get(i, 0.0)
        return self.distance(i, value) / unit if unit > 1e-30 else 0.0

    def change(self, i: int, value: float, length_1: bool) -> tuple[float, float]:
        """Another unit if the value does not fit: the factors of the coefficient and of its squares."""
        size, unit = abs(self.distance(i, value)), self.unit.get(i, 0.0)
        if size == 0.0:
            return 1.0, 1.0
        if unit <= 1e-30:
            shared = length_1 and 1e-30 < size < 1.0
            self.unit[i], self.counted[i] = (1.0, False) if shared else (size, True)
            return 1.0, 1.0
        if not self.counted[i]:
            self.unit[i] = max(size, unit)
            return 1.0, (unit / self.unit[i]) ** 2
        for divisor in range(1, 17):
            times = size / unit * divisor
            if times <= 16.0 * (1.0 + 1e-5) and abs(times - round(times)) <= 1e-5 * times:
                self.unit[i] = unit / divisor
                return 1.0 / divisor, float(divisor)
        self.unit[i], self.counted[i] = max(size, unit), False
        return self.unit[i] / unit * min(1.0, 16.0 * unit / size), (unit / self.unit[i]) ** 2


class NaiveLabels:
    """The unit of labels: the spread of those seen, and of one unit of weight of the row that asks."""

    def __init__(self, bias: bool) -> None:
        self.bias = bias
        self.seen: list[tuple[float, float]] = []
        self.unit, self.set_at = 0.0, 0

    def look(self, epoch: int, y: float, h: float) -> None:
        """As long as there is no unit, and where the epoch reaches a power of two."""
        if self.unit > 0.0 and octave(epoch) <= octave(self.set_at):
            return
        labels = [*self.seen, (y, h)]
        origin = labels[0][0] if self.bias else 0.0
        total = sum(weight for _, weight in labels)
        mean = sum(weight * (label - origin) for label, weight in labels) / total if self.bias else 0.0
        squares = sum(weight * (label - origin - mean) ** 2 for label, weight in labels)
        self.unit, self.set_at = math.sqrt(squares / total), epoch


class NaiveClasses:
    """How much longer steps are where one of two classes is rare."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        self.weight = self.second = 0.0
        self.factor = 1.0

    def count(self, y: float, h: float) -> None:
        self.weight += h
        self.second += h * (y - self.low) / (self.high - self.low)

    def look(self) -> None:
        share = (self.second + 2.0) / (self.weight + 4.0)
        self.factor = 1.0 / math.sqrt(0.04 + 0.96 * 4.0 * share * (1.0 - share))


def mean_square_of(z: float) -> float:
    """n counts are as n times one."""
    return min(z * z, abs(z))
