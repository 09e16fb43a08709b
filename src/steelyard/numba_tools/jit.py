"""The decorators of kernels, and the binder that turns a loss into function pointers for them.

A kernel takes its loss as function pointers, so it is compiled once for all losses, and the next process
finds it in Numba's disk cache. Kernels may call each other across the files of `learn` and `text`: the cache
is stamped with the sources of all of them, so a change in any file compiles them again. Pointers are cached
on disk too, by their fingerprints (see `code_cache`): Numba's cache would not notice a change in another
file, nor distinguish two functions that differ only in their globals. So no loss can be stale.

Binding compiles the methods of the loss themselves. The loss becomes a namedtuple of its float fields and of
the compiled methods that it calls; functions and modules in a method's globals are replaced by compiled ones.
"""

import hashlib
import math
import sys
import threading
import types
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba import config, njit

from steelyard.numba_tools import code_cache, numba_private

numba_private.defer_blas()

# Sums may be reordered, products contracted; NaN and infinity keep their meaning.
FAST_SUMS = {"reassoc", "contract", "nsz", "arcp"}

# A part that calls a kernel would pass its own forceinline on to it, if it were the first caller.
_cached = njit(
    cache=True,
    nogil=True,
    error_model="numpy",
    fastmath=FAST_SUMS,
    forceinline=False,
    no_cfunc_wrapper=True,
)
_cached_with_python = njit(cache=True, forceinline=False)

_ROOMS = ("learn", "numba_tools", "text")


@cache
def _room_stamp() -> bytes:
    """A digest of all sources that contain kernels or tools to make them."""
    package = Path(__file__).parents[1]
    sources = [
        *sorted(source for room in _ROOMS for source in (package / room).glob("*.py")),
        package / "schedules.py",
    ]
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).digest()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop for the types of arrays it is called with, and cache the result on disk.

    Numba stamps its cache with the file that defines the function, and would not notice a change of a helper
    in another file.
    """
    return _stamped(_cached(function))


def with_python(function: Callable[..., Any]) -> Any:
    """The same for a function that calls Python, which it has to wait for: for what is seldom needed."""
    return _stamped(_cached_with_python(function))


def _stamped(compiled: Any) -> Any:
    if not config.DISABLE_JIT:
        numba_private.stamp_cache(compiled, _room_stamp())
    return compiled


# For what only kernels call. It has no machine code of its own and is not cached: it is compiled into every
# kernel that calls it. What takes long to compile and is used by several kernels had better be one itself.
linked = partial(
    njit, nogil=True, error_model="numpy", fastmath=FAST_SUMS, pipeline_class=numba_private.LinkedCompiler
)

# A part of a kernel that runs once a row: passing its many arrays would cost as much as the loop inside.
part = linked(forceinline=True)

# A function that kernels call, inlined where the compiler finds that worth while.
helper = linked(forceinline=False)


# Called within a kernel: the kernel is called, not inlined into its callers. Code that seldom runs would
# otherwise take registers from the loop around it.
apart = (lambda: None) if config.DISABLE_JIT else numba_private.never_inline

# An array that was given to a kernel, to pass on but not to return. Numba counts the references to an array
# at every call that it does not inline: two locked instructions for each array, which for one call a row cost
# as much as the row itself, and more if two threads share the array. The arguments of a kernel stay alive
# until it returns, so nobody need count.
borrow = (lambda array: array) if config.DISABLE_JIT else numba_private.uncounted


class Announcement:
    """Says on a terminal which kernel is being compiled, if that takes longer than a moment."""

    def __init__(self, patience: float = 1.0) -> None:
        self._patience = patience
        self._depth = 0
        self._timer: threading.Timer | None = None

    def begin(self, module: str, name: str) -> None:
        if self._depth == 0 and module.startswith("steelyard.") and sys.stderr.isatty():
            called = f"{module.removeprefix('steelyard.')}.{name}"
            said = f"steelyard: compiling {called}, once per machine\n"
            self._timer = threading.Timer(self._patience, sys.stderr.write, [said])
            self._timer.daemon = True
            self._timer.start()
        self._depth += 1

    def end(self) -> None:
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None


_announcement = Announcement()
numba_private.on_compile(_announcement.begin, _announcement.end)


@dataclass(frozen=True)
class MethodCompiler:
    """How the methods of a loss are compiled."""

    short: Callable[..., Any]
    """The decorator of methods and of short helpers."""
    long: Callable[..., Any]
    """The decorator of longer helpers."""
    arithmetic: types.ModuleType
    """The module that replaces `math`."""


# Methods and short helpers are inlined before type inference: that saves most of the compile time.
ONE_BY_ONE = MethodCompiler(
    njit(nogil=True, error_model="numpy", inline="always"), linked(fastmath=False), math
)
_FEW_LINES = 300  # bytes of bytecode
_TWO = numba.float64(numba.float64, numba.float64)
_THREE = numba.float64(numba.float64, numba.float64, numba.float64)


def pointer(thing: Any, method: str) -> Any:
    """A method of two numbers, say `loss.value(p, y)`, as a pointer."""
    return getattr(thing, method) if config.DISABLE_JIT else methods(thing).pointer(method)


def step_pointer(loss: Any, step: Callable[..., float]) -> Any:
    """`step(loss, p, y, u)`, the change of p under some update, as a pointer of (p, y, u)."""
    return partial(step, loss) if config.DISABLE_JIT else methods(loss).step_pointer(step)


def cached_pointer(
    function: Callable[..., float],
    thing: Any,
    signature: Any,
    bind: Callable[[], Any],
    form: str = "",
    **options: Any,
) -> Any:
    """A pointer to what `bind` makes of the function and the thing: from the disk cache, or compiled.

    `form` distinguishes different uses of the same function.
    """

    def compiled() -> Any:
        return numba.cfunc(signature, error_model="numpy", **options)(bind())

    key = code_cache.fingerprint(function, thing)
    if key is None:
        return compiled()
    return code_cache.load_or_compile(f"{key} {form} {_room_stamp().hex()}", signature, compiled)


def methods(thing: Any, dialect: MethodCompiler = ONE_BY_ONE) -> "Methods":
    """The compiled methods of a thing, made once for each class and set of attributes.

    (Losses whose class is not a dataclass compare equal whatever their attributes are.)
    """
    key = (type(thing), *sorted(vars(thing).items()), dialect)
    if key not in _bound:
        _bound[key] = Methods(thing, dialect)
    return _bound[key]


_bound: dict[Any, "Methods"] = {}


class Methods:
    """The compiled methods of one loss or schedule, compiled when first needed."""

    def __init__(self, loss: Any, dialect: MethodCompiler) -> None:
        self.loss = loss
        self._dialect = dialect
        self._compiled: dict[str, Any] = {}
        self._pointers: dict[Any, Any] = {}
        self._in_progress: set[str] = set()

    def pointer(self, name: str) -> Any:
        if name not in self._pointers:
            method = getattr(type(self.loss), name)
            self._pointers[name] = cached_pointer(
                method, self.loss, _TWO, lambda: self.compiled(name).py_func
            )
        return self._pointers[name]

    def step_pointer(self, step: Callable[..., float]) -> Any:
        if step not in self._pointers:
            self._pointers[step] = cached_pointer(step, self.loss, _THREE, lambda: self.bound(step).py_func)
        return self._pointers[step]

    def compiled(self, name: str) -> Any:
        """A method with `self` bound."""
        if name not in self._compiled:
            self._in_progress.add(name)
            self._compiled[name] = self.bound(getattr(type(self.loss), name))
            self._in_progress.discard(name)
        return self._compiled[name]

    def bound(self, function: Callable[..., float]) -> Any:
        """The function with its first argument fixed to the loss."""
        members = {}
        for name in sorted(_names(function) - self._in_progress):
            if isinstance(getattr(type(self.loss), name, None), types.FunctionType):
                members[name] = self.compiled(name)
            elif isinstance(getattr(self.loss, name, None), int | float):
                members[name] = float(getattr(self.loss, name))
        this = namedtuple("Bound", members)(**members)
        inlined = self._dialect.short
        compiled = inlined(_translated(function, self._dialect))
        by_arguments = {
            1: lambda a: compiled(this, a),
            2: lambda a, b: compiled(this, a, b),
            3: lambda a, b, c: compiled(this, a, b, c),
            4: lambda a, b, c, d: compiled(this, a, b, c, d),
        }
        return inlined(by_arguments[function.__code__.co_argcount - 1])


def _names(function: Any) -> set[str]:
    """Every name that the function or a function it may call looks up. (Losses do not recurse.)"""
    names = set(function.__code__.co_names)
    for name in function.__code__.co_names:
        for called in _functions(function.__globals__.get(name), function.__code__.co_names):
            names |= _names(called)
    return names


def _functions(thing: Any, attributes: tuple[str, ...]) -> list[Any]:
    if isinstance(thing, types.ModuleType) and thing is not math:
        return [
            vars(thing)[name] for name in attributes if isinstance(vars(thing).get(name), types.FunctionType)
        ]
    return [thing] if isinstance(thing, types.FunctionType) else []


@cache
def compiled(function: Any, dialect: MethodCompiler) -> Any:
    """A plain function, compiled with everything it calls."""
    few_lines = len(function.__code__.co_code) < _FEW_LINES
    return (dialect.short if few_lines else dialect.long)(_translated(function, dialect))


def _translated(function: Any, dialect: MethodCompiler) -> Any:
    """The function with everything that it calls compiled; its own source is unchanged."""
    names = function.__code__.co_names
    scope = {
        name: _translate(function.__globals__[name], names, dialect)
        for name in names
        if name in function.__globals__
    }
    return types.FunctionType(function.__code__, scope, function.__name__)


def _translate(thing: Any, attributes: tuple[str, ...], dialect: MethodCompiler) -> Any:
    if isinstance(thing, types.FunctionType):
        return compiled(thing, dialect)
    if thing is math:
        return dialect.arithmetic
    if isinstance(thing, types.ModuleType):
        twin = types.ModuleType(thing.__name__)
        for name in attributes:
            if name in vars(thing):
                setattr(twin, name, _translate(vars(thing)[name], attributes, dialect))
        return twin
    return thing
