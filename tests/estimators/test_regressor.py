"""The regressor."""

import numpy as np
import pytest

from steelyard import OnlineRegressor
from tests.estimators import data


def test_it_finds_the_truth() -> None:
    X, y = data.numbers(2000)
    regressor = OnlineRegressor().fit(X, y + 3.0)
    np.testing.assert_allclose(regressor.coef_, data.TRUTH, atol=0.2)
    assert regressor.intercept_ == pytest.approx(3.0, abs=0.2)
    assert regressor.score(X, y + 3.0) > 0.98
    assert isinstance(regressor.intercept_, float)


@pytest.mark.parametrize(("factor", "offset"), [(1e-3, 0.0), (1.0, 1e4), (1e6, 0.0), (1e6, -1e8)])
@pytest.mark.parametrize("loss", ["squared", "quantile"])
def test_the_units_of_the_target_do_not_matter(loss: str, factor: float, offset: float) -> None:
    X, y = data.numbers(2000)
    plain = OnlineRegressor(loss).fit(X, y)
    other = OnlineRegressor(loss).fit(X, factor * y + offset)
    assert plain.score(X, y) > 0.98
    assert other.score(X, factor * y + offset) == pytest.approx(plain.score(X, y), abs=1e-3)
    np.testing.assert_allclose(other.coef_ / factor, plain.coef_, atol=0.02)


def test_a_first_chunk_of_one_row() -> None:
    X, y = data.numbers(1000)
    rows = OnlineRegressor()
    for i in range(1000):
        rows.partial_fit(X[i : i + 1], 1e3 * y[i : i + 1] + 1e5)
    np.testing.assert_array_equal(rows.coef_, OnlineRegressor(**data.STREAM).fit(X, 1e3 * y + 1e5).coef_)
    assert rows.score(X, 1e3 * y + 1e5) > 0.95


def test_weight_50() -> None:
    regressor = OnlineRegressor(scaling="plain", fit_intercept=False, dtype="float64")
    once = regressor.fit([[1.0]], [1.0], sample_weight=[50.0]).predict([[1.0]])
    copies = regressor.fit([[1.0]] * 50, [1.0] * 50).predict([[1.0]])
    np.testing.assert_allclose(once, copies, rtol=1e-12)
    assert regressor.intercept_ == 0.0


def test_probabilities_as_targets_stay_within_bounds() -> None:
    X, y = data.numbers(500)
    share = 1.0 / (1.0 + np.exp(-3.0 * y))
    regressor = OnlineRegressor("logarithmic", scaling="row_norm", learning_rate=0.01).fit(X, share)
    predictions = regressor.predict(X)
    assert 0.0 <= predictions.min() < predictions.max() <= 1.0
    assert np.corrcoef(predictions, share)[0, 1] > 0.8


def test_a_label_outside_the_loss_is_named() -> None:
    with pytest.raises(ValueError, match=r"row 1 has the label 2.0: Logistic loss takes -1 or 1"):
        OnlineRegressor("logistic").fit([[1.0], [2.0]], [1.0, 2.0])
