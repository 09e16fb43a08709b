"""Questions, answers late and in any order, skips and undos; and going on where another stopped."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses
from steelyard.active.journal import Journal
from steelyard.active.learner import ActiveLearner
from steelyard.active.strategies._base import BudgetPlan
from steelyard.examples import examples
from tests.active.streams import FEATURES, SETTINGS, answered, learner, rows, stream


def same_model(one: ActiveLearner, other: ActiveLearner) -> None:
    for found, expected in ((one.labelled.models[0], other.labelled.models[0]), (one.model, other.model)):
        for name, array in expected.arrays().items():
            np.testing.assert_array_equal(found.arrays()[name], array)


def test_it_learns_what_it_asks_for() -> None:
    chunk, labels = stream(600)
    asking = answered(learner(rate=0.2), chunk, labels)
    test, truth = stream(1000, seed=5)
    assert np.mean(np.sign(asking.predict(test)) != truth) < 0.2
    assert asking.answered == asking.asked
    assert asking.open == []


def test_the_history_has_everything_in_order() -> None:
    chunk, _ = stream(300)
    asking = learner(rate=0.2)
    asked = asking.consider(chunk)
    asking.answer([asked[2].id, asked[0].id], [1.0, -1.0])
    asking.skip([asked[1].id])
    history = asking.history()
    assert len(history.probability) == 300
    assert np.flatnonzero(history.asked).tolist() == [question.id for question in asked]
    assert history.label[asked[2].id] == 1.0
    assert history.label[asked[0].id] == -1.0
    assert np.isnan(history.label).sum() == 298
    assert np.flatnonzero(history.skipped).tolist() == [asked[1].id]
    assert [question.probability for question in asked] == history.probability[history.asked].tolist()
    assert [question.prediction for question in asked] == history.prediction[history.asked].tolist()
    assert asking.missing == pytest.approx(1 / 3)
    assert asking.open == [question.id for question in asked[3:]]
    assert math.isnan(learner().missing)
    assert len(learner().history().label) == 0


def test_answers_in_any_order_are_learned_in_theirs() -> None:
    chunk, labels = stream(40)
    late, mixed = learner(rate=1.0), learner(rate=1.0)
    asked = [question.id for question in late.consider(chunk)]
    assert len(mixed.consider(chunk)) == len(asked)
    order = asked[::-1]
    late.answer(order, labels[order].tolist())
    for number in order:
        mixed.answer([number], [labels[number]])
    same_model(late, mixed)


def test_undo_is_as_if_it_had_never_been() -> None:
    chunk, labels = stream(60)
    one, other = learner(rate=1.0), learner(rate=1.0)
    asked = [question.id for question in one.consider(chunk)]
    other.consider(chunk)
    one.answer(asked[:30], labels[asked[:30]].tolist())
    other.answer(asked[:28], labels[asked[:28]].tolist())
    one.skip([asked[40]])
    assert [one.undo(), one.undo(), one.undo()] == [asked[40], asked[29], asked[28]]
    same_model(one, other)
    assert one.open == asked[28:]
    one.answer([asked[28]], [1.0])  # and may be answered otherwise
    assert one.history().label[asked[28]] == 1.0


@pytest.mark.parametrize("given", [{"rate": 0.2}, {"budget": 60, "expected": 240}, {"c0": 1e-3}])
def test_going_on_with_a_journal_is_as_if_never_stopped(given: dict[str, Any], tmp_path: Path) -> None:
    chunk, labels = stream(240)
    path = tmp_path / "asking.journal"
    whole = answered(learner(**given), chunk, labels)
    for start in range(0, 240, 80):  # a new process for every eighty examples
        with Journal(path) as journal:
            asking = ActiveLearner(SETTINGS, FEATURES, whole.plan, whole.training, journal)
            assert asking.seen == start
            answered(asking, chunk.take(np.arange(start, start + 80)), labels[start : start + 80])
            if asking.answered > 3:
                number = asking.undo()
                asking.answer([number], [labels[number]])
    with Journal(path) as journal:
        asking = ActiveLearner(SETTINGS, FEATURES, whole.plan, whole.training, journal)
        same_model(asking, whole)
        np.testing.assert_array_equal(asking.history().probability, whole.history().probability)
        np.testing.assert_array_equal(asking.history().label, whole.history().label)
        assert asking.strategy.bound == whole.strategy.bound


def test_it_stops_at_the_first_question_if_told_to() -> None:
    chunk, labels = stream(150)
    one = learner(rate=0.1)
    for row in range(150):
        for question in one.consider(chunk.take(np.array([row]))):
            assert (question.id, question.row) == (row, 0)
            one.answer([question.id], [labels[question.id]])
    same_model(one, answered(learner(rate=0.1), chunk, labels))


def test_dense_rows_are_kept_as_sparse_ones() -> None:
    matrix, labels = rows(100)
    dense, sparse = learner(rate=0.3), learner(rate=0.3)
    asked = [question.id for question in dense.consider(examples(matrix.toarray()))]
    sparse.consider(examples(matrix))
    for each in (dense, sparse):
        each.answer(asked, labels[asked].tolist())
    np.testing.assert_allclose(dense.model.raw_coefficients, sparse.model.raw_coefficients, rtol=1e-6)


def test_nothing_to_consider() -> None:
    asking = learner()
    assert asking.consider(stream(3)[0].take(np.arange(0))) == []
    assert asking.seen == 0


def test_a_failing_journal_leaves_the_engine_as_it_was() -> None:
    chunk, labels = stream(100)
    asking = answered(learner(rate=0.1), chunk, labels)
    before = asking.seen, asking.asked, asking.strategy.bound
    asking.journal.close()
    with pytest.raises(Exception, match="closed"):
        asking.consider(chunk)
    assert before == (asking.seen, asking.asked, asking.strategy.bound)


def test_answers_that_cannot_be() -> None:
    chunk, _ = stream(10)
    asking = learner()
    asking.consider(chunk)
    asking.answer([0], [1.0])
    asking.skip([1])
    for ids, labels, message in (
        ([77], [1.0], "there is no question 77"),
        ([0], [1.0], "question 0 was answered already; undo that first"),
        ([1], [1.0], "question 1 was skipped already"),
        ([2, 2], [1.0, 1.0], "question 2 is there twice"),
        ([3, 2], [1.0, 0.5], r"question 2 has the label 0.5: the labels are -1.0 and 1.0"),
    ):
        with pytest.raises(ValueError, match=message):
            asking.answer(ids, labels)
    assert asking.answered == 1
    with pytest.raises(ValueError, match="there is nothing to undo"):
        learner().undo()


def test_rows_with_bases_are_refused() -> None:
    with pytest.raises(ValueError, match="leave the offsets out"):
        learner().consider(examples(np.ones((1, FEATURES)), offsets=[1.0]))


def test_a_journal_goes_on_only_as_it_was_begun(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    with Journal(path) as journal:
        learner(journal, rate=0.1)
    for settings, given, message in (
        (SETTINGS, {"rate": 0.2}, "another rate; continue with the parameters it was started with"),
        (SETTINGS, {"rate": 0.1, "seed": 3}, "another seed"),
        (replace(SETTINGS, loss=losses.by_name("hinge")), {"rate": 0.1}, "another loss"),
    ):
        with Journal(path) as journal, pytest.raises(ValueError, match=message):
            learner(settings=settings, journal=journal, **given)
    with Journal(path) as journal, pytest.raises(ValueError, match="another features"):
        ActiveLearner(SETTINGS, 7, BudgetPlan(rate=0.1), None, journal)
