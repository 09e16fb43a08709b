"""Array forms of every loss in the registry against its own scalar methods, lane by lane."""

import ctypes
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from steelyard import losses, schedules, updates
from steelyard.learn import batched_loss
from steelyard.learn.batched_loss import (
    AFTER,
    CHANGE,
    PUSH,
    ROWS,
    SLOPE,
    TIME,
    VALUE,
    WIDTH,
    H,
    P,
    T,
    U,
    Y,
    address,
)
from steelyard.losses import Loss, OneOf
from steelyard.native import processor
from steelyard.native.declare import CHECKED, PLAIN, kernel
from steelyard.native.lazy import compiler
from tests.support.parts import callable_part

LOSSES = [losses.by_name(name) for name in losses.names()]
EXACTNESS = {"float32": 1e-8, "float64": 2e-13}
# Most lanes are float32, and tested as such elsewhere; here are the losses that ask most of its short series.
by_type = pytest.mark.parametrize(
    ("loss", "dtype"),
    [(loss, "float64") for loss in LOSSES]
    + [(losses.by_name(name), "float32") for name in ("squared", "logistic", "hellinger")],
    ids=str,
)


@kernel
def call(form, board, first, last):  # type: ignore[no-untyped-def]
    form(address(board), board.shape[1], first, last)


@kernel
def call_moments(form, board, initial_t, power_t):  # type: ignore[no-untyped-def]
    form(address(board), board.shape[1], initial_t, power_t)


def board_for(loss: Loss) -> np.ndarray:
    """Every prediction with every push and label, from the usual to the absurd."""
    labels = loss.labels.values if isinstance(loss.labels, OneOf) else (-1.0, 0.3, 2.0)
    questions = [
        (p, y, u)
        for y in labels
        for p in (-690.0, -40.0, -3.0, -1.0, -0.2, 0.0, 1e-9, 0.3, 0.999, 1.0, 1.7, 8.0, 36.0, 38.0, 690.0)
        for u in (0.0, 1e-12, 1e-3, 0.2, 0.9, 1.5, 30.0, 1e4, 1e12)
    ]
    questions += questions[: -len(questions) % WIDTH]
    board = np.zeros((ROWS, len(questions)))
    board[[P, Y, U]] = np.array(questions).T
    return board


def check(board: np.ndarray, row: int, dtype: str, expected: Callable[[float, float, float], float]) -> None:
    wanted = np.array([expected(p, y, u) for p, y, u in board[[P, Y, U]].T.tolist()])
    usual = np.abs(wanted) < 1e290  # beyond, arithmetic is held where the C library overflows
    np.testing.assert_allclose(board[row, usual], wanted[usual], rtol=EXACTNESS[dtype], atol=1e-300)
    assert not np.isnan(board[row]).any()


@by_type
def test_values_slopes_and_values_after(loss: Loss, dtype: str) -> None:
    board = board_for(loss)
    lanes = board.shape[1]
    call(batched_loss.values(loss, dtype), board, 0, lanes)
    call(batched_loss.slopes(loss, dtype), board, 0, lanes)
    check(board, VALUE, dtype, lambda p, y, u: loss.value(p, y))
    check(board, SLOPE, dtype, lambda p, y, u: loss.derivative(p, y))
    board[CHANGE] = 0.25
    call(batched_loss.values_after(loss, dtype), board, 0, lanes)
    check(board, AFTER, dtype, lambda p, y, u: loss.value(p + 0.25, y))


@by_type
def test_every_update(loss: Loss, dtype: str) -> None:
    for name in updates.names_for(loss):
        board = board_for(loss)
        step = updates.by_name(name).step
        with np.errstate(all="ignore"):
            call(batched_loss.steps(loss, step, dtype), board, 0, board.shape[1])
        check(board, CHANGE, dtype, partial(step, loss))


@pytest.mark.parametrize("name", ["squared", "logistic"])
@pytest.mark.parametrize("dtype", EXACTNESS)
def test_the_push_that_a_change_takes(name: str, dtype: str) -> None:
    loss, update = losses.by_name(name), updates.by_name("invariant")
    board = np.zeros((ROWS, WIDTH))
    board[P], board[Y], board[U] = np.linspace(-3.0, 0.5, WIDTH), 1.0, 0.7
    board[CHANGE] = [update.step(loss, p, 1.0, 0.7) for p in board[P].tolist()]
    call(batched_loss.times(loss, update.time, dtype), board, 0, WIDTH)
    np.testing.assert_allclose(board[TIME], 0.7, rtol=1e-6)


def test_lanes_outside_the_range_are_left_alone() -> None:
    loss = losses.by_name("squared")
    board = board_for(loss)
    board[VALUE] = 7.0
    call(batched_loss.values(loss, "float32"), board, 32, 64)
    assert (board[VALUE, :32] == 7.0).all()
    assert (board[VALUE, 64:] == 7.0).all()
    assert (board[VALUE, 32:64] != 7.0).all()


@dataclass(frozen=True)
class Cosh(Loss):
    """A user's own, without closed forms and with a parameter."""

    width: float = 2.0

    def value(self, p: float, y: float) -> float:
        x = min(abs(p - y) / self.width, 30.0)
        return math.exp(x) + math.exp(-x)

    def derivative(self, p: float, y: float) -> float:
        x = min(max((p - y) / self.width, -30.0), 30.0)
        return (math.exp(x) - math.exp(-x)) / self.width


def test_a_loss_of_ones_own() -> None:
    """Its numeric flow has loops of its own, and runs all the same; parameters are kept apart."""
    for loss in (Cosh(2.0), Cosh(3.0)):
        board = np.zeros((ROWS, 32))
        board[P], board[Y], board[U] = np.linspace(-4.0, 4.0, 32), 0.5, 0.7
        call(batched_loss.steps(loss, updates.by_name("invariant").step, "float64"), board, 0, 32)
        expected = [loss.flow(p, 0.5, 0.7) for p in board[P]]
        np.testing.assert_allclose(board[CHANGE], expected, rtol=1e-9)


@pytest.mark.parametrize("schedule", [schedules.integral, schedules.frozen])
@pytest.mark.parametrize("power_t", [0.0, 0.5, 1.0, 0.99999999, 1.5])
@pytest.mark.parametrize("initial_t", [1e-3, 1.0, 1e8])
def test_pushes(schedule: Callable[..., float], power_t: float, initial_t: float) -> None:
    moments: list[tuple[float, float]] = [
        (t, h) for t in (0.0, 1.0, 77.7, 1e9) for h in (0.0, 1e-9, 1.0, 1e6)
    ]
    board: Any = np.zeros((ROWS, len(moments)))
    board[[T, H]] = np.array(moments).T
    call_moments(batched_loss.pushes(schedule), board, initial_t, power_t)
    expected = [schedule(1.0, initial_t, power_t, t, h) for t, h in moments]
    np.testing.assert_allclose(board[PUSH], expected, rtol=1e-13)


@pytest.mark.skipif(PLAIN or CHECKED, reason="nothing is compiled, or each lane is checked")
@pytest.mark.parametrize(
    ("loss", "update"),
    [("squared", "invariant"), ("logistic", "invariant"), ("logistic", "implicit"), ("hinge", "invariant")],
)
def test_steps_run_on_whole_vectors(loss: str, update: str) -> None:
    """One lane at a time would be right as well, and several times slower."""
    form = batched_loss.steps(losses.by_name(loss), updates.by_name(update).step, "float32")
    optimised = str(compiler.optimised(form.llvm("steps"), "steps", processor.level()))
    assert re.search(r"= f(mul|add|cmp)\b.* <\d+ x double>", optimised)


@pytest.mark.parametrize("count", [1, 3])
def test_a_table_holds_any_number_of_forms(count: int) -> None:
    """Each form fills its own lanes, and an empty range none."""
    loss = losses.by_name("squared")
    steps = batched_loss.steps(loss, updates.by_name("explicit").step, "float64")
    table = batched_loss.table([steps] * count)
    board = np.zeros((batched_loss.ROWS, 8))
    board[Y], board[U] = 1.0, 0.5
    bounds = np.array([2, 4, 4, 8])[: count + 1]
    callable_part(batched_loss.fill_board)(table, board, bounds)
    expected = np.where((np.arange(8) >= 2) & (np.arange(8) < bounds[-1]), 0.5, 0.0)
    np.testing.assert_array_equal(board[CHANGE], expected)


@pytest.mark.skipif(PLAIN, reason="plain forms have no addresses")
def test_a_table_needs_no_loss_to_live_on() -> None:
    """It has addresses of parameters only: once, they were those of memory that had been given back."""
    found = batched_loss.table([batched_loss.values(losses.by_name("quantile", tau=0.9), "float64")] * 4)
    other = [np.full(1, float(k)) for k in range(1000)]
    numbers = [ctypes.c_double.from_address(address).value for address in found[:, 1].tolist()]
    assert numbers == [0.9] * 4, other


def test_forms_of_a_schedule_are_made_once() -> None:
    """What makes them is called here whatever was before: elsewhere a test may be the first that is not traced."""
    for make in (batched_loss.pushes, batched_loss.pushes_by_lane):
        assert make(schedules.integral) is make(schedules.integral)
        assert make.__wrapped__(schedules.frozen) is not make(schedules.frozen)
