"""The law of rates="flow": a weight is exactly as many copies, under adaptive rates too."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from steelyard import OnlineClassifier, losses
from steelyard.engine.model_set import ModelSet
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.model import Settings
from tests.streams import labels_for

SCALINGS = ("adaptive", "normalized", "standardized")
FEATURES = 30


def rows(loss: losses.Loss, seed: int) -> tuple[sparse.csr_array, NDArray[np.float64], np.random.Generator]:
    """Counts and other numbers, features that come late or once, and a column that is never absent."""
    rng = np.random.default_rng(seed)
    matrix = sparse.random_array((40, FEATURES), density=0.2, rng=rng, format="csr")
    matrix.data = np.round(3.0 * matrix.data) + 0.5 * (matrix.data > 0.5)
    dense = matrix.toarray()
    dense[:, 0] = rng.normal(50.0, 3.0, 40)
    return sparse.csr_array(dense), labels_for(loss, rng, 40), rng


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", losses.names())
def test_a_weight_is_as_many_copies(name: str, dtype: str) -> None:
    """To 1e-8, or in float32 to 1e-5: 5e-5 where slopes of a million take digits from the sums of squares."""
    loss = losses.by_name(name)
    error = 1e-8 if dtype == "float64" else 5e-5 if name == "logarithmic" else 1e-5
    for scaling in SCALINGS:
        settings = Settings(loss, scaling=scaling, dtype=dtype, rates="flow", follow_labels=False)
        for seed, weigh in enumerate((_ones, _few, _of_all_sizes)):
            matrix, labels, rng = rows(loss, seed)
            weights = weigh(rng, len(labels))
            one, other = in_one_and_in_parts(settings, matrix, labels, weights, rng)
            assert np.abs(one - other).max() <= error * np.abs(one).max()


def _ones(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    return np.ones(count)


def _few(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    return rng.uniform(0.5, 5.0, count)


def _of_all_sizes(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = 10.0 ** rng.uniform(-3.0, 5.0, count)
    return weights


@pytest.mark.parametrize("name", losses.names())
def test_huge_weights_are_as_many_copies(name: str) -> None:
    """Up to 1e30, and whatever slopes predictions that are wrong by as much have: to 1e-6."""
    loss = losses.by_name(name)
    for scaling in SCALINGS:
        settings = Settings(loss, scaling=scaling, dtype="float64", rates="flow", follow_labels=False)
        for seed, largest in enumerate((10.0, 12.0, 18.0, 30.0)):
            matrix, labels, rng = rows(loss, seed)
            weights = 10.0 ** rng.uniform(-3.0, largest, len(labels))
            one, other = in_one_and_in_parts(settings, matrix, labels, weights, rng)
            assert np.abs(one - other).max() <= 1e-6 * np.abs(one).max()


def in_one_and_in_parts(
    settings: Settings, matrix: Any, labels: Any, weights: Any, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Predictions of a learner of these rows, and of one that learned each in four parts."""
    together, split = Learner(settings, FEATURES), Learner(settings, FEATURES)
    together.learn(examples(matrix, labels, weights))
    parts = (weights[:, np.newaxis] * rng.dirichlet(np.ones(4), len(labels))).ravel()
    turns = np.repeat(np.arange(len(labels)), 4)
    split.learn(examples(matrix[turns], labels[turns], parts))
    return together.predict(examples(matrix)), split.predict(examples(matrix))


def test_chunks_of_any_size_and_files_are_the_same_to_the_last_bit(tmp_path: Path) -> None:
    settings = Settings(losses.by_name("modified_huber"), rates="flow")
    matrix, labels, rng = rows(settings.loss, 5)
    weights = _few(rng, 40)
    whole, pieces = Learner(settings, FEATURES), Learner(settings, FEATURES)
    whole.learn(examples(matrix, labels, weights))
    for start in range(0, 40, 7):
        part = slice(start, start + 7)
        pieces.learn(examples(matrix[part], labels[part], weights[part]))
        pieces.save(tmp_path / "model")
        pieces = Learner.load(tmp_path / "model")
    for name, array in whole.model.arrays().items():
        np.testing.assert_array_equal(array, pieces.model.arrays()[name], err_msg=name)


def test_extreme_weights_end_and_leave_finite_numbers() -> None:
    for name in losses.names():
        loss = losses.by_name(name)
        matrix, labels, _ = rows(loss, 1)
        for weight in (5e-324, 1e-300, 1e100):
            learner = Learner(Settings(loss, rates="flow", follow_labels=False, dtype="float64"), FEATURES)
            learner.learn(examples(matrix, labels, np.full(40, weight)))
            assert np.isfinite(learner.predict(examples(matrix))).all(), (name, weight)


def test_estimators_of_several_classes_and_sets_of_models() -> None:
    """They learn one after another, as alone."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    single = OnlineClassifier(rates="flow").partial_fit(X, y, classes=[0, 1, 2])
    assert single.predict(X).shape == (60,)
    settings = [Settings(losses.by_name("logistic"), rates=rates) for rates in ("flow", "row")]
    labels = np.where(y > 0, 1.0, -1.0)
    models = ModelSet(settings, 4)
    models.learn(examples(X, labels))
    alone = Learner(settings[0], 4)
    alone.learn(examples(X, labels))
    np.testing.assert_array_equal(models.model(0).coefficients(), alone.model.coefficients())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"update": "implicit"}, "only update='invariant' follows a flow"),
        ({"scaling": "plain"}, "its rates are the same all along a row already"),
        ({"power_t": 0.5}, "set power_t=0"),
        ({"rates": "flw"}, "did you mean"),
    ],
)
def test_what_cannot_go_together(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**{"rates": "flow"} | given)
