"""The kernels against their slow twin, for every loss, update, scaling and regularisation."""

import numpy as np
import pytest

from steelyard import losses, updates
from steelyard.examples import examples
from steelyard.learn import linear
from steelyard.learner import Learner
from steelyard.losses import Loss
from steelyard.settings import SCALINGS, Settings
from tests.support.naive import NaiveLearner
from tests.support.streams import stream

LOSSES = [losses.by_name(name) for name in losses.names()]
PAIRS = [(loss, update) for loss in LOSSES for update in updates.names_for(loss)]


def agree(settings: Settings, seed: int = 0, rows: int = 60, offsets: np.ndarray | None = None) -> None:
    matrix, labels, sample_weight = stream(settings.loss, seed, rows)
    naive = NaiveLearner(settings, matrix.shape[1])
    expected = naive.learn(matrix, labels, sample_weight, offsets)
    learner = Learner(settings, matrix.shape[1])
    got = learner.learn(examples(matrix, labels, sample_weight, offsets=offsets, loss=settings.loss))
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10 * scale)
    np.testing.assert_allclose(
        learner.model.coefficients(), naive.coefficients(), rtol=1e-9, atol=1e-10 * scale
    )
    assert learner.model.bias == pytest.approx(naive.intercept(), rel=1e-9, abs=1e-10 * scale)
    assert learner.model.progressive_loss == pytest.approx(naive.progressive_loss, rel=1e-10)
    assert learner.model.clock == pytest.approx(naive.clock, rel=1e-14)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize(("loss", "update"), PAIRS, ids=[f"{loss!r}-{update}" for loss, update in PAIRS])
def test_agrees_with_the_slow_twin(loss: Loss, update: str, scaling: str) -> None:
    rate = 0.01 if update in ("explicit", "second_order") else 0.5  # these may diverge
    agree(Settings(loss, update, scaling, rate, 3.0, 0.5, dtype="float64"))


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.3), (0.02, 0.0), (0.02, 0.3), (1.0, 50.0)])
def test_lazy_regularisation_agrees_with_the_eager_twin(scaling: str, l1: float, l2: float) -> None:
    """Also where the global scale has to be folded into the weights many times."""
    for name in ("squared", "hinge"):
        agree(Settings(losses.by_name(name), scaling=scaling, l1=l1, l2=l2, dtype="float64"), rows=200)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("l1", [0.0, 0.02])
def test_bases(scaling: str, l1: float) -> None:
    """What is known of a row beforehand is part of its prediction, when it is learned and afterwards."""
    offsets = np.random.default_rng(1).normal(size=60)
    agree(Settings(losses.by_name("logistic"), scaling=scaling, l1=l1, dtype="float64"), offsets=offsets)
    learner = Learner(Settings(scaling=scaling), 2)
    assert learner.predict(examples(np.ones((2, 2)), offsets=[0.5, -2.0])).tolist() == [0.5, -2.0]


@pytest.mark.parametrize("scaling", SCALINGS)
def test_without_a_bias(scaling: str) -> None:
    agree(Settings(scaling=scaling, bias=False, dtype="float64"))


@pytest.mark.parametrize("scaling", SCALINGS)
def test_empty_rows_and_tiny_rates(scaling: str) -> None:
    """Rows in which nothing can move, and steps whose drop of the loss is lost in rounding."""
    empty = Settings(scaling=scaling, bias=False, l2=0.1, dtype="float64")
    learner = Learner(empty, 2)
    learner.learn(examples(np.zeros((2, 2)), np.ones(2)))
    assert learner.model.clock == 2.0
    assert not learner.model.coefficients().any()
    agree(Settings(losses.by_name("logistic"), scaling=scaling, learning_rate=1e-13, l2=0.1, dtype="float64"))


@pytest.mark.parametrize("scaling", SCALINGS)
def test_dense_rows_are_sparse_rows(scaling: str) -> None:
    settings = Settings(losses.by_name("logistic"), scaling=scaling, l2=0.01, dtype="float64")
    matrix, labels, sample_weight = stream(settings.loss)
    results = []
    for form in (matrix, matrix.toarray()):
        learner = Learner(settings, matrix.shape[1])
        predictions = learner.learn(examples(form, labels, sample_weight))
        results.append(
            np.concatenate([predictions, learner.model.coefficients(), learner.predict(examples(form))])
        )
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("scaling", SCALINGS)
def test_an_order_is_rows_that_come_so(scaling: str, l2: float) -> None:
    """Bit for bit, and nothing is copied for it."""
    settings = Settings(losses.by_name("hinge"), scaling=scaling, l2=l2)
    matrix, labels, sample_weight = stream(settings.loss)
    order = np.random.default_rng(0).permutation(len(labels))
    told, moved = Learner(settings, matrix.shape[1]), Learner(settings, matrix.shape[1])
    predictions = told.learn(examples(matrix, labels, sample_weight), order)
    expected = moved.learn(examples(matrix[order], labels[order], sample_weight[order]))
    np.testing.assert_array_equal(predictions[order], expected)
    for name, array in moved.model.arrays().items():
        np.testing.assert_array_equal(array, told.model.arrays()[name], err_msg=name)


def test_float32_weights_stay_near_float64() -> None:
    for scaling in SCALINGS:
        progressive = []
        for dtype in ("float32", "float64"):
            settings = Settings(losses.by_name("logistic"), scaling=scaling, dtype=dtype)
            matrix, labels, sample_weight = stream(settings.loss, rows=300)
            learner = Learner(settings, matrix.shape[1])
            learner.learn(examples(matrix, labels, sample_weight))
            progressive.append(learner.model.progressive_loss)
        assert progressive[0] == pytest.approx(progressive[1], rel=1e-5)


def test_one_kernel_serves_every_loss_and_update() -> None:
    """A kernel compiled anew for each loss would be slow to start and would fill the disk cache."""
    if not hasattr(linear.learn, "nopython_signatures"):
        pytest.skip("compilation is switched off")
    matrix, _, sample_weight = stream(LOSSES[0])
    for loss in LOSSES:
        _, labels, _ = stream(loss)
        Learner(Settings(loss, scaling="plain"), matrix.shape[1]).learn(
            examples(matrix, labels, sample_weight)
        )
    signatures = [str(signature) for signature in linear.learn.nopython_signatures]
    assert len(signatures) == len(set(signatures))
    assert len({s for s in signatures if "array(float32" in s and "array(float64, 1d" in s}) <= 4
