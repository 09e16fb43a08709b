"""How kernels are declared: Python functions on arrays and numbers, which run compiled or as they stand.

- `kernel`: a loop that Python calls. Its parameters are annotated with their types (see `kinds`), for each
  combination of which the library has machine code.
- `part`: inlined into kernels. A part runs once a row: passing its arguments would cost as much as it does.
- `helper`: inlined into kernels where the compiler finds that worth while.
- `intrinsic`: a few LLVM instructions; `overload` gives the compiled form of a plain function.

Compiled code does not allocate, raise or call Python. With NUMBA_DISABLE_JIT=1 everything runs as plain Python,
which tests use for coverage and as a twin; with NUMBA_BOUNDSCHECK=1 compiled code checks bounds. Numba is needed
only while a kernel is built (see `code`).
"""

import inspect
import os
from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from importlib.util import find_spec
from typing import Any

from steelyard.native import calls, code, kinds
from steelyard.native.lazy import compiler, method_compiler


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "0") not in ("", "0")


PLAIN = _is_set("NUMBA_DISABLE_JIT")
CHECKED = not PLAIN and _is_set("NUMBA_BOUNDSCHECK") and find_spec("numba") is not None

# Sums may be reordered, products contracted; NaN and infinity keep their meaning.
FAST_SUMS = frozenset({"reassoc", "contract", "nsz", "arcp"})
EXACT: frozenset[str] = frozenset()


class Part:
    """A function that kernels call and Python does not."""

    def __init__(self, function: Callable[..., Any], inline: bool, fastmath: frozenset[str]) -> None:
        self.function, self.inline, self.fastmath = function, inline, fastmath
        update_wrapper(self, function)  # type: ignore[arg-type]

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's form of the function, which compiled code calls."""
        return compiler.dispatcher(self)

    @property
    def _numba_type_(self) -> Any:
        """Its Numba type, which Numba asks for when it compiles a caller."""
        return self.dispatcher._numba_type_


class Kernel(Part):
    """A function that Python calls, and kernels too. Its annotations say for which types the library has it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, False, FAST_SUMS)
        self.name = f"{function.__module__.removeprefix('steelyard.')}.{function.__name__}"
        self._calls: dict[str, calls.Call] = {}

    def __call__(self, *arguments: Any) -> Any:
        key, words = calls.describe(arguments)
        call = self._calls.get(key) or self._begin(key)
        return call(words)

    def _begin(self, key: str) -> calls.Call:
        if self.declared and key not in kinds.keys_of(self.function):
            raise TypeError(f"{self.name} takes none of these types: {key}")
        call = self._calls[key] = calls.Call(code.runnable(KernelEntry(self, key)), key)
        return call

    @property
    def declared(self) -> bool:
        """Whether its parameters have kinds: then it is in the library."""
        return kinds.declares(self.function)


class KernelEntry:
    """The machine code of a kernel for one key: a `code.Entry`."""

    def __init__(self, kernel: Kernel, key: str) -> None:
        self._kernel, self._key = kernel, key
        self.name = f"{kernel.name} {key}{' checked' if CHECKED else ''}"
        self.title, self.ships = kernel.name, kernel.declared

    @property
    def made_from(self) -> str | None:
        function = inspect.unwrap(self._kernel.function)
        if function.__closure__:  # it may close over anything
            return None
        if function.__module__.startswith("steelyard."):
            return code.sources_of(function.__module__)
        return code.sources_around(function)

    def llvm(self, symbol: str) -> str:
        text: str = compiler.kernel_llvm(self._kernel, self._key, symbol)
        return text


class Outside(Part):
    """A plain function of another room, with all that it calls."""

    @cached_property
    def dispatcher(self) -> Any:
        return method_compiler.compiled(self.function)


class Intrinsic:
    """A function with LLVM instructions that `build(context, …)` gives, like an intrinsic of Numba."""

    def __init__(self, build: Callable[..., Any], prefer_literal: bool) -> None:
        self.build, self.prefer_literal = build, prefer_literal
        update_wrapper(self, build)  # type: ignore[arg-type]

    @cached_property
    def _numba_type_(self) -> Any:
        return compiler.intrinsic_type(self)


def _as_it_stands(function: Any) -> Any:
    return function


def kernel(function: Callable[..., Any]) -> Any:
    return function if PLAIN else Kernel(function)


part: Any = _as_it_stands if PLAIN else partial(Part, inline=True, fastmath=FAST_SUMS)
outside: Any = _as_it_stands if PLAIN else partial(Outside, inline=False, fastmath=EXACT)
in_this_order: Any = _as_it_stands if PLAIN else partial(Part, inline=True, fastmath=frozenset({"contract"}))
helper: Any = _as_it_stands if PLAIN else partial(Part, inline=False, fastmath=FAST_SUMS)


def intrinsic(build: Any = None, prefer_literal: bool = False) -> Any:
    return partial(Intrinsic, prefer_literal=prefer_literal) if build is None else Intrinsic(build, False)


OVERLOADS: list[tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = []


def overload(function: Callable[..., Any], **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Register a compiled form as `numba.extending.overload` does: the decorated function returns it for types."""

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        OVERLOADS.append((function, implementation, options))
        return implementation

    return register


# A part that calls this is not inlined into its callers: code that rarely runs would take registers from the
# loop around it.
@intrinsic
def _never_inline(context: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return compiler.NOTHING(), build


apart: Any = (lambda: None) if PLAIN else _never_inline
