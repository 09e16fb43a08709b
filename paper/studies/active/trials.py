"""The steps: the paper's active learners, passive ones with the same rates, and a budget without hindsight.

Everybody looks at the same rows in the same order and is tested on the same others. Squared loss on labels −1
and 1, rates divided by x·x, no bias; with a budget, and for random labels beside it, the product's defaults.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paper import data
from paper.study import Row, Scope, Step
from steelyard import ActiveClassifier, Settings, losses
from steelyard.active.simulation import Asker, Simulation
from steelyard.examples import examples

TRIALS, PASSIVE, BUDGETS = "active_trials", "active_passive", "active_budgets"
"""The tables."""

SCHEDULES = list(product((2.0**i for i in range(11)), (10.0**i for i in range(9)), (0.5, 1.0)))
"""Rate, initial t and power of t: the paper's 198 schedules."""
C0 = [10.0**power for power in range(-8, 2)]
CONSTANTS = ("theory", "practice")
UPDATES = ("explicit", "implicit", "invariant")
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
"""The budgets, as shares of the rows."""
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
        return {"data": data.name(self.place), "shuffle": self.shuffle}

    def load(self) -> tuple["TrialRows", "TrialRows"]:
        """The rows to show, and the rows to test."""
        problem = data.load(self.place)
        learn, test = problem.split(self.shuffle)
        shown, tested = learn[: self.shown], test[: self.tested]
        return (
            TrialRows(problem.matrix[shown], problem.labels[shown]),
            TrialRows(problem.matrix[tested], problem.labels[tested]),
        )


class TrialRows(NamedTuple):
    """Rows with their labels."""

    matrix: sparse.csr_matrix
    labels: NDArray[np.float64]


def steps(scope: Scope) -> list[Step]:
    """Ordered by data set, so that only one is in use at a time."""
    shuffles, shown, tested = scope.choose((3, 20_000, 20_000), (1, 4_000, 4_000))
    found = []
    for place in data.PLACES:
        streams = [TrialStream(place, shuffle, shown, tested) for shuffle in range(shuffles)]
        found += [
            _active(stream, constants, update)
            for constants, update, stream in product(CONSTANTS, UPDATES, streams)
        ]
        found += [_passive(stream, update) for update, stream in product(UPDATES, streams)]
        found += [_budgets(stream) for stream in streams]
    return found


def _active(stream: TrialStream, constants: str, update: str) -> Step:
    key = f"{data.name(stream.place)} {constants} {update} {stream.shuffle}"
    return Step(TRIALS, key, stream.inputs, lambda: active_rows(stream, constants, update))


def _passive(stream: TrialStream, update: str) -> Step:
    key = f"{data.name(stream.place)} {update} {stream.shuffle}"
    return Step(PASSIVE, key, stream.inputs, lambda: passive_rows(stream, update))


def _budgets(stream: TrialStream) -> Step:
    key = f"{data.name(stream.place)} {stream.shuffle}"
    return Step(BUDGETS, key, stream.inputs, lambda: budget_rows(stream))


def active_rows(stream: TrialStream, constants: str, update: str) -> list[Row]:
    """All 1,980 settings of an update, in one pass."""
    shown, tested = (examples(*rows) for rows in stream.load())
    grid = list(product(C0, SCHEDULES))
    ways = [Asker(_settings(update, schedule), "iwal", c0) for c0, schedule in grid]
    simulation = Simulation(ways, shown.features, constants=constants, seed=stream.shuffle)
    simulation.learn(shown)
    fractions, errors = simulation.asked / len(shown), simulation.errors(tested)
    return [
        {
            **stream.columns,
            "constants": constants,
            "update": update,
            "c0": c0,
            **_schedule(schedule),
            "fraction": _short(fraction),
            "error": _short(error),
        }
        for (c0, schedule), fraction, error in zip(grid, fractions, errors, strict=True)
    ]


def passive_rows(stream: TrialStream, update: str) -> list[Row]:
    """Learn every label; report the best of the 198 schedules at every evaluation."""
    shown, tested = (examples(*rows) for rows in stream.load())
    ways = [Asker(_settings(update, schedule), "random", 1.0) for schedule in SCHEDULES]
    simulation = Simulation(ways, shown.features, seed=stream.shuffle)
    found: list[Row] = []
    start = 0
    for end in np.unique(np.round(LOOKS * len(shown)).astype(np.int64)):
        simulation.learn(shown.take(np.arange(start, end)))
        errors = simulation.errors(tested)
        best = int(np.argmin(errors))
        found.append(
            {
                **stream.columns,
                "update": update,
                **_schedule(SCHEDULES[best]),
                "fraction": _short(end / len(shown)),
                "error": _short(errors[best]),
            }
        )
        start = int(end)
    return found


def budget_rows(stream: TrialStream) -> list[Row]:
    """The result of a user without prior knowledge, and of random labels with the same learner."""
    shown, tested = stream.load()
    count = len(shown.labels)
    found: list[Row] = []
    for share in SHARES:
        budget = round(share * count)
        asking = ActiveClassifier(classes=[-1, 1], budget=budget, random_state=stream.shuffle)
        asking.replay(*shown)
        random = ActiveClassifier(classes=[-1, 1], rate=1.0, random_state=stream.shuffle)
        questions = random.ask(shown.matrix[:budget])  # all of them: the rows come shuffled
        random.answer([question.id for question in questions], shown.labels[:budget])
        for way, classifier in (("budget", asking), ("random", random)):
            wrong = classifier.predict(tested.matrix) != tested.labels
            found.append(
                {
                    **stream.columns,
                    "way": way,
                    "budget": budget,
                    "fraction": _short(classifier.n_answered_ / count),
                    "error": _short(np.mean(wrong)),
                }
            )
    return found


def _settings(update: str, schedule: tuple[float, float, float]) -> Settings:
    return Settings(losses.by_name("squared"), update, "row_norm", *schedule, bias=False)


def _schedule(schedule: tuple[float, float, float]) -> Row:
    rate, initial_t, power_t = schedule
    return {"rate": rate, "initial_t": initial_t, "power_t": power_t}


def _short(number: Any) -> float:
    """Six decimals distinguish any two counts of our rows."""
    return round(float(number), 6)
