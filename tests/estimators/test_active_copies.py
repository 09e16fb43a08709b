"""`ActiveClassifier` among others: threads that share it, copies of it, and journals of earlier releases."""

import copy
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.estimators.asking import classifier, data

OLD_JOURNAL = Path(__file__).parent.parent / "data/format-1.journal"


def test_a_journal_from_before_there_were_strategies_goes_on(tmp_path: Path) -> None:
    X, y = data(150)
    path = tmp_path / "old.journal"
    shutil.copy(OLD_JOURNAL, path)
    with pytest.raises(ValueError, match="another update and l2"):
        classifier(rate=None, budget=30, journal=path, update="invariant", l2=0.5).pool(X)
    old = classifier(rate=None, budget=30, journal=path).pool(X)
    assert old.n_answered_ == 15
    before = old.history_.probability
    while (question := old.ask_next()) is not None:
        old.answer(question.id, y[question.row])
    assert old.n_answered_ > 15
    np.testing.assert_array_equal(old.history_.probability[: len(before)], before)
    coefficients = old.coef_
    old.close()
    again = classifier(rate=None, budget=30, journal=path).pool(X)
    np.testing.assert_array_equal(again.coef_, coefficients)
    again.close()
    with pytest.raises(ValueError, match="another positive"):  # it did not say, and now it does
        classifier(rate=None, budget=30, positive="ham", journal=path).pool(X)
    with pytest.raises(
        ValueError, match="started with the strategy 'iwal' and cannot continue with 'margin'"
    ):
        classifier(rate=None, budget=30, strategy="margin", journal=path).pool(X)


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
