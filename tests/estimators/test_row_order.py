"""`fit` shuffles: rows sorted by label are no trap, and rows of weight 0 are still absent."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets

from steelyard import OnlineClassifier, OnlineRegressor
from steelyard.estimators import fit_passes
from steelyard.examples import examples
from tests.estimators import data


@pytest.mark.parametrize(
    ("load", "least"),
    [
        (datasets.load_iris, 0.93),
        (datasets.load_wine, 0.93),
        (datasets.load_breast_cancer, 0.95),
        (datasets.load_digits, 0.93),
    ],
)
def test_the_first_line_that_everybody_types(load: Any, least: float) -> None:
    X, y = load(return_X_y=True)
    for seed in range(3):
        assert OnlineClassifier(random_state=seed).fit(X, y).score(X, y) >= least
    in_order = np.argsort(y, kind="stable")
    assert OnlineClassifier().fit(X[in_order], y[in_order]).score(X, y) >= least


def test_numbers_in_order() -> None:
    X, y = data.numbers(300)
    order = np.argsort(y)
    assert OnlineRegressor().fit(X[order], y[order]).score(X, y) > 0.99


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_rows_of_weight_0_take_no_part(form: Any) -> None:
    X, y = data.classes(100)
    kept = np.arange(100) % 3 > 0
    there = OnlineClassifier().fit(form(X), y, kept.astype(float))
    absent = OnlineClassifier().fit(form(X[kept]), y[kept])
    np.testing.assert_array_equal(there.coef_, absent.coef_)
    assert there.progressive_loss_ == absent.progressive_loss_


def test_dense_and_sparse_rows_have_one_order() -> None:
    X, _ = data.numbers(60)
    X[:, 3] = 0.0
    X[::7, 2] = 0.0
    orders = []
    for form in (np.asarray, sparse.csr_array):
        draw = fit_passes.order_of_passes(OnlineClassifier(), examples(form(X)))
        assert draw is not None
        orders.append([draw(number).tolist() for number in (0, 1)])
    assert orders[0] == orders[1]
    assert orders[0][0] != orders[0][1]
    assert sorted(orders[0][0]) == list(range(60))


def test_an_ordinary_row_comes_first() -> None:
    X = np.ones((40, 2)) + np.eye(40, 2)
    X[5:] = np.linspace([-9.0, 4.0], [8.0, 5.0], 35)
    draw = fit_passes.order_of_passes(OnlineClassifier(), examples(X))
    assert draw is not None
    first = draw(0)[0]
    distances = np.abs(X - X.mean(axis=0)).sum(axis=1)
    assert distances[first] < np.median(distances)
    nowhere = fit_passes.order_of_passes(OnlineClassifier(), examples(np.eye(40)))
    assert nowhere is not None
    assert sorted(nowhere(0)) == list(range(40))


def test_of_many_mixed_rows_neighbours_stay_near(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("_MANY_ROWS", 100), ("_BLOCK", 4), ("_GROUP", 32)):
        monkeypatch.setattr(fit_passes, name, size)

    def drawn(labels: Any) -> Any:
        draw = fit_passes.order_of_passes(OnlineClassifier(), examples(np.eye(1001), labels))
        assert draw is not None
        order = draw(1)
        assert sorted(order) == list(range(1001))
        return order

    for mixed in (np.random.default_rng(0).normal(size=1001), np.arange(1001) % 3):
        order = drawn(mixed)
        blocks = {row // 4 for row in order[:32]}
        assert 8 <= len(blocks) <= 9
        assert max(blocks) - min(blocks) > 50
        assert order[:4].tolist() != sorted(order[:4])
    for in_order in (np.arange(1001), np.arange(1001) // 10 % 3, np.arange(1001) > 900):
        assert len({row // 4 for row in drawn(in_order.astype(float))[:32]}) > 20
