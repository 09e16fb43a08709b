"""From rows to curves, and to the fraction of labels that each approach needs for a given error."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median

import numpy as np
from numpy.typing import NDArray

from paper.studies.active.trials import BUDGETS, CONSTANTS, PASSIVE, TRIALS, UPDATES
from paper.study import Row, Tables
from steelyard.active import simulation

Column = NDArray[np.float64]

LEVELS = (1.3, 1.1)
"""Target errors, relative to the lowest error of passive learning."""
NEVER = float("inf")
BASELINE = "passive"


@dataclass(frozen=True)
class Points:
    """Fractions of labels, and the errors they led to."""

    fractions: Column
    errors: Column

    def hull(self, at: Column) -> Column:
        """The lower convex hull; NaN before its first corner, and level after its last."""
        corners = simulation.hull(self.fractions, self.errors)
        return np.interp(at, corners[:, 0], corners[:, 1], left=np.nan)


@dataclass(frozen=True)
class Shuffle:
    """One shuffle of one data set."""

    passive: Points
    """The best of all rates and updates at every evaluation."""
    active: dict[tuple[str, str], Points]
    """All settings, by constants and update."""

    def stated(self, level: float) -> float:
        return level * float(self.passive.errors.min())

    def needed(self, constants: str, update: str, level: float) -> float:
        """The smallest fraction of labels with which a setting reached the target error."""
        target = self.stated(level)
        if update == BASELINE:
            return _crossing(self.passive, target)
        points = self.active[constants, update]
        fraction = simulation.fraction_needed(points.fractions, points.errors, target)
        return NEVER if np.isnan(fraction) else fraction


@dataclass(frozen=True)
class Needed:
    """The fractions of all shuffles; NEVER is larger than any other."""

    fractions: Sequence[float]

    @property
    def middle(self) -> float:
        return median(self.fractions)

    def times(self, other: "Needed") -> float:
        """How many times as many labels this one needs; a lower bound if it never reaches the target."""
        return min(self.middle, 1.0) / other.middle


def _crossing(points: Points, target: float) -> float:
    """Where the errors first fall to the target, interpolated between two evaluations."""
    first = int(np.argmax(points.errors <= target))
    if first == 0:
        return float(points.fractions[0])
    ends = slice(first - 1, first + 1)
    return float(np.interp(-target, -points.errors[ends], points.fractions[ends]))


def shuffles(tables: Tables) -> dict[str, list[Shuffle]]:
    """The shuffles of each data set."""
    passive = _group_rows(tables[PASSIVE], "data", "shuffle")
    active = _group_rows(tables[TRIALS], "data", "shuffle", "constants", "update")
    found: dict[str, list[Shuffle]] = {}
    for (name, shuffle), rows in passive.items():
        ways = {
            (constants, update): _points(active[name, shuffle, constants, update])
            for constants, update in product(CONSTANTS, UPDATES)
        }
        found.setdefault(str(name), []).append(Shuffle(_best(_points(rows)), ways))
    return found


def needed(several: Sequence[Shuffle], constants: str, update: str, level: float) -> Needed:
    return Needed([each.needed(constants, update, level) for each in several])


def budgets(tables: Tables, name: str, way: str) -> list[tuple[float, float]]:
    """Fraction and error of each budget, averaged over shuffles."""
    rows = [row for row in tables[BUDGETS] if row["data"] == name and row["way"] == way]
    return [
        (float(np.mean(points.fractions)), float(np.mean(points.errors)))
        for points in map(_points, _group_rows(rows, "budget").values())
    ]


def mean_hull(several: Sequence[Points], at: Column) -> Column:
    """The mean of the hulls, which is convex again; NaN before the first corner of any."""
    mean: Column = np.mean([points.hull(at) for points in several], axis=0)
    return mean


def _group_rows(rows: Iterable[Row], *names: str) -> dict[tuple[object, ...], list[Row]]:
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def _points(rows: Sequence[Row]) -> Points:
    return Points(*(np.array([float(row[name]) for row in rows]) for name in ("fraction", "error")))


def _best(points: Points) -> Points:
    """The lowest error at every fraction, in order."""
    fractions = np.unique(points.fractions)
    return Points(fractions, np.array([points.errors[points.fractions == x].min() for x in fractions]))
