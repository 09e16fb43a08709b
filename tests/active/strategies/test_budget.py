"""Budgets and rates are kept, by importance-weighted active learning above all."""

import math

import numpy as np
import pytest

from steelyard.active.strategies import iwal
from steelyard.active.strategies._base import STRETCH, WARM_UP, BudgetPlan
from steelyard.active.strategies.iwal import Iwal
from tests.active.streams import answered, learner, stream


@pytest.mark.parametrize("budget", [30, 200])
def test_a_budget_is_spent_and_never_exceeded(budget: int) -> None:
    chunk, labels = stream(1000)
    asking = learner(budget=budget, expected=1000)
    for start in range(0, 1000, 50):
        answered(asking, chunk.take(np.arange(start, start + 50)), labels[start : start + 50])
        assert asking.asked <= budget
    assert asking.asked >= 0.95 * budget
    assert asking.seen == 1000


def test_nothing_is_asked_once_a_budget_is_spent() -> None:
    chunk, labels = stream(600)
    asking = answered(learner(budget=20, expected=300), chunk, labels)
    assert asking.asked == 20
    assert asking.spent
    assert asking.history().probability[-1] == 0.0
    np.testing.assert_array_equal(asking.probabilities(chunk), 0.0)


def test_a_skipped_question_costs_nothing() -> None:
    chunk, _ = stream(200)
    asking = learner(budget=5, expected=200)
    questions = asking.consider(chunk.take(np.arange(5)))
    spent = asking.spent
    asking.skip([questions[0].id, questions[3].id])
    assert spent
    assert not asking.spent
    assert asking.missing == 1.0
    assert len(asking.consider(chunk.take(np.arange(5, 200)))) == 2


@pytest.mark.parametrize("rate", [0.03, 0.3])
def test_a_rate_is_kept_up(rate: float) -> None:
    chunk, labels = stream(1500, noise=0.3)
    asking = answered(learner(rate=rate), chunk, labels)
    assert asking.asked == pytest.approx(rate * 1500, rel=0.1)
    assert not asking.spent


def test_probabilities_stay_above_the_floor() -> None:
    chunk, labels = stream(700)
    asking = answered(learner(rate=0.2), chunk, labels)
    assert asking.history().probability.min() == 0.01
    asking = answered(learner(rate=0.04), chunk, labels)
    assert asking.history().probability.min() == pytest.approx(0.2 * 0.04)


def test_a_fixed_c0_is_the_papers() -> None:
    chunk, labels = stream(300)
    asking = answered(learner(c0=1e-3), chunk, labels)
    last = chunk.take(np.array([299]))
    flips, _ = iwal.flip_importances(asking.labelled.models[0], last)
    expected = iwal.query_probability(flips / 301, 301, 1e-3)
    np.testing.assert_array_equal(asking.probabilities(last), expected)
    assert asking.history().probability[0] == 1.0


def test_c0_is_what_gives_the_probabilities() -> None:
    chunk, labels = stream(300)
    asking = answered(learner(rate=0.1), chunk, labels)
    k = asking.seen + 1
    flips, _ = iwal.flip_importances(asking.labelled.models[0], chunk)
    assert isinstance(asking.strategy, Iwal)
    c0 = asking.strategy.bound * (k - 1) / math.log(k)
    by_c0 = iwal.query_probability(flips / k, k, c0)
    np.testing.assert_allclose(asking.probabilities(chunk), np.maximum(by_c0, 0.01), rtol=1e-9)


def test_at_first_all_is_asked_for() -> None:
    strategy = Iwal().start(BudgetPlan(rate=0.1))
    np.testing.assert_array_equal(strategy.probabilities(np.array([5.0, math.inf]), 1, WARM_UP - 1), 1.0)
    assert [BudgetPlan(budget=b, expected=9999).warm_up for b in (3, 100, 1000)] == [10, 20, 50]
    assert strategy.stretch(1) == STRETCH
    assert strategy.stretch(STRETCH) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "say how much to ask"),
        ({"rate": 0.1, "c0": 0.1}, "one of the three"),
        ({"c0": 0.0}, "c0 must be a positive number; got 0.0"),
        ({"rate": 1.5}, "above 0 and at most 1; got 1.5"),
        ({"budget": 0, "expected": 10}, "from 1 to 1,000,000,000; got 0"),
        ({"budget": 10}, r"give expected=…, or rate=… instead"),
        ({"budget": 10, "expected": 0}, "give expected="),
        ({"rate": 0.1, "floor": -0.1}, "from 0 to 1; got -0.1"),
        ({"rate": 0.1, "audit": 0.1}, "it must be less than 0.1; got 0.1"),
        ({"c0": 0.1, "audit": -0.1}, "it must be less than 1; got -0.1"),
    ],
)
def test_plans_that_make_no_sense(given: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BudgetPlan(**given)  # type: ignore[arg-type]


def test_unknown_constants() -> None:
    with pytest.raises(ValueError, match="they are theory or practice; did you mean 'theory'"):
        Iwal().start(BudgetPlan(rate=0.1, constants="theori"))


def test_rows_that_would_flip_at_once_do_not_break_the_budget() -> None:
    """No C₀ is small enough for them: P falls below 1 all the same."""
    strategy = Iwal().start(BudgetPlan(budget=100, expected=10_000))
    for k in range(64, 64 * 20, 64):
        strategy.observe(np.zeros(64), k, 60, question=False)
    p = strategy.probabilities(np.zeros(5), 64 * 20, 60)
    np.testing.assert_allclose(p, 40 / (10_000 - 64 * 19), rtol=1e-9)
