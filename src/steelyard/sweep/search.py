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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine import lane_block
from steelyard.engine.many_models import ManyModels
from steelyard.engine.model_set import usable_threads
from steelyard.engine.one_vs_rest import OneVsRest
from steelyard.engine.passes import Learned, PassLoop
from steelyard.engine.protocol import Numbers
from steelyard.engine.row_sources import Piece, Rows
from steelyard.engine.selection import Selection
from steelyard.examples import Examples, allowed
from steelyard.losses import Loss
from steelyard.model import Settings
from steelyard.sweep import plan
from steelyard.sweep.grid import Point
from steelyard.sweep.results import Results
from steelyard.sweep.state import StateFile

EVERY = 30.0  # seconds between two states that are kept


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is, for whoever shows it."""

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
        losses = list(dict.fromkeys(point.settings.loss for point in points))
        self.rows: Rows = rows if classes else CheckedRows(rows, losses)
        self.features = features
        self.classes = classes
        self.passes = passes
        self._threads = usable_threads(threads)
        self._settings = [_comparable(point.settings, classes) for point in points]
        self.plan = plan.plan(self._settings, features, classes, plan.memory_of(memory))
        self.results = Results.empty(self.points, classes=classes, held_out=rows.holds_out, select=select)
        self.learned = 0
        """Rows times the models that learned them, in this run."""
        about = {
            "settings": hashlib.sha256(repr(self._settings).encode()).hexdigest(),
            **_averages(self._settings),
            "number of features": features,
            "number of classes": classes,
            "number of passes": passes,
            **(identity or {}),
        }
        self._state = None if state is None else StateFile(Path(state), about, every)

    def run(self, watch: Callable[[SearchProgress], None] | None = None) -> Results:
        """All rounds that are left. `watch` is called after every piece.

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
        return Round(rounds, number, engine, threads, PassLoop(engine, self.rows, self.passes))

    def _learn(self, current: "Round", watch: Callable[[SearchProgress], None] | None) -> None:
        loop = current.loop

        def after_piece(learned: Learned) -> None:
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
        for piece in self.rows.held_out():
            assert piece.order is not None
            examples = piece.examples
            order = piece.order[examples.sample_weight[piece.order] > 0.0]  # others may have no label
            loss, error = engine.measure(examples, order)
            lost, wrong = lost + loss, wrong + error
            weight += float(examples.sample_weight[order].sum())
        weight = weight or np.nan
        figures: dict[str, NDArray[Any]] = {"held_out_loss": np.where(engine.diverged, np.nan, lost / weight)}
        return figures | ({"held_out_accuracy": 1.0 - wrong / weight} if self.classes else {})

    def _save(self, current: "Round") -> None:
        if self._state is None:
            return
        arrays = {f"result.{name}": column for name, column in self.results.found.items()}
        arrays |= {f"model.{name}": array for name, array in current.engine.arrays().items()}
        done, turns = current.loop.position
        self._state.save(
            {
                "rounds": current.rounds,
                "threads": current.threads,
                "number": current.number,
                "done": done,
                "turns": turns,
            },
            arrays | {"progressive": current.progressive},
        )

    def _resume(self) -> "Round | None":
        stored = None if self._state is None else self._state.load()
        if stored is None:
            return None
        position, arrays = stored
        # blocks are made for a number of threads: their arrays fit no others
        begun = self._new_round(position["rounds"], position["number"], position["threads"])
        for name, column in self.results.found.items():
            column[...] = arrays[f"result.{name}"]
        for name, array in begun.engine.arrays().items():
            kept = arrays.get(f"model.{name}", array)  # older files know no units and averages
            array[...] = lane_block.upgraded(kept) if name.endswith(".state") else kept
        begun.loop.position, begun.progressive = (position["done"], position["turns"]), arrays["progressive"]
        return begun


def _averages(settings: Sequence[Settings]) -> dict[str, Any]:
    """What files from before there were averages do not say."""
    given = [each.average for each in settings]
    return {} if set(given) == {None} else {"averages": given}


class Round:
    """Models that learn together: as many as fit into memory."""

    def __init__(
        self, rounds: list[list[int]], number: int, engine: ManyModels, threads: int, loop: PassLoop
    ) -> None:
        self.rounds = rounds
        self.number = number
        self.numbers = rounds[number]
        self.engine = engine
        self.threads = threads
        self.loop = loop
        self.progressive = np.full((2, len(self.numbers)), np.nan)


class CheckedRows:
    """Rows whose labels are numbers that every loss takes, or an error."""

    def __init__(self, rows: Rows, losses: Sequence[Loss]) -> None:
        self._rows = rows
        self._losses = losses
        self.holds_out = rows.holds_out
        self.share = 0.0

    def pieces(self, pass_number: int) -> Iterator[Piece]:
        return map(self._check, self._rows.pieces(pass_number))

    def held_out(self) -> Iterator[Piece]:
        return map(self._check, self._rows.held_out())

    def _check(self, piece: Piece) -> Piece:
        self.share = self._rows.share
        order = np.arange(len(piece)) if piece.order is None else piece.order
        check_numbers(piece.examples, order, self._losses)
        return piece


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
