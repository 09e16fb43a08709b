"""The methods of a loss, and the functions of a schedule, for many lanes at once.

A *board* is a matrix of float64 with a row for each quantity and a column for each lane. An *array form* is a
pointer to a function of a board and a range of its lanes: it reads some rows and fills in another, with the
methods of the loss itself. Their source is compiled with `vector_math` in place of `math`, as exact as the
type of the weights requires, and all of it into one loop. The compiler vectorises that loop if the source has
no loops of its own and the index is unsigned.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import carray, config
from numba.extending import intrinsic, overload

from steelyard.learn import vector_math
from steelyard.learn.vector_math import ARITHMETIC, arithmetic
from steelyard.numba_tools import jit
from steelyard.numba_tools.jit import part
from steelyard.numba_tools.numba_private import nothing

# The rows of a board: clock, importance and push; prediction, label, push times x·x; the results; and
# initial_t and power_t, for schedules that differ from lane to lane.
T, H, PUSH, P, Y, U, CHANGE, VALUE, SLOPE, AFTER, TIME, INITIAL_T, POWER_T, ROWS = range(14)

# The number of lanes, and of the lanes of each update, is a multiple of this, so that loops have no
# leftovers.
WIDTH = 16


DIALECTS = {
    "float32": jit.MethodCompiler(arithmetic, arithmetic, vector_math.SINGLE),
    "float64": jit.MethodCompiler(arithmetic, arithmetic, vector_math.DOUBLE),
}
_EXACT = DIALECTS["float64"]
_BOARD = numba.types.CPointer(numba.float64)
_FORM = numba.void(_BOARD, numba.intp, numba.intp, numba.intp)
_MOMENTS = numba.void(_BOARD, numba.intp, numba.float64, numba.float64)


def address(board: Any) -> Any:
    """The board as an argument of an array form."""
    return board


@overload(address)
def _address(board):
    return lambda board: board.ctypes


def table(forms: Sequence[Any]) -> Any:
    """Array forms, one for each update, as kernels take any number of them: by their addresses."""
    return tuple(forms) if config.DISABLE_JIT else np.array([form.address for form in forms], np.int64)


@part
def fill_board(forms, board, bounds):
    """Call each form of a table for its lanes of the board: from bounds[i] to bounds[i + 1]."""
    for i in range(len(forms)):
        if bounds[i] < bounds[i + 1]:
            _call(forms[i], board, np.int64(board.shape[1]), bounds[i], bounds[i + 1])


def _call(form: Any, board: Any, lanes: Any, first: int, last: int) -> None:
    form(board, lanes, first, last)


@overload(_call)
def _compiled_call(form, board, lanes, first, last):
    return lambda form, board, lanes, first, last: _call_address(
        form, np.int64(board.ctypes.data), lanes, first, last
    )


@intrinsic
def _call_address(context, form, board, lanes, first, last):
    def build(context, builder, signature, arguments):
        numbers, integer = ir.DoubleType().as_pointer(), ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [numbers, integer, integer, integer])
        form, board, *lanes = arguments
        builder.call(builder.inttoptr(form, kind.as_pointer()), [builder.inttoptr(board, numbers), *lanes])
        return nothing(context)

    return numba.void(*[numba.int64] * 5), build


def steps(loss: Any, step: Callable[..., float], dtype: str) -> Any:
    """Fills in CHANGE: how far U moves P under the update with this `step(loss, p, y, u)`."""
    return _form(loss, dtype, step, _fill_change)


def values(loss: Any, dtype: str) -> Any:
    """Fills in VALUE: the loss of P."""
    return _form(loss, dtype, type(loss).value, _fill_value)


def slopes(loss: Any, dtype: str) -> Any:
    """Fills in SLOPE: the derivative of the loss at P."""
    return _form(loss, dtype, type(loss).derivative, _fill_slope)


def values_after(loss: Any, dtype: str) -> Any:
    """Fills in AFTER: the loss of P + CHANGE."""
    return _form(loss, dtype, type(loss).value, _fill_after)


def times(loss: Any, time: Callable[..., float], dtype: str) -> Any:
    """Fills in TIME: the push that makes CHANGE under the update with this `time(loss, p, y, change)`."""
    return _form(loss, dtype, time, _fill_time)


@cache
def pushes_by_lane(schedule: Callable[..., float]) -> Any:
    """As `pushes`, for lanes that differ in INITIAL_T and POWER_T."""
    if config.DISABLE_JIT:
        return partial(_fill_push_by_lane, schedule)

    def bind() -> Any:
        function = jit.compiled(schedule, _EXACT)
        fill = arithmetic(_fill_push_by_lane)

        def form(board: Any, lanes: int, first: int, last: int) -> None:  # pragma: no cover  (compiled)
            fill(function, carray(board, (ROWS, lanes)), lanes, first, last)

        return form

    return jit.cached_pointer(schedule, None, _FORM, bind, "_fill_push_by_lane", fastmath=ARITHMETIC)


@cache
def pushes(schedule: Callable[..., float]) -> Any:
    """Fills in PUSH from T and H; `schedule(learning_rate, initial_t, power_t, t, h)`, for a rate of 1."""
    if config.DISABLE_JIT:
        return partial(_fill_push, schedule)

    def bind() -> Any:
        function = jit.compiled(schedule, _EXACT)
        fill = arithmetic(_fill_push)

        def moments(board: Any, turns: int, initial_t: float, power_t: float) -> None:  # pragma: no cover
            fill(function, carray(board, (ROWS, turns)), turns, initial_t, power_t)

        return moments

    return jit.cached_pointer(schedule, None, _MOMENTS, bind, fastmath=ARITHMETIC)


def _form(loss: Any, dtype: str, method: Callable[..., float], loop: Callable[..., None]) -> Any:
    return _cached_form(jit.methods(loss, DIALECTS[dtype]), dtype, method, loop)


@cache
def _cached_form(
    methods: jit.Methods, dtype: str, method: Callable[..., float], loop: Callable[..., None]
) -> Any:
    if config.DISABLE_JIT:
        return partial(loop, partial(method, methods.loss))

    def bind() -> Any:
        function = methods.bound(method)
        fill = arithmetic(loop)

        def form(board: Any, lanes: int, first: int, last: int) -> None:  # pragma: no cover  (compiled)
            fill(function, carray(board, (ROWS, lanes)), lanes, first, last)

        return form

    return jit.cached_pointer(
        method, methods.loss, _FORM, bind, f"{loop.__name__} {dtype}", fastmath=ARITHMETIC
    )


def _fill_change(step: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        board[CHANGE, k] = step(board[P, k], board[Y, k], board[U, k])


def _fill_value(value: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        board[VALUE, k] = value(board[P, k], board[Y, k])


def _fill_slope(derivative: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        board[SLOPE, k] = derivative(board[P, k], board[Y, k])


def _fill_after(value: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        board[AFTER, k] = value(board[P, k] + board[CHANGE, k], board[Y, k])


def _fill_time(time: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        change = board[CHANGE, k]
        needed = time(board[P, k], board[Y, k], change)
        board[TIME, k] = needed if change != 0.0 else 0.0


def _fill_push_by_lane(schedule: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        board[PUSH, k] = schedule(1.0, board[INITIAL_T, k], board[POWER_T, k], board[T, k], board[H, k])


def _fill_push(schedule: Any, board: Any, turns: int, initial_t: float, power_t: float) -> None:
    for k in range(np.uint64(turns)):
        board[PUSH, k] = schedule(1.0, initial_t, power_t, board[T, k], board[H, k])
