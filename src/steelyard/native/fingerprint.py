"""A digest of all that the code of a function depends on: its bytecode, that of all it calls, constants, types.

A change of any of them gives another digest, so compiled code is never stale, wherever a loss is defined.
"""

import hashlib
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

NUMBERS = (int, float, np.integer, np.floating, np.bool_)
_PLAIN = (bool, int, float, str, types.NoneType)


def fingerprint(function: Callable[..., float], thing: Any, parameters: tuple[str, ...] = ()) -> str | None:
    """Return the fingerprint of a function whose first argument is `thing`, such as a loss with any parameters.

    None if it depends on something that may change unnoticed: a list, a closure, a compiled function.
    """
    try:
        described = _Describer(thing, parameters).function(function)
    except _OpaqueError:
        return None
    return hashlib.sha256(repr(described).encode()).hexdigest()


class _OpaqueError(Exception):
    """The function depends on something that may change unnoticed."""


class _Describer:
    """Describes functions as nested tuples whose `repr` determines the code."""

    def __init__(self, thing: Any, parameters: tuple[str, ...]) -> None:
        self._thing, self._parameters = thing, parameters
        self._seen: dict[Any, int] = {}

    def function(self, function: Any) -> tuple[Any, ...]:
        if function in self._seen:
            return ("again", self._seen[function])
        self._seen[function] = len(self._seen)
        code = function.__code__
        if code.co_freevars:
            raise _OpaqueError
        return (
            code.co_code, code.co_exceptiontable, code.co_flags, code.co_argcount, code.co_varnames,
            *(self._value(part, ()) for part in (code.co_consts, function.__defaults__)),
            *(self._name(name, function) for name in code.co_names),
        )  # fmt: skip

    def _name(self, name: str, function: Any) -> tuple[Any, ...]:
        """Describe all that a name may refer to: a global, and a member of the bound object."""
        names, scope = function.__code__.co_names, function.__globals__
        found = (self._value(scope[name], names),) if name in scope else ()
        method = getattr(type(self._thing), name, None)
        if isinstance(method, types.FunctionType):
            return name, found, self.function(method)
        if name in self._parameters:
            return name, found, ("parameter", self._parameters.index(name))
        number = getattr(self._thing, name, None)
        return name, found, float(number) if isinstance(number, NUMBERS) else None

    def _value(self, value: Any, names: tuple[str, ...]) -> Any:
        if isinstance(value, types.FunctionType):
            return self.function(value)
        if value is math:
            return "math"
        if isinstance(value, types.ModuleType):
            if (value, names) in self._seen:  # two modules may import each other
                return ("again", self._seen[value, names])
            self._seen[value, names] = len(self._seen)
            members = vars(value)
            return tuple((name, self._value(members[name], names)) for name in names if name in members)
        if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "math":
            return "math", value.__name__
        if type(value) is tuple:
            return tuple(self._value(item, names) for item in value)
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf":
            return str(value.dtype), value.shape, value.tobytes()
        if type(value) not in _PLAIN:
            raise _OpaqueError
        return type(value).__name__, value
