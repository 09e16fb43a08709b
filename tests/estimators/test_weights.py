"""Weight h is h copies, weight 0 is no row, through every estimator; class weights; scaling; diagnosis.

scikit-learn's own equivalence checks shuffle the weighted copy. These keep the order, and ask for
twelve digits.
"""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import steelyard
from steelyard import OnlineClassifier, OnlineRegressor, losses
from tests.estimators import data
from tests.estimators.data import STREAM, known

FOR_CLASSES = [name for name in losses.names() if name not in ("squared", "quantile")]
EXACT = [
    cls(loss, scaling=scaling, power_t=power_t, dtype="float64", learning_rate=0.3, shuffle=False)
    for cls, names in ((OnlineClassifier, FOR_CLASSES), (OnlineRegressor, ["squared", "quantile"]))
    for loss, scaling, power_t in itertools.product(names, ("plain", "row_norm"), (0.0, 0.5))
]


def problem(estimator: Any) -> tuple[Any, Any]:
    X, y = (data.classes if isinstance(estimator, OnlineClassifier) else data.numbers)(30)
    return X, y


def outcome(estimator: Any, X: Any, y: Any, weights: Any = None) -> Any:
    estimator.fit(X, y, sample_weight=weights)
    return np.r_[estimator.coef_.ravel(), np.ravel(estimator.intercept_), estimator.progressive_loss_]


@pytest.mark.parametrize("estimator", EXACT, ids=repr)
def test_a_weight_is_that_many_copies(estimator: Any) -> None:
    X, y = problem(estimator)
    weights = np.random.default_rng(1).integers(0, 6, len(y))
    weights[3] = 300
    with_weights = outcome(estimator, X, y, weights)[:-1]
    copies = outcome(estimator, X.repeat(weights, axis=0), y.repeat(weights))[:-1]
    np.testing.assert_allclose(with_weights, copies, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("estimator", EXACT, ids=repr)
def test_a_weight_may_be_split(estimator: Any) -> None:
    X, y = problem(estimator)
    whole = outcome(estimator, X, y)[:-1]
    parts = np.tile([0.3, 0.7], len(y))
    split = outcome(estimator, X.repeat(2, axis=0), y.repeat(2), parts)[:-1]
    np.testing.assert_allclose(whole, split, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("scaling", ["plain", "row_norm", "adaptive", "normalized"])
def test_weight_zero_is_no_row(scaling: str, form: Any) -> None:
    X, y = data.classes(50)
    weights = np.where(np.arange(50) % 3 == 0, 0.0, 1.5)
    weights[:4] = 0.0
    estimator = OnlineClassifier(scaling=scaling)
    kept = weights > 0.0
    there = outcome(estimator, form(X), y, weights)
    absent = outcome(estimator, form(X[kept]), y[kept], weights[kept])
    assert there.tolist() == absent.tolist()


@pytest.mark.parametrize("cls", [OnlineClassifier, OnlineRegressor])
def test_all_weights_zero(cls: Any) -> None:
    X, y = problem(cls())
    with pytest.raises(ValueError, match="all sample weights are zero"):
        cls().fit(X, y, sample_weight=np.zeros(30))
    estimator = cls().fit(X, y)
    before = known(estimator)
    estimator.partial_fit(X, y, sample_weight=np.zeros(30))
    assert known(estimator) == before


def test_all_weights_zero_in_the_first_chunk() -> None:
    X, y = data.classes(30)
    late = OnlineClassifier().partial_fit(X, y, classes=[0, 1], sample_weight=np.zeros(30))
    assert not late.coef_.any()
    late.partial_fit(X, y)
    np.testing.assert_array_equal(late.coef_, OnlineClassifier(**STREAM).fit(X, y).coef_)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_a_bad_weight_names_its_row(weight: float) -> None:
    X, y = data.classes(30)
    weights = np.ones(30)
    weights[7] = weight
    with pytest.raises(ValueError, match="row 7 "):
        OnlineClassifier().fit(X, y, sample_weight=weights)


def test_class_weights_are_weights() -> None:
    X, y = data.classes(60)
    given = outcome(OnlineClassifier(class_weight={1: 3.0}), X, y, np.full(60, 2.0))
    same = outcome(OnlineClassifier(), X, y, np.where(y == 1, 6.0, 2.0))
    assert given.tolist() == same.tolist()


def test_balanced_gives_both_classes_half() -> None:
    X, y = data.classes(60)
    y[:50] = 0
    weights = np.random.default_rng(0).integers(1, 4, 60)
    balanced = OnlineClassifier(class_weight="balanced", dtype="float64", scaling="row_norm", shuffle=False)
    learned = outcome(balanced, X, y, weights)
    assert balanced.weight_summary_.total == pytest.approx(weights.sum())
    copies = outcome(balanced, X.repeat(weights, axis=0), y.repeat(weights))
    np.testing.assert_allclose(learned[:-1], copies[:-1], rtol=1e-12)


def test_balanced_where_one_class_has_no_weight() -> None:
    X, y = data.classes(60)
    weights = (y == 1).astype(float)
    balanced = outcome(OnlineClassifier(class_weight="balanced"), X, y, weights)
    assert balanced.tolist() == outcome(OnlineClassifier(), X, y, weights).tolist()


def test_mean_one() -> None:
    X, y = data.classes(40)
    weights = np.random.default_rng(0).random(40)
    weights[::4] = 0.0
    scaled = OnlineClassifier(weight_scale="mean_one")
    tiny = outcome(scaled, X, y, weights / 1024.0)
    assert scaled.weight_summary_.total == pytest.approx(30.0)
    np.testing.assert_allclose(
        tiny, outcome(OnlineClassifier(), X, y, weights * 30 / weights.sum()), rtol=1e-5
    )
    assert outcome(scaled, X, y).tolist() == outcome(OnlineClassifier(), X, y).tolist()
    with pytest.raises(ValueError, match="all sample weights are zero"):
        scaled.fit(X, y, np.zeros(40))


@pytest.mark.parametrize("mean", [1 / 300, 1740.0])
def test_weights_that_are_no_counts_are_brought_to_1(mean: float, tmp_path: Path) -> None:
    X, y = data.classes(300)
    usual = np.resize([1.0, 2.0, 3.0], 300) / 2.0  # median and mean are 1
    said = f"of 300 rows have a mean of {mean:.6g}, .* and a row counts 1 on average.*weight_scale='as_given'"
    with pytest.warns(steelyard.WeightWarning, match=said) as caught:
        scaled = OnlineClassifier(dtype="float64").fit(X, y, mean * usual)
    assert caught[0].filename == __file__
    assert scaled.weight_factor_ == pytest.approx(1.0 / mean)
    known_scale = OnlineClassifier(dtype="float64").fit(X, y, usual)
    assert known_scale.weight_factor_ == 1.0
    np.testing.assert_allclose(scaled.coef_, known_scale.coef_, rtol=1e-9)
    as_given = OnlineClassifier(dtype="float64", weight_scale="as_given").fit(X, y, mean * usual)
    assert as_given.weight_summary_.mean == pytest.approx(mean)
    assert not np.allclose(as_given.coef_, scaled.coef_)
    # the first chunk decides, for good
    with pytest.warns(steelyard.WeightWarning, match="of 200 rows") as caught:
        chunks = OnlineClassifier(dtype="float64").partial_fit(X[:200], y[:200], [0, 1], mean * usual[:200])
    assert caught[0].filename == __file__
    chunks.save(tmp_path / "model")
    loaded = OnlineClassifier.load(tmp_path / "model")
    for each in (chunks, loaded):
        each.partial_fit(X[200:], y[200:], sample_weight=mean * usual[200:])
    assert known(chunks) == known(loaded)
    assert chunks.weight_summary_.total == pytest.approx(300.0, rel=0.05)


def test_a_first_chunk_too_small_to_decide() -> None:
    X, y = data.classes(300)
    chunks = OnlineClassifier().partial_fit(X[:50], y[:50], [0, 1], np.full(50, 500.0))
    with pytest.warns(
        steelyard.WeightWarning,
        match="yet every row is learned as that many copies at once. Divide them yourself",
    ) as caught:
        chunks.partial_fit(X[50:200], y[50:200], sample_weight=np.full(150, 500.0))
    assert caught[0].filename == __file__
    chunks.partial_fit(X[200:], y[200:], sample_weight=np.ones(100))
    assert chunks.weight_factor_ == 1.0


def test_counts_stay_counts() -> None:
    X, y = data.classes(300)
    weights = np.ones(300)
    weights[::10] = 50.0
    for scale in ("auto", "as_given"):
        found = OnlineClassifier(weight_scale=scale).fit(X, y, weights)
        assert found.weight_summary_.total == weights.sum()


def test_what_partial_fit_cannot_know() -> None:
    X, y = data.classes(40)
    for parameter, value in (("weight_scale", "mean_one"), ("class_weight", "balanced")):
        classifier = OnlineClassifier().set_params(**{parameter: value})
        with pytest.raises(ValueError, match=f"{parameter}='{value}' needs all the"):
            classifier.partial_fit(X, y, classes=[0, 1])
        assert not hasattr(classifier, "classes_")


def test_the_summary_is_of_the_weights_learned_with() -> None:
    X, y = data.classes(40)
    classifier = OnlineClassifier(class_weight={0: 0.0}).fit(X, y)
    assert classifier.weight_summary_.nonzero == y.sum()


def test_the_summary_spans_the_stream() -> None:
    X, y = data.numbers(100)
    regressor = OnlineRegressor()
    for start in range(0, 100, 25):
        regressor.partial_fit(
            X[start : start + 25], y[start : start + 25], np.arange(start + 1.0, start + 26.0)
        )
    assert (regressor.weight_summary_.rows, regressor.weight_summary_.largest_row) == (100, 99)
    assert regressor.weight_summary_.total == 5050.0


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_dominating_row_is_told_where_it_was_given(method: str) -> None:
    X, y = data.numbers(150)
    weights = np.ones(150)
    weights[42] = 1e4
    regressor = OnlineRegressor()
    with pytest.warns(steelyard.WeightWarning, match="row 42 ") as caught:
        getattr(regressor, method)(X, y, weights)
    assert caught[0].filename == __file__
    regressor.partial_fit(X, y)  # once a stream is enough
