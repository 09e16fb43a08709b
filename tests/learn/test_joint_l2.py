"""The joint flow of loss and L2 against its slow twin, closed forms and itself."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numba import config
from scipy import sparse
from scipy.linalg import expm

from steelyard import losses, updates
from steelyard.examples import examples
from steelyard.learn import joint_l2, joint_l2_solvers
from steelyard.learner import Learner
from steelyard.losses import Loss
from steelyard.model import Settings
from steelyard.numba_tools import jit
from tests import naive_joint
from tests.naive_joint import NaiveJointLearner
from tests.streams import stream

LOSSES = [losses.by_name(name) for name in losses.names()]
JOINT = Settings(scaling="plain", l2=0.1, dtype="float64", l2_flow="joint")
TABLE = tuple(
    np.array(table) if isinstance(table, list | tuple) else table for table in joint_l2_solvers.radau_tables()
)


def changes(loss: Loss, *numbers: float) -> tuple[float, float]:
    """Of m and b, from m, b, y, u, v and the shrinkage."""
    pointers = (
        jit.pointer(loss, "derivative"),
        jit.step_pointer(loss, updates.by_name("invariant").step),
        jit.step_pointer(loss, updates.by_name("implicit").step),
    )
    m, b = joint_l2.joint_changes(*numbers, *pointers, TABLE, np.empty((4, len(joint_l2_solvers.NODES))))
    return float(m), float(b)


def in_parts(loss: Loss, parts: Any, *numbers: float) -> tuple[float, float]:
    m, b, y, u, v, shrinkage = numbers
    m_change = b_change = 0.0
    for part in parts:
        kept = math.exp(-part * shrinkage)
        m_moved, b_moved = changes(loss, m, b, y, part * u, part * v, part * shrinkage)
        m, b = m * kept + m_moved, b + b_moved
        m_change, b_change = m_change * kept + m_moved, b_change + b_moved
    return m_change, b_change


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scaling", ["plain", "row_norm"])
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if math.isinf(loss.domain.high)], ids=repr)
def test_agrees_with_the_slow_twin(loss: Loss, scaling: str, bias: bool) -> None:
    settings = replace(JOINT, loss=loss, scaling=scaling, bias=bias, learning_rate=0.05, power_t=0.5)
    matrix, labels, sample_weight = stream(loss, seed=1, rows=15)
    naive = NaiveJointLearner(settings, matrix.shape[1])
    expected = naive.learn(matrix, labels, sample_weight)
    learner = Learner(settings, matrix.shape[1])
    got = learner.learn(examples(matrix, labels, sample_weight, loss=loss))
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10 * scale)
    np.testing.assert_allclose(
        learner.model.coefficients(), naive.coefficients(), rtol=1e-9, atol=1e-10 * scale
    )
    assert learner.model.bias == pytest.approx(naive.bias, rel=1e-9, abs=1e-10 * scale)
    assert learner.model.progressive_loss == pytest.approx(naive.progressive_loss, rel=1e-9)
    assert learner.model.clock == pytest.approx(naive.clock, rel=1e-14)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if math.isfinite(loss.domain.high)], ids=repr)
def test_losses_of_probabilities_agree_with_the_slow_twin(loss: Loss) -> None:
    """Away from the edge at which a stream begins, as the twin would take for ever there."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        m, b, u, v = rng.random(4) * [0.5, 0.4, 0.5, 0.5]
        numbers = (m, b, float(rng.integers(2)), u, v, 10.0 ** rng.uniform(-6, 0.5))
        expected = naive_joint.changes(loss, *numbers)
        np.testing.assert_allclose(changes(loss, *numbers), expected, rtol=1e-9, atol=1e-10)


def gentle_and_stiff() -> list[tuple[float, ...]]:
    return [
        (u, v, theta)
        for u, v in [(0.3, 0.1), (40.0, 7.0), (2e4, 1e3), (3.0, 0.0)]
        for theta in (1e-6, 0.3, 40.0)
    ]


@pytest.mark.parametrize(("u", "v", "shrinkage"), gentle_and_stiff())
def test_squared_loss_is_a_matrix_exponential(u: float, v: float, shrinkage: float) -> None:
    m, b, y = 0.7, -0.2, 1.5
    rates = np.array([[-u - shrinkage, -u, u * y], [-v, -v, v * y], [0.0, 0.0, 0.0]])
    end = expm(rates) @ [m, b, 1.0]
    expected = end[0] - m * math.exp(-shrinkage), end[1] - b
    np.testing.assert_allclose(changes(losses.Squared(), m, b, y, u, v, shrinkage), expected, rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize(("u", "v", "shrinkage"), gentle_and_stiff()[:: 5 if config.DISABLE_JIT else 1])
def test_parts_add_up(loss: Loss, u: float, v: float, shrinkage: float) -> None:
    for y in (0.0, 1.0) if 0.0 in loss.labels else (-1.0, 1.0):
        numbers = (0.4, 0.1, y, u, v, shrinkage)
        whole = changes(loss, *numbers)
        scale = 0.5 + max(map(abs, whole))
        for parts in ((0.3, 0.7), (0.01, 0.9, 0.09)):
            np.testing.assert_allclose(in_parts(loss, parts, *numbers), whole, rtol=0.0, atol=1e-9 * scale)


@pytest.mark.parametrize(
    ("loss", "kink"),
    [
        (losses.Hinge(), 1.0),
        (losses.Quantile(tau=0.3), 1.0),
        (losses.Logarithmic(), 1 - 1e-6),
        (losses.Hellinger(), 1 - 1e-6),
    ],
)
def test_it_slides_along_a_kink(loss: Loss, kink: float) -> None:
    """Held at the kink, m gives way to b: m decays at the rate θv/(u + v). So also from a start elsewhere."""
    u, v, shrinkage = 3.0, 2.0, 0.8
    m, b = 0.75, kink - 0.75
    expected = m * math.exp(-shrinkage * v / (u + v))
    m_change, b_change = changes(loss, m, b, 1.0, u, v, shrinkage)
    assert m * math.exp(-shrinkage) + m_change == pytest.approx(expected, rel=1e-10)
    assert b + b_change == pytest.approx(kink - expected, rel=1e-10)
    for m, b in ((0.1, 0.2), (0.9, 0.4)):
        expected_changes = naive_joint.changes(loss, m, b, 1.0, u, v, shrinkage)
        np.testing.assert_allclose(changes(loss, m, b, 1.0, u, v, shrinkage), expected_changes, rtol=1e-9)


def test_a_kink_passed_before_the_first_node() -> None:
    """Once all nodes and both halves of a step agreed on a prediction far beyond the hinge."""
    m_change, _ = changes(losses.Hinge(), -0.0047, 0.0, -1.0, 66.9, 0.0, 2.5e-10)
    assert m_change == pytest.approx(-0.9953, rel=1e-9)


def test_a_kink_just_before_the_end() -> None:
    """Once p was held at the kink by the last node alone, which took m there too late."""
    numbers = (9.3e-7, -7.2e-7, -1.0, 0.868, 1.171, 6.667e-4)
    expected = naive_joint.changes(losses.Quantile(), *numbers)
    np.testing.assert_allclose(changes(losses.Quantile(), *numbers), expected, rtol=1e-10)


@dataclass(frozen=True)
class Ratchet(Loss):
    """A kink at y with a slope of one sign on both sides: p can stick there and go on."""

    def value(self, p: float, y: float) -> float:
        return (2.0 if p > y else 1.0) * (p - y) + 0.05 * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return (2.0 if p > y else 1.0) + 0.1 * (p - y)


@pytest.mark.parametrize("m", [1.5, -6.0])
def test_a_kink_that_is_passed(m: float) -> None:
    """Downwards at once; or, where L2 pulls upwards, after sticking to it while that pull wears off."""
    loss = Ratchet()
    numbers = (m, 1.6 - m, 1.0, 0.5, 0.6, 0.6)
    whole = changes(loss, *numbers)
    for parts in ((0.3, 0.7), np.full(40, 0.025)):
        np.testing.assert_allclose(in_parts(loss, parts, *numbers), whole, rtol=1e-9)


@dataclass(frozen=True)
class Noisy(Loss):
    """All it says is good to five digits only."""

    def value(self, p: float, y: float) -> float:
        return 0.5 * (p - y) * (p - y)

    def derivative(self, p: float, y: float) -> float:
        return (p - y) * (1.0 + 1e-5 * math.sin(1e7 * p))

    def flow(self, p: float, y: float, u: float) -> float:
        return math.expm1(-u) * self.derivative(p, y)

    def implicit(self, p: float, y: float, u: float) -> float:
        return -u / (1.0 + u) * self.derivative(p, y)


class Broken(Loss):
    def value(self, p: float, y: float) -> float:
        return 0.0

    def derivative(self, p: float, y: float) -> float:
        return math.nan


def test_a_noisy_loss_comes_to_an_end() -> None:
    expected = changes(losses.Squared(), 0.5, 0.1, 2.0, 1.0, 0.5, 0.3)
    np.testing.assert_allclose(changes(Noisy(), 0.5, 0.1, 2.0, 1.0, 0.5, 0.3), expected, rtol=1e-4)


@pytest.mark.skipif(not config.DISABLE_JIT, reason="a compiled kernel keeps its constants")
def test_it_ends_after_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_l2, "_MOST_STEPS", 1)
    assert np.isfinite(changes(Noisy(), 0.5, 0.1, 2.0, 1.0, 0.5, 0.3)).all()


def test_a_broken_loss_comes_to_an_end() -> None:
    assert np.isnan(changes(Broken(), 0.5, 0.1, 2.0, 1.0, 0.5, 0.3)).all()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scaling", ["plain", "row_norm"])
def test_empty_rows_shrink_the_rest_and_move_the_bias(scaling: str, bias: bool) -> None:
    settings = replace(JOINT, scaling=scaling, bias=bias, l2=3.0, learning_rate=0.5)
    learner = Learner(settings, 2)
    learner.learn(examples(np.array([[1.0, 0.0]]), [1.0]))
    before, bias_before = learner.model.coefficients().copy(), learner.model.bias
    learner.learn(examples(sparse.csr_array((20, 2)), np.full(20, 3.0)))
    np.testing.assert_allclose(learner.model.coefficients(), before * math.exp(-30.0), rtol=1e-12)
    assert learner.model.bias == pytest.approx(
        bias_before - math.expm1(-10.0) * (3.0 - bias_before) if bias else 0.0
    )


def test_without_l2_it_is_the_ordinary_flow() -> None:
    matrix, labels, sample_weight = stream(losses.Logistic())
    learners = [
        Learner(replace(JOINT, loss=losses.Logistic(), l2=0.0, l2_flow=kind), matrix.shape[1])
        for kind in ("split", "joint")
    ]
    for learner in learners:
        learner.learn(examples(matrix, labels, sample_weight))
    np.testing.assert_array_equal(learners[0].model.raw_coefficients, learners[1].model.raw_coefficients)
    almost = changes(losses.Logistic(), 0.3, 0.1, 1.0, 0.7, 0.5, 1e-300)
    np.testing.assert_allclose(almost, changes(losses.Logistic(), 0.3, 0.1, 1.0, 0.7, 0.5, 0.0), rtol=1e-12)


def test_weight_0_is_an_absent_row() -> None:
    settings = replace(JOINT, loss=losses.Hinge(), power_t=0.5, dtype="float32")
    matrix, labels, sample_weight = stream(settings.loss, seed=4)
    present = np.flatnonzero(sample_weight)
    whole, without = Learner(settings, matrix.shape[1]), Learner(settings, matrix.shape[1])
    said = whole.learn(examples(matrix, labels, sample_weight))
    np.testing.assert_array_equal(
        said[present], without.learn(examples(matrix[present], labels[present], sample_weight[present]))
    )
    for name, array in whole.model.arrays().items():
        np.testing.assert_array_equal(array, without.model.arrays()[name], err_msg=name)


def test_dense_rows_are_sparse_rows() -> None:
    matrix, labels, sample_weight = stream(JOINT.loss)
    results = []
    for form in (matrix, matrix.toarray()):
        learner = Learner(JOINT, matrix.shape[1])
        results.append(
            np.append(learner.learn(examples(form, labels, sample_weight)), learner.model.coefficients())
        )
    np.testing.assert_allclose(results[0], results[1], rtol=1e-9, atol=1e-12)
