"""Losses of which only value and derivative are known."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from steelyard import losses, updates
from steelyard.losses import Loss
from steelyard.losses import _numeric as numeric
from tests.losses import draws, laws
from tests.losses.laws import Law
from tests.losses.test_laws import check


@dataclass(frozen=True)
class Huber(Loss):
    """Quadratic near y, straight beyond: its curvature jumps."""

    width: float = 1.0

    def value(self, p: float, y: float) -> float:
        gap = abs(p - y)
        return 0.5 * gap * gap if gap < self.width else self.width * (gap - 0.5 * self.width)

    def derivative(self, p: float, y: float) -> float:
        return max(-self.width, min(self.width, p - y))


@dataclass(frozen=True)
class Staircase(Loss):
    """A slope that jumps half way: a kink that is not the minimiser."""

    def value(self, p: float, y: float) -> float:
        gap = abs(p - y)
        return gap + 2.0 * max(0.0, gap - 1.0)

    def derivative(self, p: float, y: float) -> float:
        gap = p - y
        return math.copysign(3.0 if abs(gap) > 1.0 else 1.0, gap) if gap != 0.0 else 0.0


@dataclass(frozen=True)
class Quartic(Loss):
    """So flat at its minimiser that the flow slows down like a power of the push."""

    def value(self, p: float, y: float) -> float:
        return 0.25 * (p - y) * (p - y) * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return (p - y) * (p - y) * (p - y)


@dataclass(frozen=True)
class ThreeHalves(Loss):
    """Steep at its minimiser: |p − y|^1.5. The flow arrives in finite time."""

    def value(self, p: float, y: float) -> float:
        return math.pow(abs(p - y), 1.5) / 1.5

    def derivative(self, p: float, y: float) -> float:
        return math.copysign(math.sqrt(abs(p - y)), p - y)


@dataclass(frozen=True)
class Insensitive(Loss):
    """Flat within 0.1 of y."""

    def value(self, p: float, y: float) -> float:
        return max(0.0, abs(p - y) - 0.1)

    def derivative(self, p: float, y: float) -> float:
        gap = p - y
        return math.copysign(1.0, gap) if abs(gap) > 0.1 else 0.0


USERS = [Huber(), Huber(width=0.01), Staircase(), Quartic(), ThreeHalves(), Insensitive()]


@pytest.mark.no_cover
@pytest.mark.parametrize("law", laws.ALL, ids=lambda law: law.__name__)
# Not the powers: at the extremes the laws draw, one slope underflows and the other bends without bound.
@pytest.mark.parametrize("loss", [Huber(), Huber(width=0.01), Staircase(), Insensitive()], ids=repr)
def test_a_users_loss_obeys_the_laws(loss: Loss, law: Law) -> None:
    check(law, loss)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", losses.names())
def test_agrees_with_the_closed_forms(name: str) -> None:
    """1e-9 relative, or the rounding of the prediction where the change is smaller than that."""
    loss = losses.by_name(name)
    rng = random.Random(name)
    label, prediction = draws.sampler(rng, loss.labels), draws.sampler(rng, loss.domain)
    for _ in range(500):
        y, p, u = label(), prediction(), 10.0 ** rng.uniform(-8.0, 8.0)
        margin = 4.0 * laws.EPSILON * (abs(p) + abs(y))
        flow = loss.flow(p, y, u)
        assert numeric.flow(loss, p, y, u) == pytest.approx(flow, rel=1e-9, abs=margin)
        assert numeric.implicit(loss, p, y, u) == pytest.approx(loss.implicit(p, y, u), rel=1e-9, abs=margin)
        part = 0.9 * flow
        if abs(part) > 1e-6 * (abs(p) + abs(y)):
            assert numeric.push_for(loss, p, y, part) == pytest.approx(loss.push_for(p, y, part), rel=1e-9)


def exact_flow(loss: Loss, gap: float, u: float) -> float:
    """How far the users' losses move down from y + gap, gap > 0."""
    match loss:
        case Staircase():
            far = min(3.0 * u, max(0.0, gap - 1.0))
            return far + min(u - far / 3.0, gap - far)
        case Quartic():
            return gap - gap / math.sqrt(1.0 + 2.0 * u * gap * gap)
        case ThreeHalves():
            return gap - max(0.0, math.sqrt(gap) - 0.5 * u) ** 2
        case Insensitive():
            return min(u, max(0.0, gap - 0.1))
        case Huber(width):
            straight = max(0.0, gap - width)
            if width * u <= straight:
                return width * u
            return straight - (gap - straight) * math.expm1(-(u - straight / width))
    raise AssertionError(loss)


@pytest.mark.no_cover
@pytest.mark.parametrize("loss", USERS, ids=repr)
@pytest.mark.parametrize("gap", [1e-3, 0.5, 1.0, 1.5, 40.0])
@pytest.mark.parametrize("u", [1e-12, 1e-3, 0.5, 1.0, 30.0, 1e6, 1e300])
def test_kinks_and_stiffness(loss: Loss, gap: float, u: float) -> None:
    """Large pushes, flat and steep minimisers, kinks on the way."""
    expected = exact_flow(loss, gap, u)
    change = loss.flow(gap, 0.0, u)
    assert -change == pytest.approx(expected, rel=1e-9, abs=4e-16 * gap)
    assert loss.flow(-gap, 0.0, u) == -change
    if 1e-9 * gap < expected < 0.99 * gap:
        exact_change = -0.9 * expected
        again = exact_flow(loss, gap, loss.push_for(gap, 0.0, exact_change))
        assert again == pytest.approx(-exact_change, rel=1e-9)


def test_arrives_at_a_kink_but_not_at_a_smooth_minimiser() -> None:
    assert Staircase().push_for(2.0, 0.0, -2.0) == pytest.approx(4.0 / 3.0, rel=1e-9)
    assert ThreeHalves().push_for(1.0, 0.0, -1.0) == pytest.approx(2.0, rel=1e-6)
    assert Insensitive().push_for(1.0, 0.0, -0.9) == pytest.approx(0.9, rel=1e-9)
    for loss, change in ((Insensitive(), -0.95), (Huber(), -1.0), (Quartic(), -1.0), (Huber(), -1.5)):
        assert loss.push_for(1.0, 0.0, change) == math.inf
    assert Huber().push_for(1.0, 0.0, 0.5) == math.inf
    assert Huber().push_for(1.0, 0.0, 0.0) == 0.0


def test_implicit_goes_as_far_as_it_takes() -> None:
    """Ten thousand times farther than the first guess of the bracket, and to a kink."""
    assert Huber(width=5.0).implicit(0.0, 1e6, 1e4) == 5e4
    assert Staircase().implicit(1.0 + 1e-9, 0.0, 0.25) == pytest.approx(-0.25, rel=1e-9)
    assert Insensitive().implicit(0.05, 0.0, 10.0) == 0.0


def test_rests_where_the_slope_is_zero() -> None:
    for loss in USERS:
        for y in (0.0, 0.5):
            assert loss.flow(y, y, 7.0) == loss.implicit(y, y, 7.0) == 0.0
            assert loss.push_for(y, y, 0.1) == math.inf


def test_soft_logarithmic_against_its_closed_time() -> None:
    rng = random.Random(5)
    loss = losses.by_name("logarithmic")
    for _ in range(300):
        p, y, u = rng.uniform(0.01, 0.99), rng.uniform(0.01, 0.99), 10.0 ** rng.uniform(-4.0, 0.0)
        change = loss.flow(p, y, u)
        d, e = y - p, y - p - change
        closed = y * (1.0 - y) * math.log(d / e) + (2.0 * y - 1.0) * (d - e) - (d * d - e * e) / 2.0
        assert closed == pytest.approx(u, rel=1e-9, abs=1e-13 / abs(e))


@dataclass
class Counted:
    """A derivative, and how often it was asked for."""

    function: Callable[[float], float]
    calls: int = 0

    def derivative(self, p: float, y: float) -> float:
        self.calls += 1
        return self.function(p - y)


NOISY = {
    "sigmoid": lambda gap: 1.0 / (1.0 + math.exp(-gap)) - 0.5,
    "single precision": lambda gap: float(np.float32(math.tanh(gap))),
    "ripples": lambda gap: gap * (1.0 + 1e-6 * math.sin(1e9 * gap)),
}


@pytest.mark.parametrize("name", NOISY)
@pytest.mark.parametrize("gap", [1e-10, 1e-8, 0.5])
def test_a_noisy_derivative_costs_accuracy_but_not_for_ever(name: str, gap: float) -> None:
    """Near its minimiser a derivative has few digits left, and no panel agrees to eleven."""
    noisy = Counted(NOISY[name])
    curvature = 0.25 if name == "sigmoid" else 1.0
    change = numeric.flow(noisy, gap, 0.0, 1.0)
    assert numeric.push_for(noisy, gap, 0.0, change) == pytest.approx(1.0, rel=1e-4)
    assert noisy.calls < 40_000
    if gap < 1e-6:
        assert change == pytest.approx(gap * math.expm1(-curvature), rel=1e-4)


@pytest.mark.parametrize(
    "slope", [lambda gap: math.copysign(1.0, gap), lambda gap: 1.0 if gap >= 0.0 else -1.0]
)
def test_a_minimiser_without_a_slope_of_zero(slope: Callable[[float], float]) -> None:
    """A common way to write |p − y|: there is always a slope, but nowhere to go."""
    steep = Counted(slope)
    assert numeric.implicit(steep, 0.0, 0.0, 1.0) == pytest.approx(0.0, abs=1e-290)
    assert numeric.flow(steep, 0.0, 0.0, 1.0) == pytest.approx(0.0, abs=1e-290)
    assert steep.calls < 10_000


def test_an_infinite_slope_and_one_that_is_no_number() -> None:
    """−log p as one might write it, at the p = 0 of a fresh model."""
    logarithm = Counted(lambda p: -1.0 / p if p > 0.0 else -math.inf)
    assert numeric.implicit(logarithm, 0.0, 0.0, 0.5) == pytest.approx(math.sqrt(0.5), rel=1e-12)
    assert math.isnan(numeric.flow(Counted(lambda _: math.nan), 0.0, 0.0, 1.0))


def test_push_for_a_kink_that_rounding_puts_behind_the_end() -> None:
    rng = random.Random(2)
    for _ in range(300):
        p, y = rng.uniform(-3.0, 3.0), rng.uniform(-3.0, 3.0)
        loss = losses.by_name("quantile", tau=0.25)
        expected = loss.push_for(p, y, y - p)
        assert numeric.push_for(loss, p, y, y - p) == pytest.approx(expected, rel=1e-9)
        assert updates.by_name("implicit").push_for(loss, p, y, y - p) == pytest.approx(expected, rel=1e-12)


def test_a_user_must_write_value_and_derivative() -> None:
    class Nothing(Loss):
        pass

    for method in ("value", "derivative"):
        with pytest.raises(NotImplementedError, match=f"Nothing must define {method}"):
            getattr(Nothing(), method)(0.0, 1.0)


def test_every_update_works_for_a_users_loss() -> None:
    for name in updates.names():
        change = updates.by_name(name).change(Huber(), 3.0, 1.0, 0.5)
        assert change == pytest.approx(-0.5)


def test_solvers_end_after_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they have found by then is between the start and the end."""
    monkeypatch.setattr(numeric, "_MOST_STEPS", 3)
    loss = Quartic()
    assert 0.0 <= numeric.flow(loss, 0.0, 1.0, 1e6) < 1.0
    assert 0.0 <= numeric.push_for(loss, 0.0, 1.0, 0.9) < math.inf
    assert 0.0 <= numeric.implicit(loss, 0.0, 1.0, 1e6) < 1.0


def test_slopes_near_the_smallest_number() -> None:
    loss, tiny = losses.by_name("logarithmic"), 7e-307
    slope = tiny / 1e-6  # below its edge the loss is a straight line
    for u in (1.0, 1e290):
        assert numeric.flow(loss, tiny, tiny, u) == pytest.approx(u * slope, rel=1e-12)
