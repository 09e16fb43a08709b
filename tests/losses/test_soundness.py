"""Users' losses are looked at in a few points: slips are named, and nothing sound is refused."""

import math
import random
from collections.abc import Callable

import pytest

from steelyard import Settings, losses
from steelyard.losses import UNIT_INTERVAL, Interval, Loss, check_soundness
from tests.losses import wrong


@pytest.mark.parametrize("loss", [losses.by_name(name) for name in losses.names()], ids=repr)
def test_the_librarys_own_are_sound(loss: Loss) -> None:
    check_soundness(loss)


Function = Callable[[float, float], float]


class Parts(Loss):
    """A loss made of a value and a derivative."""

    def __init__(self, value: Function, derivative: Function) -> None:
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "derivative", derivative)


def noisy_square(p: float, y: float) -> float:
    return 0.5 * (p - y) ** 2 * (1.0 + 1e-9 * random.Random(p).random())


SOUND: dict[str, tuple[Function, Function]] = {
    "kink at 0.13, one of the points": (
        lambda p, y: abs(p - 0.13),
        lambda p, y: math.copysign(1.0, p - 0.13),
    ),
    "flat": (lambda p, y: 3.0, lambda p, y: 0.0),
    "flat parts": (lambda p, y: max(0.0, p - 2.0), lambda p, y: 1.0 if p > 2.0 else 0.0),
    "noise": (noisy_square, lambda p, y: p - y),
    "Poisson": (lambda p, y: math.exp(p) - y * p, lambda p, y: math.exp(p) - y),
    "steep": (lambda p, y: math.exp(5.0 * p), lambda p, y: 5.0 * math.exp(5.0 * p)),
    "tiny": (lambda p, y: 1e-12 * p * p, lambda p, y: 2e-12 * p),
    "labels 0 and 1, domain (0, 1), neither said": (
        lambda p, y: -y * math.log(p) - (1.0 - y) * math.log1p(-p),
        lambda p, y: (p - y) / (p * (1.0 - p)),
    ),
    "labels −1 and 1, not said": (
        lambda p, y: math.log1p(math.exp(-y * p)),
        lambda p, y: -y / (1.0 + math.exp(y * p)),
    ),
    "positive labels, not said": (lambda p, y: p / y - math.log(p / y), lambda p, y: 1.0 / y - 1.0 / p),
    "nowhere finite": (lambda p, y: math.inf, lambda p, y: math.nan),
}


@pytest.mark.parametrize("parts", SOUND.values(), ids=SOUND)
def test_what_is_sound_passes(parts: tuple[Function, Function]) -> None:
    check_soundness(Parts(*parts))


UNSOUND: dict[str, tuple[tuple[Function, Function], str]] = {
    "wrong sign": (
        (lambda p, y: 0.5 * (p - y) ** 2, lambda p, y: y - p),
        r"the loss Parts: derivative\(-6.73, 0\) is 6.73, but there value has a slope between -6.73\d+ and",
    ),
    "wrong factor": (
        (lambda p, y: (p - y) ** 2, lambda p, y: p - y),
        r"derivative\(-6.73, 0\) is -6.73, but there value has a slope between -13.46\d* and -13.4",
    ),
    "concave": (
        (lambda p, y: -0.5 * p * p, lambda p, y: -p),
        r"not convex in the prediction: for the label 0 the derivative falls from 6.73 at -6.73 to 3.11",
    ),
    "concave far out": (
        (lambda p, y: min(0.5 * p * p, 8.0), lambda p, y: p if abs(p) < 4.0 else 0.0),
        r"not convex .*the derivative falls from 0 at -6.73 to -3.11 at -3.11",
    ),
}


@pytest.mark.parametrize(("parts", "message"), UNSOUND.values(), ids=UNSOUND)
def test_what_is_not_names_a_point(parts: tuple[Function, Function], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_soundness(Parts(*parts))


@pytest.mark.parametrize("loss", [wrong.SlopeOff(), wrong.Concave()], ids=repr)
def test_settings_look_at_users_losses(loss: Loss) -> None:
    with pytest.raises(ValueError, match=f"the loss {type(loss).__name__}"):
        Settings(loss)


def test_points_are_those_of_the_loss() -> None:
    class Somewhere(losses.Squared):  # type: ignore[misc]
        labels = UNIT_INTERVAL
        domain = Interval(-2.0, math.inf)

        def derivative(self, p: float, y: float) -> float:
            return p - y if 0.0 < y < 1.0 and p > -2.0 else math.sin(1e9 * p)

    check_soundness(Somewhere())
