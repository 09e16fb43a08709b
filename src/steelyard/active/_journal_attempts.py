"""`AttemptEntries`: the attempts at certificates in a journal.

An attempt is stored as it began, so that it can go on with the model of that time; then every answer that is
given to it, before anyone is told.
"""

import json
import zlib
from typing import Any

from steelyard.active._damage import reading
from steelyard.active._journal_about import AboutEntry
from steelyard.active._journal_file import JournalFile

LABEL, TAKE_BACK, GIVE_UP, LEARN = "label", "take back", "give up", "learn"
AttemptEntry = tuple[str, int | None, Any]
"""The kind of the entry, the row, and the label; None if nobody knows it."""


class AttemptEntries:
    """The entries about attempts, which are numbered from 1."""

    def __init__(self, file: JournalFile, about: AboutEntry) -> None:
        self._file, self._about = file, about

    def count(self) -> int:
        """How many attempts at a certificate there were; each takes some of the risk."""
        last = self._file.db.execute("SELECT MAX(number) FROM attempts").fetchone()[0]
        return max(last or 0, int((self._about.read() or {}).get("attempts", 0)))  # all that old ones have

    def begin(self, number: int, start: dict[str, Any]) -> None:
        packed = zlib.compress(json.dumps(start).encode(), 1)
        with self._file.written(to_disk=True):
            self._file.db.execute("INSERT INTO attempts VALUES (?, ?)", (number, packed))

    def read(self, number: int) -> tuple[dict[str, Any], list[AttemptEntry]] | None:
        """An attempt as it began, and what happened since; None if there is none of this number."""
        db = self._file.db
        row = db.execute("SELECT start FROM attempts WHERE number = ?", (number,)).fetchone()
        if row is None:
            return None
        with reading(self._file.path):
            entries = db.execute(
                "SELECT kind, row, label FROM attempt_entries WHERE attempt = ? ORDER BY id", (number,)
            )
            start: dict[str, Any] = json.loads(zlib.decompress(row[0]))
            return start, [
                (kind, at, None if label is None else json.loads(label)) for kind, at, label in entries
            ]

    def add(self, number: int, kind: str, row: int | None, label: Any) -> None:
        with self._file.written(to_disk=True):
            self.insert(number, kind, row, label)

    def insert(self, number: int, kind: str, row: int | None = None, label: Any = None) -> None:
        """Add an entry within a transaction that is under way."""
        written = None if label is None else json.dumps(label)
        self._file.db.execute(
            "INSERT INTO attempt_entries (attempt, kind, row, label) VALUES (?, ?, ?, ?)",
            (number, kind, row, written),
        )
