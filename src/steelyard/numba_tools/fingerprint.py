"""What a plain function computes, as a digest of all that decides it.

Two functions with one fingerprint are compiled to the same code, in whatever file, class or process
they stand. It covers the bytecode and constants of the function, those of every function it may
call, the values of the globals they name, and the numbers and methods of the object they are bound
to. What it cannot see through (an array, a closure, a compiled function) gives no fingerprint.
"""

import hashlib
import math
import types
from collections.abc import Callable
from typing import Any

_PLAIN = (bool, int, float, str, types.NoneType)


def fingerprint(function: Callable[..., float], thing: Any) -> str | None:
    """Of the function with its first argument fixed to the thing, a loss say; None if there is none."""
    try:
        described = _Reader(thing).function(function)
    except _UnknownError:
        return None
    return hashlib.sha256(repr(described).encode()).hexdigest()


class _UnknownError(Exception):
    """Something that may change without being seen."""


class _Reader:
    """Describes functions as nested tuples, whose `repr` says everything."""

    def __init__(self, thing: Any) -> None:
        self._thing = thing
        self._read: dict[Any, int] = {}

    def function(self, function: Any) -> tuple[Any, ...]:
        if function in self._read:
            return ("again", self._read[function])
        self._read[function] = len(self._read)
        code = function.__code__
        if code.co_freevars:
            raise _UnknownError
        return (
            code.co_code, code.co_exceptiontable, code.co_flags, code.co_argcount, code.co_varnames,
            self._value(code.co_consts, ()),
            *(self._name(name, function) for name in code.co_names),
        )  # fmt: skip

    def _name(self, name: str, function: Any) -> tuple[Any, ...]:
        """All that a name may mean: a global, and a member of what the function is bound to."""
        names, scope = function.__code__.co_names, function.__globals__
        found = (self._value(scope[name], names),) if name in scope else ()
        method = getattr(type(self._thing), name, None)
        if isinstance(method, types.FunctionType):
            return name, found, self.function(method)
        number = getattr(self._thing, name, None)
        return name, found, float(number) if isinstance(number, int | float) else None

    def _value(self, value: Any, names: tuple[str, ...]) -> Any:
        if isinstance(value, types.FunctionType):
            return self.function(value)
        if value is math:
            return "math"
        if isinstance(value, types.ModuleType):
            members = vars(value)
            return tuple((name, self._value(members[name], names)) for name in names if name in members)
        if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "math":
            return "math", value.__name__
        if type(value) is tuple:
            return tuple(self._value(item, names) for item in value)
        if type(value) not in _PLAIN:
            raise _UnknownError
        return type(value).__name__, value
