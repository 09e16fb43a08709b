"""Losses that users wrote with the old names `time_to` and `untuned_rate` work as before."""

import importlib
import math
from dataclasses import dataclass

import pytest

from steelyard import Settings, losses, updates
from steelyard.losses import Loss
from steelyard.native.methods import pointer, step_pointer
from tests.support.parts import call_method


@dataclass(frozen=True)
class Old(losses.Squared):  # type: ignore[misc]
    """A loss of before: both names are the old ones, and the closed form is its own."""

    scale: float = 2.0

    untuned_rate = 0.25

    def time_to(self, p: float, y: float, change: float) -> float:
        return self.scale + abs(change)


@dataclass(frozen=True)
class NewInOld(Old):
    """A subclass with the new names wins over the old names of its parent."""

    default_learning_rate = 0.75

    def push_for(self, p: float, y: float, change: float) -> float:
        return 2.0 * super().time_to(p, y, change)


@dataclass(frozen=True)
class CallsOld(Old):
    """A method that calls another by its old name."""

    def curvature(self, p: float, y: float) -> float:
        return self.time_to(p, y, 0.5)


def test_old_definitions_serve_the_new_names() -> None:
    assert Old().push_for(0.0, 1.0, 0.5) == Old().time_to(0.0, 1.0, 0.5) == 2.5
    rate = Settings(Old(), scaling="normalized").rate
    assert Old.default_learning_rate == Old.untuned_rate == rate == 0.25
    assert updates.by_name("invariant").push_for(Old(scale=3.0), 0.0, 1.0, 0.5) == 3.5


def test_new_definitions_serve_the_old_names() -> None:
    assert NewInOld().time_to(0.0, 1.0, 0.5) == NewInOld().push_for(0.0, 1.0, 0.5) == 5.0
    assert NewInOld.untuned_rate == NewInOld.default_learning_rate == 0.75


@pytest.mark.parametrize("name", losses.names())
def test_the_old_names_of_our_own(name: str) -> None:
    loss = losses.by_name(name)
    assert loss.untuned_rate == loss.default_learning_rate
    for change in (-0.25, 0.0, 0.25):
        assert loss.time_to(0.5, 1.0, change) == loss.push_for(0.5, 1.0, change)


def test_the_base_class_has_them_too() -> None:
    class Plain(Loss):
        def value(self, p: float, y: float) -> float:
            return 0.5 * (p - y) * (p - y)

        def derivative(self, p: float, y: float) -> float:
            return p - y

    assert Plain().untuned_rate == Loss.default_learning_rate
    assert Plain().time_to(0.0, 1.0, 0.5) == pytest.approx(math.log(2.0))


def test_both_names_may_be_defined() -> None:
    class Both(Old):
        default_learning_rate = 1.0
        untuned_rate = 2.0

    assert (Both.default_learning_rate, Both.untuned_rate) == (1.0, 2.0)


def test_compiled() -> None:
    old = Old(scale=4.0)
    assert call_method(step_pointer(old, updates.by_name("invariant").time), 0.0, 1.0, 0.5) == 4.5
    assert call_method(pointer(CallsOld(scale=4.0), "curvature"), 0.0, 1.0) == 4.5


@pytest.mark.parametrize(
    ("module", "name"), [("base", "Loss"), ("sets", "PLUS_MINUS_ONE"), ("special", "bounded_exp")]
)
def test_old_modules_can_be_imported(module: str, name: str) -> None:
    old = importlib.import_module(f"steelyard.losses.{module}")
    assert getattr(old, name) is getattr(losses, name)
