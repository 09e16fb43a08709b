"""Parameters: their checks, and their defaults in one place."""

from typing import Any

import numpy as np
import pytest

from steelyard import OnlineClassifier, OnlineRegressor, Settings, losses
from steelyard.estimators import parameters
from steelyard.losses import Loss
from tests.estimators import data


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"passes": 0}, ValueError, "passes must be 'auto', or a whole number, 1 or more; got 0"),
        ({"passes": 1.5}, ValueError, "passes must be 'auto', or a whole number"),
        ({"validation_fraction": 0.9}, ValueError, "validation_fraction must be above 0 and at most 0.5"),
        (
            {"weight_scale": "sum_one"},
            ValueError,
            "must be one of 'auto', 'as_given', 'mean_one'; got 'sum_one'",
        ),
        ({"learning_rate": "fast"}, TypeError, "learning_rate must be a number, None .*; got 'fast'"),
        ({"learning_rate": 0.0}, ValueError, "learning_rate must be a finite number, positive; got 0.0"),
        ({"l2": -1}, ValueError, "l2 must be"),
        ({"l2": "much"}, TypeError, "l2 must be a number; got 'much'"),
        ({"loss": "cubic"}, ValueError, "there is no loss 'cubic'; the losses are"),
        ({"loss": 3}, TypeError, "loss must be a name or an instance of Loss; got 3$"),
        ({"loss": type(losses.by_name("hinge"))}, TypeError, r"give an instance, Hinge\(\)"),
        ({"update": "magic"}, ValueError, "there is no update 'magic'"),
        ({"loss": "hinge", "update": "second_order"}, ValueError, "Hinge has no second_order update"),
        ({"scaling": "log"}, ValueError, "there is no scaling 'log'"),
        ({"dtype": "int32"}, ValueError, "there is no dtype 'int32'"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said(wrong: dict[str, Any], error: type[Exception], message: str) -> None:
    X, y = data.classes(20)
    with pytest.raises(error, match=message):
        OnlineClassifier(**wrong).fit(X, y)


def test_numpy_numbers_are_numbers() -> None:
    X, y = data.numbers(20)
    numpys: dict[str, Any] = {"learning_rate": np.float32(0.25), "passes": np.int64(2)}
    numpys |= {"fit_intercept": np.bool_(True), "dtype": np.float32}
    with_numpy = OnlineRegressor(**numpys)
    plain = OnlineRegressor(learning_rate=0.25, passes=2)
    np.testing.assert_array_equal(with_numpy.fit(X, y).coef_, plain.fit(X, y).coef_)


@pytest.mark.parametrize(
    ("cls", "loss", "follow"),
    [(OnlineClassifier, "modified_huber", False), (OnlineRegressor, "squared", True)],
)
def test_the_defaults_are_those_of_the_settings(cls: Any, loss: str, follow: bool) -> None:
    expected = Settings(loss=losses.by_name(loss), follow_labels=follow)
    assert parameters.settings_of(cls(), None) == [expected]


def test_the_codes_of_classes_are_not_measured() -> None:
    """Squared loss takes any number, but −1 and 1 mean what they mean."""
    X, y = data.classes(50)
    assert OnlineClassifier("squared").fit(X, y).model_.unit == 1.0


def test_a_loss_may_have_parameters() -> None:
    X, y = data.numbers(1000)
    y += np.random.default_rng(0).normal(size=1000)
    for tau in (0.1, 0.9):
        regressor = OnlineRegressor(losses.by_name("quantile", tau=tau), passes=5).fit(X, y)
        assert np.mean(y < regressor.predict(X)) == pytest.approx(tau, abs=0.1)


def test_a_loss_of_ones_own() -> None:
    class Halved(Loss):
        def value(self, p: float, y: float) -> float:
            return 0.25 * (p - y) * (p - y)

        def derivative(self, p: float, y: float) -> float:
            return 0.5 * (p - y)

    X, y = data.numbers(50)
    own = OnlineRegressor(Halved(), scaling="plain", learning_rate=0.2, dtype="float64").fit(X, y)
    same = OnlineRegressor("squared", scaling="plain", learning_rate=0.1, dtype="float64").fit(X, y)
    np.testing.assert_allclose(own.coef_, same.coef_, rtol=1e-8)
