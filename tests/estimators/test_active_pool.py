"""`ActiveClassifier` with a pool: every strategy asks from it, and goes on where it stopped."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer

from steelyard import ActiveClassifier
from steelyard.active.stopping import ErrorBelow
from steelyard.active.strategies.margin import Margin
from tests.estimators.asking import classifier, data


def test_all_of_a_pool_may_be_considered() -> None:
    X, y = data(150)
    active = classifier(rate=0.3).pool(X)
    while (question := active.ask_next()) is not None:
        active.answer(question.id, y[question.row])
    assert active.n_seen_ == 150


def test_pools_and_streams_do_not_mix() -> None:
    X, _ = data(20)
    with pytest.raises(ValueError, match=r"asks from its pool: use ask_next\(\)"):
        classifier().pool(X).ask(X)
    active = classifier()
    active.ask(X)
    with pytest.raises(ValueError, match=r"pool\(X\) first"):
        active.ask_next()
    with pytest.raises(ValueError, match="was started with other rows"):
        active.pool(X)


def test_estimates_and_rules_from_a_pool(tmp_path: Path) -> None:
    X, y = data(600)
    path = tmp_path / "a.journal"
    rule = ErrorBelow(0.6)
    active = classifier(rate=0.3, floor=0.3, journal=path).pool(X)
    while (question := active.ask_next(stop=rule)) is not None:
        active.answer(question.id, y[question.row])
    verdict = active.should_stop(rule)
    assert verdict
    assert verdict.why.startswith("stop: current error is at most 0.")
    assert active.n_seen_ < 600
    found = active.estimate()
    assert found.high <= 0.6
    assert (found.rows, found.asked, found.answered) == (active.n_seen_, active.n_asked_, active.n_answered_)
    assert found.low <= 1.0 - active.score(*data(3000, seed=5)) <= found.high
    whole = active.estimate("recall", "pool", level=0.9)
    assert whole.high - whole.low > 1.0 - active.n_seen_ / 600  # the rest may be anything
    assert active.estimate("loss", largest=2.0).measure == "loss"
    active.close()
    again = classifier(rate=0.3, floor=0.3, journal=path).pool(X)
    assert again.estimate() == found
    assert again.ask_next(stop=rule) is None
    assert again.ask_next() is not None  # whoever wants to goes on
    again.close()


def test_questions_that_wait_are_found_again(tmp_path: Path) -> None:
    X, y = data(100)
    path = tmp_path / "a.journal"
    active = classifier(journal=path).pool(X)
    asked = [active.ask_next() for _ in range(3)]
    active.close()
    again = classifier(journal=path).pool(X)
    assert again.waiting() == asked
    for question in again.waiting():
        again.answer(question.id, y[question.row])
    assert again.waiting() == []
    again.close()
    stream = classifier()
    stream.ask(X[:2])
    first = stream.waiting()
    stream.ask(X[2:4])
    assert [question.row for question in stream.waiting()] == [0, 1, 2, 3]
    assert stream.waiting()[:2] == first


def test_an_audit_is_asked_and_not_learned(tmp_path: Path) -> None:
    X, y = data(500)
    active = classifier(rate=None, budget=110, audit=0.05, journal=tmp_path / "a.journal").replay(X, y)
    assert 90 <= active.n_answered_ < 110
    found = active.estimate()
    assert 10 < found.asked == found.rows < 40
    assert active.query_probability(X).min() >= 0.05  # an audit may fall on any row
    active.close()
    with pytest.raises(ValueError, match="was started with another audit"):
        classifier(rate=None, budget=110, journal=tmp_path / "a.journal").replay(X, y)
    with pytest.raises(ValueError, match=r"it must be less than 0\.2; got 0\.3"):
        classifier(audit=0.3).ask(X)


@pytest.mark.parametrize("strategy", ["iwal", "margin", "random"])
def test_every_strategy_asks_from_a_pool_and_is_resumed(strategy: str, tmp_path: Path) -> None:
    X, y = data(400)

    def begin(journal: Path | None = None) -> ActiveClassifier:
        return classifier(rate=None, budget=60, strategy=strategy, journal=journal).pool(X)

    whole = begin()
    asked = []
    while (question := whole.ask_next()) is not None:
        asked.append(question)
        whole.answer(question.id, y[question.row])
    order = [question.row for question in asked]
    assert len(set(order)) == len(order)
    assert order != sorted(order)
    assert 55 <= len(asked) <= 60
    assert whole.score(*data(1000, seed=3)) > 0.65
    path = tmp_path / "pool.journal"
    first = begin(path)
    for question in asked[:30]:
        assert first.ask_next() == question
        first.answer(question.id, y[question.row])
    late = first.ask_next()
    first.close()
    again = begin(path)
    assert again.waiting() == [late] == [asked[30]]
    again.answer(asked[30].id, y[asked[30].row])
    for question in asked[31:]:
        assert again.ask_next() == question
        again.answer(question.id, y[question.row])
    assert again.ask_next() is None
    np.testing.assert_array_equal(again.coef_, whole.coef_)
    again.close()
    with pytest.raises(ValueError, match="another pool"):
        classifier(rate=None, budget=60, strategy=strategy, journal=path).pool(X[::-1])


def test_margin_asks_for_the_least_certain_row_of_the_pool() -> None:
    X, y = data(300)
    active = classifier(rate=None, budget=80, strategy="margin").pool(X)
    while (question := active.ask_next()) is not None and active.n_asked_ <= 28:
        active.answer(question.id, y[question.row])
    assert question is not None  # ranked by the model of 28 answers, as is the next
    distance = np.abs(active.decision_function(X))
    rest = np.ones(300, bool)
    rest[[active.pool_order_[number] for number in np.flatnonzero(active.history_.asked)]] = False
    assert distance[question.row] <= distance[rest].min()
    with pytest.raises(ValueError, match="'margin' ranks the whole pool: its rows have no probabilities"):
        active.query_probability(X)


def test_strategies_are_names_or_instances() -> None:
    X, y = data(200)
    by_name = classifier(strategy="margin").replay(X, y)
    instance = clone(classifier(strategy=Margin())).replay(X, y)
    np.testing.assert_array_equal(by_name.coef_, instance.coef_)
    assert set(by_name.query_probability(X)) <= {0.0, 1.0}
    with pytest.raises(ValueError, match="there is no strategy 'marginal'"):
        classifier(strategy="marginal").ask(X)
    with pytest.raises(
        TypeError, match=r"an instance of Strategy; got <class .*; give an instance, Margin\(\)"
    ):
        classifier(strategy=Margin).ask(X)
    with pytest.raises(TypeError, match="a name or an instance of Strategy; got 3"):
        classifier(strategy=3).ask(X)


def test_what_a_pool_is_asked_and_weighted_by() -> None:
    X, y = data(60)
    active = classifier(rate=None, budget=20).pool(X)
    question = active.ask_next()
    assert question is not None
    assert active.pool_order_[question.id] == question.row
    assert sorted(active.pool_order_) == list(range(60))
    active.answer(question.id, y[question.row])
    place = active.classes_.tolist().index(y[question.row])
    assert active.learner_.labels == {question.id: active.class_codes_[place]}
    with pytest.raises(AttributeError, match="no idf_ without tfidf=True"):
        _ = active.idf_
    counts = np.ceil(np.abs(X.toarray()))
    weighted = classifier(rate=None, budget=20, tfidf=True).pool(counts)
    np.testing.assert_allclose(weighted.idf_, TfidfTransformer().fit(counts).idf_)
