"""The four updates: what they compute, and the theorems about them."""

import math
import random

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from steelyard import losses, updates
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.losses import Loss
from steelyard.settings import Settings
from tests.losses import draws

ALL_LOSSES = [losses.by_name(name) for name in losses.names()]


def moderate(loss: Loss, seed: int, count: int) -> list[tuple[float, float, float]]:
    """Points at which a textbook solver is happy."""
    rng = random.Random(seed)
    label = draws.sampler(rng, loss.labels)
    inside = (0.1, 0.9) if loss.domain.low == 0.0 else (-2.0, 2.0)
    return [(rng.uniform(*inside), label(), 10.0 ** rng.uniform(-3.0, 0.3)) for _ in range(count)]


@pytest.mark.parametrize("loss", ALL_LOSSES, ids=repr)
def test_invariant_against_an_independent_solver(loss: Loss) -> None:
    compared = 0
    for p, y, u in moderate(loss, 1, 30):

        def slope(_: float, z: list[float], y: float = y) -> list[float]:
            return [-loss.derivative(float(z[0]), y)]

        change = updates.by_name("invariant").change(loss, p, y, u)
        if loss.derivative(p, y) * loss.derivative(p + 1.01 * change, y) > 0.0:  # it would tremble at a kink
            solution = solve_ivp(slope, (0.0, u), [p], method="DOP853", rtol=1e-11, atol=1e-13)
            assert change == pytest.approx(solution.y[0, -1] - p, rel=1e-9, abs=1e-11)
            compared += 1
    assert compared >= 5


@pytest.mark.parametrize("loss", ALL_LOSSES, ids=repr)
def test_many_small_explicit_steps_approach_the_flow(loss: Loss) -> None:
    """Lemma 1: h copies, each with an nth of the rate n times over, come closer as n grows."""
    explicit = updates.by_name("explicit")
    for p, y, u in moderate(loss, 2, 10):
        errors = []
        for n in (32, 512, 8192):
            q = p
            for _ in range(n):
                q += explicit.change(loss, q, y, u / n)
            errors.append(abs(q - p - loss.flow(p, y, u)))
        assert errors[2] <= errors[0] / 64.0 + 1e-12
        assert errors[2] <= 2.0 * u / 8192 * max(1.0, abs(p - y)) * (1.0 + abs(loss.derivative(p, y)))


def test_values_of_each_update() -> None:
    logistic = losses.by_name("logistic")
    slope, bend = logistic.derivative(0.5, 1.0), logistic.curvature(0.5, 1.0)
    assert updates.by_name("explicit").change(logistic, 0.5, 1.0, 3.0) == -3.0 * slope
    assert updates.by_name("second_order").change(logistic, 0.5, 1.0, 3.0) == pytest.approx(
        -3.0 * slope / (1.0 + 3.0 * bend), rel=1e-15
    )
    assert updates.by_name("implicit").change(logistic, 0.5, 1.0, 3.0) == logistic.implicit(0.5, 1.0, 3.0)
    assert updates.by_name("invariant").change(logistic, 0.5, 1.0, 3.0) == logistic.flow(0.5, 1.0, 3.0)


@pytest.mark.parametrize("loss", ALL_LOSSES, ids=repr)
@pytest.mark.parametrize("name", updates.names())
def test_no_push_moves_nothing(loss: Loss, name: str) -> None:
    if name in updates.names_for(loss):
        for p, y, _ in moderate(loss, 3, 5):
            assert updates.by_name(name).change(loss, p, y, 0.0) == 0.0
            assert updates.by_name(name).push_for(loss, p, y, 0.0) == 0.0


def test_second_order_never_gets_past_its_newton_step() -> None:
    second_order, squared = updates.by_name("second_order"), losses.by_name("squared")
    assert second_order.push_for(squared, 0.0, 1.0, 0.5) == pytest.approx(1.0)
    assert second_order.push_for(squared, 0.0, 1.0, 1.0) == math.inf


def test_implicit_push_for_a_kink_counts_the_slope_before_it() -> None:
    implicit = updates.by_name("implicit")
    assert implicit.push_for(losses.by_name("hinge"), 0.25, 1.0, 0.75) == pytest.approx(0.75)
    assert implicit.push_for(losses.by_name("quantile", tau=0.25), -2.0, 0.0, 2.0) == pytest.approx(8.0)
    assert implicit.push_for(losses.by_name("squared"), 0.0, 1.0, 1.0) == math.inf


@pytest.mark.parametrize("name", ["hinge", "quantile"])
def test_no_second_order_update_without_curvature(name: str) -> None:
    loss = losses.by_name(name)
    assert updates.names_for(loss) == ["explicit", "implicit", "invariant"]
    for call in (updates.by_name("second_order").change, updates.by_name("second_order").push_for):
        with pytest.raises(
            ValueError, match=r"has no second_order update.*use one of explicit, implicit, invariant"
        ):
            call(loss, 0.0, 1.0, 1.0)


def test_labels_and_pushes_are_checked() -> None:
    invariant = updates.by_name("invariant")
    with pytest.raises(ValueError, match=r"Logistic loss takes the label -1 or 1; got 0\.0"):
        invariant.change(losses.by_name("logistic"), 0.0, 0.0, 1.0)
    for push in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match=f"the push u must be finite, 0 or more; got {push}"):
            invariant.change(losses.by_name("squared"), 0.0, 0.0, push)
    assert invariant.change(losses.by_name("logarithmic"), 0.5, 0.25, 1.0) < 0.0


def test_unknown_name() -> None:
    with pytest.raises(
        ValueError, match="no update 'implict'; the updates are explicit, implicit, second_order, invariant"
    ):
        updates.by_name("implict")


def regrets(power_t: float, dimensions: int, lengths: list[int]) -> list[float]:
    """Regret of the invariant update, squared loss, on a unit-norm stream with noisy labels."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(lengths[-1], dimensions))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.clip(x @ np.full(dimensions, 0.5) + rng.normal(size=len(x)), -2.0, 2.0)
    squared = losses.by_name("squared")
    settings = Settings(squared, "invariant", "plain", 1.0, 1.0, power_t, bias=False, dtype="float64")
    predictions = Learner(settings, dimensions).learn(examples(x, y))
    suffered = 0.5 * np.cumsum((predictions - y) ** 2)
    result = []
    for n in lengths:
        best = np.linalg.lstsq(x[:n], y[:n])[0]
        result.append(float(suffered[n - 1] - 0.5 * np.sum((x[:n] @ best - y[:n]) ** 2)))
    return result


LENGTHS = [10**3, 10**4, 10**5, 10**6]


def test_regret_grows_no_faster_than_the_root_of_time() -> None:
    scaled = [regret / math.sqrt(n) for regret, n in zip(regrets(0.5, 3, LENGTHS), LENGTHS, strict=True)]
    assert 0.0 < max(scaled) < 2.0
    assert scaled[-1] <= 1.2 * scaled[0]


def test_regret_grows_no_faster_than_the_logarithm_of_time_with_rate_one_over_t() -> None:
    """In one dimension, where the squared loss is strongly convex in w."""
    scaled = [regret / math.log(n) for regret, n in zip(regrets(1.0, 1, LENGTHS), LENGTHS, strict=True)]
    assert 0.0 < max(scaled) < 2.0
    assert scaled[-1] <= 1.2 * scaled[0]
