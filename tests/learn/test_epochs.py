"""What sums of squares gain along a flow; rows with nothing to move; huge and tiny weights."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from steelyard import losses
from steelyard.examples import examples
from steelyard.learn import epoch_rates
from steelyard.learn.linear import CLOCK
from steelyard.learner import Learner
from steelyard.losses import Loss
from steelyard.native.declare import PLAIN
from steelyard.native.methods import pointer
from steelyard.settings import Settings
from tests.support.parts import callable_part
from tests.support.splits import apart, cut
from tests.support.streams import stream

gain_of = callable_part(epoch_rates.gain_of)
LOSSES = [losses.by_name(name) for name in losses.names()]
ADAPTIVE = ("adaptive", "normalized", "standardized")


def gain(loss: Loss, p: float, y: float, weight: float, speed: float) -> float:
    change = loss.flow(p, y, speed * weight)
    before, after, slope = loss.value(p, y), loss.value(p + change, y), loss.derivative(p, y)
    derivative = pointer(loss, "derivative")
    return float(gain_of(before, after, weight, speed, slope, p, change, y, derivative))


@pytest.mark.parametrize("speed", [1e-12, 1e-8, 1e-6, 1e-3, 1.0, 100.0])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_what_is_gained_is_the_integral_of_squared_slopes(loss: Loss, speed: float) -> None:
    """∫ ℓ′² dh, which is ∫ |ℓ′| |dp| divided by the speed; also where the drop is lost in rounding."""
    _, labels, _ = stream(loss, rows=3)
    for y in labels:
        for p, weight in ((0.3, 1.0), (0.6, 7.0)):
            change = loss.flow(p, y, speed * weight)
            along, _ = quad(
                lambda share, p=p, y=y, change=change: abs(change * loss.derivative(p + share * change, y)),
                0.0,
                1.0,
                epsabs=0.0,
                limit=400,
            )
            expected = along / speed
            assert gain(loss, p, y, weight, speed) == pytest.approx(expected, rel=1e-6)


def test_a_kink_next_to_the_start() -> None:
    """A loss that is not 0 where it rests, and a distance to it that is lost in its drop."""
    loss = losses.by_name("hellinger")
    p = 1.0 - 1e-6 - 5e-12
    for weight in (0.1, 1.0, 30.0):
        expected = 5e-12 * abs(loss.derivative(p, 1.0)) / 0.3
        assert gain(loss, p, 1.0, weight, 0.3) == pytest.approx(expected, rel=1e-4)


def test_no_speed_and_slopes_beyond_floats() -> None:
    loss = losses.by_name("exponential")
    assert gain(losses.by_name("squared"), 3.0, 0.0, 2.0, 0.0) == 18.0
    assert gain(loss, -80.0, 1.0, 1e9, 1e-300) == 1e38


@pytest.mark.parametrize("penalty", [{}, {"l2": 0.1}, {"l1": 0.01}], ids=str)
@pytest.mark.parametrize("scaling", ADAPTIVE)
def test_rows_without_anything_to_move(scaling: str, penalty: dict[str, Any]) -> None:
    settings = Settings(losses.by_name("logistic"), scaling=scaling, bias=False, dtype="float64", **penalty)
    matrix, labels = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]), np.array([1.0, 1.0, -1.0])
    for weights in ([1.0, 1.0, 3.0], [0.5, 2.5, 0.7]):
        learner = Learner(settings, 2)
        learner.learn(examples(matrix, labels, weights))
        assert np.isfinite(learner.model.coefficients()).all()
        assert learner.model.clock == pytest.approx(sum(weights))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scaling", ["normalized", "standardized"])
def test_a_unit_of_labels_that_is_found_while_a_row_passes_by(scaling: str, bias: bool) -> None:
    """The second row is in the epoch that the third one ends, and only then there is something to learn."""
    settings = Settings(losses.by_name("squared"), scaling=scaling, bias=bias, dtype="float64")
    matrix, labels, offsets = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), [0.0, 3.0, 0.0], [0.0, 0.0, 1.0]
    whole, parts = Learner(settings, 2), Learner(settings, 2)
    whole.learn(examples(matrix, labels, [0.5, 0.3, 5.0], offsets=offsets))
    turns = np.array([0, 1, 2, 2, 2])
    parts.learn(
        examples(
            matrix[turns],
            np.array(labels)[turns],
            [0.5, 0.3, 0.2, 1.8, 3.0],
            offsets=np.array(offsets)[turns],
        )
    )
    assert whole.model.coefficients().any()
    assert apart(whole, parts, matrix) < 1e-12


@pytest.mark.skipif(PLAIN, reason="plain Python takes minutes for so many steps")
@pytest.mark.parametrize("scaling", ADAPTIVE)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_huge_weights_are_their_parts(loss: Loss, scaling: str) -> None:
    """Of 1 to 1e12."""
    settings = Settings(loss, scaling=scaling, dtype="float64")
    rng = np.random.default_rng(2)
    matrix, labels, _ = stream(loss, seed=2, rows=6)
    weights = 10.0 ** rng.uniform(0.0, 12.0, 6)
    turns, parts = cut(weights, rng)
    whole, other = Learner(settings, 12), Learner(settings, 12)
    whole.learn(examples(matrix, labels, weights))
    other.learn(examples(matrix[turns], labels[turns], parts))
    assert apart(whole, other, matrix) < 1e-6


@pytest.mark.parametrize("scaling", ADAPTIVE)
def test_tiny_weights(scaling: str) -> None:
    loss = losses.by_name("logistic")
    matrix, labels, _ = stream(loss)
    for weight in (5e-324, 1e-300, 1e-12):
        learner = Learner(Settings(loss, scaling=scaling), 12)
        learner.learn(examples(matrix, labels, np.full(60, weight)))
        assert np.isfinite(learner.predict(examples(matrix))).all()


@pytest.mark.skipif(PLAIN, reason="plain Python takes minutes for so many steps")
@pytest.mark.parametrize("scaling", ADAPTIVE)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_weights_beyond_the_whole_numbers_end(loss: Loss, scaling: str) -> None:
    """Beyond 2**53 a clock has no unit any more, but learning ends."""
    matrix, labels, _ = stream(loss, seed=2, rows=6)
    for weight in (1e17, 1e30, 1e100):
        learner = Learner(Settings(loss, scaling=scaling, dtype="float64"), 12)
        learner.learn(examples(matrix, labels, np.full(6, weight)))
        assert np.isfinite(learner.predict(examples(matrix))).all()
        assert learner.model.state[CLOCK] >= weight
