"""Attempts at certificates: nothing is lost, what failed is learned, and they begin by themselves."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import ActiveClassifier
from steelyard.active._journal_attempts import GIVE_UP
from steelyard.active.attempt import Attempt, best_of, ended_attempts
from steelyard.active.converged_refit import descend
from steelyard.active.journal import Journal
from steelyard.active.learner import continue_from
from steelyard.active.stopping import Certified
from steelyard.active.strategies.relevance import Relevance
from steelyard.active.verification import verify, verify_with_journal
from steelyard.examples import examples
from tests.estimators.test_active import classifier, data


def asked(journal: Path | None = None, count: int = 40, **given: Any) -> tuple[ActiveClassifier, Any, Any]:
    X, y = data(400)
    active = classifier(rate=None, budget=count, journal=journal, **given).pool(X)
    while (question := active.ask_next()) is not None:
        active.answer(question.id, y[question.row])
    return active, X, y


def some(attempt: Attempt, y: Any, count: int) -> None:
    for _ in range(count):
        row = attempt.ask_next()
        assert row is not None
        attempt.answer(row, y[row])


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
        return best_of(ended_attempts(journal), "error", len(active.learner_.labelled), 400)

    assert best() is None
    first = active.certify("error", 0.5, label=lambda row: y[row])
    assert first.passed
    first.give_up()  # it is over
    some(active.certify("error", 0.01), y, 2)
    assert best().attempt.certificate() == first.certificate()
    weaker = active.attempt_
    assert weaker is not None
    weaker.give_up()
    assert best().attempt.certificate() == first.certificate()  # of an earlier model, but it has passed
    journal._db.execute("DELETE FROM attempts WHERE number = 1")  # old journals only count them
    assert not best().attempt.passed
    active.close()


def test_a_reader_leaves_learning_to_the_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    active, X, y = asked(path)
    attempt = active.certify("error", 0.01)
    some(attempt, y, 2)
    attempt._write(GIVE_UP)  # killed before it was learned
    active.close()
    reader = classifier(rate=None, budget=40, journal=Journal(path, read_only=True)).pool(X)
    assert reader.attempt_ is not None
    assert not reader.attempt_.learned
    reader.close()
    again = classifier(rate=None, budget=40, journal=path).pool(X)
    assert again.attempt_ is not None
    assert again.attempt_.learned
    again.close()


def test_a_failed_attempt_is_learned(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    active, X, y = asked(path)
    answered, before = active.n_answered_, active.coef_
    attempt = active.certify("error", 0.01)
    row = attempt.ask_next()
    assert row is not None
    attempt.answer(row, None)  # nobody knows
    some(attempt, y, 9)
    attempt.give_up()
    assert attempt.ask_next() is None
    assert (active.n_answered_, active.n_taught_) == (answered, 9)
    assert not np.array_equal(active.coef_, before)
    with pytest.raises(ValueError, match="its answers were learned"):
        attempt.undo()
    attempt.give_up()
    attempt.learn()
    after, estimate = active.coef_, active.estimate("error", of="progressive")
    active.close()
    again = classifier(rate=None, budget=40, journal=path).pool(X)
    np.testing.assert_array_equal(again.coef_, after)
    assert again.estimate("error", of="progressive") == estimate
    assert again.attempt_ is not None
    assert again.attempt_.over
    assert again.certify("error", 0.5, most=5, label=lambda row: y[row]).attempt == 2
    again.close()


def test_a_passed_attempt_is_learned_on_request(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    active, _, y = asked(path)
    before = active.coef_
    attempt = active.certify("error", 0.5, label=lambda row: y[row])
    assert attempt.passed
    np.testing.assert_array_equal(active.coef_, before)
    certificate = json.loads(json.dumps(attempt.certificate()))
    attempt.learn()
    assert active.n_taught_ == len(attempt.answers)
    active.close()
    with Journal(path) as journal:
        assert verify_with_journal(certificate, journal).passed
        for name, to, message in (
            ("attempt", 2, "the draws are not those"),
            ("model", "other", "'model' is 'other', but"),
            ("reads", [[0, "ham", None]], "the rows that were read before it"),
            ("pool_checksum", 0, "'pool_checksum' is 0, but"),
        ):
            with pytest.raises(ValueError, match=message):
                verify_with_journal(certificate | {name: to}, journal)
        draws = certificate["draws"]
        other = {"ham": "spam", "spam": "ham"}[draws[-1]["answer"]]
        row = {"row": draws[-1]["row"], "prediction": other, "answer": other}
        with pytest.raises(ValueError, match=f"draw {len(draws)} has another answer in"):
            verify_with_journal(certificate | {"draws": [*draws[:-1], row]}, journal)
        wrong = next(at for at, draw in enumerate(draws) if draw["prediction"] != draw["answer"])
        forged = certificate | {"draws": [dict(draw) for draw in draws]}
        for at in (0, wrong):  # as many are wrong as before
            forged["draws"][at]["prediction"] = {"ham": "spam", "spam": "ham"}[draws[at]["prediction"]]
        assert verify(forged).passed
        with pytest.raises(ValueError, match="draw 1 has another prediction in"):
            verify_with_journal(forged, journal)
    with Journal(tmp_path / "new.journal") as empty, pytest.raises(ValueError, match="attempt 1 is not in"):
        verify_with_journal(certificate, empty)


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


def test_taught_labels() -> None:
    X, y = data(200)
    active = classifier(rate=None, budget=50).pool(X)
    active.teach([3, 4, 5], y[[3, 4, 5]])
    active.teach(np.array([3, 6]), y[[3, 6]])  # the first is known
    rows = set()
    while (question := active.ask_next()) is not None:
        rows.add(question.row)
        active.answer(question.id, y[question.row])
    assert not rows & {3, 4, 5, 6}
    assert active.n_taught_ == 4
    assert active.history_.asked.sum() == active.n_answered_ == len(rows)
    for given, labels, message in (
        ([3], [{"ham": "spam", "spam": "ham"}[y[3]]], "row 3 has another label already"),
        ([7, 7], ["ham", "ham"], "a row is there twice"),
        ([200], ["ham"], "row 200 is not in the pool, which has 200 rows"),
        (X[:1], ["ham"], "give the numbers of its rows"),
        ([8], ["ham", "spam"], "there are 1 rows but 2 labels"),
    ):
        with pytest.raises(ValueError, match=message):
            active.teach(given, labels)
    stream = classifier().teach(X[:10], y[:10]).teach(X[10:12], y[10:12])
    assert stream.n_taught_ == 12
    assert stream.undo() == -12
    assert stream.n_taught_ == 11
    with pytest.raises(ValueError, match="the label 7"):
        stream.learner_.teach({-50: 7.0}, {-50: 0}, active.pool_)  # type: ignore[arg-type]
    assert stream.attempt_ is None


def test_texts_are_weighted_by_their_pool(tmp_path: Path) -> None:
    X, y = data(300)
    active = classifier(rate=None, budget=60, strategy="margin", refit="balanced", tfidf=True).pool(abs(X))
    while (question := active.ask_next()) is not None:
        active.answer(question.id, y[question.row])
    assert active.pool_ is not None
    lengths = np.add.reduceat(active.pool_.values**2, active.pool_.indptr[:-1])
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-5)
    assert active.predict(abs(X)).shape == (300,)
    given = {"rate": None, "budget": 60, "tfidf": True, "journal": tmp_path / "a.journal"}
    classifier(**given).pool(abs(X[:200])).close()
    grown = classifier(**given).pool(abs(X))  # weights stay those of the first rows
    assert grown.learner_.journal.about()["about"]["parts"][1][0] == 100  # type: ignore[index]
    grown.close()
    with pytest.raises(ValueError, match="tfidf=True needs a pool"):
        classifier(tfidf=True).ask(X)
    with pytest.raises(ValueError, match="a refit is 'averaged' or 'balanced'; got 'best'"):
        classifier(refit="best").ask(X)


def test_a_balanced_refit_converges() -> None:
    """Five features that separate a rare class: nearly all of it is found."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5))
    y = np.where(X.sum(axis=1) > 4.2, "spam", "ham")
    found = {}
    for refit in ("averaged", "balanced"):
        active = classifier(refit=refit, c0=None).teach(X[:400], y[:400])
        found[refit] = np.mean(active.predict(X[400:][y[400:] == "spam"]) == "spam")
    assert found["balanced"] > max(0.95, found["averaged"])


def test_when_to_try_follows_from_the_models_own_probabilities() -> None:
    active, X, _ = asked(strategy="margin")
    for measure, target in (("precision", 0.5), ("error", 0.5)):
        assert 0.0 <= active._own_estimate(measure) <= 1.0
        assert active._likely_enough(Certified(measure, target)) is not None
    assert active._likely_enough(Certified("error", 0.001)) is None  # too few rows for a plan
    untaught = classifier(rate=None, budget=40, strategy="margin").pool(X)
    assert untaught._own_estimate("precision") == 0.0  # nothing is called spam


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


def test_descent_ends_where_nothing_bends_or_after_many_steps() -> None:
    def straight(at: Any) -> tuple[float, Any]:
        return float(at.sum()), np.ones_like(at)

    assert descend(straight, np.zeros(2)).sum() < -100.0
