"""Rates that follow the flow, against their differential equation; and where flows come to rest."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad

from steelyard import losses
from steelyard.active.strategies.iwal import flip_importances
from steelyard.examples import examples
from steelyard.learn import rate_flow
from steelyard.learner import Learner
from steelyard.model import Settings
from tests.learn.test_standardized import table
from tests.naive_flow import NaiveFlow
from tests.parts import callable_part
from tests.streams import compiled, stream


def flow(loss: str, scaling: str, **more: Any) -> Settings:
    given: dict[str, Any] = {"dtype": "float64", "follow_labels": False}
    return Settings(losses.by_name(loss), scaling=scaling, rates="flow", **given | more)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scaling", ["adaptive", "normalized", "standardized"])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_agrees_with_the_differential_equation(loss: str, scaling: str, bias: bool) -> None:
    matrix, labels, weights = stream(losses.by_name(loss), rows=compiled(40))
    _agree(flow(loss, scaling, bias=bias), matrix, labels, weights)


def test_averages_and_columns_agree_too() -> None:
    matrix, labels, weights = table(rows=compiled(80))
    _agree(flow("logistic", "standardized", average=8), matrix, labels, weights)


def _agree(settings: Settings, matrix: Any, labels: Any, weights: Any) -> None:
    naive, learner = NaiveFlow(settings, matrix.shape[1]), Learner(settings, matrix.shape[1])
    expected = naive.learn(matrix, labels, weights)
    np.testing.assert_allclose(
        learner.learn(examples(matrix, labels, weights)), expected, rtol=1e-7, atol=1e-8
    )
    np.testing.assert_allclose(learner.model.coefficients(), naive.coefficients(), rtol=1e-6, atol=1e-8)
    assert learner.model.bias == pytest.approx(naive.intercept(), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("loss", ["hinge", "modified_huber", "logarithmic"])
def test_kinks_edges_and_rest(loss: str) -> None:
    """One row twice as heavy is that row twice, also where its flow comes to rest on the way."""
    own = losses.by_name(loss)
    matrix, labels, weights = stream(own, rows=compiled(20))
    predictions = []
    for copies in (1, 2):
        learner = Learner(flow(loss, "adaptive"), matrix.shape[1])
        turns = np.repeat(np.arange(len(labels)), copies)
        learner.learn(examples(matrix[turns], labels[turns], weights[turns] / copies))
        predictions.append(learner.predict(examples(matrix)))
    np.testing.assert_allclose(predictions[0], predictions[1], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("scaling", ["adaptive", "normalized", "standardized"])
def test_rows_that_teach_nothing(scaling: str) -> None:
    """No features and no bias, a rate of nothing, or a slope of 0: nothing moves, and rows are counted."""
    settings = flow("hinge", scaling, bias=False, average=0)
    learner = Learner(settings, 2)
    learner.learn(examples(np.zeros((2, 2)), [1.0, -1.0]))
    assert not learner.model.coefficients().any()
    learner.learn(examples(np.eye(2), [1.0, 1.0], [100.0, 100.0]))
    before = learner.model.coefficients().copy()
    np.testing.assert_allclose(before, 1.0)
    learner.learn(examples(np.eye(2), [1.0, 1.0]))
    np.testing.assert_allclose(learner.model.coefficients(), before, rtol=1e-12)


def test_labels_that_are_all_the_same_have_no_unit() -> None:
    learner = Learner(flow("squared", "standardized", follow_labels=True), 1)
    learner.learn(examples(np.ones((3, 1)), [5.0, 5.0, 5.0]))
    np.testing.assert_allclose(learner.predict(examples(np.ones((1, 1)))), 5.0)


def test_stretches_and_weights_are_inverses() -> None:
    stretch, weight_for = callable_part(rate_flow.stretch), callable_part(rate_flow.weight_for)
    for seen, norm, q in ((1.0, 3.0, 3.0), (100.0, 40.0, 500.0), (5.0, 2000.0, 1e-3)):
        for h in (1e-6, 1e-3, 1.0, 1e4):
            s = stretch(seen, norm, q, h)
            expected, _ = quad(lambda v: (seen + v) / (norm + q * v), 0.0, h, points=[1e-2 * h], limit=200)  # noqa: B023
            assert s == pytest.approx(expected, rel=1e-9)
            assert weight_for(seen, norm, q, s, 0.5 * h) == pytest.approx(h, rel=1e-9)


@pytest.mark.parametrize("scaling", ["adaptive", "normalized"])
@pytest.mark.parametrize("name", ["logistic", "squared", "hinge"])
def test_the_flip_importance_is_the_weight_that_flips(name: str, scaling: str) -> None:
    loss = losses.by_name(name)
    settings = Settings(loss, scaling=scaling, dtype="float64", rates="flow", follow_labels=False)
    rng = np.random.default_rng(3)
    matrix = sparse.csr_array((rng.random((40, 8)) < 0.4).astype(float))
    learner = Learner(settings, 8)
    learner.learn(examples(matrix, np.where(rng.random(40) < 0.5, 1.0, -1.0), rng.uniform(0.5, 3.0, 40)))
    flips, predictions = flip_importances(learner.model, examples(matrix))
    for row in range(12):
        other = Learner(model=deepcopy(learner.model))
        one = matrix[[row]]
        other.learn(examples(one, [-1.0 if predictions[row] > 0.0 else 1.0], [flips[row]]))
        assert other.predict(examples(one))[0] == pytest.approx(0.0, abs=1e-8)
    alone = Learner(Settings(loss, scaling=scaling, rates="flow", bias=False, dtype="float64"), 8)
    assert flip_importances(alone.model, examples(np.zeros((1, 8))))[0].tolist() == [0.0]


def test_weights_of_next_to_nothing() -> None:
    learner = Learner(flow("logistic", "standardized", average=8), 1)
    learner.learn(examples(np.ones((3, 1)), [1.0, -1.0, 1.0], [1.0, 1e-7, 5e-324]))
    assert np.isfinite(learner.predict(examples(np.ones((1, 1))))).all()


def test_rows_without_features_that_are_right_already() -> None:
    learner = Learner(flow("hinge", "normalized", bias=False), 1)
    learner.learn(examples(np.zeros((1, 1)), [1.0], offsets=[5.0]))
    assert not learner.model.coefficients().any()
