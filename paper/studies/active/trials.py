"""The steps: the paper's active learners, and passive ones with the same rates.

Everybody looks at the same rows in the same order and is tested on the same others. Labels are −1 and 1,
rates divided by x·x, there is no bias. The paper's link is read in two ways, see `LINKS`.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paper import data, feature_values
from paper.study import Row, Scope, Step
from paper.sweeping import UPDATES
from steelyard import Settings, losses
from steelyard.active.simulation import Asker, Simulation
from steelyard.examples import examples

TRIALS, PASSIVE = "active_trials", "active_passive"
"""The tables."""

SCHEDULES = list(product((2.0**i for i in range(11)), (10.0**i for i in range(9)), (0.5, 1.0)))
"""Rate, initial t and power of t: the paper's 198 schedules."""
C0 = [10.0**power for power in range(-8, 2)]
CONSTANTS = ("theory", "practice")
LINKS = {"clipped": "modified_huber", "plain": "squared"}
"""Squared loss under σ(p) = max(0, min(1, p)): with σ(p) − y as the slope, and without any link.

In coordinates of ±1 the first is squared loss between the labels, linear on the wrong side of them, and flat
beyond the right one: `modified_huber`, with the same rates.
"""
ERROR_AT = "error_at_"
LOOKS = np.geomspace(0.005, 1.0, 37)
"""Passive learners are evaluated after these fractions of the rows."""


@dataclass(frozen=True)
class TrialStream:
    """A shuffled data set: the first rows are shown, the last fifth, or some of it, is for testing."""

    place: str
    shuffle: int
    shown: int
    tested: int

    @property
    def inputs(self) -> dict[str, Any]:
        return {
            "data": data.digest(self.place),
            "shuffle": self.shuffle,
            "shown": self.shown,
            "tested": self.tested,
        }

    @property
    def columns(self) -> Row:
        return {"place": self.place, "data": data.name(self.place), "shuffle": self.shuffle}

    def load(self) -> tuple["TrialRows", "TrialRows"]:
        """The rows to show, and the rows to test."""
        problem, matrix = data.load(self.place), feature_values.matrix(self.place)
        learn, test = problem.split(self.shuffle)
        shown, tested = learn[: self.shown], test[: self.tested]
        return (
            TrialRows(matrix[shown], problem.labels[shown]),
            TrialRows(matrix[tested], problem.labels[tested]),
        )


class TrialRows(NamedTuple):
    """Rows with their labels."""

    matrix: sparse.csr_matrix
    labels: NDArray[np.float64]


def streams(place: str, scope: Scope) -> list[TrialStream]:
    shuffles, shown, tested = scope.choose((3, 20_000, 20_000), (1, 4_000, 4_000))
    return [TrialStream(place, shuffle, shown, tested) for shuffle in range(shuffles)]


def steps(scope: Scope) -> list[Step]:
    """Ordered by data set, so that only one is in use at a time."""
    found = []
    for place in data.PLACES:
        several = streams(place, scope)
        found += [
            _active(stream, link, constants, update)
            for link, constants, update, stream in product(LINKS, CONSTANTS, UPDATES, several)
        ]
        found += [_passive(stream, link, update) for link, update, stream in product(LINKS, UPDATES, several)]
    return found


def _active(stream: TrialStream, link: str, constants: str, update: str) -> Step:
    key = f"{data.name(stream.place)} {link} {constants} {update} {stream.shuffle}"
    return Step(TRIALS, key, stream.inputs, lambda: active_rows(stream, link, constants, update))


def _passive(stream: TrialStream, link: str, update: str) -> Step:
    key = f"{data.name(stream.place)} {link} {update} {stream.shuffle}"
    return Step(PASSIVE, key, stream.inputs, lambda: passive_rows(stream, link, update))


def active_rows(stream: TrialStream, link: str, constants: str, update: str) -> list[Row]:
    """Learn all 1,980 settings of an update, in one pass."""
    shown, tested = (examples(*rows) for rows in stream.load())
    grid = list(product(C0, SCHEDULES))
    ways = [Asker(settings(link, update, schedule), "iwal", c0) for c0, schedule in grid]
    simulation = Simulation(ways, shown.features, constants=constants, seed=stream.shuffle)
    simulation.learn(shown)
    fractions, errors = simulation.asked / len(shown), simulation.errors(tested)
    return [
        {
            **stream.columns,
            "link": link,
            "constants": constants,
            "update": update,
            "c0": c0,
            **_schedule(schedule),
            "fraction": short(fraction),
            "error": short(error),
            "diverged": bool(diverged),
        }
        for (c0, schedule), fraction, error, diverged in zip(
            grid, fractions, errors, simulation.diverged, strict=True
        )
    ]


def passive_rows(stream: TrialStream, link: str, update: str) -> list[Row]:
    """Learn every label: a row for each schedule, with its error after each of the fractions."""
    shown, tested = (examples(*rows) for rows in stream.load())
    ways = [Asker(settings(link, update, schedule), "random", 1.0) for schedule in SCHEDULES]
    simulation = Simulation(ways, shown.features, seed=stream.shuffle)
    found: list[Row] = [
        {**stream.columns, "link": link, "update": update, **_schedule(schedule)} for schedule in SCHEDULES
    ]
    start = 0
    for end in np.unique(np.round(LOOKS * len(shown)).astype(np.int64)):
        simulation.learn(shown.take(np.arange(start, end)))
        for row, error in zip(found, simulation.errors(tested), strict=True):
            row[f"{ERROR_AT}{end / len(shown):.6f}"] = short(error)
        start = int(end)
    return [
        {**row, "diverged": bool(diverged)} for row, diverged in zip(found, simulation.diverged, strict=True)
    ]


def settings(link: str, update: str, schedule: tuple[float, float, float]) -> Settings:
    return Settings(losses.by_name(LINKS[link]), update, "row_norm", *schedule, bias=False)


def _schedule(schedule: tuple[float, float, float]) -> Row:
    rate, initial_t, power_t = schedule
    return {"rate": rate, "initial_t": initial_t, "power_t": power_t}


def short(number: Any) -> float:
    """Six decimals distinguish any two counts of our rows."""
    return round(float(number), 6)
