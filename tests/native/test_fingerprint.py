"""Fingerprints change with whatever decides the code, and with nothing else."""

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from steelyard import losses, schedules, updates
from steelyard.native.fingerprint import fingerprint
from steelyard.native.methods import parameters_of

PLAIN_SOURCE = """
def helper(x):
    return math.exp(x) + SHIFT

def value(self, p, y):
    return self.slope(p) * helper(y) + TABLE[0] + other.helper(p) + log(p)
"""


def module(source: str) -> types.ModuleType:
    made = types.ModuleType("made")
    exec(source, vars(made))
    return made


def value(source: str = PLAIN_SOURCE, **changed: Any) -> Any:
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
    moved = "# further down, with a word\n\n" + PLAIN_SOURCE
    assert fingerprint(value(), Bound()) == fingerprint(value(moved), Bound())
    assert fingerprint(value(unused=5.0), Bound()) == fingerprint(value(), Bound())


@pytest.mark.parametrize(
    ("function", "thing"),
    [
        (value(PLAIN_SOURCE.replace("p) *", "p) +")), Bound()),  # an operation
        (value(PLAIN_SOURCE.replace("TABLE[0]", "TABLE[1]")), Bound()),  # a constant
        (value(PLAIN_SOURCE.replace("exp", "expm1")), Bound()),  # in a function that is called
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
    [value(TABLE=np.array([None])), value(TABLE=[1.0]), value(log=len), closure()],
)
def test_what_may_change_unseen_has_none(function: Callable[..., float]) -> None:
    assert fingerprint(function, Bound()) is None


def test_numbers_and_arrays_of_numpy_are_what_they_hold() -> None:
    """As constants in a notebook often are."""
    same = [fingerprint(value(SHIFT=np.float64(x), TABLE=np.full(2, x)), Bound()) for x in (1.0, 1.0)]
    others = [
        fingerprint(value(SHIFT=np.float64(2.0), TABLE=np.ones(2)), Bound()),
        fingerprint(value(SHIFT=np.float32(1.0), TABLE=np.ones(2)), Bound()),
        fingerprint(value(SHIFT=np.float64(1.0), TABLE=np.array([1.0, 2.0])), Bound()),
    ]
    assert same[0] == same[1] is not None
    assert len({same[0], *others}) == 4


@pytest.mark.parametrize("name", losses.names())
def test_every_loss_has_one_for_each_of_its_pointers(name: str) -> None:
    loss = losses.by_name(name)
    functions: list[Callable[..., float]] = [type(loss).value, type(loss).derivative]
    functions += [updates.by_name(update).step for update in updates.names_for(loss)]
    found = {fingerprint(function, loss, parameters_of(loss)) for function in functions}
    assert None not in found
    assert len(found) == len(functions)


def test_the_values_of_parameters_do_not_show() -> None:
    """They are passed at each call."""

    def of(rate: float, *names: str) -> str | None:
        return fingerprint(schedules.PowerDecay.frozen, schedules.PowerDecay(learning_rate=rate), names)

    assert of(0.5, "learning_rate") == of(0.25, "learning_rate")
    assert of(0.5) == of(0.5)
    assert of(0.5) != of(0.25)


def test_where_a_parameter_lies_shows() -> None:
    """A field that is moved, or put before another."""
    squared = losses.by_name("quantile")
    found = {fingerprint(type(squared).value, squared, names) for names in (("tau",), ("other", "tau"), ())}
    assert len(found) == 3


DEFAULTS = """
def helper(x, by=1.0, plus=2.0):
    return x * by + plus

def value(self, p, y):
    return helper(p)
"""


def test_defaults_show() -> None:
    sources = DEFAULTS, DEFAULTS.replace("by=1.0", "by=3.0"), DEFAULTS.replace("plus=2.0", "plus=3.0")
    assert len({fingerprint(value(source), Bound()) for source in sources} - {None}) == 3


RECURSIVE = """
def value(self, p, y):
    return value(self, p - FACTOR, y) if p > 0.0 else y
"""


def test_a_function_that_calls_itself_has_one() -> None:
    assert fingerprint(value(RECURSIVE, FACTOR=1.0), Bound()) == fingerprint(
        value(RECURSIVE, FACTOR=1.0), Bound()
    )
    assert fingerprint(value(RECURSIVE, FACTOR=1.0), Bound()) != fingerprint(
        value(RECURSIVE, FACTOR=2.0), Bound()
    )


def test_modules_that_import_each_other_have_one() -> None:
    first, second = module("HERE = 1.0"), module("THERE = 2.0")
    first.second, second.first = second, first  # type: ignore[attr-defined]
    source = "def value(self, p, y):\n    return first.second.first.second.THERE"
    before = fingerprint(value(source, first=first), Bound())
    second.THERE = 3.0  # type: ignore[attr-defined]
    assert None is not before != fingerprint(value(source, first=first), Bound())


@pytest.mark.parametrize("number", [np.float64(2.0), np.float32(2.0), np.int64(2), True], ids=repr)
def test_numbers_of_numpy_on_the_bound_object_show(number: Any) -> None:
    source = "def value(self, p, y):\n    return self.number * p"
    bound, other = (type("Number", (), {"number": each}) for each in (number, 3.0))
    found = fingerprint(value(source), bound())
    assert None is not found != fingerprint(value(source), other())


def test_members_of_a_module_show_only_if_they_are_named() -> None:
    source = "def value(self, p, y):\n    return other.FACTOR"
    found = [
        fingerprint(value(source, other=module(text)), Bound())
        for text in ("FACTOR = 1.0", "FACTOR = 1.0\nUNUSED = 2.0", "FACTOR = 2.0", "ELSE = 1.0")
    ]
    assert found[0] == found[1]
    assert len(set(found)) == 3
