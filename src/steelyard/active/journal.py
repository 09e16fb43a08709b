"""The journal: every decision, question and answer in the order in which they came, in one SQLite file.

It is append-only; an undo is an entry, too. The model is not in it, since it follows from the entries. An
entry is in the file before anyone is told about it, so a killed process loses nothing that was reported;
answers, which people were paid for, are on disk by then. One process writes; any number may read meanwhile.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from steelyard.active._damage import reading
from steelyard.active._journal_about import WITH_CHANGES, AboutEntry
from steelyard.active._journal_attempts import LEARN, AttemptEntries
from steelyard.active._journal_file import IN_MEMORY, JournalFile
from steelyard.active.events import ANSWER, CHANGE, SKIP, UNDO, WITHDRAW, Event, Events

__all__ = ["IN_MEMORY", "AskedRow", "Decisions", "History", "Journal"]

_AT_ONCE = 1000  # entries that are read together
_NUMBER = 8  # bytes


@dataclass(frozen=True)
class Decisions:
    """Decisions about consecutive examples: the probability of asking for each, and its prediction.

    The fields are the columns of the table, in which scores are called `flips` and the window `looked_at`.
    """

    first: int
    """The number of the first of them in the stream, from 0."""
    probabilities: NDArray[np.float64]
    predictions: NDArray[np.float64]
    scores: NDArray[np.float64]
    bound: float
    """The state of the strategy after them: its bound,"""
    thinning: float
    """its thinning,"""
    window: int
    """and how many of the last scores are in its window."""


@dataclass(frozen=True)
class AskedRow:
    """An example whose label was asked for."""

    number: int
    indices: NDArray[np.int32]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class History:
    """Everything so far as columns, in the order of the stream: the data of all estimates."""

    probability: NDArray[np.float64]
    """The probability of asking for the label; 0 once a budget is spent, and for rows not considered."""
    asked: NDArray[np.bool_]
    prediction: NDArray[np.float64]
    """w·x, by the model before it knew the label; NaN for rows that were not considered.

    With several classes, the number of the class from 0, plus the probability that it is another.
    """
    label: NDArray[np.float64]
    """The label as the loss takes it; NaN where there is none (yet)."""
    skipped: NDArray[np.bool_]


class Journal:
    """One file, or memory only. With `read_only` it is left as it is, and another process may be using it."""

    def __init__(self, path: str | Path = IN_MEMORY, *, read_only: bool = False) -> None:
        self.file = JournalFile(path, read_only=read_only)
        self.about = AboutEntry(self.file)
        self.attempts = AttemptEntries(self.file, self.about)

    @property
    def path(self) -> str:
        return self.file.path

    def close(self) -> None:
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def decide(self, decisions: Decisions, asked: list[AskedRow], source: int | None = None) -> None:
        """Store decisions, and the rows asked for; `source` says from which random order they were picked."""
        columns = decisions.probabilities, decisions.predictions, decisions.scores
        state = decisions.bound, decisions.thinning, decisions.window
        with self.file.written():
            self.file.db.execute(
                "INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?)",
                (decisions.first, *(column.tobytes() for column in columns), *state),
            )
            self._insert_rows("questions", asked, source)

    def add(self, events: list[Event]) -> None:
        with self.file.written(to_disk=True):
            self._insert_events(events)
            if any(event.kind in (CHANGE, WITHDRAW) for event in events):
                self.about.raise_format(WITH_CHANGES)

    def teach(
        self, events: list[Event], rows: list[AskedRow], source: int | None, learned: int | None
    ) -> None:
        """Store labels that nobody was asked for, with new rows; those of attempt `learned`, if any."""
        with self.file.written(to_disk=True):
            self._insert_rows("taught", rows, source)
            self._insert_events(events)
            if learned is not None:
                self.attempts.insert(learned, LEARN)

    def _insert_events(self, events: list[Event]) -> None:
        self.file.db.executemany(
            "INSERT INTO events (kind, number, label) VALUES (?, ?, ?)",
            [(event.kind, event.number, event.label) for event in events],
        )

    def _insert_rows(self, table: str, rows: list[AskedRow], source: int | None) -> None:
        self.file.db.executemany(
            f"INSERT INTO {table} VALUES (?, ?, ?)",
            [(row.number, row.indices.tobytes(), row.values.tobytes()) for row in rows],
        )
        self.file.db.executemany(
            "INSERT INTO turns (number, source) VALUES (?, ?)", [(row.number, source) for row in rows]
        )

    def turns(self) -> dict[int, int | None]:
        """The rows in the order in which they were read, each with the random order that it came from.

        0 is that of the strategy, j that of attempt j, None that the row was chosen otherwise. Journals from
        before there were turns have none: nothing was picked then.
        """
        db = self.file.db
        found: dict[int, int | None] = {}
        for (number,) in db.execute(
            "SELECT number FROM questions WHERE number NOT IN (SELECT number FROM turns) ORDER BY number"
        ):
            found[number] = None
        for number, source in db.execute("SELECT number, source FROM turns ORDER BY turn"):
            found.setdefault(number, source)
        return found

    def taught(self) -> set[int]:
        """The numbers of rows that nobody was asked for."""
        return {number for (number,) in self.file.db.execute("SELECT number FROM taught")}

    def decisions(self) -> Iterator[Decisions]:
        for row in self.file.db.execute("SELECT * FROM decisions ORDER BY first"):
            probabilities, predictions, scores = (np.frombuffer(column) for column in row[1:4])
            yield Decisions(row[0], probabilities, predictions, scores, *row[4:])

    def row(self, number: int) -> AskedRow:
        """A row that was asked for or taught."""
        found = "SELECT * FROM {} WHERE number = ?"
        for table in ("questions", "taught"):
            for _, indices, values in self.file.db.execute(found.format(table), (number,)):
                return AskedRow(number, np.frombuffer(indices, np.int32), np.frombuffer(values))
        raise KeyError(number)

    def events(self) -> Iterator[Event]:
        for kind, number, label in self.file.db.execute("SELECT kind, number, label FROM events ORDER BY id"):
            yield Event(kind, number, label)

    def events_in_force(self) -> Events:
        """Answers, skips and taught labels in their order, without those that were undone."""
        found = Events()
        for event in self.events():
            if event.kind == UNDO:
                found.pop()
            elif event.kind in (CHANGE, WITHDRAW):
                found.revise(event)
            else:
                found.append(event)
        return found

    def history(self) -> History:
        """Everything so far, read with few objects at a time: there may be a hundred thousand answers."""
        with reading(self.path):
            return self._history()

    def _history(self) -> History:
        probability, prediction = (
            self.considered("probabilities", 0.0),
            self.considered("predictions", np.nan),
        )
        asked, skipped = np.zeros(len(probability), bool), np.zeros(len(probability), bool)
        label, events = np.full(len(probability), np.nan), self.events_in_force()
        numbers = self.file.db.execute("SELECT number FROM questions")
        asked[np.fromiter((number for (number,) in numbers), np.int64)] = True
        skipped[events.of_kind(SKIP)[0]] = True
        answered, labels = events.of_kind(ANSWER)  # estimates are made from what was asked for
        label[answered] = labels
        return History(probability, asked, prediction, label, skipped)

    def considered(self, column: str, empty: float) -> NDArray[np.float64]:
        """One column of all decisions, by the number of the example; `empty` where there was no decision."""
        last = self.file.db.execute("SELECT first, length(flips) FROM decisions ORDER BY first DESC LIMIT 1")
        found = np.full(sum(first + size // _NUMBER for first, size in last), empty)
        blocks = self.file.db.execute(f"SELECT first, {column} FROM decisions ORDER BY first")
        while some := blocks.fetchmany(_AT_ONCE):
            sizes = np.array([len(own) // _NUMBER for _, own in some])
            shifts = np.array([first for first, _ in some]) - (np.cumsum(sizes) - sizes)
            places = np.arange(sizes.sum()) + np.repeat(shifts, sizes)
            found[places] = np.frombuffer(b"".join(own for _, own in some))
        return found
