"""Rates over weighted time."""

import math
import random

import pytest
from mpmath import mp, mpf

from steelyard.schedules import PowerDecay


def exact_integral(schedule: PowerDecay, t: float, h: float) -> mpf:
    with mp.workdps(60):
        mu, tau, rho = map(mpf, (schedule.learning_rate, schedule.initial_t, schedule.power_t))
        start, end = t + tau, mpf(t) + h + tau
        if rho == 1:
            return mu * tau * mp.log(end / start)
        return mu * tau**rho * (end ** (1 - rho) - start ** (1 - rho)) / (1 - rho)


def draw(rng: random.Random) -> tuple[PowerDecay, float, float]:
    power = rng.choice([0.0, 0.5, 1.0, 1.0 - 1e-9, 1.0 + 1e-13, 1.5, 3.0, rng.uniform(0.0, 2.0)])
    schedule = PowerDecay(10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-3, 8), power)
    return schedule, rng.choice([0.0, 10.0 ** rng.uniform(-3, 9)]), 10.0 ** rng.uniform(-20, 9)


def test_integral_is_exact() -> None:
    rng = random.Random(3)
    for _ in range(3000):
        schedule, t, h = draw(rng)
        exact = exact_integral(schedule, t, h)
        assert abs(schedule.integral(t, h) - exact) <= 2e-14 * exact


def test_rate_is_the_slope_of_the_integral() -> None:
    rng = random.Random(4)
    for _ in range(300):
        schedule, t, _ = draw(rng)
        h = 1e-9 * (t + schedule.initial_t)
        assert schedule.integral(t, h) == pytest.approx(schedule.rate(t) * h, rel=1e-8)


def test_integral_adds_up() -> None:
    """A weight of g + h is a weight of g and then one of h."""
    rng = random.Random(5)
    for _ in range(1000):
        schedule, t, h = draw(rng)
        g = rng.uniform(0.0, 2.0) * h
        whole = schedule.integral(t, g + h)
        assert schedule.integral(t, g) + schedule.integral(t + g, h) == pytest.approx(whole, rel=1e-12)


def test_importance_inverts_the_integral() -> None:
    rng = random.Random(6)
    for _ in range(1000):
        schedule, t, h = draw(rng)
        needed = schedule.integral(t, h)
        again = schedule.integral(t, schedule.importance(t, needed))
        assert again == pytest.approx(needed, rel=1e-12)


def test_importance_is_infinite_where_the_rates_do_not_add_up_to_it() -> None:
    assert PowerDecay(1.0, 1.0, 2.0).importance(0.0, 1.0) == math.inf  # all its rates add up to 1
    assert PowerDecay(1.0, 1.0, 2.0).importance(0.0, 0.5) == pytest.approx(1.0)
    assert PowerDecay(1.0, 1.0, 1.0).importance(0.0, 1e4) == math.inf  # e^10000 examples


def test_importance_is_infinite_where_the_rate_has_underflowed() -> None:
    assert PowerDecay(0.5, 1.0, 100.0).importance(1e4, 1.0) == math.inf


def test_frozen_is_the_rate_times_the_weight() -> None:
    schedule = PowerDecay(0.5, 2.0, 0.5)
    assert schedule.frozen(3.0, 7.0) == 7.0 * schedule.rate(3.0)
    assert PowerDecay(0.3, 2.0, 0.0).frozen(3.0, 7.0) == PowerDecay(0.3, 2.0, 0.0).integral(3.0, 7.0)


def test_nothing_moves_without_weight() -> None:
    for power in (0.0, 0.5, 1.0, 2.0):
        assert PowerDecay(power_t=power).integral(5.0, 0.0) == 0.0
        assert PowerDecay(power_t=power).importance(5.0, 0.0) == 0.0


@pytest.mark.parametrize("name", ["learning_rate", "initial_t", "power_t"])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_bad_parameters(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a finite number.*got {value}"):
        PowerDecay(**{name: value})


def test_frozen_importance_inverts_the_frozen_integral() -> None:
    schedule = PowerDecay(0.5, 2.0, 0.7)
    assert schedule.frozen(3.0, schedule.frozen_importance(3.0, 1.7)) == pytest.approx(1.7, rel=1e-14)
    assert PowerDecay(1e-300, 1e-9, 3.0).frozen_importance(1e9, 1.0) == math.inf
