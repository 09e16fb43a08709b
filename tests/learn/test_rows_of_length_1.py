"""Rows of length 1, as tf-idf comes, bring the unit 1 for their features, row by row as they come."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from steelyard import Learner, Settings, losses
from steelyard.examples import examples
from tests.support.naive import NaiveLearner

ROWS, FEATURES = 400, 30
Matrix = Any  # a sparse matrix
HUBER = losses.by_name("modified_huber")


def counts(seed: int = 0) -> tuple[Matrix, NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    X = sparse.csr_matrix(random.poisson(0.2, (ROWS, FEATURES)) * (np.arange(ROWS) % 9 > 0)[:, np.newaxis])
    X = X.astype(np.float32)
    return X, np.asarray(X @ np.linspace(-1.0, 1.0, FEATURES) + random.normal(0.0, 0.3, ROWS) > 0.0, np.int64)


def unit_norm_rows() -> tuple[Matrix, NDArray[np.int64]]:
    X, y = counts()
    return normalize(X.multiply(np.linspace(1.0, 3.0, FEATURES)).tocsr()).astype(np.float32), y


def mixed() -> tuple[Matrix, NDArray[np.int64]]:
    """Rows of length 1 among others, so that many features have been met by both."""
    X, y = unit_norm_rows()
    longer = np.where(np.arange(ROWS) % 3 == 1, 2.5, 1.0)
    return sparse.csr_matrix(X.multiply(longer[:, np.newaxis])), y


def test_the_unit_is_1_where_rows_have_length_1() -> None:
    X, y = unit_norm_rows()
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


@pytest.mark.parametrize("rows", [unit_norm_rows, mixed])
@pytest.mark.parametrize("average", [0, 8])
def test_agrees_with_the_slow_twin(rows: Any, average: int) -> None:
    X, y = rows()
    labels, settings = 2.0 * y - 1.0, Settings(HUBER, average=average, dtype="float64")
    naive = NaiveLearner(settings, FEATURES)
    expected = naive.learn(X, labels, np.ones(ROWS))
    learner = Learner(settings, FEATURES)
    np.testing.assert_allclose(learner.learn(examples(X, labels)), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(learner.model.coefficients(), naive.coefficients(), rtol=1e-8)
