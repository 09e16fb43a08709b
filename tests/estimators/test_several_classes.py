"""More than two classes: a model for each, learned in one pass."""

import copy
import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.multiclass import OneVsRestClassifier

from steelyard import Learner, OnlineClassifier, losses
from steelyard.engine.model_set import ModelSet
from steelyard.estimators.fitted import fitted_state, set_state
from steelyard.losses import Loss
from tests.estimators import data
from tests.estimators.data import known

X, Y = data.several_classes(300)
NAMES = np.array(["ham", "jam", "spam"])
FOR_CLASSES = [name for name in losses.names() if name not in ("squared", "quantile")]


@pytest.mark.parametrize(
    "names",
    [NAMES, NAMES.astype(object), np.array([3, 5, 8]), np.array([-1.0, 0.0, 1.0])],
    ids=["strings", "objects", "numbers", "floats"],
)
def test_labels_of_every_kind(names: Any) -> None:
    classifier = OnlineClassifier().fit(X, names[Y])
    assert classifier.classes_.tolist() == names.tolist()
    assert classifier.predict(X).dtype == names.dtype
    assert classifier.score(X, names[Y]) > 0.8
    np.testing.assert_array_equal(classifier.coef_, OnlineClassifier().fit(X, Y).coef_)


def test_shapes_are_those_of_scikit_learn() -> None:
    classifier = OnlineClassifier().fit(X, Y)
    assert classifier.coef_.shape == (3, 4)
    assert classifier.intercept_.shape == (3,)
    decisions = classifier.decision_function(X)
    assert decisions.shape == classifier.predict_proba(X).shape == (300, 3)
    np.testing.assert_allclose(
        decisions, X @ classifier.coef_.T + classifier.intercept_, rtol=1e-4, atol=1e-5
    )
    np.testing.assert_array_equal(classifier.predict(X), decisions.argmax(axis=1))
    assert len(classifier.models_) == 3
    with pytest.raises(AttributeError, match="no one model_: there are 3 models_, one for each class"):
        _ = classifier.model_


@pytest.mark.parametrize("scaling", ["plain", "row_norm", "adaptive", "normalized"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_it_is_one_against_the_rest(scaling: str, form: Any) -> None:
    parameters: dict[str, Any] = {
        "scaling": scaling,
        "dtype": "float64",
        "learning_rate": 0.2,
        "calibrate": False,
        "power_t": 0.1,
    }
    abreast = OnlineClassifier("logistic", **parameters).fit(form(X), Y)
    apart = OneVsRestClassifier(OnlineClassifier("logistic", **parameters)).fit(form(X), Y)
    for row, single in zip(abreast.coef_, apart.estimators_, strict=True):
        np.testing.assert_allclose(row, single.coef_[0], rtol=1e-9, atol=1e-12)
    mean = np.mean([single.progressive_loss_ for single in apart.estimators_])
    assert abreast.progressive_loss_ == pytest.approx(mean, rel=1e-9)
    np.testing.assert_allclose(abreast.predict_proba(X), apart.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("name", losses.names())
def test_every_loss(name: str) -> None:
    classifier = OnlineClassifier(name, scaling="row_norm", learning_rate=0.1, passes=3, shuffle=True)
    assert classifier.fit(X, Y).score(X, Y) > 0.7
    if hasattr(classifier, "predict_proba"):
        np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"l1": 1e-3, "scaling": "normalized"},
        {"l1": 1e-3, "l2": 1e-2, "scaling": "row_norm", "learning_rate": 0.2},
    ],
    ids=str,
)
def test_what_cannot_learn_abreast_learns_alone(parameters: dict[str, Any], tmp_path: Path) -> None:
    classifier = OnlineClassifier(dtype="float64", **parameters).fit(X, Y)
    for number, row in enumerate(classifier.coef_):
        single = OnlineClassifier(dtype="float64", **parameters).fit(X, number == Y)
        np.testing.assert_array_equal(row, single.coef_[0])
        np.testing.assert_array_equal(classifier.decision_function(X)[:, number], single.decision_function(X))
    before = classifier.models_
    classifier.save(tmp_path / "model")
    assert known(OnlineClassifier.load(tmp_path / "model").partial_fit(X, Y)) == known(
        classifier.partial_fit(X, Y)
    )
    assert before[0].clock == 300.0 * classifier.n_iter_, "what was handed out does not learn on"


def test_where_every_class_has_probability_zero_the_nearest_has_it_all() -> None:
    classifier = OnlineClassifier(fit_intercept=False, calibrate=False).fit(X, Y)
    far = np.linalg.lstsq(classifier.coef_, np.array([-4.0, -2.0, -3.0]))[0][np.newaxis]
    np.testing.assert_allclose(classifier.decision_function(far), [[-4.0, -2.0, -3.0]], rtol=1e-4)
    assert classifier.predict_proba(far).tolist() == [[0.0, 1.0, 0.0]]
    assert classifier.predict(far).tolist() == [1]


@pytest.mark.parametrize(
    ("loss", "scaling", "power_t"), list(itertools.product(FOR_CLASSES, ("plain", "row_norm"), (0.0, 0.5)))
)
def test_a_weight_is_that_many_copies(loss: str, scaling: str, power_t: float) -> None:
    rows, y = data.several_classes(30)
    weights = np.random.default_rng(1).integers(0, 6, len(y))
    weights[3] = 300
    classifier = OnlineClassifier(
        loss, scaling=scaling, power_t=power_t, dtype="float64", learning_rate=0.3, shuffle=False
    )
    weighted = classifier.fit(rows, y, weights).coef_
    copies = classifier.fit(rows.repeat(weights, axis=0), y.repeat(weights)).coef_
    np.testing.assert_allclose(weighted, copies, rtol=1e-11, atol=1e-12)


def test_weight_zero_is_no_row() -> None:
    kept = np.arange(300) % 3 > 0
    there = OnlineClassifier().fit(X, Y, kept.astype(float))
    absent = OnlineClassifier().fit(X[kept], Y[kept])
    np.testing.assert_array_equal(there.coef_, absent.coef_)
    assert there.progressive_error_ == absent.progressive_error_


def test_class_weights() -> None:
    given = OnlineClassifier(class_weight={"jam": 3.0}).fit(X, NAMES[Y])
    same = OnlineClassifier().fit(X, Y, np.where(Y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(given.coef_, same.coef_)
    balanced = OnlineClassifier(class_weight="balanced").fit(X, Y)
    counts = np.bincount(Y)
    by_hand = OnlineClassifier().fit(X, Y, (100.0 / counts)[Y])
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-5)
    assert balanced.weight_summary_.total == pytest.approx(300.0)


def test_balanced_where_a_class_has_no_weight() -> None:
    weights = (Y != 2).astype(float)
    balanced = OnlineClassifier(class_weight="balanced").fit(X, Y, weights)
    assert balanced.weight_summary_.nonzero == np.sum(Y != 2)
    assert balanced.coef_.shape == (3, 4)


def test_progressive_figures() -> None:
    classifier = OnlineClassifier(scaling="row_norm", dtype="float64")
    wrong = float(Y[0] != 0)  # all predictions are 0, and the first class is named
    for row in range(300):
        here = slice(row, row + 1)
        if row:
            wrong += float(classifier.predict(X[here])[0] != Y[row])
        classifier.partial_fit(X[here], Y[here], classes=[0, 1, 2])
    assert classifier.progressive_error_ == pytest.approx(wrong / 300)
    whole = OnlineClassifier(scaling="row_norm", dtype="float64", **data.STREAM).fit(X, Y)
    same = {name: getattr(whole, name) for name in ("weight_summary_", *data.STREAM)}
    assert known(whole) == known(classifier) | same
    several = OnlineClassifier(scaling="row_norm", dtype="float64", passes=3, shuffle=False).fit(X, Y)
    assert several.progressive_loss_ == whole.progressive_loss_
    assert several.progressive_error_ == whole.progressive_error_


def test_chunks_are_the_whole() -> None:
    chunked = OnlineClassifier(power_t=0.5)
    for part in (slice(0, 33), slice(33, 34), slice(34, 300)):
        chunked.partial_fit(X[part], Y[part], classes=[0, 1, 2])
    whole = OnlineClassifier(power_t=0.5, **data.STREAM).fit(X, Y)
    np.testing.assert_array_equal(chunked.coef_, whole.coef_)
    assert chunked.progressive_loss_ == pytest.approx(whole.progressive_loss_)
    assert chunked.progressive_error_ == whole.progressive_error_


def test_passes_and_warm_start() -> None:
    three = OnlineClassifier(scaling="normalized", passes=3, shuffle=False).fit(X, Y)
    warm = OnlineClassifier(scaling="normalized", warm_start=True, **data.STREAM).fit(X, Y)
    first = known(warm)
    earlier = fitted_state(warm)
    warm.fit(X, Y).fit(X, Y)
    np.testing.assert_array_equal(three.coef_, warm.coef_)
    assert warm.progressive_error_ < three.progressive_error_
    set_state(warm, earlier)
    assert known(warm)["model.0.weights"] == first["model.0.weights"]
    warm.fit(X[:1], Y[:1])
    assert warm.classes_.tolist() == [0, 1, 2]
    shuffled = [OnlineClassifier(random_state=seed).fit(X, Y) for seed in (1, 1, 2)]
    assert known(shuffled[0]) == known(shuffled[1])
    assert not np.array_equal(shuffled[0].coef_, shuffled[2].coef_)


def test_the_rate_may_change_on_the_way() -> None:
    classifier = OnlineClassifier(scaling="row_norm", learning_rate=0.1, dtype="float64").fit(X, Y)
    classifier.set_params(learning_rate=0.01, update="implicit").partial_fit(X, Y)
    assert classifier.learning_rate_ == 0.01
    for number, row in enumerate(classifier.coef_):
        single = OnlineClassifier(scaling="row_norm", learning_rate=0.1, dtype="float64").fit(X, number == Y)
        single.set_params(learning_rate=0.01, update="implicit").partial_fit(X, number == Y)
        np.testing.assert_allclose(row, single.coef_[0], rtol=1e-9)
    assert 0.0 < classifier.progressive_error_ < 0.5


@pytest.mark.parametrize("how", [copy.deepcopy, lambda estimator: pickle.loads(pickle.dumps(estimator))])
def test_copies_go_on_alone(how: Any) -> None:
    classifier = OnlineClassifier().fit(X, Y)
    before = known(classifier)
    other = how(classifier)
    assert known(other) == before
    assert known(other.partial_fit(X, Y)) != before
    assert known(classifier) == before
    assert known(classifier.partial_fit(X, Y)) == known(other)


@pytest.mark.parametrize("l1", [0.0, 1e-4])
def test_a_call_that_fails_leaves_what_was_there(l1: float) -> None:
    classifier = OnlineClassifier(scaling="plain", learning_rate=0.01, l1=l1).fit(X, Y)
    before = known(classifier)
    spoiled = X.copy()
    spoiled[299] = np.nan
    for call in (classifier.fit, classifier.partial_fit):
        with pytest.raises(ValueError, match="row 299 "):
            call(spoiled, Y)
        with pytest.raises(ValueError, match="row 299 has the label 7: the classes are 0, 1 and 2"):
            classifier.partial_fit(X, np.r_[Y[:299], 7])
        assert known(classifier) == before
    classifier.set_params(update="explicit", learning_rate=1e3, loss="squared")
    with pytest.raises(ValueError, match="begun with loss"):
        classifier.partial_fit(X, Y)
    squared = OnlineClassifier("squared", scaling="plain", learning_rate=0.01, l1=l1).fit(X, Y)
    squared.set_params(update="explicit", learning_rate=1e3)
    before = known(squared)
    for call in (squared.fit, squared.partial_fit):
        with pytest.raises(FloatingPointError, match="lower the learning rate"):
            call(X * 1e3, Y)
        assert known(squared) == before


def test_an_interruption_leaves_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    classifier = OnlineClassifier().fit(X, Y)
    before = known(classifier)
    rows, labels = np.tile(X, (20, 1)), np.tile(Y, 20)
    learn = ModelSet.learn
    calls: list[str] = []

    def interrupted(*arguments: Any, **options: Any) -> None:
        learn(*arguments, **options)
        calls.append("learned")
        raise KeyboardInterrupt

    monkeypatch.setattr(ModelSet, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        classifier.partial_fit(rows, labels)
    assert calls
    assert known(classifier) == before


@pytest.mark.parametrize(
    ("names", "label", "message"),
    [
        (NAMES, "eggs", "row 1 has the label 'eggs': the classes are 'ham', 'jam' and 'spam'"),
        (np.arange(3), 1.5, "row 1 has the label 1.5: the classes are 0, 1 and 2"),
        (np.arange(20), 20, "row 1 has the label 20: the classes are 0, 1, 2, .*, 8, … and 19"),
        (NAMES, 5, "row 1 has the label "),
    ],
)
def test_a_label_that_is_no_class_is_named(names: Any, label: Any, message: str) -> None:
    classifier = OnlineClassifier().partial_fit(X, names[Y], classes=names)
    with pytest.raises(ValueError, match=message):
        classifier.partial_fit(X[:2], np.array([names[0], label]))


def test_some_classes_in_a_chunk_are_enough() -> None:
    classifier = OnlineClassifier().partial_fit(X[Y == 0], Y[Y == 0], classes=[2, 1, 0])
    assert classifier.classes_.tolist() == [0, 1, 2]
    classifier.partial_fit(X, Y)
    with pytest.raises(
        ValueError, match=r"the classes are \[0, 1, 2\] and cannot become \[0, 1\]: fit a new"
    ):
        classifier.partial_fit(X, Y, classes=[0, 1])


def test_between_two_classes_and_more() -> None:
    classifier = OnlineClassifier().fit(X, Y)
    classifier.fit(X, Y == 1)
    assert classifier.coef_.shape == (1, 4)
    assert known(classifier) == known(OnlineClassifier().fit(X, Y == 1))
    assert classifier.fit(X, Y).coef_.shape == (3, 4)


class Own(Loss):
    """Squared loss by another name."""

    def value(self, p: float, y: float) -> float:
        return 0.5 * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return p - y


def test_a_loss_of_ones_own(tmp_path: Path) -> None:
    own = OnlineClassifier(Own(), dtype="float64", learning_rate=0.5).fit(X, Y)
    same = OnlineClassifier("squared", dtype="float64", learning_rate=0.5).fit(X, Y)
    np.testing.assert_allclose(own.coef_, same.coef_, rtol=1e-8)
    own.save(tmp_path / "model")
    with pytest.raises(ValueError, match="trained with the loss Own"):
        OnlineClassifier.load(tmp_path / "model")
    assert known(OnlineClassifier.load(tmp_path / "model", loss=Own())) == known(own)


@pytest.mark.parametrize("scaling", ["row_norm", "normalized"])
def test_a_file_keeps_all_models(scaling: str, tmp_path: Path) -> None:
    classifier = OnlineClassifier(scaling=scaling, power_t=0.25, class_weight={"jam": 2.0}).fit(X, NAMES[Y])
    classifier.save(tmp_path / "model")
    loaded = OnlineClassifier.load(tmp_path / "model")
    assert known(loaded) == known(classifier)
    np.testing.assert_array_equal(loaded.predict(X), classifier.predict(X))
    for number, name in enumerate(classifier.classes_.tolist()):
        one = Learner.load(tmp_path / "model", class_name=name).model
        np.testing.assert_array_equal(one.coefficients(), classifier.coef_[number])
    assert known(loaded.partial_fit(X, NAMES[Y])) == known(classifier.partial_fit(X, NAMES[Y]))
    with pytest.raises(ValueError, match=r"holds several models, one for each class \(.*\): name one"):
        Learner.load(tmp_path / "model")
    with pytest.raises(ValueError, match="there is no class 'eggs'; the classes are"):
        Learner.load(tmp_path / "model", class_name="eggs")


@pytest.mark.parametrize(("load", "least"), [(load_iris, 0.85), (load_digits, 0.9)])
def test_real_sets(load: Any, least: float) -> None:
    rows, labels = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    train, test = order[: len(order) * 4 // 5], order[len(order) * 4 // 5 :]
    classifier = OnlineClassifier("logistic", passes=50, shuffle=True).fit(rows[train], labels[train])
    assert classifier.score(rows[test], labels[test]) > least


def test_a_model_that_has_answered_can_be_pickled_and_learns_on() -> None:
    X, y = np.eye(6), np.arange(6) % 3
    model = OnlineClassifier().fit(X, y)
    first = model.decision_function(X)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.decision_function(X), first)
    copied.partial_fit(X, (y + 1) % 3)
    assert (copied.decision_function(X) != first).any()
    np.testing.assert_array_equal(model.decision_function(X), first)
