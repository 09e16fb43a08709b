"""Several classes: their models, what they learn, and the one number that is written down of a row."""

import json
from typing import Any

import numpy as np
import pytest

from steelyard import losses
from steelyard.active import class_models, strategies
from steelyard.active.journal import Journal
from steelyard.active.labelled_rows import RefitPlan
from steelyard.active.learner import ActiveLearner, continue_from
from steelyard.active.strategies._base import BudgetPlan, Strategy
from steelyard.active.strategies.iwal import Iwal, flip_importances
from steelyard.examples import examples
from steelyard.learner import Learner
from tests.active.streams import FEATURES, SETTINGS, answered, learner, rows

LOSS = SETTINGS.loss


def three(count: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Rows of three classes, 0, 1 and 2, by hidden weights."""
    matrix, _ = rows(count, seed)
    hidden = np.random.default_rng(98).normal(size=(FEATURES, 3))
    return matrix, (matrix @ hidden).argmax(axis=1).astype(np.float64)


def asker(journal: Journal | None = None, strategy: str = "iwal", **given: Any) -> ActiveLearner:
    plan = BudgetPlan(**(given or {"rate": 0.2}))
    about = {"classes": ["a", "b", "c"]}
    asking = strategies.by_name(strategy)
    return ActiveLearner(SETTINGS, FEATURES, plan, RefitPlan(), journal, about, asking, 3)


def test_each_class_learns_all_answers_against_the_rest() -> None:
    matrix, labels = three(60)
    asking = answered(asker(strategy="random", rate=1.0), examples(matrix), labels)
    for code, model in enumerate(asking.models):
        alone = learner(strategy="random", rate=1.0)
        answered(alone, examples(matrix), np.where(labels == code, 1.0, -1.0))
        np.testing.assert_array_equal(model.pairs, alone.model.pairs)
    assert asking.predict(examples(matrix)).shape == (60, 3)
    with pytest.raises(ValueError, match="too many values"):
        _ = asking.model


def test_two_classes_do_not_come_this_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Iwal, "score_classes", None)
    matrix, labels = rows(60)
    asking = answered(learner(), examples(matrix), labels)
    predictions = asking.predict(examples(matrix))
    assert class_models.decisions(LOSS, predictions) is predictions
    assert class_models.targets(LOSS, 2, labels)[0] is labels
    assert class_models.codes(LOSS, 2) == asking.labelled.codes == (-1.0, 1.0)


def test_decisions_have_the_class_and_the_doubt() -> None:
    predictions = np.array([[3.0, -3.0, -3.0], [0.0, 0.0, -1.0], [-9.0, -7.0, -8.0], [-1.0, -1.0, 0.5]])
    found = class_models.decisions(LOSS, predictions)
    assert class_models.decided_class(found).tolist() == [0.0, 0.0, 1.0, 2.0]
    assert class_models.doubt(LOSS, found) == pytest.approx([0.0, 0.5, 0.0, 0.0])
    hinge = losses.by_name("hinge")  # has no probabilities
    assert class_models.decisions(hinge, predictions).tolist() == [0.0, 0.0, 1.0, 2.0]
    assert class_models.doubt(hinge, found) is None


def test_with_opposite_models_the_flip_importance_is_that_of_two_classes() -> None:
    matrix, labels = rows(80)
    chunk = examples(matrix)
    both = [Learner(SETTINGS, FEATURES) for _ in range(2)]
    for sign, each in zip((1.0, -1.0), both, strict=True):
        each.learn(examples(matrix, sign * labels))
    scores, predictions = Iwal().score_classes([each.model for each in both], chunk)
    flips, expected = flip_importances(both[0].model, chunk)
    np.testing.assert_array_equal(predictions[:, 0], expected)
    np.testing.assert_allclose(scores, flips, rtol=1e-5)


@pytest.mark.no_cover
@pytest.mark.parametrize("strategy", ["iwal", "margin", "random"])
def test_a_journal_is_continued_bit_for_bit(strategy: str, tmp_path: Any) -> None:
    matrix, labels = three(200)
    whole = answered(asker(strategy=strategy), examples(matrix), labels)
    path = tmp_path / "three.journal"
    with Journal(path) as journal:
        half = answered(asker(journal, strategy), examples(matrix[:90]), labels[:90])
        last = max(half.labels)
        half.undo()
        half.answer([last], [labels[last]])
    with Journal(path) as journal:
        rest = answered(continue_from(journal), examples(matrix[90:]), labels[90:])
        for one, other in zip(whole.models, rest.models, strict=True):
            np.testing.assert_array_equal(one.pairs, other.pairs)
        np.testing.assert_array_equal(whole.history().prediction, rest.history().prediction)
        number = min(rest.labels)
        rest.change(number, 2.0)
        rest.withdraw(max(rest.labels))
        assert rest.labels[number] == 2.0
        (about,) = journal.file.connect().execute("SELECT about FROM about").fetchone()
        assert json.loads(about)["format"] == 4
        assert (whole.predict(examples(matrix)).argmax(axis=1) == labels).mean() > 0.6


def test_labels_are_codes_of_classes() -> None:
    matrix, _ = three(30)
    asking = asker(rate=1.0)
    asking.consider(examples(matrix))
    with pytest.raises(ValueError, match=r"the labels are 0\.0 and 1\.0 and 2\.0"):
        asking.answer([0], [-1.0])
    with pytest.raises(ValueError, match=r"the labels are 0\.0 and 1\.0 and 2\.0"):
        asking.teach({40: 3.0}, {40: 0}, examples(matrix))
    asking.answer([0], [2.0])
    with pytest.raises(ValueError, match=r"the labels are 0\.0 and 1\.0 and 2\.0"):
        asking.change(0, 5.0)


def test_strategies_of_two_classes_say_so() -> None:
    with pytest.raises(
        ValueError, match="'relevance' chooses among rows of two classes, and 3 are named: use"
    ):
        asker(strategy="relevance")
    with pytest.raises(NotImplementedError):
        Strategy.score_classes(strategies.by_name("relevance"), [], examples(rows(1)[0]))
