"""`ActiveClassifier`: streams, batches, pools, replays that read no more labels than they pay for."""

import copy
import json
import math
import pickle
import runpy
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from steelyard import ActiveClassifier
from steelyard.active.stopping import Budget, ErrorBelow
from steelyard.active.strategies.margin import Margin
from steelyard.active.verification import verify
from tests.active.streams import rows
from tests.vw_text import data_file

MESSAGES = Path(__file__).parent.parent.parent / "docs/examples/active_messages.py"
OLD_JOURNAL = Path(__file__).parent.parent / "data/format-1.journal"
NAMES = np.array(["ham", "spam"])


def classifier(**given: Any) -> ActiveClassifier:
    parameters: dict[str, Any] = {"classes": ["ham", "spam"], "rate": 0.2} | given
    return ActiveClassifier(**parameters)


def data(count: int, seed: int = 0) -> tuple[Any, Any]:
    X, y = rows(count, seed)
    return X, NAMES[(y > 0.0).astype(int)]


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


def test_a_pool_is_asked_from_in_a_random_order_and_resumed(tmp_path: Path) -> None:
    X, y = data(400)
    whole = classifier(rate=None, budget=30).pool(X)
    asked = []
    while (question := whole.ask_next()) is not None:
        asked.append(question.row)
        whole.answer(question.id, y[question.row])
    assert len(set(asked)) == len(asked)
    assert 28 <= len(asked) <= 30
    assert asked != sorted(asked)
    path = tmp_path / "pool.journal"
    again = []
    for _ in range(4):
        active = classifier(rate=None, budget=30, journal=path).pool(X)
        for _ in range(8):
            if (question := active.ask_next()) is not None:
                again.append(question.row)
                active.answer(question.id, y[question.row])
        active.close()
    assert again == asked
    active = classifier(rate=None, budget=30, journal=path).pool(X)
    assert active.ask_next() is None
    np.testing.assert_array_equal(active.coef_, whole.coef_)
    active.close()
    with pytest.raises(ValueError, match="another pool"):
        classifier(rate=None, budget=30, journal=path).pool(X[::-1])


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


def test_an_audit_is_asked_and_not_learned(tmp_path: Path) -> None:
    X, y = data(500)
    active = classifier(rate=None, budget=100, audit=0.05, journal=tmp_path / "a.journal").replay(X, y)
    assert 90 <= active.n_answered_ <= 100
    found = active.estimate()
    assert 10 < found.asked == found.rows < 40
    assert active.query_probability(X).min() >= 0.05  # an audit may fall on any row
    active.close()
    with pytest.raises(ValueError, match="was started with another audit"):
        classifier(rate=None, budget=100, journal=tmp_path / "a.journal").replay(X, y)
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
    assert len({question.row for question in asked}) == len(asked)
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


def test_margin_asks_for_the_least_certain_row_of_the_pool() -> None:
    X, y = data(300)
    active = classifier(rate=None, budget=80, strategy="margin").pool(X)
    while (question := active.ask_next()) is not None and active.n_asked_ <= 28:
        active.answer(question.id, y[question.row])
    assert question is not None  # ranked by the model of 28 answers, as is the next
    distance = np.abs(active.decision_function(X))
    rest = np.ones(300, bool)
    rest[[active._order[number] for number in np.flatnonzero(active.history_.asked)]] = False
    assert distance[question.row] <= distance[rest].min()
    with pytest.raises(ValueError, match="'margin' ranks the whole pool: its rows have no probabilities"):
        active.query_probability(X)
    with pytest.raises(ValueError, match="leaves nothing to chance"):
        active.estimate()
    with pytest.raises(ValueError, match="leaves nothing to chance"):
        active.should_stop(ErrorBelow(0.1))


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


def test_a_journal_from_before_there_were_strategies_goes_on(tmp_path: Path) -> None:
    X, y = data(150)
    whole = classifier(rate=None, budget=30).pool(X)
    while (question := whole.ask_next()) is not None:
        whole.answer(question.id, y[question.row])
    path = tmp_path / "old.journal"
    shutil.copy(OLD_JOURNAL, path)
    with pytest.raises(ValueError, match="another update and rates"):
        classifier(rate=None, budget=30, journal=path, update="invariant", rates="flow").pool(X)
    old = classifier(rate=None, budget=30, journal=path).pool(X)
    assert old.n_answered_ == 15
    while (question := old.ask_next()) is not None:
        old.answer(question.id, y[question.row])
    np.testing.assert_array_equal(old.coef_, whole.coef_)
    np.testing.assert_array_equal(old.history_.probability, whole.history_.probability)
    old.close()
    with pytest.raises(ValueError, match="another positive"):  # it did not say, and now it does
        classifier(rate=None, budget=30, positive="ham", journal=path).pool(X)
    with pytest.raises(
        ValueError, match="started with the strategy 'iwal' and cannot continue with 'margin'"
    ):
        classifier(rate=None, budget=30, strategy="margin", journal=path).pool(X)


def test_questions_about_numbers_are_json() -> None:
    (question,) = classifier(classes=[0, 1]).ask(data(1)[0])
    assert json.loads(json.dumps(asdict(question)))["prediction"] == 0


def test_what_is_no_rule_is_answered() -> None:
    asked = classifier()
    with pytest.raises(TypeError, match=r"a rule is wanted, such as .*ErrorBelow\(0.05\); got 'x'"):
        asked.should_stop("x")  # type: ignore[arg-type]


def test_threads_may_share_it(tmp_path: Path) -> None:
    """Three annotators at once: every question goes to one of them, and the journal gives the same model."""
    X, y = data(400)
    path = tmp_path / "a.journal"
    active = classifier(rate=None, budget=60, journal=path).pool(X)
    asked: list[int] = []

    def annotate() -> None:
        while (question := active.ask_next()) is not None:
            asked.append(question.row)
            active.waiting()
            active.answer(question.id, y[question.row])
            active.estimate("error", of="progressive")

    with ThreadPoolExecutor(3) as annotators:
        for done in [annotators.submit(annotate) for _ in range(3)]:
            done.result()
    assert 50 < len(asked) == len(set(asked)) == active.n_answered_ <= 60
    coefficients = active.coef_
    active.close()
    again = classifier(rate=None, budget=60, journal=path).pool(X)
    np.testing.assert_array_equal(again.coef_, coefficients)
    again.close()


def test_threads_may_bring_the_first_rows_of_a_stream() -> None:
    X, _ = data(60)
    active = classifier()
    with ThreadPoolExecutor(3) as senders:
        asked = [each.id for batch in senders.map(active.ask, np.split(X.toarray(), 3)) for each in batch]
    assert active.n_seen_ == 60
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda active: pickle.loads(pickle.dumps(active))])
def test_a_copy_goes_on_by_itself(copied: Any, tmp_path: Path) -> None:
    X, y = data(200)
    active = classifier(strategy="random").pool(X)
    for _ in range(25):
        question = active.ask_next()
        assert question is not None
        active.answer(question.id, y[question.row])
    other = copied(active)
    assert other.estimate() == active.estimate()
    while (question := other.ask_next()) is not None:
        assert question == active.ask_next()
        for each in (active, other):
            each.answer(question.id, y[question.row])
    assert active.ask_next() is None
    np.testing.assert_array_equal(other.coef_, active.coef_)
    np.testing.assert_array_equal(other.history_.label, active.history_.label)
    path = tmp_path / "a.journal"
    filed = classifier(journal=path).pool(X)
    with pytest.raises(TypeError, match=r"a\.journal: what writes to a journal file cannot be pickled"):
        copied(filed)
    filed.close()


@pytest.mark.parametrize("given", [("error", 0.4), ("precision", 0.6)])
def test_a_certificate_of_the_present_model(given: tuple[str, float], tmp_path: Path) -> None:
    X, y = data(500)
    path = tmp_path / "a.journal"
    active = classifier(rate=None, budget=80, journal=path).pool(X)
    while (question := active.ask_next()) is not None:
        active.answer(question.id, y[question.row])
    labelled = {int(active._order[number]) for number in np.flatnonzero(~np.isnan(active.history_.label))}
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
    other = again.certify(*given, most=1)
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
    assert again.learner_.journal.count_attempts() == 2
    again.close()
    with pytest.raises(ValueError, match="about the rows of a pool"):
        classifier().certify("error", 0.1)
