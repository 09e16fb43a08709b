"""Rows of length 1, as tf-idf comes, bring the unit 1 for their features, row by row as they come."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.preprocessing import normalize

from steelyard import Learner, OnlineClassifier, OnlineRegressor, Settings, Sweep, losses
from steelyard.examples import examples
from tests.naive import NaiveLearner

ROWS, FEATURES = 400, 30
Matrix = Any  # a sparse matrix
HUBER = losses.by_name("modified_huber")


def counts(seed: int = 0) -> tuple[Matrix, NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    X = sparse.csr_matrix(random.poisson(0.2, (ROWS, FEATURES)) * (np.arange(ROWS) % 9 > 0)[:, np.newaxis])
    X = X.astype(np.float32)
    return X, np.asarray(X @ np.linspace(-1.0, 1.0, FEATURES) + random.normal(0.0, 0.3, ROWS) > 0.0, np.int64)


def unit_rows() -> tuple[Matrix, NDArray[np.int64]]:
    X, y = counts()
    return normalize(X.multiply(np.linspace(1.0, 3.0, FEATURES)).tocsr()).astype(np.float32), y


def mixed() -> tuple[Matrix, NDArray[np.int64]]:
    """Rows of length 1 among others, so that many features have been met by both."""
    X, y = unit_rows()
    longer = np.where(np.arange(ROWS) % 3 == 1, 2.5, 1.0)
    return sparse.csr_matrix(X.multiply(longer[:, np.newaxis])), y


def test_the_unit_is_1_where_rows_have_length_1() -> None:
    X, y = unit_rows()
    learner = Learner(Settings(HUBER), FEATURES)
    learner.learn(examples(X, 2.0 * y - 1.0))
    assert learner.model.units.tolist() == [-1.0] * FEATURES
    other, y = counts()
    learner = Learner(Settings(HUBER), FEATURES)
    learner.learn(examples(other, 2.0 * y - 1.0))
    assert learner.model.units.tolist() == [1.0] * FEATURES


def test_one_category_a_row_is_a_count() -> None:
    """That it is there is all that such a row says."""
    learner = Learner(Settings(HUBER), 5)
    learner.learn(examples(np.eye(5), np.ones(5)))
    learner.learn(examples(3.0 * np.eye(5), -np.ones(5)))
    assert learner.model.units.tolist() == [1.0] * 5


@pytest.mark.parametrize("rows", [unit_rows, mixed])
@pytest.mark.parametrize("average", [0, 8])
def test_agrees_with_the_slow_twin(rows: Any, average: int) -> None:
    X, y = rows()
    labels, settings = 2.0 * y - 1.0, Settings(HUBER, average=average, dtype="float64")
    naive = NaiveLearner(settings, FEATURES)
    expected = naive.learn(X, labels, np.ones(ROWS))
    learner = Learner(settings, FEATURES)
    np.testing.assert_allclose(learner.learn(examples(X, labels)), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(learner.model.coefficients(), naive.coefficients(), rtol=1e-8)


@pytest.mark.parametrize("rows", [unit_rows, mixed, counts])
@pytest.mark.parametrize("classes", [2, 3])
def test_chunks_and_layouts_do_not_matter(rows: Any, classes: int, tmp_path: Path) -> None:
    X, y = rows()
    y = y if classes == 2 else y + np.arange(ROWS) % 2
    whole = OnlineClassifier(passes=1, shuffle=False, calibrate=False).fit(X, y)
    expected = whole.decision_function(X)
    for cuts in ([1], [1, 2, 3, 50], [300]):
        parts = OnlineClassifier(calibrate=False)
        for part in np.split(np.arange(ROWS), cuts):
            parts.partial_fit(X[part], y[part], classes=np.unique(y))
        np.testing.assert_array_equal(parts.decision_function(X), expected)
    dense = OnlineClassifier(passes=1, shuffle=False, calibrate=False).fit(X.toarray(), y)
    np.testing.assert_allclose(dense.decision_function(X.toarray()), expected, rtol=1e-4, atol=1e-5)
    with (tmp_path / "rows.svm").open("wb") as file:
        dump_svmlight_file(X.astype(np.float64), y, file, zero_based=False)
    from_file = OnlineClassifier(passes=1, shuffle=False, calibrate=False).fit_files(tmp_path / "rows.svm")
    assert from_file.progressive_loss_ == pytest.approx(whole.progressive_loss_, rel=1e-5)


def test_a_column_that_is_multiplied_is_as_in_any_other_data() -> None:
    X, y = unit_rows()
    scaled = [
        X.multiply(np.where(np.arange(FEATURES) == 3, factor, 1.0)).tocsr().astype(np.float32)
        for factor in (1e-6, 1e6)
    ]
    small, large = (OnlineClassifier(random_state=0).fit(each, y).decision_function(each) for each in scaled)
    assert np.corrcoef(small, large)[0, 1] > 0.99


@pytest.mark.parametrize("classes", [2, 3])
def test_sweeps(classes: int) -> None:
    X, y = unit_rows()
    labels = y if classes == 2 else y + (np.arange(ROWS) % 2)
    model = OnlineClassifier(learning_rate=0.3, shuffle=False, passes=1)
    alone = model.fit(X, labels)
    sweep = Sweep(model, {"learning_rate": [0.3]}).fit(X, labels)
    assert sweep.cv_results_["progressive_loss"][0] == pytest.approx(alone.progressive_loss_, rel=1e-5)
    parts = Sweep(model, {"learning_rate": [0.3]})
    for rows in np.array_split(np.arange(ROWS), 3):
        parts.partial_fit(X[rows], labels[rows], classes=np.unique(labels))
    assert parts.cv_results_["progressive_loss"][0] == pytest.approx(alone.progressive_loss_, rel=1e-5)


def test_weights_are_copies_and_models_go_on(tmp_path: Path) -> None:
    X, y = mixed()
    weights = np.arange(ROWS) % 4
    exact: dict[str, Any] = {"rates": "flow", "dtype": "float64", "shuffle": False, "calibrate": False}
    weighted = OnlineClassifier(**exact).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(ROWS), weights)
    copied = OnlineClassifier(**exact).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), rtol=0, atol=1e-7)

    half = OnlineRegressor().partial_fit(X[:200], y[:200])
    half.save(tmp_path / "half.model")
    again = OnlineRegressor.load(tmp_path / "half.model").partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(again.predict(X), half.partial_fit(X[200:], y[200:]).predict(X))
