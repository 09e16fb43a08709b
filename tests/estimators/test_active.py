"""`ActiveClassifier`: streams, batches, replays that read no more labels than they pay for."""

import json
import math
import runpy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from steelyard import ActiveClassifier
from steelyard.active.stopping import Budget
from steelyard.active.verification import verify
from tests.estimators.asking import NAMES, classifier, data
from tests.support.vw_text import data_file

MESSAGES = Path(__file__).parent.parent.parent / "docs/examples/active_messages.py"


class Priced:
    """Labels that raise when they are read without having been asked for."""

    def __init__(self, labels: Any, asker: ActiveClassifier) -> None:
        self.labels, self.asker, self.read = labels, asker, 0

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, row: int) -> Any:
        if self.asker.open_questions_ != [row]:
            raise AssertionError(f"the label of row {row} was read and not asked for")
        self.read += 1
        return self.labels[row]


def test_a_replay_reads_only_the_labels_it_asks_for() -> None:
    X, y = data(800)
    active = classifier(rate=None, budget=120)
    priced = Priced(y, active)
    active.replay(X, priced)
    assert priced.read == active.n_answered_ == active.n_asked_ <= 120
    assert active.n_asked_ > 110
    assert active.n_seen_ == 800
    assert active.score(*data(500, seed=1)) > 0.8
    with pytest.raises(AssertionError, match="was read and not asked for"):
        priced[3]


def test_a_replay_of_a_series() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = data(100)
    series = pandas.Series(y, index=range(1000, 1100))
    active, other = classifier().replay(X, series), classifier().replay(X, y)
    np.testing.assert_array_equal(active.coef_, other.coef_)


def test_a_stream_row_by_row_and_in_batches() -> None:
    X, y = data(200)
    active = classifier()
    for start in range(0, 200, 20):
        batch = active.ask(X[start : start + 20])
        for question in batch:
            assert question.id == start + question.row
            assert question.prediction in NAMES
        active.answer([question.id for question in batch], [y[question.id] for question in batch])
    alone = active.ask(X[:1])
    assert active.n_seen_ == 201
    assert len(alone) <= 1
    assert 10 < active.n_answered_ < 100


def test_answers_skips_and_undos() -> None:
    X, _ = data(12)
    active = classifier()
    ids = [question.id for question in active.ask(X)]
    active.answer(ids[3], "spam")
    active.skip(ids[0])
    active.skip([ids[1], ids[2]])
    assert active.missing_share_ == 0.75
    assert active.undo() == ids[2]
    assert active.open_questions_ == [ids[2], *ids[4:]]
    assert active.history_.skipped.sum() == 2
    with pytest.raises(ValueError, match="'eggs': the classes are 'ham' and 'spam'"):
        active.answer(ids[4], "eggs")
    with pytest.raises(ValueError, match="there are 2 questions but 1 answers"):
        active.answer(ids[4:6], ["ham"])


def test_query_probabilities_decide_nothing() -> None:
    X, y = data(300)
    active = classifier()
    np.testing.assert_array_equal(active.query_probability(X), 1.0)
    assert active.n_seen_ == 0
    active.replay(X, y)
    found = active.query_probability(X)
    assert 0.01 <= found.min() < 0.1
    assert found.max() == 1.0
    assert active.n_seen_ == 300


def test_predictions_are_those_of_a_classifier() -> None:
    X, y = data(200)
    active = classifier(loss="logistic").replay(X, y)
    np.testing.assert_array_equal(active.classes_, NAMES)
    decisions = active.decision_function(X)
    np.testing.assert_array_equal(active.predict(X), NAMES[(decisions > 0.0).astype(int)])
    np.testing.assert_allclose(active.predict_proba(X).sum(axis=1), 1.0)
    assert active.coef_.shape == (1, X.shape[1])
    assert active.intercept_.shape == (1,)
    assert active.model_.features == X.shape[1]


def test_before_anything_is_asked() -> None:
    active = classifier()
    for attribute in ("n_seen_", "model_", "history_", "coef_"):
        with pytest.raises(AttributeError, match=f"no {attribute} before it has asked"):
            getattr(active, attribute)
    for call in (
        active.undo,
        active.close,
        active.estimate,
        active.waiting,
        lambda: active.skip(0),
        lambda: active.answer(0, "ham"),
    ):
        with pytest.raises(NotFittedError):
            call()
    with pytest.raises(NotFittedError):
        active.predict(data(3)[0])
    active.ask(data(3)[0])
    assert math.isnan(active.missing_share_)


def test_parameters_are_looked_at_first(tmp_path: Path) -> None:
    X, _ = data(3)
    for given, message in (
        ({"classes": None}, "name the classes"),
        ({"positive": "eggs"}, "positive='eggs' is not one of the classes"),
        ({"classes": ["a", "b", "c"], "strategy": "relevance"}, "chooses among rows of two classes, and 3"),
        ({"rate": None, "budget": 3}, "give expected="),
        ({"training_weight": "all"}, "training weights are one of"),
        ({"learning_rate": -1.0}, "learning_rate must be"),
    ):
        with pytest.raises(ValueError, match=message):
            classifier(**given).ask(X)
    assert not hasattr(classifier(), "n_features_in_")
    path = tmp_path / "a.journal"
    begun = classifier(journal=path)
    begun.ask(X)
    begun.close()
    with pytest.raises(ValueError, match="another rate"):
        classifier(journal=path, rate=0.5).ask(X)
    clone(begun).ask(X)


def test_it_is_a_classifier_of_any_classes_that_takes_sparse_rows() -> None:
    tags = classifier().__sklearn_tags__()
    assert tags.input_tags.sparse
    assert tags.classifier_tags.multi_class


def test_the_example_in_the_docs_runs_and_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["", str(data_file("sms-spam.tsv.xz")), str(tmp_path / "a.journal")])
    page = (MESSAGES.parent.parent / "active.md").read_text(encoding="utf-8")
    assert MESSAGES.read_text(encoding="utf-8").rstrip() in page
    for _ in range(2):
        runpy.run_path(str(MESSAGES), run_name="__main__")
        assert f"```\n{capfd.readouterr().out}```" in page


def test_a_budget_as_a_rule_is_looked_at_every_time() -> None:
    X, y = data(600)
    active = classifier(rate=0.3).pool(X)
    while (question := active.ask_next(stop=Budget(47))) is not None:
        active.skip(question.id) if active.n_asked_ == 7 else active.answer(question.id, y[question.row])
    assert (active.n_asked_, active.n_answered_, active.n_skipped_) == (47, 46, 1)


def test_questions_about_numbers_are_json() -> None:
    (question,) = classifier(classes=[0, 1]).ask(data(1)[0])
    assert json.loads(json.dumps(asdict(question)))["prediction"] == 0


def test_what_is_no_rule_is_answered() -> None:
    asked = classifier()
    with pytest.raises(TypeError, match=r"a rule is wanted, such as .*ErrorBelow\(0.05\); got 'x'"):
        asked.should_stop("x")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [("error", 0.4), ("precision", 0.6)])
def test_a_certificate_of_the_present_model(given: tuple[str, float], tmp_path: Path) -> None:
    X, y = data(500)
    path = tmp_path / "a.journal"
    active = classifier(rate=None, budget=80, journal=path).pool(X)
    while (question := active.ask_next()) is not None:
        active.answer(question.id, y[question.row])
    labelled = {
        int(active.pool_order_[number]) for number in np.flatnonzero(~np.isnan(active.history_.label))
    }
    test = active.certify(*given, label=lambda row: y[row])
    assert test.passed
    certificate = json.loads(json.dumps(test.certificate()))
    predicted = active.predict(X)
    for draw in certificate["draws"]:
        assert draw["row"] not in labelled
        assert draw["prediction"] == predicted[draw["row"]]
        assert given[0] == "error" or draw["prediction"] == active.positive_ == "spam"
    assert verify(certificate).passed
    active.close()
    again = classifier(rate=None, budget=80, journal=path).pool(X)
    assert again.certify(*given).certificate() == test.certificate()  # what is proved is not tried again
    other = again.certify(*given, most=1, alpha=0.04)
    assert (test.attempt, other.attempt) == (1, 2)
    row = other.ask_next()
    assert row is not None
    other.answer(row, y[row])
    assert other.ask_next() is None
    assert other.certificate()["model"] == certificate["model"]
    with pytest.raises(ValueError, match="certificates are of error, precision, recall, not of 'recal'"):
        again.certify("recal", 0.9)
    with pytest.raises(ValueError, match="target must lie between 0 and 1"):
        again.certify("error", 5)
    assert again.learner_.journal.attempts.count() == 2
    again.close()
    with pytest.raises(ValueError, match="about the rows of a pool"):
        classifier().certify("error", 0.1)
