"""Rows become curves, and those the fraction of labels that each approach needs for a given error."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from paper import printed
from paper.grids import FloatArray
from paper.studies.active.trials import ERROR_AT, PASSIVE, TRIALS
from paper.study import Row, Tables

Way = tuple[str, str, str]
"""Link, constants, update."""

NEVER = float("inf")


@dataclass(frozen=True)
class Points:
    """Fractions of labels, and the errors they led to."""

    fractions: FloatArray
    errors: FloatArray

    def corners(self) -> FloatArray:
        """The corners of the lower convex hull: fraction and error, from the smallest fraction to the least error.

        That is what one could have reached by choosing settings in hindsight, as the paper draws it.
        """
        order = np.lexsort((self.errors, self.fractions))
        corners: list[tuple[float, float]] = []
        for x, y in zip(self.fractions[order].tolist(), self.errors[order].tolist(), strict=True):
            while len(corners) >= 2 and _turns_up(corners[-2], corners[-1], (x, y)):
                corners.pop()
            if not corners or y < corners[-1][1]:
                corners.append((x, y))
        return np.array(corners)

    def needed(self, error: float) -> float:
        """The smallest fraction with which a setting reached the error."""
        enough = self.fractions[self.errors <= error]
        return float(enough.min()) if len(enough) else NEVER


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or above the straight line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


@dataclass(frozen=True)
class Runs:
    """Passive learners: their errors after each fraction of the labels, a row each."""

    fractions: FloatArray
    errors: FloatArray

    @property
    def least(self) -> float:
        """The least error with all labels."""
        return float(self.errors[:, -1].min())

    def typical(self, error: float) -> int:
        """The run that needs the median of labels, of those that end at this error or below.

        The paper draws "one typical good run" without saying which; this is our reading.
        """
        good = np.flatnonzero(self.errors[:, -1] <= error)
        order = good[np.argsort([self._crossing(self.errors[run], error) for run in good], kind="stable")]
        return int(order[(len(order) - 1) // 2])

    def needed(self, error: float, *, hindsight: bool) -> float:
        """The fraction that the typical run needs, or the best run at each fraction."""
        curve = self.errors.min(axis=0) if hindsight else self.errors[self.typical(error)]
        return self._crossing(curve, error)

    def _crossing(self, curve: FloatArray, error: float) -> float:
        """The fraction at which errors first fall to this one, interpolated between two evaluations."""
        first = int(np.argmax(curve <= error))
        if first == 0:
            return float(self.fractions[0])
        ends = slice(first - 1, first + 1)
        return float(np.interp(-error, -curve[ends], self.fractions[ends]))


@dataclass(frozen=True)
class Shuffle:
    """One shuffle of one data set."""

    place: str
    passive: Mapping[str, Runs]
    """The runs of each link."""
    active: Mapping[Way, Points]

    def stated(self, link: str) -> float:
        """An error as far from the least one as the paper's stated accuracy is."""
        return printed.stated_ratio(self.place) * self.passive[link].least

    def saving(self, way: Way, *, hindsight: bool = False) -> float:
        """Table 2: labels of passive learning over those of active learning; 0 if it never gets there."""
        error = self.stated(way[0])
        return self.passive[way[0]].needed(error, hindsight=hindsight) / self.active[way].needed(error)


@dataclass(frozen=True)
class Place:
    """All shuffles of one data set of the paper."""

    name: str
    shuffles: Sequence[Shuffle]

    def saving(self, way: Way, *, hindsight: bool = False) -> float:
        """The median of the shuffles."""
        return median(self.savings(way, hindsight=hindsight))

    def savings(self, way: Way, *, hindsight: bool = False) -> list[float]:
        return [each.saving(way, hindsight=hindsight) for each in self.shuffles]

    def stated(self, link: str) -> float:
        return float(np.mean([each.stated(link) for each in self.shuffles]))


Places = Mapping[str, Place]


def places(tables: Tables) -> dict[str, Place]:
    """The places in the paper, in the order of its tables."""
    passive = _group_rows(tables[PASSIVE], "place", "shuffle", "link")
    active = _group_rows(tables[TRIALS], "place", "shuffle", "link", "constants", "update")
    names = {str(row["place"]): str(row["data"]) for row in tables[PASSIVE]}
    shuffles: dict[tuple[object, object], dict[str, Runs]] = defaultdict(dict)
    for (place, shuffle, link), rows in passive.items():
        shuffles[place, shuffle][str(link)] = _runs(rows)
    found: dict[str, list[Shuffle]] = defaultdict(list)
    for (place, shuffle), runs in shuffles.items():
        ways = {
            (str(key[2]), str(key[3]), str(key[4])): _points(rows)
            for key, rows in active.items()
            if key[:2] == (place, shuffle)
        }
        found[str(place)].append(Shuffle(str(place), runs, ways))
    return {place: Place(names[place], found[place]) for place in printed.PLACES if place in found}


def _group_rows(rows: Iterable[Row], *names: str) -> dict[tuple[object, ...], list[Row]]:
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def _points(rows: Sequence[Row]) -> Points:
    """Askers that diverged are left out: they ask no more, and that is no saving."""
    sound = [row for row in rows if not row["diverged"]]
    return Points(*(np.array([float(row[name]) for row in sound]) for name in ("fraction", "error")))


def _runs(rows: Sequence[Row]) -> Runs:
    sound = [row for row in rows if not row["diverged"]]
    columns = [name for name in rows[0] if name.startswith(ERROR_AT)]
    return Runs(
        np.array([float(name.removeprefix(ERROR_AT)) for name in columns]),
        np.array([[float(row[name]) for name in columns] for row in sound]),
    )
