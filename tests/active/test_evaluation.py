"""What an learner's labels say of it: the same when resumed, changed back by an undo, never flattering."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses
from steelyard.active.estimates import ESTIMANDS, MEASURES, Estimate
from steelyard.active.evaluation import CrossValidation, Evaluation, last_look
from steelyard.active.journal import Journal
from steelyard.active.labelled_rows import RefitPlan, refit
from steelyard.active.learner import ActiveLearner
from steelyard.active.stopping import Budget, ErrorBelow, Narrow
from steelyard.active.strategies._base import BudgetPlan
from steelyard.learner import Learner
from steelyard.model import Settings
from tests.active.streams import FEATURES, SETTINGS, answered, learner, stream


def told(asking: ActiveLearner) -> list[str]:
    """All estimates to the last digit, in which unknown equals unknown."""
    return [repr(found) for found in every(asking)]


def every(asking: ActiveLearner, size: int | None = None) -> Iterator[Estimate]:
    """All that can be estimated."""
    evaluation = Evaluation(asking, size)
    for of in ESTIMANDS:
        for measure in MEASURES:
            yield evaluation.estimate(measure, of, largest=3.0 if measure == "loss" else None)


def begun(journal: Journal, audit: float = 0.0) -> ActiveLearner:
    return ActiveLearner(SETTINGS, FEATURES, BudgetPlan(rate=0.2, audit=audit), RefitPlan(), journal)


@pytest.mark.parametrize("audit", [0.0, 0.05])
def test_a_resumed_journal_says_the_same(audit: float, tmp_path: Path) -> None:
    chunk, labels = stream(500, noise=0.5)
    whole = answered(begun(Journal(), audit), chunk, labels)
    for start in range(0, 500, 125):
        with Journal(tmp_path / "a.journal") as journal:
            asking = begun(journal, audit)
            answered(asking, chunk.take(np.arange(start, start + 125)), labels[start : start + 125])
            number = asking.undo()
            asking.answer([number], [labels[number]])
    with Journal(tmp_path / "a.journal") as journal:
        resumed = begun(journal, audit)
        assert resumed.answered == whole.answered
        assert told(resumed) == told(whole)


@pytest.mark.parametrize("audit", [0.0, 0.1])
def test_an_undo_changes_them_back(audit: float) -> None:
    chunk, labels = stream(300, noise=0.5)
    asking = learner(rate=0.3, audit=audit)
    asked = [question.id for question in asking.consider(chunk)]
    asking.answer(asked[:40], labels[asked[:40]].tolist())
    before = told(asking)
    learned = len(asking.labelled)
    more = asked[40:]
    asking.answer(more[:-1], labels[more[:-1]].tolist())
    asking.skip(more[-1:])
    assert told(asking) != before
    for _ in more:
        asking.undo()
    assert told(asking) == before
    assert (asking.answered, len(asking.labelled)) == (40, learned)


def test_open_and_skipped_questions_are_at_their_worst() -> None:
    chunk, labels = stream(300)
    late, full = learner(rate=0.3), learner(rate=0.3)
    asked = [question.id for question in late.consider(chunk)]
    full.consider(chunk)
    full.answer(asked, labels[asked].tolist())
    late.answer(asked[:50], labels[asked[:50]].tolist())
    late.skip(asked[50:53])
    missing = len(asked) - 50
    assert missing > 10
    for one, other in zip(every(late), every(full), strict=True):
        assert (one.rows, one.asked, one.skipped, one.answered) == (300, len(asked), missing, 50)
        assert one.width >= other.width
        assert one.width > other.width or one.measure != "error"


def test_lanes_have_not_learned_what_they_score() -> None:
    chunk, labels = stream(200, noise=0.5)
    asking = answered(learner(rate=0.5), chunk, labels)
    count = len(asking.labelled)
    found = CrossValidation(asking.labelled, count).predict(asking.labelled.rows, asking.labelled.places)
    rows = asking.labelled.examples(0, count)
    for place in range(0, count, 13):
        rest = refit(SETTINGS, RefitPlan(), rows, np.arange(count) % 10 == place % 10)
        alone = Learner(model=rest).predict(rows)[place]
        assert found[place] == pytest.approx(alone, rel=1e-6, abs=1e-9)


def test_one_pass_lanes_and_rows_with_features_never_met() -> None:
    chunk, labels = stream(400)
    asking = learner(rate=0.5, orders=0)
    asked = [question.id for question in asking.consider(chunk)]
    asking.answer(asked[:5], labels[asked[:5]].tolist())
    lanes = CrossValidation(asking.labelled, 5)
    found = lanes.predict(asking.labelled.rows, np.arange(len(asked)))
    assert np.isfinite(found).all()
    model = refit(SETTINGS, RefitPlan(orders=0), asking.labelled.examples(0, 5))
    np.testing.assert_array_equal(model.raw_coefficients, asking.model.raw_coefficients)


def test_the_model_itself_judged_by_rows_it_never_learned() -> None:
    chunk, labels = stream(800, noise=0.5)
    asking = answered(learner(rate=0.3, audit=0.1), chunk, labels)
    audit = asking.audit.includes(np.arange(800))
    history = asking.history()
    assert history.asked[audit].all()
    assert 50 < audit.sum() < 110
    assert len(asking.labelled) == asking.answered - audit.sum()
    assert history.probability.min() >= 0.1
    assert history.probability.mean() == pytest.approx(0.3, abs=0.1)
    count, look = last_look(len(asking.labelled))
    model = refit(SETTINGS, RefitPlan(), asking.labelled.examples(0, count))
    kept = chunk.take(np.flatnonzero(audit))
    wrong = np.mean(np.sign(Learner(model=model).predict(kept)) != labels[audit])
    found = Evaluation(asking).estimate()
    assert look > 5
    assert found.value == pytest.approx(wrong, abs=0.02)
    assert (found.rows, found.asked) == (audit.sum(), audit.sum())


def test_rows_that_could_not_be_asked_for_are_left_out() -> None:
    chunk, labels = stream(600)
    asking = answered(learner(budget=60, expected=300), chunk, labels)
    possible = int((asking.history().probability > 0.0).sum())
    assert possible < 400
    assert all(found.rows == possible for found in every(asking))
    assert Evaluation(asking).estimate(of="pool").high > 0.3  # the rest may be anything
    assert Evaluation(asking, 6000).estimate(of="pool").high > 0.9


def test_before_there_is_anything() -> None:
    for asking in (learner(), learner(rate=0.2, audit=0.1)):
        asking.consider(stream(15)[0])
        for found in every(asking):
            assert found.skipped == found.asked
            assert found.low == 0.0
            assert found.high == (3.0 if found.measure == "loss" else 1.0)
            if found.of == "current":
                assert math.isnan(found.value)
    assert Evaluation(learner()).estimate(of="progressive").rows == 0


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
def test_losses_with_and_without_probabilities(loss: str) -> None:
    chunk, labels = stream(300)
    settings = Settings(losses.by_name(loss), scaling="normalized", follow_labels=False)
    asking = answered(learner(settings=settings, rate=0.3), chunk, labels)
    for found in every(asking):
        assert found.low <= found.value <= found.high
        assert found.answered == asking.answered


def test_looks() -> None:
    assert [last_look(count) for count in (0, 19, 20, 23, 24, 28, 1000)] == [
        (0, 0), (0, 0), (20, 1), (20, 1), (24, 2), (28, 3), (986, 23),
    ]  # fmt: skip


def test_rules() -> None:
    chunk, labels = stream(400)
    asking = answered(learner(rate=0.3), chunk, labels)
    evaluation = Evaluation(asking)
    verdict = evaluation.judge(Budget(asking.asked))
    assert verdict
    assert verdict.why == f"stop: {asking.asked} of {asking.asked} questions asked"
    assert not evaluation.judge(ErrorBelow(0.001))
    assert evaluation.judge(Narrow(0.9, "pool"), level=0.5)
    assert "loss is at most" in evaluation.judge(ErrorBelow(0.001, measure="loss"), largest=2.0).why


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measure": "erro"}, "no measure 'erro'; did you mean 'error'"),
        ({"of": "past"}, "no estimate of 'past'"),
        ({"measure": "loss"}, "give largest=…"),
        ({"largest": 2.0}, "largest=2.0 is for the measure 'loss', not for 'error'"),
        ({"measure": "loss", "largest": -1.0}, "the largest loss must be a positive finite number"),
        ({"level": 2.0}, "the level of confidence must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_estimated(given: dict[str, Any], message: str) -> None:
    chunk, labels = stream(300)
    asking = answered(learner(rate=0.3), chunk, labels)
    with pytest.raises(ValueError, match=message):
        Evaluation(asking).estimate(**given)
