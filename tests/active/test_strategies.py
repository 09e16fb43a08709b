"""Policies get the labels they pay for, and no more."""

from dataclasses import replace
from typing import Any

import pytest

from steelyard.active import strategies
from steelyard.active.strategies import LEARNERS, POLICIES, error, outcomes
from tests.active.streams import stream


def rows(count: int, seed: int = 0) -> Any:
    chunk, labels = stream(count, seed)
    return replace(chunk, labels=labels)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_learns_from_its_budget(policy: str, learner: str) -> None:
    fresh = rows(1000, seed=5)
    found = list(outcomes(policy, LEARNERS[learner], rows(600), [8, 60, 120]))
    for outcome, budget in zip(found, (8, 60, 120), strict=True):
        assert 0.9 * budget - 2 <= len(outcome.rows) <= budget
        assert (outcome.appraisal is not None) == (policy in strategies.UPDATES)
    assert error(found[-1].model, fresh) < 0.3
    assert error(found[-1].model, fresh) < error(found[0].model, fresh)


def test_margin_buys_what_it_is_least_sure_of_and_nothing_twice() -> None:
    (found,) = outcomes("margin", LEARNERS["refit"], rows(50), [50])
    (everything,) = outcomes("random", LEARNERS["refit"], rows(50), [50])
    assert sorted(found.rows) == everything.rows == list(range(50))


def test_what_diverges_is_wrong_about_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> None:
        raise FloatingPointError

    monkeypatch.setattr(strategies, "replay", failing)
    (found,) = outcomes("multiplication", LEARNERS["once"], rows(50), [10])
    assert found.model is None
    assert error(found.model, rows(10)) == 1.0
    assert found.appraisal is None
