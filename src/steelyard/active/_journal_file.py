"""`JournalFile`: the SQLite file of a journal, or memory: its tables, its lock and its transactions."""

import errno
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from steelyard._file_lock import FileLock

IN_MEMORY = ":memory:"
_FIRST_TABLES = {
    "about": "about TEXT NOT NULL",
    "decisions": "first INTEGER PRIMARY KEY, probabilities BLOB, predictions BLOB, flips BLOB, "
    "bound REAL, thinning REAL, looked_at INTEGER",
    "questions": 'number INTEGER PRIMARY KEY, indices BLOB, "values" BLOB',
    "events": "id INTEGER PRIMARY KEY, kind TEXT NOT NULL, number INTEGER NOT NULL, label REAL",
}
_TABLES = _FIRST_TABLES | {  # the later ones are not in old journals
    "attempts": "number INTEGER PRIMARY KEY, start BLOB NOT NULL",
    "attempt_entries": "id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, kind TEXT NOT NULL, row INTEGER, "
    "label TEXT",
    "taught": 'number INTEGER PRIMARY KEY, indices BLOB, "values" BLOB',
    "turns": "turn INTEGER PRIMARY KEY, number INTEGER NOT NULL, source INTEGER",
}


class JournalFile:
    """One file, or memory only. With `read_only` it is left as it is, and another process may be using it."""

    def __init__(self, path: str | Path = IN_MEMORY, *, read_only: bool = False) -> None:
        self.path, self.read_only = str(path), read_only
        self.writing = threading.RLock()
        """Held by the thread that writes; other connections to the same file take turns by it."""
        self.follows = False
        """Whether the entries follow from others in the file, which are on disk whenever it matters."""
        self._lock = None if read_only or self.path == IN_MEMORY else FileLock(f"{self.path}-lock")
        try:
            if self._lock is not None and not self._lock.acquire():
                where = self._lock.read_note()
                raise ValueError(f"{self.path}: another process is using it{where and f', at {where}'}")
            self.db = self.connect()
            self._complete_tables()
        except (OSError, sqlite3.OperationalError) as error:
            self.close()
            raise ValueError(f"{self.path}: unable to open it as a journal ({error})") from None
        except sqlite3.DatabaseError:
            self.close()
            wanted = (
                "the file that active label or active ask writes" if read_only else "a new file or a journal"
            )
            raise ValueError(f"{self.path}: is not a journal; name {wanted}") from None

    def _complete_tables(self) -> None:
        """Create the tables that a new journal or an old one lacks; of a read-only one, in memory."""
        known = {name for (name,) in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not known >= _FIRST_TABLES.keys() and (known or self.read_only):
            raise sqlite3.DatabaseError
        missing = {name: columns for name, columns in _TABLES.items() if name not in known}
        if missing:
            kind = "TEMP TABLE" if self.read_only else "TABLE"
            with nullcontext() if self.read_only else self.written(to_disk=True):
                for name, columns in missing.items():
                    self.db.execute(f"CREATE {kind} {name} ({columns})")

    def connect(self) -> sqlite3.Connection:
        """Open one more connection to the file, for another thread."""
        if self.read_only:
            address = f"{Path(self.path).absolute().as_uri()}?mode=ro"
            return sqlite3.connect(address, isolation_level=None, uri=True, check_same_thread=False)
        found = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        found.execute("PRAGMA journal_mode = WAL")
        return found

    def write_address(self, address: str) -> None:
        """Tell processes that find the file locked at which address it is in use."""
        assert self._lock is not None
        self._lock.write_note(address)

    def close(self) -> None:
        if hasattr(self, "db"):
            self.db.close()
        if self._lock is not None:
            self._lock.release()

    @contextmanager
    def written(self, *, to_disk: bool = False) -> Iterator[None]:
        """Run a transaction. It survives a killed process; a power cut only if it is written `to_disk`."""
        with self.writing, transaction(self.db, to_disk=to_disk and not self.follows):
            yield

    def __getstate__(self) -> dict[str, Any]:
        """Memory travels; a file stays with the process that has it open."""
        if self.path != IN_MEMORY:
            raise TypeError(
                f"{self.path}: what writes to a journal file cannot be pickled or copied; close() it and "
                "continue from the file elsewhere, or pickle its model"
            )
        return {"path": self.path, "entries": self.db.serialize()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"])  # type: ignore[misc]
        self.db.deserialize(state["entries"])


@contextmanager
def transaction(db: sqlite3.Connection, *, to_disk: bool) -> Iterator[None]:
    """Run a transaction. It survives a killed process; a power cut only if it is written `to_disk`.

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
