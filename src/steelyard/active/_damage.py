"""`reading`: an error that names the journal, whatever is wrong with what it stores."""

import errno
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNS = (
    sqlite3.DatabaseError, zlib.error, ValueError, LookupError, TypeError, AttributeError, OverflowError,
    RecursionError,
)  # fmt: skip


# Codes of SQLite for what is wrong around a journal that may itself be whole.
_ELSEWHERE = (
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
)  # fmt: skip


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn any error while entries of this journal are read into an OSError that names it.

    A ValueError then is always about what somebody wants of the journal.
    """
    try:
        yield
    except _SIGNS as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _ELSEWHERE:
            raise
        raise OSError(errno.EIO, f"is damaged ({type(error).__name__}: {error}); use a copy", path) from error
