"""The journal: every decision, question and answer in the order in which they came, in one SQLite file.

It is only ever added to; an undo is an entry, too. What was learned is not in it, since that follows from
it. An entry is in the file before anyone is told of it, so whoever kills the process loses nothing that was
said; answers, which people were paid for, are on the disk by then.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
IN_MEMORY = ":memory:"
ANSWER, SKIP, UNDO = "answer", "skip", "undo"

_TABLES = """
CREATE TABLE about (about TEXT NOT NULL);
CREATE TABLE decisions (
    first INTEGER PRIMARY KEY, probabilities BLOB, predictions BLOB, flips BLOB,
    bound REAL, thinning REAL, looked_at INTEGER
);
CREATE TABLE questions (number INTEGER PRIMARY KEY, indices BLOB, "values" BLOB);
CREATE TABLE events (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, number INTEGER NOT NULL, label REAL);
"""


@dataclass(frozen=True)
class Decisions:
    """About examples one after another: how likely each was to be asked for, and what was predicted."""

    first: int
    """The number of the first of them in the stream, from 0."""
    probabilities: NDArray[np.float64]
    predictions: NDArray[np.float64]
    flips: NDArray[np.float64]
    bound: float
    """What steers C₀, after them,"""
    thinning: float
    """and what it cannot reach,"""
    looked_at: int
    """and how many of the last flip importances it is made of."""


@dataclass(frozen=True)
class Asked:
    """An example whose label was asked for."""

    number: int
    indices: NDArray[np.int32]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Event:
    """An answer, a skip, or the undoing of the last of these that still stands."""

    kind: str
    number: int
    label: float | None = None


@dataclass(frozen=True)
class History:
    """Everything so far as columns, in the order of the stream: what estimates are made of."""

    probability: NDArray[np.float64]
    """With which the label was to be asked for. 0 once a budget was spent."""
    asked: NDArray[np.bool_]
    prediction: NDArray[np.float64]
    """w·x, of the model before it knew the label."""
    label: NDArray[np.float64]
    """As the loss takes it; NaN where there is none (yet)."""
    skipped: NDArray[np.bool_]


class Journal:
    """One file; or nothing but memory, for whoever need not survive."""

    def __init__(self, path: str | Path = IN_MEMORY) -> None:
        self.path = str(path)
        try:
            self._open()
        except sqlite3.OperationalError as error:
            locked = "locked" in str(error)
            why = "it is in use: another process is asking with it" if locked else str(error)
            raise ValueError(f"{self.path}: {why}") from None
        except sqlite3.DatabaseError:
            raise ValueError(f"{self.path}: is not a journal; name a new file, or one it has begun") from None

    def _open(self) -> None:
        self._db = sqlite3.connect(self.path, isolation_level=None, timeout=0.0, check_same_thread=False)
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute("PRAGMA journal_mode = WAL")
        known = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if known and known != {"about", "decisions", "questions", "events"}:
            raise sqlite3.DatabaseError
        if not known:
            with self._written(to_disk=True):
                for statement in _TABLES.strip().split(";\n"):
                    self._db.execute(statement)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, about: dict[str, Any]) -> dict[str, Any]:
        """What the journal is about: as it was begun, or as it is begun now."""
        kept = self.about()
        if kept is None:
            with self._written(to_disk=True):
                self._db.execute("INSERT INTO about VALUES (?)", (json.dumps({"format": FORMAT} | about),))
            kept = self.about()
            assert kept is not None
        return kept

    def about(self) -> dict[str, Any] | None:
        row = self._db.execute("SELECT about FROM about").fetchone()
        if row is None:
            return None
        kept: dict[str, Any] = json.loads(row[0])
        newest = kept.pop("format")
        if newest > FORMAT:
            raise ValueError(
                f"{self.path}: written by a newer steelyard (format {newest}, this one reads up to "
                f"{FORMAT}); upgrade"
            )
        return kept

    def decide(self, decisions: Decisions, asked: list[Asked]) -> None:
        """Keep what was decided about some examples, and those among them that are asked for."""
        columns = decisions.probabilities, decisions.predictions, decisions.flips
        steering = decisions.bound, decisions.thinning, decisions.looked_at
        with self._written():
            self._db.execute(
                "INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?)",
                (decisions.first, *(column.tobytes() for column in columns), *steering),
            )
            self._db.executemany(
                "INSERT INTO questions VALUES (?, ?, ?)",
                [(each.number, each.indices.tobytes(), each.values.tobytes()) for each in asked],
            )

    def add(self, events: list[Event]) -> None:
        with self._written(to_disk=True):
            self._db.executemany(
                "INSERT INTO events (kind, number, label) VALUES (?, ?, ?)",
                [(event.kind, event.number, event.label) for event in events],
            )

    def decisions(self) -> Iterator[Decisions]:
        for row in self._db.execute("SELECT * FROM decisions ORDER BY first"):
            probabilities, predictions, flips = (np.frombuffer(column) for column in row[1:4])
            yield Decisions(row[0], probabilities, predictions, flips, *row[4:])

    def asked(self) -> Iterator[Asked]:
        for number, indices, values in self._db.execute("SELECT * FROM questions ORDER BY number"):
            yield Asked(number, np.frombuffer(indices, np.int32), np.frombuffer(values))

    def events(self) -> Iterator[Event]:
        """As they came."""
        for kind, number, label in self._db.execute("SELECT kind, number, label FROM events ORDER BY id"):
            yield Event(kind, number, label)

    def standing(self) -> list[Event]:
        """Answers and skips in their order, without what was undone."""
        stack: list[Event] = []
        for event in self.events():
            if event.kind == UNDO:
                stack.pop()
            else:
                stack.append(event)
        return stack

    def history(self) -> History:
        blocks = list(self.decisions())
        nothing = [np.zeros(0)]
        probability = np.concatenate([block.probabilities for block in blocks] or nothing)
        prediction = np.concatenate([block.predictions for block in blocks] or nothing)
        asked, skipped = np.zeros(len(probability), bool), np.zeros(len(probability), bool)
        label = np.full(len(probability), np.nan)
        asked[[number for (number,) in self._db.execute("SELECT number FROM questions")]] = True
        for event in self.standing():
            if event.kind == SKIP:
                skipped[event.number] = True
            else:
                label[event.number] = event.label
        return History(probability, asked, prediction, label, skipped)

    @contextmanager
    def _written(self, *, to_disk: bool = False) -> Iterator[None]:
        """All or nothing. A killed process loses none of it; a power cut may, unless it is `to_disk`."""
        self._db.execute(f"PRAGMA synchronous = {'FULL' if to_disk else 'NORMAL'}")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
