"""What the journal stores beside questions: attempts at certificates, labels nobody was asked for, turns.

An attempt is stored as it began, so that it can go on with the model of that time; then every answer that is
given to it, before anyone is told. *Turns* say in which order rows were read, and which of them were picked
at random: a certificate of recall is computed from them.
"""

import json
import sqlite3
import zlib
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from steelyard.active._damage import reading

if TYPE_CHECKING:
    from steelyard.active.events import Event
    from steelyard.active.journal import AskedRow

ATTEMPT_TABLES = """
CREATE TABLE IF NOT EXISTS attempts (number INTEGER PRIMARY KEY, start BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS attempt_entries (
    id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, kind TEXT NOT NULL, row INTEGER, label TEXT
);
CREATE TABLE IF NOT EXISTS taught (number INTEGER PRIMARY KEY, indices BLOB, "values" BLOB);
CREATE TABLE IF NOT EXISTS turns (turn INTEGER PRIMARY KEY, number INTEGER NOT NULL, source INTEGER);
"""
LABEL, TAKE_BACK, GIVE_UP, LEARN = "label", "take back", "give up", "learn"
AttemptEntry = tuple[str, int | None, Any]
"""Its kind, the row and the label, None if nobody knows it."""


class AttemptEntries(ABC):
    """For `Journal`."""

    path: str
    _db: sqlite3.Connection

    @abstractmethod
    def _written(self, *, to_disk: bool = False) -> AbstractContextManager[None]: ...

    @abstractmethod
    def about(self) -> dict[str, Any] | None: ...

    def count_attempts(self) -> int:
        """How many attempts at a certificate there were; each takes some of the risk."""
        last = self._db.execute("SELECT MAX(number) FROM attempts").fetchone()[0]
        return max(last or 0, int((self.about() or {}).get("attempts", 0)))  # old journals only count them

    def begin_attempt(self, number: int, start: dict[str, Any]) -> None:
        packed = zlib.compress(json.dumps(start).encode(), 1)
        with self._written(to_disk=True):
            self._db.execute("INSERT INTO attempts VALUES (?, ?)", (number, packed))

    def attempt(self, number: int) -> tuple[dict[str, Any], list[AttemptEntry]] | None:
        """An attempt as it began, and what happened since."""
        row = self._db.execute("SELECT start FROM attempts WHERE number = ?", (number,)).fetchone()
        if row is None:
            return None
        with reading(self.path):
            entries = self._db.execute(
                "SELECT kind, row, label FROM attempt_entries WHERE attempt = ? ORDER BY id", (number,)
            )
            start: dict[str, Any] = json.loads(zlib.decompress(row[0]))
            return start, [
                (kind, at, None if label is None else json.loads(label)) for kind, at, label in entries
            ]

    def add_to_attempt(self, number: int, kind: str, row: int | None = None, label: Any = None) -> None:
        with self._written(to_disk=True):
            self._add_entry(number, kind, row, label)

    def _add_entry(self, number: int, kind: str, row: int | None = None, label: Any = None) -> None:
        written = None if label is None else json.dumps(label)
        self._db.execute(
            "INSERT INTO attempt_entries (attempt, kind, row, label) VALUES (?, ?, ?, ?)",
            (number, kind, row, written),
        )

    def teach(
        self, events: "list[Event]", rows: "list[AskedRow]", source: int | None, learned: int | None
    ) -> None:
        """Labels that nobody was asked for, with rows that are new; those of attempt `learned`, if any."""
        with self._written(to_disk=True):
            self._db.executemany(
                "INSERT INTO taught VALUES (?, ?, ?)",
                [(each.number, each.indices.tobytes(), each.values.tobytes()) for each in rows],
            )
            self._add_turns([each.number for each in rows], source)
            self._db.executemany(
                "INSERT INTO events (kind, number, label) VALUES (?, ?, ?)",
                [(event.kind, event.number, event.label) for event in events],
            )
            if learned is not None:
                self._add_entry(learned, LEARN)

    def _add_turns(self, numbers: list[int], source: int | None) -> None:
        self._db.executemany(
            "INSERT INTO turns (number, source) VALUES (?, ?)", [(number, source) for number in numbers]
        )

    def turns(self) -> dict[int, int | None]:
        """The rows in the order in which they were read, each with the random order that it came from.

        0 is that of the strategy, j that of attempt j, None that the row was chosen otherwise. Journals from
        before there were turns have none: nothing was picked then.
        """
        found: dict[int, int | None] = {}
        for (number,) in self._db.execute(
            "SELECT number FROM questions WHERE number NOT IN (SELECT number FROM turns) ORDER BY number"
        ):
            found[number] = None
        for number, source in self._db.execute("SELECT number, source FROM turns ORDER BY turn"):
            found.setdefault(number, source)
        return found

    def taught(self) -> set[int]:
        """The numbers of rows that nobody was asked for."""
        return {number for (number,) in self._db.execute("SELECT number FROM taught")}
