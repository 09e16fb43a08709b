"""`Search`: learn every point of a grid, round by round, measure it, and be able to stop in between.

>>> import numpy as np
>>> from steelyard.examples import examples
>>> from steelyard.model import Settings
>>> from steelyard.sweep import grid
>>> from steelyard.engine.row_sources import RowsInMemory
>>> from steelyard.sweep.search import Search
>>> rows = RowsInMemory(examples(np.eye(4)[[0, 1, 2, 3] * 5], labels=[0.0, 1.0, 2.0, 3.0] * 5), holdout=4)
>>> points = grid.expand(Settings(scaling="plain"), {"learning_rate": [0.1, 1.0]}).points
>>> results = Search(points, rows, features=4).run()
>>> results.best_index, results.columns["diverged"].tolist()
(1, [False, False])
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Integers
from steelyard.engine import old_lanes
from steelyard.engine.many_models import ManyModels
from steelyard.engine.model_set import usable_threads
from steelyard.engine.one_vs_rest import OneVsRest
from steelyard.engine.passes import LearnedPiece, PassLoop
from steelyard.engine.row_sources import Rows
from steelyard.engine.selection import Selection
from steelyard.examples import Examples, join
from steelyard.model import Settings
from steelyard.sweep import plan
from steelyard.sweep.checked_rows import CheckedRows
from steelyard.sweep.grid import Point
from steelyard.sweep.results import Results
from steelyard.sweep.state_file import StateFile

EVERY = 30.0  # seconds between two states that are kept
_MEASURED = 4096  # rows at a time


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is, for whoever shows it."""

    number: int
    """The number of the round, from 0."""
    rounds: int
    share: float
    """The share of everything that is done, from 0 to 1."""
    learned: int
    """Rows times the models that learned them, in this run."""


class Search:
    """Points, and the rows from which each of them is to learn.

    `classes` is 0 for labels that are numbers; else labels are the numbers of classes, from 0, and errors are
    counted too. `state` names a file from which the search goes on if it exists; `identity` is what should be
    the same then beside the points, such as the names of files. `own_units`: see `Engine.fix_units`.
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
        own_units: Integers | None = None,
    ) -> None:
        self.points, self.features, self.classes, self.passes = list(points), features, classes, passes
        self._own_units = own_units
        losses = list(dict.fromkeys(point.settings.loss for point in points))
        self.rows: Rows = rows if classes else CheckedRows(rows, losses)
        self._threads = usable_threads(threads)
        self._settings = [point.settings for point in points]
        if classes > 2:  # many classes have no one label whose unit could be followed
            self._settings = [
                replace(each, follow_labels=False, follow_classes=False) for each in self._settings
            ]
            pairs = zip(self.points, self._settings, strict=True)
            self.points = [replace(point, settings=own) for point, own in pairs]
        self.plan = plan.plan(self._settings, features, classes, plan.memory_of(memory))
        self.results = Results.empty(self.points, classes=classes, held_out=rows.holds_out, select=select)
        self.read: Any = None
        """What workers have read, if others than this process did: as a `Stream` tells it."""
        self.learned = 0
        """Rows times the models that learned them, in this run."""
        about = {
            "settings": _digest(self._settings),
            **_newer(self._settings),
            "number of features": features,
            "number of classes": classes,
            "number of passes": passes,
            **(identity or {}),
        }
        self._state = None if state is None else StateFile(Path(state), about, every)

    def run(self, watch: Callable[[SearchProgress], None] | None = None) -> Results:
        """Learn all rounds that are left. `watch` is called after every piece.

        If `watch` raises, KeyboardInterrupt say, the state is saved first: it comes at a good moment.
        """
        begun = self._resume()
        rounds = self.plan.rounds if begun is None else begun.rounds
        for number in range(0 if begun is None else begun.number, len(rounds)):
            resumed = begun if begun is not None and begun.number == number else None
            current = resumed or self._new_round(rounds, number, self._threads)
            self._learn(current, watch)
            self._record(current)
            if self._state is not None:
                self._state.expire()
        if self._state is not None:
            self._state.remove()
        return self.results

    def _new_round(self, rounds: list[list[int]], number: int, threads: int) -> "Round":
        settings = [self._settings[i] for i in rounds[number]]
        engine: ManyModels
        if self.classes > 2:
            engine = OneVsRest(settings, self.classes, self.features, threads=threads)
        else:
            engine = Selection(settings, self.features, coded=self.classes == 2, threads=threads)
        if self._own_units is not None:
            engine.fix_units(self._own_units)
        unknown = np.full((2, len(settings)), np.nan)
        return Round(rounds, number, engine, threads, PassLoop(engine, self.rows, self.passes), unknown)

    def _learn(self, current: "Round", watch: Callable[[SearchProgress], None] | None) -> None:
        loop = current.loop

        def after_piece(learned: LearnedPiece) -> None:
            self.learned += learned.rows * len(current.numbers)
            self._pause(current, watch)

        while loop.position[0] < self.passes:
            loop.run_pass(after_piece)
            if loop.position[0] == 1:  # later passes have seen the labels
                current.progressive = np.stack(
                    (current.engine.progressive_loss, current.engine.progressive_error)
                )

    def _pause(self, current: "Round", watch: Callable[[SearchProgress], None] | None) -> None:
        passes = current.loop.position[0] + self.rows.share
        share = (current.number + passes / self.passes) / len(current.rounds)
        try:
            if watch is not None:
                watch(SearchProgress(current.number, len(current.rounds), share, self.learned))
        except BaseException:
            self._save(current)
            raise
        if self._state is not None and self._state.due:
            self._save(current)

    def _record(self, current: "Round") -> None:
        """The figures of a round that is done."""
        figures = {"diverged": current.engine.diverged, "progressive_loss": current.progressive[0]}
        if self.classes:
            figures["progressive_error"] = current.progressive[1]
        if self.rows.holds_out:
            figures |= self._measure(current.engine)
        self.results.fill(current.numbers, figures)

    def _measure(self, engine: ManyModels) -> dict[str, NDArray[Any]]:
        lost, wrong, weight = np.zeros(1), np.zeros(1), 0.0
        for examples in self._held_out():
            loss, error = engine.measure(examples, np.arange(len(examples)))
            lost, wrong = lost + loss, wrong + error
            weight += float(examples.sample_weight.sum())
        weight = weight or np.nan
        figures: dict[str, NDArray[Any]] = {"held_out_loss": np.where(engine.diverged, np.nan, lost / weight)}
        return figures | ({"held_out_accuracy": 1.0 - wrong / weight} if self.classes else {})

    def _held_out(self) -> Iterator[Examples]:
        """The rows held out, always equally many at a time: sums of other parts have other last digits."""
        waiting: list[Examples] = []
        for piece in self.rows.held_out():
            assert piece.order is not None
            weighted = piece.order[
                piece.examples.sample_weight[piece.order] > 0.0
            ]  # others may have no label
            whole = join([*waiting, piece.examples.take(weighted)])
            full = len(whole) // _MEASURED * _MEASURED
            for begin in range(0, full, _MEASURED):
                yield whole.take(np.arange(begin, begin + _MEASURED))
            waiting = [whole.take(np.arange(full, len(whole)))]
        yield from waiting

    def _save(self, current: "Round") -> None:
        if self._state is None:
            return
        arrays = {f"result.{name}": column for name, column in self.results.found.items()}
        arrays |= {f"model.{name}": array for name, array in current.engine.arrays().items()}
        done, turns = current.loop.position
        position = {name: getattr(current, name) for name in ("rounds", "threads", "number")}
        position |= {"done": done, "turns": turns}
        self._state.save(position, arrays | {"progressive": current.progressive})

    def _resume(self) -> "Round | None":
        stored = None if self._state is None else self._state.load()
        if stored is None:
            return None
        position, arrays = stored
        # blocks are made for a number of threads: their arrays fit no others
        begun = self._new_round(position["rounds"], position["number"], position["threads"])
        for name, column in self.results.found.items():
            column[...] = arrays[f"result.{name}"]
        if any(len(kept) for name, kept in arrays.items() if name.endswith(".gained")):
            begun.engine.model_set.hold_gains()
        for name, array in begun.engine.arrays().items():
            kept = arrays.get(f"model.{name}", array)  # older files know no units and averages
            array[...] = old_lanes.upgraded(name, kept, array)
        begun.engine.model_set.list_gains()
        begun.loop.position, begun.progressive = (position["done"], position["turns"]), arrays["progressive"]
        return begun


def _digest(settings: Sequence[Settings]) -> str:
    """A digest of the settings as earlier releases described them, so that their states go on."""
    described = ", ".join(f"{repr(each).removesuffix(')')}, l2_flow='split')" for each in settings)
    return hashlib.sha256(f"[{described}]".encode()).hexdigest()


def _newer(settings: Sequence[Settings]) -> dict[str, Any]:
    """Options that states do not name which were written before there was a choice."""
    given: dict[str, list[Any]] = {
        "averages": [each.average for each in settings],
        "class steps": [each.has_class_factor or None for each in settings],
        "averages that shrink": [each.averages_shrink or None for each in settings],
    }
    return {name: values for name, values in given.items() if any(value is not None for value in values)}


@dataclass
class Round:
    """Models that learn together: as many as fit into memory."""

    rounds: list[list[int]]
    number: int
    engine: ManyModels
    threads: int
    loop: PassLoop
    progressive: NDArray[np.float64]
    """Loss and error of each model in the first pass."""

    @property
    def numbers(self) -> list[int]:
        return self.rounds[self.number]
