"""Trials: strategies get the labels they ask for, and no more."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from steelyard.active import strategies, strategy_trials
from steelyard.active.identifiers import ReadPlace
from steelyard.active.labelled_rows import DEFAULT_SETTINGS, LabelledRows
from steelyard.active.learner import ActiveLearner
from steelyard.active.stored_rows import sparse_row
from steelyard.active.strategy_trials import LEARNERS, TrialPlan, error, outcomes
from steelyard.learner import Learner
from tests.active.streams import stream


def rows(count: int, seed: int = 0) -> Any:
    chunk, labels = stream(count, seed)
    return replace(chunk, labels=labels)


@pytest.mark.no_cover
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    ("strategy", "update"),
    [*((name, "implicit") for name in strategies.names()), ("iwal", "invariant"), ("iwal", "explicit")],
)
def test_every_strategy_learns_from_its_budget(strategy: str, update: str, learner: str) -> None:
    fresh = rows(1000, seed=5)
    found = list(outcomes(strategy, update, LEARNERS[learner], rows(600), [8, 60, 120]))
    for outcome, budget in zip(found, (8, 60, 120), strict=True):
        assert 0.9 * budget - 2 <= len(outcome.rows) <= budget
        assert (outcome.evaluation is not None) == strategies.by_name(strategy).randomized
    # relevance looks for one class, not for what tells the classes apart
    assert error(found[-1].models, fresh) < (0.4 if strategy == "relevance" else 0.3)
    assert error(found[-1].models, fresh) < error(found[0].models, fresh)


def test_margin_asks_for_what_it_is_least_sure_of_and_nothing_twice() -> None:
    (found,) = outcomes("margin", "implicit", LEARNERS["refit"], rows(50), [50])
    (everything,) = outcomes("random", "implicit", LEARNERS["refit"], rows(50), [50])
    assert sorted(found.rows) == everything.rows == list(range(50))


@pytest.mark.parametrize("learner", LEARNERS)
def test_margin_is_what_its_definition_says(learner: str) -> None:
    """Ten labels, then the least certain rows, ranked anew for every tenth more of labels."""
    chunk, training = rows(300), LEARNERS[learner]
    labelled = LabelledRows(DEFAULT_SETTINGS, chunk.features, training)
    asked: list[int] = []
    while (count := len(asked)) < 90:
        if count < 10:
            chosen = np.arange(count, 10)
        else:
            distance = np.abs(Learner(model=labelled.final[0]).predict(chunk))
            distance[asked] = np.inf
            chosen = np.argsort(distance, kind="stable")[: min(max(count // 10, 1), 90 - count)]
        for row in chosen.tolist():
            labelled.rows.add(*sparse_row(chunk, row))
            labelled.answer(ReadPlace(len(asked)), float(chunk.labels[row]), 1.0)
            asked.append(row)
    (found,) = outcomes("margin", "implicit", training, chunk, [90])
    assert found.rows == asked
    assert found.models is not None
    np.testing.assert_array_equal(found.models[0].raw_coefficients, labelled.final[0].raw_coefficients)


@pytest.mark.parametrize("strategy", ["iwal", "margin"])
def test_what_diverges_is_wrong_about_everything(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> None:
        raise FloatingPointError

    monkeypatch.setattr(ActiveLearner, "answer", failing)
    for found in outcomes(strategy, "explicit", LEARNERS["once"], rows(50), [10, 20]):
        assert found.models is None
        assert error(found.models, rows(10)) == 1.0
        assert found.evaluation is None


def test_all_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    found = strategy_trials.learn_all("implicit", LEARNERS["refit"], rows(50))
    (everything,) = outcomes("random", "implicit", LEARNERS["refit"], rows(50), [50])
    assert found.rows == everything.rows
    assert found.models is not None
    assert everything.models is not None
    np.testing.assert_array_equal(found.models[0].raw_coefficients, everything.models[0].raw_coefficients)

    def failing(*_: Any) -> None:
        raise FloatingPointError

    monkeypatch.setattr(Learner, "learn", failing)
    assert strategy_trials.learn_all("explicit", LEARNERS["refit"], rows(50)).models is None


def test_intervals_know_shuffles_and_held_out_rows() -> None:
    alone = strategy_trials.half_width(np.array([0.1]), 1000)
    assert alone == pytest.approx(1.96 * np.sqrt(0.1 * 0.9 / 1000), rel=0.02)
    assert strategy_trials.half_width(np.array([0.1, 0.1, 0.1]), 1000) == pytest.approx(alone)
    assert strategy_trials.half_width(np.array([0.05, 0.1, 0.15]), 1000) > 0.1
    assert strategy_trials.half_width(np.array([0.0]), 100) > 0.02


def test_splits_are_of_all_rows() -> None:
    chunk = rows(6)
    plan = TrialPlan(["random"], ["implicit"], [0.5], seeds=1, holdout=3)
    for seed in range(3):
        learned, tested = plan.split(chunk, seed)
        assert (len(learned), len(tested)) == (4, 2)
        assert sorted([*learned.values, *tested.values]) == sorted(chunk.values)


def test_trials_tick_as_often_as_they_say() -> None:
    plan = TrialPlan(["iwal", "random"], ["implicit", "invariant"], [0.2, 0.1], seeds=2, holdout=4)
    ticks: list[int] = []
    found = strategy_trials.run_trials(rows(120), plan, "refit", lambda: ticks.append(1))
    assert len(ticks) == plan.count() == 20
    assert [(entry["strategy"], entry["update"]) for entry in found["results"][:5]] == [
        ("iwal", "implicit"), ("iwal", "invariant"), ("random", "implicit"), ("random", "invariant"),
        ("iwal", "implicit"),
    ]  # fmt: skip
