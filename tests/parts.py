"""Parts of kernels have no code that Python could call; tests call them by a kernel of their own."""

from collections.abc import Callable
from typing import Any

from numba import config, njit


def callable_part(part: Callable[..., Any]) -> Callable[..., Any]:
    """The part as a function for Python, compiled anew by every run."""
    if config.DISABLE_JIT:
        return part
    called: Callable[..., Any] = njit(lambda *arguments: part(*arguments))
    return called
