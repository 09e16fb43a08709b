"""Rows of length 1, as tf-idf comes: all features have one unit. All other rows: each has its own."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from steelyard import Learner, OnlineClassifier, OnlineRegressor, Settings, Sweep, losses
from steelyard.estimators._sweep_inputs import identify
from steelyard.estimators.unit_rows import own_units
from steelyard.examples import examples

ROWS, FEATURES = 400, 30
Matrix = Any  # a sparse matrix


def counts(seed: int = 0) -> tuple[Matrix, NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    X = sparse.csr_matrix(random.poisson(0.2, (ROWS, FEATURES)) * (np.arange(ROWS) % 9 > 0)[:, np.newaxis])
    X = X.astype(np.float32)
    return X, np.asarray(X @ np.linspace(-1.0, 1.0, FEATURES) + random.normal(0.0, 0.3, ROWS) > 0.0, np.int64)


def unit_rows() -> tuple[Matrix, NDArray[np.int64]]:
    X, y = counts()
    return normalize(X.multiply(np.linspace(1.0, 3.0, FEATURES)).tocsr()).astype(np.float32), y


def found(X: Any, weights: Any = None) -> NDArray[np.int64] | None:
    return own_units(examples(X, np.ones(X.shape[0]), weights))


def test_rows_of_length_1_are_recognised() -> None:
    X, _ = unit_rows()
    no_feature = found(X)
    assert no_feature is not None
    assert len(no_feature) == 0
    assert X.getnnz(axis=1).min() == 0  # rows without words do not matter
    longer = sparse.vstack([X[:10], 2.0 * X[10:11], X[11:]]).tocsr()
    absent = np.where(np.arange(ROWS) == 10, 0.0, 1.0)
    assert found(longer) is None
    assert found(longer, absent) is not None


def test_all_other_rows_have_units_of_their_own() -> None:
    X, _ = unit_rows()
    assert found(counts()[0]) is None
    assert found(X.toarray()) is None  # dense columns are numbers of every kind
    assert found(sparse.csr_matrix(np.eye(5))) is None  # one category a row: that it is there is all it says
    assert found(sparse.csr_matrix((5, 3))) is None
    assert found(X.multiply(np.where(np.arange(FEATURES) == 3, 1e6, 1.0)).tocsr()) is None


def test_fit_partial_fit_and_the_learner_agree() -> None:
    X, y = unit_rows()
    learner = Learner(Settings(losses.by_name("modified_huber")), FEATURES)
    learner.model.know_units(np.empty(0, np.int64))
    learner.learn(examples(X, 2.0 * y - 1.0))
    whole = OnlineClassifier(passes=1, shuffle=False).fit(X, y)
    parts = OnlineClassifier()
    for rows in np.array_split(np.arange(ROWS), 7):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1])
    np.testing.assert_array_equal(whole.decision_function(X), learner.predict(examples(X)))
    np.testing.assert_array_equal(whole.decision_function(X), parts.decision_function(X))
    other = OnlineClassifier(passes=1, shuffle=False).fit(X.toarray(), y)
    assert np.abs(whole.decision_function(X) - other.decision_function(X.toarray())).max() > 0.01


def test_a_column_that_is_multiplied_is_as_in_any_other_data() -> None:
    X, y = unit_rows()
    scaled = [
        X.multiply(np.where(np.arange(FEATURES) == 3, factor, 1.0)).tocsr().astype(np.float32)
        for factor in (1e-6, 1e6)
    ]
    small, large = (OnlineClassifier(random_state=0).fit(each, y).decision_function(each) for each in scaled)
    np.testing.assert_allclose(small, large, rtol=1e-4, atol=1e-4)


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
    sparsely = OnlineClassifier(learning_rate=0.3, shuffle=False, passes=1).fit(X.toarray(), labels)
    assert abs(sparsely.progressive_loss_ - alone.progressive_loss_) > 1e-4


def test_a_state_of_a_sweep_knows() -> None:
    unit, plain = (examples(each[0], np.ones(ROWS)) for each in (unit_rows(), counts()))
    assert "units" in identify(unit, None)
    assert "units" not in identify(plain, None)


def test_weights_are_copies_and_models_go_on(tmp_path: Path) -> None:
    X, y = unit_rows()
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
