"""Screening: what ranks a pool, what older journals go on with, and the model as a file."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import ActiveClassifier, OnlineClassifier
from steelyard.active._pool_ranking import answers_that_rank
from steelyard.estimators import _active_start

RNG = np.random.default_rng(0)
X = RNG.poisson(0.3, size=(600, 40)).astype(np.float64)
X[:, 0] += np.arange(600) % 20 == 7
Y = np.where((X[:, 0] > 1.0) & (X[:, 1] == 0.0), "relevant", "other")
KNOWN = int(np.flatnonzero(Y == "relevant")[0])


def screening(journal: Path | None = None, **given: Any) -> ActiveClassifier:
    own: dict[str, Any] = {"strategy": "relevance", "rate": 1.0, "tfidf": True, "journal": journal} | given
    return ActiveClassifier(classes=["other", "relevant"], **own).pool(X)


def read(active: ActiveClassifier, count: int) -> list[int]:
    rows = []
    for _ in range(count):
        question = active.ask_next()
        assert question is not None
        active.answer(question.id, Y[question.row])
        rows.append(question.row)
    return rows


@pytest.mark.parametrize("journal", [False, True])
def test_one_relevant_document_is_enough_to_begin_with(tmp_path: Path, journal: bool) -> None:
    path = tmp_path / "s.journal" if journal else None
    active = screening(path).teach([KNOWN], ["relevant"])
    rows = read(active, 13)
    if journal:  # in the middle of a ranking
        active.close()
        active = screening(path)
    rows += read(active, 47)
    assert np.mean(Y[rows] == "relevant") > 3.0 * np.mean(Y == "relevant")
    uninterrupted = screening().teach([KNOWN], ["relevant"])
    assert rows == read(uninterrupted, 60)


def test_without_a_relevant_one_or_with_another_refit_nothing_is_presumed() -> None:
    active = screening().teach([0, 1], ["other", "other"])
    assert Y[[0, 1]].tolist() == ["other", "other"]
    read(active, 1)
    learner = active.learner_
    assert answers_that_rank(learner.strategy, learner.labelled, 2, len(X)) == 0
    averaged = screening(refit="averaged").teach([KNOWN], ["relevant"])
    learner = averaged.learner_
    assert not learner.strategy.can_rank(learner.labelled, 1)
    averaged.teach([0], ["other"])
    assert len(set(read(averaged, 30))) == 30


def test_a_ranking_waits_for_the_first_relevant_answer() -> None:
    others = np.flatnonzero(Y == "other")
    active = screening().teach(others[:20], ["other"] * 20).teach([KNOWN], ["relevant"])
    strategy, labelled = active.learner_.strategy, active.learner_.labelled
    assert answers_that_rank(strategy, labelled, 21, len(X)) == 21  # not 20, which have none
    assert answers_that_rank(strategy, labelled, 22, 1_000_000) == 22


def test_an_older_journal_goes_on_as_it_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "older.journal"
    plain = ActiveClassifier(
        classes=["other", "relevant"], strategy="relevance", rate=1.0, tfidf=True, journal=path
    )
    with monkeypatch.context() as before:  # as if a journal without damped counts was there
        before.setattr(_active_start, "about_pool", lambda _: {})
        plain.pool(X).close()
    with sqlite3.connect(path) as db:
        about = json.loads(db.execute("SELECT about FROM about").fetchone()[0])
        assert "tfidf" not in about["about"]
        about["strategy"] = {"name": "relevance", "picks": 0.05, "second": True}
        db.execute("UPDATE about SET about = ?", (json.dumps(about),))
    db.close()
    active = screening(path).teach([KNOWN, 0], ["relevant", "other"])
    assert (active.learner_.strategy.picks, active.learner_.strategy.presumed) == (0.05, 0)
    assert active.pool_ is not None
    assert screening().pool_.values.tolist() != active.pool_.values.tolist()  # type: ignore[union-attr]
    assert len(set(read(active, 20))) == 20
    active.close()


def test_the_model_is_saved_for_others(tmp_path: Path) -> None:
    three = np.digitize(X[:, 0], [0.5, 1.5])
    for names, labels in ((["other", "relevant"], Y), ([0, 1, 2], three)):
        active = ActiveClassifier(classes=names, budget=40).pool(X)
        while (question := active.ask_next()) is not None:
            active.answer(question.id, labels[question.row])
        active.save(tmp_path / "a.model")
        loaded = OnlineClassifier.load(tmp_path / "a.model")
        assert (loaded.predict(X) == active.predict(X)).all()
        np.testing.assert_allclose(loaded.predict_proba(X), active.predict_proba(X), atol=1e-6)
    with pytest.raises(ValueError, match="cannot weight words as tfidf=True does"):
        screening().save(tmp_path / "b.model")
    with pytest.raises(AttributeError, match="before it has asked"):
        ActiveClassifier(classes=[0, 1], budget=4).save(tmp_path / "b.model")
