"""What is learned from attempts at certificates, from taught labels and from whole pools."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.active._journal_attempts import GIVE_UP
from steelyard.active.converged_refit import descend
from steelyard.active.journal import Journal
from steelyard.active.verification import verify, verify_with_journal
from tests.estimators.asking import classifier, data
from tests.estimators.attempts import asked, some


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
            ("reads", [[0, "ham", None]], "'reads' has rows, but a certificate of error has none"),
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
    assert grown.learner_.journal.about.read()["about"]["parts"][1][0] == 100  # type: ignore[index]
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


def test_descent_ends_where_nothing_bends_or_after_many_steps() -> None:
    def straight(at: Any) -> tuple[float, Any]:
        return float(at.sum()), np.ones_like(at)

    assert descend(straight, np.zeros(2)).sum() < -100.0
