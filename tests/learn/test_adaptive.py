"""Rates of their own for every feature: rows of every length, and numbers at the edge of float32."""

import numpy as np
import pytest
from scipy import sparse

from steelyard import losses
from steelyard.examples import examples
from steelyard.learn import linear
from steelyard.learner import Learner
from steelyard.native.declare import PLAIN
from steelyard.settings import Settings
from tests.support.naive import NaiveLearner
from tests.support.streams import stream

LENGTHS = [0, 1, 31, 32, 33, 0, 64, 65, 7, 100, 2, 32]
ADAPTIVE = ["adaptive", "normalized"]


def rows_of(lengths: list[int], features: int = 100) -> sparse.csr_array:
    rng = np.random.default_rng(0)
    indices = np.concatenate([rng.permutation(features)[:length] for length in lengths]).astype(np.int32)
    ends = np.cumsum([0, *lengths], dtype=np.int32)
    return sparse.csr_array((rng.normal(size=len(indices)), indices, ends), (len(lengths), features))


@pytest.mark.parametrize("last", LENGTHS)
@pytest.mark.parametrize("scaling", ADAPTIVE)
def test_rows_of_every_length_agree_with_the_slow_twin(scaling: str, last: int) -> None:
    """Rows are worked on in blocks: what a block has beyond its row must not count."""
    settings = Settings(scaling=scaling, dtype="float64")
    matrix = rows_of([*LENGTHS, last])
    labels = np.random.default_rng(1).normal(size=matrix.shape[0])
    naive = NaiveLearner(settings, matrix.shape[1])
    expected = naive.learn(matrix, labels, np.ones(len(labels)))
    learner = Learner(settings, matrix.shape[1])
    np.testing.assert_allclose(learner.learn(examples(matrix, labels)), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(learner.model.raw_coefficients, naive.weights, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(learner.model.sum_squared_gradients, naive.squares, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("weight", [1.0, 100.0])
@pytest.mark.parametrize("name", ["hinge", "modified_huber", "quantile", "squared"])
@pytest.mark.parametrize("scaling", ADAPTIVE)
def test_copies_in_float32_stay_near_float64(scaling: str, name: str, weight: float) -> None:
    """A copy comes when the row before has been learned to the last digit: rounding must not decide."""
    loss = losses.by_name(name)
    for seed in range(1 if PLAIN else 3):
        matrix, labels, sample_weight = stream(loss, seed, rows=100)
        three = np.repeat(np.arange(100), 3)
        rows = examples(matrix[three], labels[three], weight * sample_weight[three], loss=loss)
        single, double = (
            Learner(Settings(loss, scaling=scaling, dtype=dtype), matrix.shape[1]).learn(rows)
            for dtype in ("float32", "float64")
        )
        np.testing.assert_allclose(single, double, atol=2e-4 * np.abs(double).max())


@pytest.mark.parametrize("scaling", ADAPTIVE)
def test_values_too_small_for_float32_to_divide_by(scaling: str) -> None:
    learner = Learner(Settings(scaling=scaling), 2)
    rows = examples(np.tile(np.array([[1e-40, 1.0]], np.float32), (50, 1)), np.ones(50))
    learner.learn(rows)
    assert all(np.isfinite(array).all() for array in learner.model.arrays().values())
    np.testing.assert_allclose(learner.predict(rows), 1.0, atol=0.1)


@pytest.mark.parametrize("size", [1e-29, 1e-31, 1e-40])
def test_weights_of_tiny_features_stay_in_range(size: float) -> None:
    """A feature of 1e-40 would need a weight of 1e40 to say anything."""
    matrix = sparse.csr_array(np.array([[1.0, 0.0], [0.5, size], [1.0, -size]]))
    labels = np.array([1.0, -40.0, 40.0])
    for dtype in ("float32", "float64"):
        settings = Settings(losses.by_name("quantile"), "implicit", learning_rate=5.0, dtype=dtype)
        learner = Learner(settings, 2)
        learner.learn(examples(matrix, labels))
        naive = NaiveLearner(settings, 2)
        naive.learn(matrix, labels, np.ones(3))
        np.testing.assert_allclose(learner.model.coefficients(), naive.coefficients(), rtol=1e-5)
        assert np.isfinite(learner.model.raw_coefficients).all()


def test_strong_l2_is_folded_into_the_weights() -> None:
    """The scale of L2 would leave float32 behind."""
    loss = losses.by_name("logistic")
    matrix, labels, _ = stream(loss, rows=40)
    settings = Settings(loss, scaling="normalized", l2=2.0, dtype="float64")
    learner, naive = Learner(settings, matrix.shape[1]), NaiveLearner(settings, matrix.shape[1])
    learner.learn(examples(matrix, labels))
    naive.learn(matrix, labels, np.ones(40))
    assert learner.model.state[linear.SCALE] > 1e-3
    np.testing.assert_allclose(learner.model.coefficients(), naive.coefficients(), atol=1e-12)
