"""`ActiveClassifier` with several classes: pools, streams, estimates, certificates, copies."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import ActiveClassifier
from steelyard.active.stopping import Certified, ErrorBelow
from steelyard.active.verification import verify
from tests.active.test_class_models import three

NAMES = np.array(["art", "news", "sport"])


def classifier(**given: Any) -> ActiveClassifier:
    parameters: dict[str, Any] = {"classes": ["sport", "art", "news"], "budget": 60} | given
    return ActiveClassifier(**parameters)


def data(count: int, seed: int = 0) -> tuple[Any, Any]:
    X, codes = three(count, seed)
    return X, NAMES[codes.astype(int)]


def asked(active: ActiveClassifier, y: Any) -> ActiveClassifier:
    while (question := active.ask_next()) is not None:
        assert question.prediction in NAMES
        json.dumps(question.prediction)
        active.answer(question.id, y[question.row])
    return active


@pytest.mark.parametrize("strategy", ["iwal", "margin", "random"])
def test_a_pool(strategy: str, tmp_path: Path) -> None:
    X, y = data(400)
    active = asked(classifier(strategy=strategy).pool(X), y)
    assert 57 <= active.n_answered_ <= 60
    fresh, truth = data(300, seed=1)
    assert active.classes_.tolist() == NAMES.tolist()
    assert active.positive_ is None
    assert active.score(fresh, truth) > (0.5 if strategy == "random" else 0.6)
    assert active.coef_.shape == (3, X.shape[1])
    assert active.intercept_.shape == (3,)
    assert active.decision_function(fresh).shape == (300, 3)
    np.testing.assert_allclose(active.predict_proba(fresh).sum(axis=1), 1.0)
    assert len(active.models_) == 3
    with pytest.raises(AttributeError, match="there are 3 models_, one for each class"):
        _ = active.model_
    path = tmp_path / "pool.journal"
    for stop in (20, 60):
        again = classifier(strategy=strategy, journal=path).pool(X)
        while again.n_answered_ < stop and (question := again.ask_next()) is not None:
            again.answer(question.id, y[question.row])
        coefficients = again.coef_
        again.close()
    np.testing.assert_array_equal(coefficients, active.coef_)
    with pytest.raises(ValueError, match="another classes"):
        classifier(strategy=strategy, journal=path, classes=["art", "news"], positive="art").pool(X)


def test_a_balanced_refit_taught_and_changed_answers() -> None:
    X, y = data(300)
    active = classifier(strategy="margin", refit="balanced").pool(X).teach([0, 1, 2, 3], y[:4])
    asked(active, y)
    assert active.n_taught_ == 4
    right, before = (active.predict(X) == y).mean(), active.coef_
    number = active.undo()
    active.answer(number, y[active.pool_order_[number]])
    np.testing.assert_array_equal(active.coef_, before)
    active.change(number, "art" if y[active.pool_order_[number]] != "art" else "news")
    assert (active.coef_ != before).any()
    assert right > 0.6
    copied = pickle.loads(pickle.dumps(active))
    np.testing.assert_array_equal(copied.coef_, active.coef_)


def test_margin_asks_where_the_two_likeliest_are_closest() -> None:
    X, y = data(200)
    active = classifier(strategy="margin").pool(X)
    for _ in range(20):
        question = active.ask_next()
        assert question is not None
        active.answer(question.id, y[question.row])
    first, second = np.sort(active.decision_function(X), axis=1)[:, [-1, -2]].T
    gaps = first - second
    gaps[[int(active.pool_order_[number]) for number in active.learner_.labels]] = np.inf
    question = active.ask_next()
    assert question is not None
    assert question.row == gaps.argmin()


def test_a_stream_has_query_probabilities() -> None:
    X, y = data(300)
    active = classifier(budget=None, rate=0.2).replay(X, y)
    p = active.query_probability(X[:50])
    assert ((p > 0.0) & (p <= 1.0)).all()
    assert len(set(p.tolist())) > 10
    wrong = (NAMES[np.floor(active.history_.prediction).astype(int)] != y).mean()
    found = active.estimate("error", "progressive")
    assert found.low <= wrong <= found.high


def test_estimates_count_any_wrong_class() -> None:
    X, y = data(500)
    for given in ({}, {"audit": 0.05}, {"strategy": "margin", "audit": 0.05}, {"loss": "hinge"}):
        active = asked(classifier(positive="news", budget=120, **given).pool(X), y)
        found = active.estimate("error")
        error = 1.0 - active.score(X, y)
        assert found.low <= error <= found.high
        for measure in ("precision", "recall"):
            own = active.estimate(measure)
            assert own.positive == "news"
            taken, true = active.predict(X) == "news", y == "news"
            assert (
                own.low
                <= (taken & true).sum() / (taken if measure == "precision" else true).sum()
                <= own.high
            )
    active = asked(classifier(budget=120).pool(X), y)
    history = active.history_
    considered = history.probability > 0.0
    decided = NAMES[np.floor(history.prediction[considered]).astype(int)]
    left = (decided != y[active.pool_order_[np.flatnonzero(considered)]]) & ~history.asked[considered]
    pool = active.estimate("error", "pool")  # rows not considered may be anything
    assert pool.low <= left.sum() / len(y) <= pool.high
    assert "continue" in active.should_stop(ErrorBelow(0.01)).why
    with pytest.raises(ValueError, match="recall is that of one: name it as the positive class"):
        active.estimate("recall")
    with pytest.raises(ValueError, match="of several, estimate the error"):
        active.estimate("loss", largest=2.0)


def test_certificates(tmp_path: Path) -> None:
    X, y = data(600)
    active = asked(classifier(budget=150, strategy="margin").pool(X), y)
    with pytest.raises(ValueError, match="precision is that of one: name it as the positive class"):
        active.certify("precision", 0.9)
    passed = active.certify("error", 0.4, label=lambda row: y[row])
    assert passed.passed
    passed.save(tmp_path / "error.json")
    verify(json.loads((tmp_path / "error.json").read_text()))
    failed = active.certify("error", 0.001, label=lambda row: y[row])
    assert not failed.passed
    assert failed.learned
    assert active.n_taught_ == len(failed.answers)
    active = classifier(budget=400, strategy="margin", positive="news").pool(X)
    while (question := active.ask_next(stop=Certified("recall", 0.5))) is not None:
        active.answer(question.id, y[question.row])
    assert active.attempt_ is None or active.attempt_.measure == "recall"
    found = active.certify("recall", 0.5, label=lambda row: y[row])
    assert found.passed
    precise = classifier(budget=100, strategy="margin", positive="art").pool(X)
    assert asked(precise, y).certify("precision", 0.3, label=lambda row: y[row]).passed


def test_numbers_as_classes() -> None:
    X, codes = three(100)
    active = ActiveClassifier(classes=[3, 1, 2], positive=2, budget=20).pool(X)
    question = active.ask_next()
    assert question is not None
    assert question.prediction in (1, 2, 3)
    active.answer(question.id, int(codes[question.row]) + 1)
    assert active.positive_ == 2
