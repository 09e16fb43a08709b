"""A schedule times a factor that may change from call to call, without compiling anything anew.

Compiling a pointer takes tens of milliseconds and a megabyte that is never given back, and every
regression has a factor of its own: the unit of its labels. So the pointer reads the factor from a
cell of memory. Whoever learns borrows a cell, and there are as many cells as threads that ever
learned at the same time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numba import config, types
from numba.extending import intrinsic

from steelyard.kernels import jit


@contextmanager
def pointer(thing: Any, method: str) -> Iterator[tuple[Any, Callable[[float], None]]]:
    """A method of (t, h) as a pointer, 1 times what it returns, and the function that sets that factor."""
    cell = _free.pop() if _free else _Cell()
    try:
        cell.set(1.0)
        yield cell.pointer(thing, method), cell.set
    finally:
        _free.append(cell)


class _Cell:
    """Eight bytes, and the pointers that read them."""

    def __init__(self) -> None:
        self._number = np.ones(1)
        self._pointers: dict[Any, Any] = {}

    def set(self, factor: float) -> None:
        self._number[0] = factor

    def pointer(self, thing: Any, method: str) -> Any:
        number = self._number
        if config.DISABLE_JIT:
            return lambda t, h: number[0] * getattr(thing, method)(t, h)
        if (thing, method) not in self._pointers:
            address, push = int(number.ctypes.data), jit.compiled(thing, method)
            self._pointers[thing, method] = numba.cfunc(jit.TWO)(
                lambda t, h: _number_at(address) * push(t, h)
            )
        return self._pointers[thing, method]


_free: list[_Cell] = []


@intrinsic
def _number_at(_: Any, address: Any) -> Any:
    """The float64 at an address."""

    def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = context.get_value_type(types.float64).as_pointer()
        return builder.load(builder.inttoptr(arguments[0], pointer))

    return types.float64(address), load
