"""Rows of length 1 lead to the same model in chunks of any size, sparse and dense, in memory and in files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from steelyard import OnlineClassifier, OnlineRegressor, Sweep
from tests.learn.test_rows_of_length_1 import FEATURES, ROWS, counts, mixed, unit_norm_rows


@pytest.mark.parametrize("rows", [unit_norm_rows, mixed, counts])
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
    X, y = unit_norm_rows()
    scaled = [
        X.multiply(np.where(np.arange(FEATURES) == 3, factor, 1.0)).tocsr().astype(np.float32)
        for factor in (1e-6, 1e6)
    ]
    small, large = (OnlineClassifier(random_state=0).fit(each, y).decision_function(each) for each in scaled)
    assert np.corrcoef(small, large)[0, 1] > 0.99


@pytest.mark.parametrize("classes", [2, 3])
def test_sweeps(classes: int) -> None:
    X, y = unit_norm_rows()
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
    exact: dict[str, Any] = {"dtype": "float64", "shuffle": False, "calibrate": False}
    weighted = OnlineClassifier(**exact).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(ROWS), weights)
    copied = OnlineClassifier(**exact).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), rtol=0, atol=1e-10)

    half = OnlineRegressor().partial_fit(X[:200], y[:200])
    half.save(tmp_path / "half.model")
    again = OnlineRegressor.load(tmp_path / "half.model").partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(again.predict(X), half.partial_fit(X[200:], y[200:]).predict(X))
