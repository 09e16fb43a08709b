"""A fingerprint changes with whatever decides the code, and with nothing else."""

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from steelyard import losses, schedules, updates
from steelyard.numba_tools.fingerprint import fingerprint

SOURCE = """
def helper(x):
    return math.exp(x) + SHIFT

def value(self, p, y):
    return self.slope(p) * helper(y) + TABLE[0] + other.helper(p) + log(p)
"""


def module(source: str) -> types.ModuleType:
    made = types.ModuleType("made")
    exec(source, vars(made))
    return made


def value(source: str = SOURCE, **changed: Any) -> Any:
    other = module("def helper(x):\n    return 3.0 * x")
    scope = {"math": math, "log": math.log, "other": other, "SHIFT": 1.0, "TABLE": (1.0, 2.0), **changed}
    exec(source, scope)
    return scope["value"]


class Bound:
    factor = 2

    def slope(self, p: float) -> float:
        return self.factor * p


class OtherMethod(Bound):
    def slope(self, p: float) -> float:
        return 3.0 * p


class OtherNumber(Bound):
    factor = 4


def test_the_same_code_has_the_same_fingerprint() -> None:
    moved = "# further down, with a word\n\n" + SOURCE
    assert fingerprint(value(), Bound()) == fingerprint(value(moved), Bound())
    assert fingerprint(value(unused=5.0), Bound()) == fingerprint(value(), Bound())


@pytest.mark.parametrize(
    ("function", "thing"),
    [
        (value(SOURCE.replace("p) *", "p) +")), Bound()),  # an operation
        (value(SOURCE.replace("TABLE[0]", "TABLE[1]")), Bound()),  # a constant
        (value(SOURCE.replace("exp", "expm1")), Bound()),  # in a function that is called
        (value(SHIFT=2.0), Bound()),  # a global of that
        (value(SHIFT=1), Bound()),  # its type
        (value(TABLE=(1.0, 3.0)), Bound()),
        (value(log=math.log1p), Bound()),
        (value(other=module("def helper(x):\n    return 4.0 * x")), Bound()),
        (value(), OtherMethod()),
        (value(), OtherNumber()),
    ],
)
def test_whatever_decides_the_code_shows(function: Callable[..., float], thing: Any) -> None:
    found = fingerprint(function, thing)
    assert found is not None
    assert found != fingerprint(value(), Bound())


def closure() -> Callable[..., float]:
    hidden = 1.0

    def value(self: Any, p: float, y: float) -> float:
        return hidden

    return value


@pytest.mark.parametrize(
    "function",
    [value(TABLE=np.ones(2)), value(TABLE=[1.0]), value(log=len), value(SHIFT=np.float64(1.0)), closure()],
)
def test_what_may_change_unseen_has_none(function: Callable[..., float]) -> None:
    assert fingerprint(function, Bound()) is None


@pytest.mark.parametrize("name", losses.names())
def test_every_loss_has_one_for_each_of_its_pointers(name: str) -> None:
    loss = losses.by_name(name)
    functions: list[Callable[..., float]] = [type(loss).value, type(loss).derivative]
    functions += [updates.by_name(update).step for update in updates.names_for(loss)]
    found = {fingerprint(function, loss) for function in functions}
    assert None not in found
    assert len(found) == len(functions)


def test_parameters_show() -> None:
    def of(rate: float) -> str | None:
        return fingerprint(schedules.PowerDecay.frozen, schedules.PowerDecay(learning_rate=rate))

    assert of(0.5) == of(0.5)
    assert of(0.5) != of(0.25)
