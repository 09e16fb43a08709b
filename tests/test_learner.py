"""What the learner promises: a weight of h is h copies, nothing explodes, the same numbers as elsewhere."""

import copy
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from steelyard import losses
from steelyard.examples import Examples, examples
from steelyard.learner import Learner
from steelyard.losses import Loss, class_labels
from steelyard.settings import SCALE_FREE, SCALINGS, Settings
from tests.support.streams import labels_for, stream
from tests.support.vw_text import data_file, read

LOSSES = [losses.by_name(name) for name in losses.names()] + [losses.by_name("quantile", tau=0.9)]


def trained(settings: Settings, *chunks: Examples) -> Learner:
    learner = Learner(settings, chunks[0].features)
    for chunk in chunks:
        learner.learn(chunk)
    return learner


def numbers(learner: Learner) -> np.ndarray:
    return np.append(learner.model.coefficients(), [learner.model.bias, learner.model.clock])


def repeated(
    matrix: sparse.csr_array, labels: np.ndarray, times: np.ndarray
) -> tuple[sparse.csr_array, np.ndarray]:
    order = np.repeat(np.arange(len(labels)), times)
    return matrix[order], labels[order]


@pytest.mark.parametrize("power_t", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("scaling", ["plain", "row_norm"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_weight_h_is_h_copies(loss: Loss, scaling: str, power_t: float) -> None:
    """To 1e-12, for weights from 2 to 10,000, in one step or in uneven parts."""
    settings = Settings(loss, "invariant", scaling, 0.5, 10.0, power_t, dtype="float64")
    matrix, labels, _ = stream(loss, seed=3, rows=12)
    times = np.array([2, 1, 50, 3, 1, 10_000, 7, 1, 1, 300, 2, 5])
    weighted = trained(settings, examples(matrix, labels, times, loss=loss))
    copies = trained(settings, examples(*repeated(matrix, labels, times)))
    in_parts = trained(
        settings, examples(*repeated(matrix, labels, np.full(12, 2)), np.outer(times, [0.3, 0.7]).ravel())
    )
    scale = np.abs(numbers(weighted)).max()
    for other in (copies, in_parts):
        np.testing.assert_allclose(numbers(other), numbers(weighted), rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.parametrize("regularised", [False, True])
@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("update", ["explicit", "implicit", "second_order", "invariant"])
def test_weight_0_is_an_absent_row(update: str, scaling: str, regularised: bool) -> None:
    """Bit for bit."""
    settings = Settings(
        losses.by_name("logistic"), update, scaling, 0.1, power_t=0.5,
        l1=0.01 * regularised, l2=0.01 * regularised,
    )  # fmt: skip
    matrix, labels, sample_weight = stream(settings.loss, seed=4)
    assert (sample_weight == 0.0).any()
    present = np.flatnonzero(sample_weight)
    whole = trained(settings, examples(matrix, labels, sample_weight))
    without = trained(settings, examples(matrix[present], labels[present], sample_weight[present]))
    for name, array in whole.model.arrays().items():
        np.testing.assert_array_equal(array, without.model.arrays()[name], err_msg=name)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_chunks_do_not_matter(scaling: str) -> None:
    settings = Settings(losses.by_name("hinge"), scaling=scaling, l1=0.001, l2=0.001)
    matrix, labels, sample_weight = stream(settings.loss, seed=5, rows=97)
    whole = trained(settings, examples(matrix, labels, sample_weight))
    cuts = [slice(0, 1), slice(1, 40), slice(40, 41), slice(41, 97)]
    pieces = trained(settings, *(examples(matrix[cut], labels[cut], sample_weight[cut]) for cut in cuts))
    for name, array in whole.model.arrays().items():
        np.testing.assert_array_equal(array, pieces.model.arrays()[name], err_msg=name)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scaling", SCALINGS)
def test_the_same_bits_every_time(scaling: str, dtype: str) -> None:
    """Wherever the arrays happen to lie in memory."""
    settings = Settings(losses.by_name("logistic"), scaling=scaling, dtype=dtype)
    matrix, labels, sample_weight = stream(settings.loss, seed=9, rows=40, features=30, nonzeros=19)
    results = set()
    clutter = []
    for size in range(60):
        clutter.append(np.empty(size * 3))
        learner = trained(settings, examples(matrix, labels, sample_weight))
        results.add(numbers(learner).tobytes())
    assert len(results) == 1


@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["squared", "logistic"])
@pytest.mark.parametrize("scaling", SCALE_FREE)
def test_the_scale_of_a_column_does_not_matter(scaling: str, name: str, factor: float) -> None:
    settings = Settings(losses.by_name(name), scaling=scaling)
    matrix, labels, sample_weight = stream(settings.loss, seed=6, rows=200)
    scaled = matrix.copy()
    scaled.data[scaled.indices % 3 == 0] *= factor
    predictions = [
        Learner(settings, matrix.shape[1]).learn(examples(m, labels, sample_weight)) for m in (matrix, scaled)
    ]
    np.testing.assert_allclose(predictions[0], predictions[1], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("rate", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("update", ["implicit", "invariant"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_large_weights_never_explode(loss: Loss, update: str, scaling: str, rate: float) -> None:
    """5 % of the weights are 10⁵."""
    rng = np.random.default_rng(8)
    matrix = sparse.random_array((400, 20), density=0.3, rng=rng, format="csr")
    labels = labels_for(loss, rng, 400)
    sample_weight = np.where(rng.random(400) < 0.05, 1e5, 1.0)
    learner = Learner(Settings(loss, update, scaling, rate), 20)
    predictions = learner.learn(examples(matrix, labels, sample_weight, loss=loss))
    assert np.isfinite(predictions).all()
    assert np.isfinite(learner.model.state).all()
    assert np.abs(learner.model.coefficients()).max() < 1e4


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 3], [-1, 1, 2]])
def test_an_order_must_hold_the_numbers_of_all_rows(order: list[int]) -> None:
    learner = Learner(Settings(), 3)
    with pytest.raises(ValueError, match="the order must hold the numbers of all 3 rows, from 0"):
        learner.learn(examples(np.eye(3), np.ones(3)), np.array(order))


@pytest.mark.parametrize("kind", [list, np.int16, np.uint64, ">i8", float, bool, object])
def test_an_order_may_be_of_any_whole_numbers(kind: Any) -> None:
    """And of nothing else; what is refused has changed nothing."""
    rows = examples(np.eye(3), np.array([1.0, -1.0, 1.0]))
    expected, learner = Learner(Settings(), 3), Learner(Settings(), 3)
    order: Any = [2, 0, 1] if kind is list else np.array([2, 0, 1]).astype(kind)
    if kind in (float, bool, object):
        with pytest.raises(ValueError, match="the order must hold the numbers of all 3 rows"):
            learner.learn(rows, order)
        assert not learner.model.columns.counts.any()
    else:
        expected.learn(rows, np.array([2, 0, 1]))
        learner.learn(rows, order)
        np.testing.assert_array_equal(learner.model.coefficients(), expected.model.coefficients())


@pytest.mark.parametrize("scaling", SCALINGS)
def test_many_rows_are_predicted_as_one(scaling: str) -> None:
    learner = Learner(Settings(scaling=scaling, dtype="float64"), 3)
    rows = np.random.default_rng(0).normal(size=(100, 3))
    learner.learn(examples(rows, rows.sum(axis=1)))
    one_by_one = [learner.predict(examples(row[None, :]))[0] for row in rows]
    np.testing.assert_allclose(learner.predict(examples(rows)), one_by_one, rtol=1e-12)


def test_explicit_updates_that_diverge_leave_the_model_alone() -> None:
    learner = Learner(Settings(update="explicit", scaling="plain", learning_rate=3.0), 2)
    calm = examples(np.eye(2) * 0.1, [1.0, -1.0])
    learner.learn(calm)
    before = numbers(learner)
    with pytest.raises(FloatingPointError, match="lower the learning rate, or use update='invariant'"):
        learner.learn(examples(np.ones((2000, 2)), np.ones(2000)))
    np.testing.assert_array_equal(numbers(learner), before)


def test_regularisation_shrinks_rows_without_loss_and_owes_nothing_for_unseen_features() -> None:
    settings = Settings(
        losses.by_name("hinge"), scaling="plain", learning_rate=0.5, l2=0.5, bias=False, dtype="float64"
    )
    learner = trained(settings, examples(np.array([[2.0, 0.0, 0.0]]), [1.0]))
    start = learner.model.coefficients()[0]
    empty = sparse.csr_array((10, 3))
    learner.learn(examples(empty, np.ones(10)))
    assert learner.model.coefficients()[0] == pytest.approx(start / 1.25**10)
    assert learner.model.coefficients()[2] == 0.0


def test_regularisation_beyond_one_does_not_diverge() -> None:
    settings = Settings(scaling="plain", learning_rate=10.0, l2=1e6, l1=1e3, dtype="float64")
    matrix, labels, sample_weight = stream(settings.loss, rows=500)
    learner = trained(settings, examples(matrix, labels, sample_weight))
    assert np.abs(learner.model.coefficients()).max() < 1.0


def test_an_empty_row_without_bias_moves_nothing() -> None:
    learner = trained(Settings(scaling="plain", bias=False), examples(sparse.csr_array((3, 2)), np.ones(3)))
    assert not learner.model.coefficients().any()
    assert learner.model.clock == 3.0


REFERENCE = [
    ("rcv1_small.dat", losses.Logistic(), 0.5, 0.600679),
    ("rcv1_small.dat", losses.Hinge(), 0.5, 0.675410),
    ("rcv1_small.dat", losses.Squared(), 1.0, 0.717309 / 2),
    ("0002.dat", losses.Quantile(tau=0.25), 0.05, 0.018635),
    ("0002.dat", losses.Squared(), 0.1, 0.004314 / 2),
]


@pytest.mark.parametrize(("file", "loss", "rate", "expected"), REFERENCE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_same_numbers_as_an_independent_system(
    file: str, loss: Loss, rate: float, expected: float, dtype: str
) -> None:
    """Progressive loss of Vowpal Wabbit 9.11.9 with the same settings. (Its squared loss is twice ours.)"""
    matrix, labels, sample_weight = read(data_file(f"vw/{file}"))
    settings = Settings(loss, scaling="plain", learning_rate=rate, dtype=dtype)
    learner = trained(settings, examples(matrix, labels, sample_weight, loss=loss))
    assert learner.model.progressive_loss == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("name", losses.names())
def test_labels_that_the_loss_does_not_have(name: str, scaling: str) -> None:
    """They are refused before anything changes, as estimators refuse them; a row of weight 0 is absent."""
    loss = losses.by_name(name)
    good = class_labels(loss)[1]
    learner = Learner(Settings(loss, scaling=scaling), 2)
    learner.learn(examples(np.eye(2), [good, good]))
    before = [array.tobytes() for array in learner.model.arrays().values()]
    for bad in (0.3, -0.5, 2.0, 1e300, np.nan, np.inf):
        if loss.allows(bad):
            continue
        rows = examples(np.eye(2), [good, good], [1.0, 2.0])
        with pytest.raises(ValueError, match=re.escape(f"row 1 has the label {bad}")):
            learner.learn(replace(rows, labels=np.array([good, bad])))
        assert [array.tobytes() for array in learner.model.arrays().values()] == before
        absent = replace(rows, labels=np.array([good, bad]), sample_weight=np.array([0.0, 0.0]))
        learner.learn(absent)
        assert [array.tobytes() for array in learner.model.arrays().values()] == before


def test_rows_that_are_wider_than_the_model() -> None:
    """Kernels do not look whether there is such a coefficient."""
    learner = Learner(features=2)
    wide = examples(np.ones((1, 5)), [1.0])
    for use in (learner.learn, learner.predict):
        with pytest.raises(ValueError, match="the rows have 5 features, the model 2"):
            use(wide)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1.0])
def test_predictions_are_of_the_coefficients_of_now(scaling: str, weight: float) -> None:
    """Also where a row changes units, but its weight is too small to change the clock."""
    learner = Learner(Settings(losses.by_name("logistic"), scaling=scaling), 2)
    first, larger = examples(np.eye(2), [1.0, -1.0]), examples(10.0 * np.eye(2), [1.0, -1.0], [weight] * 2)
    learner.learn(first)
    learner.predict(first)
    learner.learn(larger)
    expected = Learner(model=copy.deepcopy(learner.model))
    expected.model.forget_answer()
    np.testing.assert_array_equal(learner.predict(first), expected.predict(first))
