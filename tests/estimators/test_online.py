"""Fitting: all or nothing, in chunks, in passes, from where it stopped."""

import copy
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from steelyard import OnlineClassifier, OnlineRegressor
from steelyard.estimators.online import OnlineEstimator
from tests.estimators import data
from tests.estimators.data import STREAM, known

X, Y = data.numbers(100)
BOTH = [OnlineClassifier, OnlineRegressor]


def labels(cls: Any) -> NDArray[Any]:
    return (Y > 0.0).astype(int) if cls is OnlineClassifier else Y


def spoiled(row: int) -> NDArray[np.float64]:
    bad = X.copy()
    bad[row] = np.nan
    return bad


def test_a_fit_that_fails_leaves_nothing() -> None:
    classifier = OnlineClassifier()
    with pytest.raises(ValueError, match="row 99 "):
        classifier.fit(spoiled(99), labels(OnlineClassifier))
    assert known(classifier) == known(OnlineClassifier())
    assert not hasattr(classifier, "n_features_in_")


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("cls", BOTH)
def test_a_fit_that_fails_leaves_what_was_there(cls: Any, warm: bool) -> None:
    y = labels(cls)
    estimator = cls(warm_start=warm).fit(X, y)
    before = known(estimator)
    for rows, weights in ((spoiled(99), None), (X, np.full(100, -1.0))):
        with pytest.raises(ValueError, match="row "):
            estimator.fit(rows, y, weights)
        assert known(estimator) == before


@pytest.mark.parametrize("cls", BOTH)
def test_a_partial_fit_that_fails_leaves_what_was_there(cls: Any) -> None:
    y = labels(cls)
    estimator = cls().fit(X, y)
    before = known(estimator)
    for rows, targets, weights in ((spoiled(99), y, None), (X, y[:5], None), (X, y, np.full(100, np.nan))):
        with pytest.raises(ValueError, match="row"):
            estimator.partial_fit(rows, targets, sample_weight=weights)
        assert known(estimator) == before
    with pytest.raises(ValueError, match="X has 3 features"):
        estimator.partial_fit(X[:, :3], y)
    assert known(estimator) == before


def test_a_first_partial_fit_that_fails_does_not_know_the_classes() -> None:
    classifier = OnlineClassifier()
    with pytest.raises(ValueError, match="row 0 "):
        classifier.partial_fit(spoiled(0), labels(OnlineClassifier), classes=[0, 1])
    assert known(classifier) == known(OnlineClassifier())


def test_an_explicit_update_that_explodes_leaves_what_was_there() -> None:
    regressor = OnlineRegressor(scaling="plain", learning_rate=0.01).fit(X, Y)
    regressor.set_params(update="explicit", learning_rate=1e3)
    before = known(regressor)
    with pytest.raises(FloatingPointError, match="lower the learning rate"):
        regressor.partial_fit(X * 1e3, Y)
    assert known(regressor) == before
    assert regressor.model_.settings.update == "invariant"
    with pytest.raises(FloatingPointError, match="lower the learning rate"):
        regressor.fit(X * 1e3, Y)
    assert known(regressor) == before


@pytest.mark.parametrize("cls", BOTH)
def test_chunks_are_the_whole(cls: Any) -> None:
    y = labels(cls)
    chunked = cls(power_t=0.5)
    names = {"classes": [0, 1]} if cls is OnlineClassifier else {}
    for part in (slice(0, 33), slice(33, 34), slice(34, 100)):
        chunked.partial_fit(X[part], y[part], **names)
    whole = cls(power_t=0.5, **STREAM).fit(X, y)
    np.testing.assert_array_equal(chunked.coef_, whole.coef_)
    np.testing.assert_array_equal(chunked.intercept_, whole.intercept_)
    assert chunked.progressive_loss_ == pytest.approx(whole.progressive_loss_)
    assert chunked.n_iter_ == whole.n_iter_ == 1


def test_passes() -> None:
    three = OnlineRegressor(scaling="normalized", passes=3, shuffle=False).fit(X, Y)
    again = OnlineRegressor(scaling="normalized").partial_fit(X, Y).partial_fit(X, Y).partial_fit(X, Y)
    np.testing.assert_array_equal(three.coef_, again.coef_)
    assert three.n_iter_ == 3


def test_later_passes_take_shorter_steps() -> None:
    """With the default scaling: 1/(1 + (k − 1)·n/3000)² as long in pass k of n rows, 1/k² from 3,000 on."""
    twice = OnlineRegressor(passes=2, shuffle=False, dtype="float64").fit(X, Y)
    once = OnlineRegressor(dtype="float64").partial_fit(X, Y)
    again = once.set_params(learning_rate=0.9 / (1.0 + len(Y) / 3000.0) ** 2).partial_fit(X, Y)
    np.testing.assert_allclose(twice.coef_, again.coef_, rtol=1e-12)
    heavy = np.full(len(Y), 3000.0)
    parameters: dict[str, Any] = {"dtype": "float64", "weight_scale": "as_given"}
    twice = OnlineRegressor(passes=2, shuffle=False, **parameters).fit(X, Y, heavy)
    once = OnlineRegressor(**parameters).partial_fit(X, Y, heavy)
    again = once.set_params(learning_rate=0.225).partial_fit(X, Y, heavy)
    np.testing.assert_allclose(twice.coef_, again.coef_, rtol=1e-12)


def test_the_progressive_loss_is_that_of_the_first_pass() -> None:
    once = OnlineRegressor().fit(X, Y)
    assert OnlineRegressor(passes=4).fit(X, Y).progressive_loss_ == once.progressive_loss_
    assert OnlineRegressor(warm_start=True).fit(X, Y).fit(X, Y).progressive_loss_ < once.progressive_loss_


def test_the_progressive_loss_is_of_predictions_made_before() -> None:
    regressor = OnlineRegressor(scaling="row_norm").partial_fit(X[:1], Y[:1])
    total = 0.5 * Y[0] ** 2
    for row in range(1, 100):
        here = slice(row, row + 1)
        total += 0.5 * float(regressor.predict(X[here])[0] - Y[row]) ** 2
        regressor.partial_fit(X[here], Y[here])
    assert regressor.progressive_loss_ == pytest.approx(total / 100, rel=1e-5)


def test_shuffling_is_seeded() -> None:
    def fitted(**parameters: Any) -> list[float]:
        coef: list[float] = OnlineRegressor(passes=2, **parameters).fit(X, Y).coef_.tolist()
        return coef

    assert fitted() == fitted() == fitted(random_state=0) != fitted(shuffle=False)
    assert fitted(random_state=1) != fitted(random_state=2)
    assert fitted(shuffle=False, random_state=1) == fitted(shuffle=False, random_state=2)


def test_warm_start_goes_on() -> None:
    warm = OnlineRegressor(scaling="normalized", warm_start=True, **STREAM).fit(X, Y)
    first = warm.model_
    weights = first.raw_coefficients.copy()
    warm.fit(X, Y)
    twice = OnlineRegressor(scaling="normalized", passes=2, shuffle=False).fit(X, Y)
    np.testing.assert_array_equal(warm.coef_, twice.coef_)
    np.testing.assert_array_equal(first.raw_coefficients, weights)
    cold = OnlineRegressor().fit(X, Y).fit(X, Y)
    np.testing.assert_array_equal(cold.coef_, OnlineRegressor().fit(X, Y).coef_)


def test_warm_start_keeps_the_classes() -> None:
    y = labels(OnlineClassifier)
    warm = OnlineClassifier(warm_start=True).fit(X, y)
    warm.fit(X[:1], y[:1])
    assert warm.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="row 0 has the label 8: the classes are 0 and 1"):
        warm.fit(X, y + 7)


def test_the_rate_may_change_on_the_way() -> None:
    regressor = OnlineRegressor(scaling="plain", learning_rate=0.1).fit(X, Y)
    other = copy.deepcopy(regressor).set_params(learning_rate=0.001, update="implicit").partial_fit(X, Y)
    assert other.model_.settings.learning_rate == 0.001
    assert not np.array_equal(other.coef_, regressor.partial_fit(X, Y).coef_)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("loss", "quantile"),
        ("scaling", "plain"),
        ("l1", 0.1),
        ("l2", 0.1),
        ("fit_intercept", False),
        ("dtype", "float64"),
    ],
)
def test_what_shapes_a_model_may_not(parameter: str, value: Any) -> None:
    regressor = OnlineRegressor().fit(X, Y)
    before = known(regressor.set_params(**{parameter: value}))
    with pytest.raises(ValueError, match=f"begun with {parameter}=.*fit a new one"):
        regressor.partial_fit(X, Y)
    assert known(regressor) == before
    regressor.fit(X, Y)


def test_fit_starts_anew_in_every_respect() -> None:
    classifier = OnlineClassifier().fit(X, labels(OnlineClassifier))
    classifier.fit(X[:, :2], np.where(Y > 0.0, "yes", "no"))
    assert classifier.classes_.tolist() == ["no", "yes"]
    assert classifier.n_features_in_ == 2
    assert classifier.coef_.shape == (1, 2)


@pytest.mark.parametrize("attribute", ["coef_", "intercept_", "progressive_loss_"])
@pytest.mark.parametrize("cls", BOTH)
def test_nothing_is_known_before(cls: Any, attribute: str) -> None:
    assert not hasattr(cls(), attribute)
    with pytest.raises(AttributeError, match=f"{cls.__name__} has no {attribute} before it is fitted"):
        getattr(cls(), attribute)
    with pytest.raises(NotFittedError):
        cls().predict(X)


def test_what_was_read_does_not_change_later() -> None:
    regressor = OnlineRegressor().fit(X, Y)
    read = regressor.coef_
    before = read.copy()
    regressor.partial_fit(X, Y)
    np.testing.assert_array_equal(read, before)


def test_the_shared_part_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        OnlineEstimator()
