"""The methods of a loss, and the functions of a schedule, for many lanes at once.

A *board* is a matrix of float64 with a row for each quantity and a column for each lane. An *array form* is a
pointer to a function that takes a board and a range of its lanes: it reads some rows and fills in another one,
with the methods of the loss itself. Their source is compiled with `vector_math` in place of `math`, as exact
as the type of the weights requires, and all of it into one loop. The compiler vectorises that loop if the
source has no loops of its own and the index is unsigned.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from steelyard.learn import vector_math
from steelyard.learn.vector_math import ARITHMETIC
from steelyard.native.declare import PLAIN, intrinsic, overload, part
from steelyard.native.lazy import ir, types
from steelyard.native.memory import address_of
from steelyard.native.methods import Dialect, Method

# The rows of a board: clock, weight and push; prediction, label, push times x·x; what array forms fill in; and
# initial_t and power_t, for schedules that differ from lane to lane.
T, H, PUSH, P, Y, U, CHANGE, VALUE, SLOPE, AFTER, TIME, INITIAL_T, POWER_T, ROWS = range(14)

# The number of lanes, and of those of each update, is a multiple of this, so that loops have no leftovers.
WIDTH = 16


DIALECTS = {
    "float32": Dialect("float32", vector_math.SINGLE, ARITHMETIC, True),
    "float64": Dialect("float64", vector_math.DOUBLE, ARITHMETIC, True),
}
_EXACT = DIALECTS["float64"]

# The board as an argument of an array form.
address = address_of


def table(forms: Sequence[Any]) -> Any:
    """Return array forms, one for each update, as kernels take them: addresses of code and of parameters."""
    if PLAIN:
        return tuple(forms)
    return np.array([form.words for form in forms], np.int64).reshape(-1, 2)


@part
def fill_board(forms, board, bounds):
    """Call each form of a table for its lanes of the board: from bounds[i] to bounds[i + 1]."""
    for i in range(len(forms)):
        if bounds[i] < bounds[i + 1]:
            _call(forms, i, board, np.int64(board.shape[1]), bounds[i], bounds[i + 1])


def _call(forms, i, board, lanes, first, last):
    forms[i](board, lanes, first, last)


@overload(_call)
def _compiled_call(forms, i, board, lanes, first, last):
    return lambda forms, i, board, lanes, first, last: _call_address(
        forms[i, 0], forms[i, 1], address_of(board), lanes, first, last
    )


@intrinsic
def _call_address(context, form, parameters, board, lanes, first, last):
    def build(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * 5)
        form, *given = arguments
        builder.call(builder.inttoptr(form, kind.as_pointer()), given)
        return context.get_dummy_value()

    return types.none(*[types.int64] * 6), build


def steps(loss: Any, step: Callable[..., float], dtype: str) -> Any:
    """Return the form that fills in CHANGE: how far U moves P under the update `step(loss, p, y, u)`."""
    return _form(loss, DIALECTS[dtype], step, _fill_change)


def values(loss: Any, dtype: str) -> Any:
    """Return the form that fills in VALUE: the loss of P."""
    return _form(loss, DIALECTS[dtype], type(loss).value, _fill_value)


def slopes(loss: Any, dtype: str) -> Any:
    """Return the form that fills in SLOPE: the derivative of the loss at P."""
    return _form(loss, DIALECTS[dtype], type(loss).derivative, _fill_slope)


def values_after(loss: Any, dtype: str) -> Any:
    """Return the form that fills in AFTER: the loss of P + CHANGE."""
    return _form(loss, DIALECTS[dtype], type(loss).value, _fill_after)


def times(loss: Any, time: Callable[..., float], dtype: str) -> Any:
    """Return the form that fills in TIME: the push that makes CHANGE, by an update's `time(loss, p, y, change)`."""
    return _form(loss, DIALECTS[dtype], time, _fill_time)


@cache
def pushes_by_lane(schedule: Callable[..., float]) -> Any:
    """Return the form of `pushes` for lanes that differ in INITIAL_T and POWER_T."""
    return _form(None, _EXACT, schedule, _fill_push_by_lane)


@cache
def pushes(schedule: Callable[..., float]) -> Any:
    """Return the form that fills in PUSH from T and H, for a learning rate of 1.

    The schedule is a function `schedule(learning_rate, initial_t, power_t, t, h)`.
    """
    if PLAIN:
        return partial(_fill_push, schedule)
    return Method(schedule, None, "Fmoments", _EXACT, _fill_push)


def _form(loss: Any, dialect: Dialect, method: Callable[..., float], loop: Callable[..., None]) -> Any:
    return partial(loop, method, loss) if PLAIN else Method(method, loss, "Fboard", dialect, loop)


def _fill_change(step: Any, loss: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        board[CHANGE, k] = step(loss, board[P, k], board[Y, k], board[U, k])


def _fill_value(value: Any, loss: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        board[VALUE, k] = value(loss, board[P, k], board[Y, k])


def _fill_slope(derivative: Any, loss: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        board[SLOPE, k] = derivative(loss, board[P, k], board[Y, k])


def _fill_after(value: Any, loss: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        board[AFTER, k] = value(loss, board[P, k] + board[CHANGE, k], board[Y, k])


def _fill_time(time: Any, loss: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        change = board[CHANGE, k]
        needed = time(loss, board[P, k], board[Y, k], change)
        board[TIME, k] = needed if change != 0.0 else 0.0


def _fill_push_by_lane(schedule: Any, nothing: Any, board: Any, lanes: int, first: int, last: int) -> None:
    for k in range(np.uint64(first), np.uint64(last)):
        board[PUSH, k] = schedule(1.0, board[INITIAL_T, k], board[POWER_T, k], board[T, k], board[H, k])


def _fill_push(schedule: Any, board: Any, turns: int, initial_t: float, power_t: float) -> None:
    for k in range(np.uint64(turns)):
        board[PUSH, k] = schedule(1.0, initial_t, power_t, board[T, k], board[H, k])
