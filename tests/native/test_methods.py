"""The methods of losses as kernels call them: the same numbers as in Python, whatever the loss is made of."""

import ctypes
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from steelyard import losses, schedules, updates
from steelyard.learn import batched_loss
from steelyard.losses import Loss
from steelyard.losses.quantile import Quantile
from steelyard.native import code, methods
from steelyard.native.declare import PLAIN
from steelyard.native.methods import Method, constants_of, parameters_of, pointer, step_pointer
from tests.support.parts import call_method

compiled = pytest.mark.skipif(PLAIN, reason="nothing is compiled")


@pytest.mark.parametrize("name", losses.names())
def test_compiled_is_plain(name: str) -> None:
    """The same bits, from the same source."""
    loss = losses.by_name(name)
    for y in (0.0, 1.0) if name in ("logarithmic", "hellinger", "tanh_logarithmic") else (-1.0, 1.0):
        for p in (-30.0, -1.0, 0.0, 0.4, 1.0, 25.0):
            value, slope = (call_method(pointer(loss, name), p, y) for name in ("value", "derivative"))
            assert value == pytest.approx(loss.value(p, y), rel=1e-15)
            assert slope == pytest.approx(loss.derivative(p, y), rel=1e-15)


@pytest.mark.parametrize("name", ["squared", "logistic", "quantile"])
def test_so_are_updates(name: str) -> None:
    loss = losses.by_name(name)
    for update in updates.names_for(loss):
        step = updates.by_name(update).step
        for p, u in ((-3.0, 0.0), (0.4, 1e-9), (1.0, 0.3), (25.0, 1e5)):
            found = call_method(step_pointer(loss, step), p, 1.0, u)
            assert found == pytest.approx(step(loss, p, 1.0, u), rel=1e-13, abs=1e-300)


@dataclass(frozen=True)
class Asymmetric(Loss):
    """Two parameters and a helper method, no closed form."""

    below: float = 3.0
    above: float = 1.0

    def slope(self, gap: float) -> float:
        return self.above if gap > 0.0 else self.below

    def value(self, p: float, y: float) -> float:
        return 0.5 * self.slope(p - y) * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return self.slope(p - y) * (p - y)


class ClassAttribute(Loss):
    factor: Any = 2

    def value(self, p: float, y: float) -> float:
        return float(self.factor * abs(p - y))

    def derivative(self, p: float, y: float) -> float:
        return float(self.factor * ((p > y) - (p < y)))


@pytest.mark.parametrize("loss", [Asymmetric(), Asymmetric(below=0.5, above=7.0), ClassAttribute()], ids=repr)
def test_a_loss_of_ones_own(loss: Loss) -> None:
    for update in ("explicit", "invariant"):
        step = updates.by_name(update).step
        for p in (-2.0, 0.25, 3.0):
            expected = step(loss, p, 0.5, 0.7)
            assert call_method(step_pointer(loss, step), p, 0.5, 0.7) == pytest.approx(expected, rel=1e-12)


class Attribute(Loss):
    """Two of them compare equal, and must not be mixed up."""

    def __init__(self, factor: Any) -> None:
        self.factor = factor

    def value(self, p: float, y: float) -> float:
        return 0.5 * self.derivative(p, y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return float(self.factor * (p - y))


@pytest.mark.parametrize(
    "factor", [1.0, 3.0, 2, True, np.float64(5.0), np.float32(0.1), np.int32(7)], ids=repr
)
def test_losses_with_numbers_that_are_no_fields_are_told_apart(factor: Any) -> None:
    assert call_method(pointer(Attribute(factor), "derivative"), 1.0, 0.0) == float(factor)


@dataclass(frozen=True)
class Derived(Loss):
    """A property of a parameter."""

    width: float = 2.0

    @property
    def half(self) -> float:
        return 0.5 * self.width

    def value(self, p: float, y: float) -> float:
        return self.half * p

    def derivative(self, p: float, y: float) -> float:
        return self.half


@dataclass(frozen=True)
class Prepared(Derived):
    """A number that is worked out when the loss is made."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "double", 2.0 * self.width)

    def value(self, p: float, y: float) -> float:
        return self.double * p  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("width", [2.0, 6.0])
def test_what_is_worked_out_of_parameters_is_not_mixed_up(width: float) -> None:
    assert call_method(pointer(Derived(width), "value"), 1.0, 0.0) == 0.5 * width
    assert call_method(pointer(Prepared(width), "value"), 1.0, 0.0) == 2.0 * width


@dataclass(frozen=True)
class Optional(Loss):
    cap: float | None = None
    slope: float = 2.0

    def value(self, p: float, y: float) -> float:
        return self.slope * p

    def derivative(self, p: float, y: float) -> float:
        return self.slope


@pytest.mark.parametrize("loss", [Optional(), Optional(cap=7.0), Optional(slope=5.0)], ids=repr)
def test_a_field_that_is_not_always_a_number(loss: Optional) -> None:
    """It is no parameter then, and those after it lie elsewhere."""
    assert call_method(pointer(loss, "value"), 1.0, 0.0) == loss.slope


@compiled
def test_a_changed_attribute_of_a_class_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for factor in (2, 5.0):
        monkeypatch.setattr(ClassAttribute, "factor", factor)
        assert call_method(pointer(ClassAttribute(), "value"), 3.0, 0.0) == 3.0 * factor


class Half(Quantile):
    """It overrides one method; the others are the quantile's."""

    def value(self, p: float, y: float) -> float:
        return 0.5 * (p - y) * self.tau


@dataclass(frozen=True)
class Shifted(Quantile):
    """It has a parameter more."""

    by: float = 1.0

    def value(self, p: float, y: float) -> float:
        return self.derivative(p, y) + self.by


def test_subclasses_of_a_loss_that_ships() -> None:
    loss = Half(tau=0.75)
    assert call_method(pointer(loss, "value"), 3.0, 1.0) == 0.75
    assert call_method(pointer(loss, "derivative"), 3.0, 1.0) == loss.derivative(3.0, 1.0)
    for shifted in (Shifted(tau=0.75), Shifted(tau=0.5, by=8.0)):
        assert call_method(pointer(shifted, "value"), 3.0, 1.0) == shifted.value(3.0, 1.0)
    assert call_method(pointer(Quantile(tau=0.75), "value"), 3.0, 1.0) == 0.5


TABLE, COUNT = (2.0, 3.0), len
OFFSET = 4.0


class ByTable(Loss):
    """It calls something that may change: it has no fingerprint."""

    def value(self, p: float, y: float) -> float:
        return (COUNT(TABLE) + 1.0) * p


def ramp(x: float, by: float = 2.0, plus: float = 1.0) -> float:
    return math.exp(0.0) * by * x + plus + OFFSET


class ByHelper(Loss):
    def grown(self, p: float, by: float = 2.0) -> float:
        return by * p

    def value(self, p: float, y: float) -> float:
        return ramp(p) + ramp(p, 3.0, plus=y) + self.grown(p) + self.grown(p, 5.0)


def test_a_loss_that_cannot_be_kept_is_compiled_all_the_same() -> None:
    assert call_method(pointer(ByTable(), "value"), 2.0, 0.0) == 6.0
    if not PLAIN:
        assert pointer(ByTable(), "value").made_from is None


def test_helper_functions_may_have_defaults() -> None:
    assert call_method(pointer(ByHelper(), "value"), 2.0, 1.5) == ByHelper().value(2.0, 1.5)


@compiled
def test_a_global_that_changes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a notebook, where a cell is run again."""
    before = call_method(pointer(ByHelper(), "value"), 2.0, 1.5)
    monkeypatch.setattr(f"{__name__}.OFFSET", 5.0)
    assert call_method(pointer(ByHelper(), "value"), 2.0, 1.5) == before + 2.0
    monkeypatch.setattr(ByHelper, "grown", lambda self, p, by=1.0: by * p)
    assert call_method(pointer(ByHelper(), "value"), 2.0, 1.5) == before + 2.0 - 2.0


class Ratio(Loss):
    def value(self, p: float, y: float) -> float:
        return y / p


@compiled
def test_division_by_zero_is_infinite() -> None:
    assert call_method(pointer(Ratio(), "value"), 0.0, 1.0) == math.inf


def test_soft_labels_are_compiled() -> None:
    loss = losses.by_name("logarithmic")
    step = updates.by_name("invariant").step
    expected = loss.flow(0.2, 0.6, 0.1)
    assert call_method(step_pointer(loss, step), 0.2, 0.6, 0.1) == pytest.approx(expected, rel=1e-12)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The methods whose code is looked up, from now on."""
    found: list[Any] = []

    def address(entry: Any) -> int:
        found.append(entry)
        return len(found)

    monkeypatch.setattr(methods, "_addresses", {})
    monkeypatch.setattr(code, "address", address)
    return found


@compiled
def test_one_piece_of_code_serves_all_losses_of_a_class(asked: list[Any]) -> None:
    made = [pointer(Quantile(tau=tau), "value") for tau in (0.25, 0.75)]
    assert [each.words[0] for each in made] == [1, 1]
    assert len(asked) == 1
    assert [ctypes.c_double.from_address(each.words[1]).value for each in made] == [0.25, 0.75]
    assert made[0].name == made[1].name
    assert made[0].made_from == made[1].made_from is not None


@compiled
def test_what_is_not_the_same_has_code_of_its_own(asked: list[Any]) -> None:
    step = updates.by_name("explicit").step
    squared = losses.by_name("squared")
    things = squared, losses.by_name("logistic"), Attribute(1.0), Attribute(2.0), Half(), Quantile()
    made = [
        *(pointer(thing, "value") for thing in things),
        pointer(squared, "derivative"),
        step_pointer(squared, step),
        batched_loss.steps(squared, step, "float32"),
        batched_loss.steps(squared, step, "float64"),
        batched_loss.values(squared, "float32"),
        batched_loss.values_after(squared, "float32"),
    ]
    assert len({each.words[0] for each in made}) == len(made)
    assert len({(each.name, each.made_from) for each in made}) == len(made)


@compiled
def test_methods_are_named_and_titled() -> None:
    decay = batched_loss.pushes(schedules.integral)
    squared = pointer(losses.by_name("squared"), "value")
    assert (squared.title, decay.title) == ("Squared.value", "integral")
    kind = "steelyard.losses.squared.Squared"
    assert squared.name.startswith(f"{kind} {kind}.value scalar F2")
    assert decay.name.startswith("steelyard.schedules.integral _fill_push float64 Fmoments")


@compiled
def test_only_what_is_all_our_own_ships() -> None:
    own = pointer(losses.by_name("squared"), "value"), batched_loss.pushes(schedules.integral)
    assert all(each.ships for each in own)
    step = updates.by_name("explicit").step
    squared = losses.by_name("squared")
    others = pointer(Half(), "derivative"), step_pointer(Half(), step), step_pointer(squared, ramp)
    assert not any(each.ships for each in others)


@compiled
def test_the_loop_around_a_method_is_part_of_what_it_was_made_from(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def sources_of(module: str) -> str:
        asked.append(module)
        return "x"

    monkeypatch.setattr(code, "sources_of", sources_of)
    loss = losses.by_name("squared")
    assert Method(type(loss).value, loss, "F2").made_from
    assert batched_loss.values(loss, "float32").made_from
    assert asked == ["steelyard.native.method_compiler", "steelyard.learn.batched_loss"]
    monkeypatch.setattr(code, "sources_of", lambda module: None)
    assert Method(type(loss).value, loss, "F2").made_from is None


def test_parameters_and_constants() -> None:
    assert (parameters_of(None), constants_of(None)) == ((), ())
    assert parameters_of(Asymmetric()) == ("below", "above")
    assert parameters_of(Optional()) == ("slope",)
    constants = dict(constants_of(Prepared(3.0)))
    assert (constants["half"], constants["double"], constants["smooth"]) == (1.5, 6.0, 1.0)
    assert "width" not in constants
    assert dict(constants_of(Attribute(np.float32(2.5))))["factor"] == 2.5


@pytest.mark.skipif(not PLAIN, reason="it is compiled")
def test_without_a_compiler_they_are_plain_functions() -> None:
    loss = losses.by_name("squared")
    assert pointer(loss, "value")(3.0, 1.0) == 2.0
    assert step_pointer(loss, lambda loss, p, y, u: loss.value(p, y) * u)(3.0, 1.0, 4.0) == 8.0


@dataclass(frozen=True)
class Steps(Loss):
    """The derivative is a whole number, the value may be one."""

    def value(self, p: float, y: float) -> float:
        return abs(p - y)

    def derivative(self, p: float, y: float) -> float:
        return (p > y) - (p < y)


@dataclass(frozen=True)
class Truth(Steps):
    def derivative(self, p: float, y: float) -> float:
        return p > y


def test_whole_numbers_and_truths_are_numbers() -> None:
    """Code that was written for numbers with a point took their bits for such."""
    for p in (-1.0, 3.0):
        for loss in (Steps(), Truth()):
            assert call_method(pointer(loss, "derivative"), p, 1.0) == float(loss.derivative(p, 1.0))


@dataclass(frozen=True)
class Texts(Steps):
    def value(self, p: float, y: float) -> float:
        return "x"  # type: ignore[return-value]


@dataclass(frozen=True)
class Parents(Steps):
    def value(self, p: float, y: float) -> float:
        return super().value(p, y)


@dataclass(frozen=True)
class Gamma(Steps):
    def value(self, p: float, y: float) -> float:
        return math.gamma(p * p + 1.0)


@compiled
@pytest.mark.parametrize(
    ("loss", "why"),
    [(Texts(), ""), (Parents(), r"uses super\(\) or variables"), (Gamma(), "calls numba_gamma")],
    ids=repr,
)
def test_what_cannot_be_compiled_is_named(loss: Loss, why: str) -> None:
    with pytest.raises(TypeError, match=rf"{type(loss).__name__}\.value cannot be compiled: .*{why}"):
        _ = pointer(loss, "value").words


def test_a_class_may_be_made_of_text() -> None:
    scope: dict[str, Any] = {"Loss": Loss}
    exec("class Made(Loss):\n    def value(self, p, y):\n        return p - y\n", scope)
    assert call_method(pointer(scope["Made"](), "value"), 3.0, 1.0) == 2.0
