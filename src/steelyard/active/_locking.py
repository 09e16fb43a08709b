"""One lock for each object, so that threads may share it; it is left behind when the object is pickled."""

import errno
import sqlite3
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_Owner = TypeVar("_Owner", bound="Locked")


class Locked:
    """Has a `lock` that a thread may take several times."""

    def __init__(self) -> None:
        self.lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.RLock())


def locked(
    method: Callable[Concatenate[_Owner, _Parameters], _Result],
) -> Callable[Concatenate[_Owner, _Parameters], _Result]:
    """A method that one thread at a time runs, of all such methods of the object.

    A journal that turns out to be damaged while it is in use is an OSError.
    """

    @wraps(method)
    def alone(self: _Owner, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        with self.lock:
            try:
                return method(self, *args, **kwargs)
            except sqlite3.DatabaseError as error:
                path = getattr(getattr(self, "journal", None), "path", None)
                raise OSError(errno.EIO, f"is damaged ({error})", path) from error

    return alone
