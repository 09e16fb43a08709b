"""A saved model predicts the same bits and goes on learning the same, whatever its options."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from steelyard import OnlineClassifier, OnlineRegressor, losses
from steelyard.estimators.fitted import fitted_state
from steelyard.estimators.parameters import settings_of
from steelyard.examples import examples
from steelyard.losses import OneOf, class_labels
from steelyard.scoring import loaded_model
from steelyard.settings import DTYPES, SCALINGS
from steelyard.updates import names as update_names
from tests.support.combinations import Point, every, pairwise

RANDOM = np.random.default_rng(1)
MATRIX = RANDOM.normal(size=(80, 6)) * (RANDOM.random((80, 6)) < 0.6) * [1.0, 10.0, 0.1, 1.0, 3.0, 0.0]
MATRIX[:, 0] += 2.0
NUMBERS = 5.0 + 10.0 * MATRIX @ [1.0, -0.1, 3.0, 0.0, 0.2, 0.0] + RANDOM.normal(size=80)
WEIGHTS = RANDOM.choice([0.0, 0.5, 1.0, 2.5], size=80)

AXES: dict[str, Any] = {
    "loss": list(losses.names()),
    "classes": [0, 2, 3],
    "scaling": SCALINGS,
    "l1": [0.0, 0.02],
    "l2": [0.0, 0.02],
    "learning_rate": [None, 0.3, "auto"],
    "average": [None, 0, 3],
    "update": update_names(),
    "dtype": DTYPES,
    "fit_intercept": [True, False],
    "power_t": [0.0, 0.5],
}
FEWER = AXES | {"update": ["invariant"], "dtype": ["float32"], "fit_intercept": [True], "power_t": [0.0]}


def estimator_of(point: Point) -> Any:
    options = {name: value for name, value in point.items() if name != "classes"}
    return (OnlineClassifier if point["classes"] else OnlineRegressor)(**options)


def valid(point: Point) -> bool:
    """Whether there is such an estimator."""
    if point["classes"] and not isinstance(losses.by_name(point["loss"]).labels, OneOf):
        return False
    try:
        settings_of(estimator_of(point), None)
    except ValueError:
        return False
    return True


def labels_of(point: Point) -> Any:
    if point["classes"]:
        return np.digitize(NUMBERS, np.quantile(NUMBERS, [0.5] if point["classes"] == 2 else [0.4, 0.8]))
    loss = losses.by_name(point["loss"])
    if isinstance(loss.labels, OneOf):
        return np.where(np.median(NUMBERS) < NUMBERS, *class_labels(loss)[::-1])
    return NUMBERS


def check(point: Point, folder: Path) -> None:
    """Saved after some rows: predictions; and, after all rows, the whole file."""
    X = sparse.csr_matrix(MATRIX)
    labels, known = labels_of(point), {"classes": np.arange(point["classes"])} if point["classes"] else {}
    estimator = estimator_of(point)
    estimator.partial_fit(X[:50], labels[:50], sample_weight=WEIGHTS[:50], **known)
    estimator.save(folder / "m")
    loaded = type(estimator).load(folder / "m")
    raw = [each._predictions(X).tolist() for each in (estimator, loaded)]
    assert raw[0] == raw[1]
    assert loaded.progressive_loss_ == estimator.progressive_loss_
    still = loaded_model.load_to_predict(folder / "m").engine.predict(examples(X, features=6))
    np.testing.assert_allclose(still, raw[0], rtol=1e-12, atol=1e-12)
    for number, each in enumerate((estimator, loaded)):
        each.partial_fit(X[50:], labels[50:], sample_weight=WEIGHTS[50:]).save(folder / f"{number}")
    assert (folder / "0").read_bytes() == (folder / "1").read_bytes()


@pytest.mark.parametrize("point", pairwise(AXES, valid), ids=str)
def test_pairs_of_options(point: Point, tmp_path: Path) -> None:
    check(point, tmp_path)


@pytest.mark.soak
def test_all_options(tmp_path: Path) -> None:
    for point in every(FEWER, valid):
        check(point, tmp_path)


@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("more", [{}, {"update": "explicit", "learning_rate": 2.0}])
def test_after_several_passes(more: dict[str, Any], classes: int, tmp_path: Path) -> None:
    """Whose figures are those of the first; also where some models have diverged."""
    point = {"classes": classes, "loss": "logistic" if classes else "squared", "l1": 0.01, "passes": 3}
    estimator = estimator_of(point | {"learning_rate": "auto", "scaling": "plain"} | more)
    try:
        estimator.fit(MATRIX, labels_of(point), WEIGHTS)
    except FloatingPointError:  # nothing is left to save
        return
    estimator.save(tmp_path / "m")
    loaded = type(estimator).load(tmp_path / "m")
    np.testing.assert_array_equal(loaded._predictions(MATRIX), estimator._predictions(MATRIX))
    assert loaded.progressive_loss_ == estimator.progressive_loss_
    assert [model.total_weight for model in fitted_state(loaded).engine.models()] == [WEIGHTS.sum()] * max(
        classes // 3 * 3, 1
    )
