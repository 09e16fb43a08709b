"""Parts of kernels have no code that Python could call; tests call them by a kernel of their own."""

from collections.abc import Callable
from functools import update_wrapper
from inspect import signature
from typing import Any

from steelyard.native.declare import PLAIN, Kernel, kernel


def callable_part(part: Callable[..., Any]) -> Callable[..., Any]:
    """The part as a function for Python."""
    if PLAIN:
        return part

    def called(*arguments: Any) -> Any:
        return part(*arguments)

    its_own = signature(called)
    update_wrapper(called, part, updated=())
    called.__signature__ = its_own  # type: ignore[attr-defined]  # Numba would take the part's
    return Kernel(called)


def call_method(method: Any, *arguments: float) -> float:
    """What a kernel makes of a function that it is called with."""
    return float(_CALLS[len(arguments)](method, *arguments))


def _two(method, p, y):  # type: ignore[no-untyped-def]
    return method(p, y)


def _three(method, p, y, u):  # type: ignore[no-untyped-def]
    return method(p, y, u)


_CALLS = {2: kernel(_two), 3: kernel(_three)}
