"""The methods of a loss as functions that kernels call; the loss's parameters are passed, not compiled in.

A loss is plain Python. While its code is built, `self` is a value of its own type: fields of the dataclass,
such as the τ of a quantile, are read from the parameters of the call, and methods that a method calls are
compiled with it (see `method_compiler`). So one piece of machine code serves all losses of a class.
"""

import math
import types
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.native import code
from steelyard.native.calls import Function
from steelyard.native.declare import CHECKED, EXACT, PLAIN
from steelyard.native.fingerprint import NUMBERS, fingerprint
from steelyard.native.lazy import method_compiler


@dataclass(frozen=True)
class Dialect:
    """A way to compile the methods of a loss."""

    name: str
    arithmetic: types.ModuleType
    """The module that replaces `math`."""
    fastmath: frozenset[str]
    one_loop: bool
    """Whether everything is inlined into one loop over many numbers."""


ONE_BY_ONE = Dialect("scalar", math, EXACT, False)


@dataclass(frozen=True, eq=False)
class Method(Function):
    """A function whose first argument is a thing, such as a loss, or a loop that calls it for many numbers.

    Its code is looked up, or compiled, when a kernel is called with it.
    """

    function: Callable[..., Any]
    thing: Any
    code: str
    dialect: Dialect = ONE_BY_ONE
    loop: Callable[..., Any] | None = None

    @cached_property
    def words(self) -> tuple[int, int]:
        # The loss of a user may be edited while this process runs, and so may the functions that it calls.
        own = () if self.ships else (self.made_from, parameters_of(self.thing), constants_of(self.thing))
        key = self.function, type(self.thing), self.code, self.dialect.name, self.loop, own
        if key not in _addresses:
            _addresses[key] = code.address(self)
        return _addresses[key], parameter_array(self.thing).ctypes.data

    @property
    def name(self) -> str:
        kind = type(self.thing)
        owner = f"{kind.__module__}.{kind.__qualname__}" if self.thing is not None else ""
        loop = self.loop.__name__ if self.loop is not None else ""
        function = f"{self.function.__module__}.{self.function.__qualname__}"
        checked = "checked" if CHECKED else ""
        return " ".join(filter(None, (owner, function, loop, self.dialect.name, self.code, checked)))

    @property
    def ships(self) -> bool:
        """Whether all of it belongs to this package."""
        kinds = type(self.thing), self.function
        return all(str(kind.__module__).partition(".")[0] in ("steelyard", "builtins") for kind in kinds)

    @property
    def title(self) -> str:
        function = self.function.__name__.strip("_")
        return function if self.thing is None else f"{type(self.thing).__name__}.{function}"

    @property
    def made_from(self) -> str | None:
        own = fingerprint(self.function, self.thing, parameters_of(self.thing))
        # A loop imports the arithmetic of its dialects.
        around = code.sources_of(self.loop.__module__ if self.loop else "steelyard.native.method_compiler")
        return own + around if own and around else None

    def llvm(self, symbol: str) -> str:
        text: str = method_compiler.llvm(
            self.function, self.thing, self.code, self.dialect, self.loop, symbol
        )
        return text


_addresses: dict[Any, int] = {}
_parameter_arrays: dict[bytes, NDArray[np.float64]] = {}


def parameter_array(thing: Any) -> NDArray[np.float64]:
    """Return the numbers that are passed at each call, in an array that is never freed: kernels get its address."""
    numbers = np.array([getattr(thing, name) for name in parameters_of(thing)], np.float64)
    return _parameter_arrays.setdefault(numbers.tobytes(), numbers)


def pointer(thing: Any, method: str) -> Any:
    """Return a method of two numbers, such as `loss.value(p, y)`, as kernels call it."""
    return getattr(thing, method) if PLAIN else Method(getattr(type(thing), method), thing, "F2")


def step_pointer(loss: Any, step: Callable[..., float]) -> Any:
    """Return `step(loss, p, y, u)`, the change of p under an update, as a function of (p, y, u) that kernels call."""
    return (lambda p, y, u: step(loss, p, y, u)) if PLAIN else Method(step, loss, "F3")


@cache
def _fields_of(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def parameters_of(thing: Any) -> tuple[str, ...]:
    """Return the names of the numbers that are passed at each call."""
    kind: Any = type(thing)
    return tuple(name for name in _fields_of(kind) if isinstance(getattr(thing, name), NUMBERS))


def constants_of(thing: Any) -> tuple[tuple[str, float], ...]:
    """Return the numbers that are compiled in, by name: class attributes, properties and others that are not fields."""
    names = {name for name in dir(thing) if not name.startswith("__")} - set(parameters_of(thing))
    found = ((name, getattr(thing, name)) for name in sorted(names))
    return tuple((name, float(value)) for name, value in found if isinstance(value, NUMBERS))
