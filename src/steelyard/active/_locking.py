"""`locked`: methods of an object that one thread at a time runs."""

import errno
import sqlite3
import threading
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from steelyard.active.journal import Journal

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class _JournalUser(Protocol):
    lock: threading.RLock
    journal: Journal


_Owner = TypeVar("_Owner", bound=_JournalUser)


def locked(
    method: Callable[Concatenate[_Owner, _Parameters], _Result],
) -> Callable[Concatenate[_Owner, _Parameters], _Result]:
    """Let one thread at a time run the method, of all such methods of the object.

    A journal that turns out to be damaged while it is in use is an OSError.
    """

    @wraps(method)
    def run_alone(self: _Owner, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        with self.lock:
            try:
                return method(self, *args, **kwargs)
            except sqlite3.DatabaseError as error:
                raise OSError(errno.EIO, f"is damaged ({error})", self.journal.path) from error

    return run_alone
