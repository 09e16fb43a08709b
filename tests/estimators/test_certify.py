"""Attempts at certificates: nothing is lost, and they begin by themselves."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.active.attempt import Attempt, best_of, past_attempts
from steelyard.active.journal import Journal
from steelyard.active.learner import continue_from
from steelyard.active.stopping import Certified
from steelyard.active.strategies.relevance import Relevance
from steelyard.active.verification import verify
from steelyard.examples import examples
from tests.estimators.asking import classifier, data
from tests.estimators.attempts import asked, some


def test_an_attempt_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    active, X, y = asked(path)
    attempt = active.certify("error", 0.01)
    some(attempt, y, 7)
    assert attempt.undo() == attempt.ask_next()
    with pytest.raises(ValueError, match="is not over: its model must not learn from it yet"):
        attempt.learn()
    before, drawn = attempt.certificate(), attempt.ask_next()
    active.close()
    again = classifier(rate=None, budget=40, journal=path).pool(X)
    other = again.certify("error", 0.01)
    assert other is again.attempt_
    assert (other.certificate(), other.ask_next()) == (before, drawn)
    with pytest.raises(ValueError, match=r"attempt 1 \(error below 0.01 .*\) is not over"):
        again.certify("error", 0.02)
    again.close()
    with pytest.raises(ValueError, match="another pool"):
        classifier(rate=None, budget=40, journal=path).pool(data(400, seed=1)[0])


def test_the_last_certificate_of_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    active, _, y = asked(path)
    journal = active.learner_.journal

    def best() -> Any:
        return best_of(past_attempts(journal), "error", len(active.learner_.labelled), 400)

    assert best() is None
    first = active.certify("error", 0.5, label=lambda row: y[row])
    assert first.passed
    first.give_up()  # it is over
    some(active.certify("error", 0.01), y, 2)
    assert best().certificate() == first.certificate()
    weaker = active.attempt_
    assert weaker is not None
    weaker.give_up()
    assert best().certificate() == first.certificate()  # of an earlier model, but it has passed
    journal.file.db.execute("DELETE FROM attempts WHERE number = 1")  # old journals only count them
    assert not best().passed
    active.close()


@pytest.mark.parametrize(
    "given", [{}, {"strategy": "margin"}, {"strategy": "margin", "loss": "hinge", "audit": 0.05}]
)
def test_an_attempt_begins_by_itself(given: dict[str, Any]) -> None:
    X, y = data(600)
    active = classifier(rate=None, budget=300, **given).pool(X)
    rule = Certified("error", 0.45)
    assert not active.should_stop(rule)
    while (question := active.ask_next(stop=rule)) is not None:
        active.answer(question.id, y[question.row])
    verdict = active.should_stop(rule)
    assert verdict
    assert verdict.why.startswith("stop: certified: error below 0.45")
    assert active.attempt_ is not None
    assert active.n_answered_ < 100
    assert verify(active.attempt_.certificate()).passed
    if not given:
        assert not active.should_stop(Certified("error", 0.1))
        with pytest.raises(ValueError, match=r"use ActiveClassifier.pool\(X\)"):
            rule.judge([])


def test_the_questions_of_an_attempt_can_be_skipped_and_undone() -> None:
    X, y = data(300)
    active = classifier(rate=None, budget=300).pool(X)
    rule = Certified("precision", 0.5, most=4)
    for _ in range(200):
        question = active.ask_next(stop=rule)
        assert question is not None
        if active.attempt_ is not None:
            break
        active.answer(question.id, y[question.row])
    attempt = active.attempt_
    assert attempt is not None
    assert question is not None
    active.skip(question.id)
    assert attempt.answers == [None]
    assert active.undo() == question.id
    assert attempt.answers == []
    with pytest.raises(ValueError, match="the attempt has no answer yet"):
        attempt.undo()
    while not attempt.over:
        question = active.ask_next(stop=rule)
        assert question is not None
        active.answer(question.id, "ham")  # wrong: the model says spam
    assert not attempt.passed
    assert active.n_taught_ == 4
    assert active.ask_next(stop=rule) is not None  # it goes on learning, and tries again at a later look
    assert active.attempt_ is attempt


def test_an_open_question_is_answered_by_the_attempt() -> None:
    X, _ = data(60)
    active = classifier(rate=1.0).pool(X)
    question = active.ask_next()
    assert question is not None
    attempt = active.certify("error", 0.01)
    while (row := attempt.ask_next()) is not None and row != question.row:
        attempt.answer(row, attempt.prediction(row))
    active.answer(question.id, attempt.prediction(question.row))
    assert len(attempt.answers) > 1
    assert active.n_answered_ == 1
    attempt.give_up()
    attempt.learn()
    assert active.n_answered_ + active.n_taught_ == len(attempt.answers)


def relevant(count: int = 300) -> tuple[Any, Any]:
    X, _ = data(count)
    weights = np.arange(X.shape[1]) % 5 == 0
    scores = np.asarray(X @ weights).ravel()
    return X, np.where(scores > np.quantile(scores, 0.95), "spam", "ham")


@pytest.mark.parametrize("positive", ["spam", "ham"])
def test_screening_with_a_proof_of_recall(positive: str, tmp_path: Path) -> None:
    X, y = relevant()
    other = {"spam": "ham", "ham": "spam"}[positive]
    y = np.where(y == "spam", positive, other)
    path = tmp_path / "a.journal" if positive == "spam" else None
    given: dict[str, Any] = {
        "strategy": Relevance(picks=0.05),
        "rate": 1.0,
        "positive": positive,
        "journal": path,
    }
    active = classifier(**given).pool(X)
    seed = int(np.flatnonzero(y == positive)[0])
    assert active.teach([seed], [positive]) is active
    rule = Certified("recall", 0.6)
    read = [seed]
    while (question := active.ask_next(stop=rule)) is not None:
        if len(read) == 20 and path is not None:
            active.close()
            active = classifier(**given).pool(X)
            assert [late.row for late in active.waiting()] == [question.row]
        active.answer(question.id, y[question.row])
        read.append(question.row)
    assert len(set(read)) == len(read) < 290
    assert (y[read] == positive).sum() >= 0.6 * (y == positive).sum()
    assert active.attempt_ is not None
    assert active.n_taught_ == 1 + len(active.attempt_.answers)  # recall is no claim about the model
    certificate = json.loads(json.dumps(active.attempt_.certificate()))
    assert verify(certificate).passed
    assert {read[2] for read in certificate["reads"]} == {None, 0}
    further = active.certify("recall", 0.9)  # what was picked before counts, too
    assert {read.source for read in further.reads} == {None, 0, 1}
    assert verify(json.loads(json.dumps(further.certificate()))).attempt == 2
    further.give_up()
    question = active.ask_next()
    with pytest.raises(ValueError, match="recall needs an answer to every question: 1 wait for one"):
        active.certify("recall", 0.9)
    active.close()


def test_all_rows_read_is_a_proof() -> None:
    X, y = data(30)
    active = classifier(strategy="relevance", rate=1.0).pool(X)
    while (question := active.ask_next()) is not None:
        active.answer(question.id, y[question.row])
    assert active.n_answered_ == 30
    assert active.certify("recall", 0.99).passed
    assert active.ask_next(stop=Certified("recall", 0.5)) is None
    with pytest.raises(ValueError, match="no row to draw from"):
        active.certify("error", 0.1)


def test_when_to_try_follows_from_the_models_own_probabilities() -> None:
    active, X, _ = asked(strategy="margin")
    attempts = active._attempts
    assert attempts is not None
    for measure, target in (("precision", 0.5), ("error", 0.5)):
        assert 0.0 <= attempts.own_estimate(measure) <= 1.0
        assert attempts.likely_enough(Certified(measure, target)) is not None
    assert attempts.likely_enough(Certified("error", 0.001)) is None  # too few rows for a plan
    untaught = classifier(rate=None, budget=40, strategy="margin").pool(X)._attempts
    assert untaught is not None
    assert untaught.own_estimate("precision") == 0.0  # nothing is called spam


def test_an_attempt_under_way_stays_with_its_rows(tmp_path: Path) -> None:
    active, _, y = asked()
    attempt = active.certify("error", 0.01)
    some(attempt, y, 2)
    with pytest.raises(ValueError, match="is about other rows: go on with those"):
        Attempt.resume(active.learner_, examples(data(400, seed=1)[0]), np.arange(400), 1)
    with Journal(tmp_path / "empty.journal") as empty, pytest.raises(ValueError, match="nothing was asked"):
        continue_from(empty)
    with pytest.raises(ValueError, match="share of random picks lies between 0 and 1"):
        Relevance(picks=1.0)
