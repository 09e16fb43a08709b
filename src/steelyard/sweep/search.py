"""`Search`: learn every point of a grid, round by round, measure it, and be able to stop in between.

>>> import numpy as np
>>> from steelyard.examples import examples
>>> from steelyard.model import Settings
>>> from steelyard.sweep import grid
>>> from steelyard.sweep.rows import Table
>>> from steelyard.sweep.search import Search
>>> rows = Table(examples(np.eye(4)[[0, 1, 2, 3] * 5], labels=[0.0, 1.0, 2.0, 3.0] * 5), holdout=4)
>>> points = grid.expand(Settings(scaling="plain"), {"learning_rate": [0.1, 1.0]}).points
>>> results = Search(points, rows, features=4).run()
>>> results.best_index, results.columns["diverged"].tolist()
(1, [False, False])
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.model_set import Numbers, usable_threads
from steelyard.engine.models import Models, models
from steelyard.examples import Examples, allowed
from steelyard.losses import Loss
from steelyard.model import Settings
from steelyard.sweep import plan
from steelyard.sweep.grid import Point
from steelyard.sweep.results import Results
from steelyard.sweep.rows import Rows
from steelyard.sweep.state import StateFile

EVERY = 30.0  # seconds between two states that are kept


@dataclass(frozen=True)
class Progress:
    """How far a search is: for whoever shows it."""

    number: int
    """Of the round, from 0."""
    rounds: int
    share: float
    """Of everything, from 0 to 1."""
    learned: int
    """Rows times the models that learned them, in this run."""


class Search:
    """Points, and the rows from which each of them is to learn.

    `classes` is 0 for labels that are numbers; else labels are the numbers of classes, from 0, and errors are
    counted too. `state` names a file from which the search goes on if it exists; `identity` is what should be
    the same then beside the points, such as the names of files.
    """

    def __init__(
        self,
        points: Sequence[Point],
        rows: Rows,
        *,
        features: int,
        classes: int = 0,
        passes: int = 1,
        memory: int | None = None,
        threads: int | None = None,
        select: str | None = None,
        state: str | Path | None = None,
        identity: dict[str, Any] | None = None,
        every: float = EVERY,
    ) -> None:
        self.points = list(points)
        self.rows = rows
        self.features = features
        self.classes = classes
        self.passes = passes
        self._threads = usable_threads(threads)
        self._settings = [_comparable(point.settings, classes) for point in points]
        self.plan = plan.plan(self._settings, features, classes, plan.memory_of(memory))
        self.results = Results.empty(self.points, classes=classes, held_out=rows.holds_out, select=select)
        self._losses = list(dict.fromkeys(each.loss for each in self._settings))
        self.learned = 0
        """Rows times the models that learned them, in this run."""
        about = {
            "settings": hashlib.sha256(repr(self._settings).encode()).hexdigest(),
            "number of features": features,
            "number of classes": classes,
            "number of passes": passes,
            **(identity or {}),
        }
        self._state = None if state is None else StateFile(Path(state), about, every)

    def run(self, watch: Callable[[Progress], None] | None = None) -> Results:
        """All rounds that are left. `watch` is called after every piece.

        If `watch` raises, KeyboardInterrupt say, the state is kept first: it comes at a good moment.
        """
        begun = self._resumed()
        rounds = self.plan.rounds if begun is None else begun.rounds
        for number in range(0 if begun is None else begun.number, len(rounds)):
            resumed = begun if begun is not None and begun.number == number else None
            leg = resumed or Leg(rounds, number, self._models(rounds[number], self._threads), self._threads)
            self._learn(leg, watch)
            self._count(leg)
            if self._state is not None:
                self._state.expire()
        if self._state is not None:
            self._state.remove()
        return self.results

    def _models(self, numbers: list[int], threads: int) -> Models:
        return models([self._settings[i] for i in numbers], self.classes, self.features, threads)

    def _learn(self, leg: "Leg", watch: Callable[[Progress], None] | None) -> None:
        while leg.done < self.passes:
            turn = 0
            for examples, order in self.rows.learned(leg.done):
                skipped = min(max(leg.turns - turn, 0), len(order))
                turn += len(order)
                if skipped == len(order):
                    continue
                order = order[skipped:]
                self._check(examples, order)
                leg.models.learn(examples, order)
                leg.turns = turn
                self.learned += len(order) * len(leg.numbers)
                self._pause(leg, watch)
            leg.done, leg.turns = leg.done + 1, 0
            if leg.done == 1:  # later passes have seen their labels
                leg.progressive = np.stack((leg.models.progressive_loss, leg.models.progressive_error))

    def _pause(self, leg: "Leg", watch: Callable[[Progress], None] | None) -> None:
        share = (leg.number + (leg.done + self.rows.share) / self.passes) / len(leg.rounds)
        try:
            if watch is not None:
                watch(Progress(leg.number, len(leg.rounds), share, self.learned))
        except BaseException:
            self._keep(leg)
            raise
        if self._state is not None and self._state.due:
            self._keep(leg)

    def _count(self, leg: "Leg") -> None:
        """What has come of a round."""
        found = {"diverged": leg.models.diverged, "progressive_loss": leg.progressive[0]}
        if self.classes:
            found["progressive_error"] = leg.progressive[1]
        if self.rows.holds_out:
            found |= self._measured(leg.models)
        self.results.fill(leg.numbers, found)

    def _measured(self, models: Models) -> dict[str, NDArray[Any]]:
        lost, wrong, weight = np.zeros(1), np.zeros(1), 0.0
        for examples, order in self.rows.held():
            order = order[examples.sample_weight[order] > 0.0]  # others may have no label
            self._check(examples, order)
            loss, error = models.measure(examples, order)
            lost, wrong = lost + loss, wrong + error
            weight += float(examples.sample_weight[order].sum())
        weight = weight or np.nan
        found: dict[str, NDArray[Any]] = {"held_out_loss": np.where(models.diverged, np.nan, lost / weight)}
        return found | ({"held_out_accuracy": 1.0 - wrong / weight} if self.classes else {})

    def _check(self, examples: Examples, order: Numbers) -> None:
        """Classes get the labels that each loss has for them."""
        if not self.classes:
            check_numbers(examples, order, self._losses)

    def _keep(self, leg: "Leg") -> None:
        if self._state is None:
            return
        arrays = {f"result.{name}": column for name, column in self.results.found.items()}
        arrays |= {f"model.{name}": array for name, array in leg.models.arrays().items()}
        self._state.save(
            {
                "rounds": leg.rounds,
                "threads": leg.threads,
                "number": leg.number,
                "done": leg.done,
                "turns": leg.turns,
            },
            arrays | {"progressive": leg.progressive},
        )

    def _resumed(self) -> "Leg | None":
        stored = None if self._state is None else self._state.load()
        if stored is None:
            return None
        position, arrays = stored
        # blocks are made for a number of threads: their arrays fit no others
        begun = self._models(position["rounds"][position["number"]], position["threads"])
        for name, column in self.results.found.items():
            column[...] = arrays[f"result.{name}"]
        for name, array in begun.arrays().items():
            array[...] = arrays[f"model.{name}"]
        leg = Leg(position["rounds"], position["number"], begun, position["threads"])
        leg.done, leg.turns, leg.progressive = position["done"], position["turns"], arrays["progressive"]
        return leg


class Leg:
    """A round under way: its models, and how far they are."""

    def __init__(self, rounds: list[list[int]], number: int, models: Models, threads: int) -> None:
        self.rounds = rounds
        self.number = number
        self.numbers = rounds[number]
        self.models = models
        self.threads = threads
        self.done = 0  # passes
        self.turns = 0  # of the pass under way
        self.progressive = np.full((2, len(self.numbers)), np.nan)


def check_numbers(examples: Examples, order: Numbers, losses: Iterable[Loss]) -> None:
    """Numbers must be labels for every loss."""
    rows = order[examples.sample_weight[order] > 0.0]
    for loss in losses:
        bad = np.flatnonzero(~allowed(examples.labels[rows], loss))
        if len(bad):
            label = examples.labels[rows[bad[0]]]
            wanted = f"{type(loss).__name__} loss takes {loss.labels_in_words()}"
            raise ValueError(f"a row has the label {label}: {wanted}")


def _comparable(settings: Settings, classes: int) -> Settings:
    """Many classes have no one label whose unit could be followed."""
    return replace(settings, follow_labels=False) if classes > 2 else settings
