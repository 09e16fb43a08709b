"""The journal: every decision, question and answer in the order in which they came, in one SQLite file.

It is append-only; an undo is an entry, too. The model is not in it, since it follows from the entries. An
entry is in the file before anyone is told about it, so a killed process loses nothing that was reported;
answers, which people were paid for, are on disk by then. One process writes; any number may read meanwhile.
"""

import errno
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from steelyard._file_lock import FileLock
from steelyard.active._damage import reading
from steelyard.active._journal_about import WITH_CHANGES, AboutEntry
from steelyard.active._journal_attempts import ATTEMPT_TABLES, AttemptEntries
from steelyard.active.events import ANSWER, CHANGE, SKIP, UNDO, WITHDRAW, Event, Events

IN_MEMORY = ":memory:"
_AT_ONCE = 1000  # entries that are read together
_NUMBER = 8  # bytes

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
    """With which the label was asked for. 0 once a budget is spent, and for rows that were not considered."""
    asked: NDArray[np.bool_]
    prediction: NDArray[np.float64]
    """w·x, by the model before it knew the label; NaN for rows that were not considered.

    With several classes, the number of the class from 0, plus the probability that it is another.
    """
    label: NDArray[np.float64]
    """As the loss takes it; NaN where there is none (yet)."""
    skipped: NDArray[np.bool_]


class Journal(AboutEntry, AttemptEntries):
    """One file, or memory only. With `read_only` it is left as it is, and another process may be using it."""

    def __init__(self, path: str | Path = IN_MEMORY, *, read_only: bool = False) -> None:
        self.path, self.read_only = str(path), read_only
        self.writing = threading.RLock()
        """Held by the thread that writes; other connections to the same file take turns by it."""
        self.follows = False  # from other entries of the file, with which all gets to the disk in time
        self._lock = None if read_only or self.path == IN_MEMORY else FileLock(f"{self.path}-lock")
        try:
            if self._lock is not None and not self._lock.acquire():
                where = self._lock.heard()
                raise ValueError(f"{self.path}: another process is using it{where and f', at {where}'}")
            self._open()
        except (OSError, sqlite3.OperationalError) as error:
            self.close()
            raise ValueError(f"{self.path}: unable to open it as a journal ({error})") from None
        except sqlite3.DatabaseError:
            self.close()
            wanted = (
                "the file that active label or active ask writes" if read_only else "a new file or a journal"
            )
            raise ValueError(f"{self.path}: is not a journal; name {wanted}") from None

    def _open(self) -> None:
        self._db = self.connect()
        known = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not known >= {"about", "decisions", "questions", "events"} and (known or self.read_only):
            raise sqlite3.DatabaseError
        tables = ATTEMPT_TABLES if known else _TABLES + ATTEMPT_TABLES
        if known >= {"attempts", "attempt_entries", "taught", "turns"}:
            return
        if self.read_only:  # an old journal: what it lacks is empty, and lives in memory
            self._db.executescript(tables.replace("CREATE TABLE", "CREATE TEMP TABLE"))
        else:
            with self._written(to_disk=True):
                for statement in tables.strip().split(";\n"):
                    self._db.execute(statement)

    def connect(self) -> sqlite3.Connection:
        """A connection of its own to the file, for one more thread."""
        if self.read_only:
            address = f"{Path(self.path).absolute().as_uri()}?mode=ro"
            return sqlite3.connect(address, isolation_level=None, uri=True, check_same_thread=False)
        found = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        found.execute("PRAGMA journal_mode = WAL")
        return found

    def say_where(self, address: str) -> None:
        """Tell others who would open it where it is in use."""
        assert self._lock is not None
        self._lock.say(address)

    def close(self) -> None:
        if hasattr(self, "_db"):
            self._db.close()
        if self._lock is not None:
            self._lock.release()

    def __getstate__(self) -> dict[str, Any]:
        """Memory travels; a file stays with the process that has it open."""
        if self.path != IN_MEMORY:
            raise TypeError(
                f"{self.path}: what writes to a journal file cannot be pickled or copied; close() it and "
                "continue from the file elsewhere, or pickle its model"
            )
        return {"path": self.path, "entries": self._db.serialize()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"])  # type: ignore[misc]
        self._db.deserialize(state["entries"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def decide(self, decisions: Decisions, asked: list[AskedRow], source: int | None = None) -> None:
        """Store decisions, and the rows asked for; `source` says from which random order they were picked."""
        columns = decisions.probabilities, decisions.predictions, decisions.scores
        state = decisions.bound, decisions.thinning, decisions.window
        with self._written():
            self._db.execute(
                "INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?)",
                (decisions.first, *(column.tobytes() for column in columns), *state),
            )
            self._db.executemany(
                "INSERT INTO questions VALUES (?, ?, ?)",
                [(each.number, each.indices.tobytes(), each.values.tobytes()) for each in asked],
            )
            self._add_turns([each.number for each in asked], source)

    def add(self, events: list[Event]) -> None:
        with self._written(to_disk=True):
            self._db.executemany(
                "INSERT INTO events (kind, number, label) VALUES (?, ?, ?)",
                [(event.kind, event.number, event.label) for event in events],
            )
            if any(event.kind in (CHANGE, WITHDRAW) for event in events):
                self._raise_format(WITH_CHANGES)

    def decisions(self) -> Iterator[Decisions]:
        for row in self._db.execute("SELECT * FROM decisions ORDER BY first"):
            probabilities, predictions, scores = (np.frombuffer(column) for column in row[1:4])
            yield Decisions(row[0], probabilities, predictions, scores, *row[4:])

    def row(self, number: int) -> AskedRow:
        """One that was asked for or taught."""
        found = "SELECT * FROM {} WHERE number = ?"
        for table in ("questions", "taught"):
            for _, indices, values in self._db.execute(found.format(table), (number,)):
                return AskedRow(number, np.frombuffer(indices, np.int32), np.frombuffer(values))
        raise KeyError(number)

    def events(self) -> Iterator[Event]:
        for kind, number, label in self._db.execute("SELECT kind, number, label FROM events ORDER BY id"):
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
        """Read with few objects at a time: there may be a hundred thousand answers."""
        with reading(self.path):
            return self._history()

    def _history(self) -> History:
        probability, prediction = (
            self.considered("probabilities", 0.0),
            self.considered("predictions", np.nan),
        )
        asked, skipped = np.zeros(len(probability), bool), np.zeros(len(probability), bool)
        label, events = np.full(len(probability), np.nan), self.events_in_force()
        numbers = self._db.execute("SELECT number FROM questions")
        asked[np.fromiter((number for (number,) in numbers), np.int64)] = True
        skipped[events.of_kind(SKIP)[0]] = True
        answered, labels = events.of_kind(ANSWER)  # estimates are made from what was asked for
        label[answered] = labels
        return History(probability, asked, prediction, label, skipped)

    def considered(self, column: str, empty: float) -> NDArray[np.float64]:
        """One column of all decisions, by the number of the example; `empty` where there was no decision."""
        last = self._db.execute("SELECT first, length(flips) FROM decisions ORDER BY first DESC LIMIT 1")
        found = np.full(sum(first + size // _NUMBER for first, size in last), empty)
        blocks = self._db.execute(f"SELECT first, {column} FROM decisions ORDER BY first")
        while some := blocks.fetchmany(_AT_ONCE):
            sizes = np.array([len(own) // _NUMBER for _, own in some])
            shifts = np.array([first for first, _ in some]) - (np.cumsum(sizes) - sizes)
            places = np.arange(sizes.sum()) + np.repeat(shifts, sizes)
            found[places] = np.frombuffer(b"".join(own for _, own in some))
        return found

    @contextmanager
    def _written(self, *, to_disk: bool = False) -> Iterator[None]:
        """A transaction. It survives a killed process; a power cut only if it is written `to_disk`."""
        with self.writing, transaction(self._db, to_disk=to_disk and not self.follows):
            yield


@contextmanager
def transaction(db: sqlite3.Connection, *, to_disk: bool) -> Iterator[None]:
    """It survives a killed process; a power cut only if it is written `to_disk`.

    If the disk is full or the file is damaged, nothing has changed, and an OSError names the file.
    """
    try:
        db.execute(f"PRAGMA synchronous = {'FULL' if to_disk else 'NORMAL'}")
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
    except sqlite3.DatabaseError as error:
        path = db.execute("PRAGMA database_list").fetchone()[2]  # which reads nothing of the file
        raise OSError(errno.EIO, f"could not be written ({error})", path) from error
