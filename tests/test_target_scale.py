"""The unit of the labels must not matter: not their scale, not their offset, not the size of the chunks."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from steelyard import losses, target_scale
from steelyard.examples import Examples, examples
from steelyard.learner import Learner
from steelyard.losses import UNIT_INTERVAL, Loss
from steelyard.settings import Settings
from tests.support.streams import stream


@dataclass(frozen=True)
class Huber(Loss):
    delta: float = 1.0

    def value(self, p: float, y: float) -> float:
        gap = abs(p - y)
        return 0.5 * gap * gap if gap < self.delta else self.delta * (gap - 0.5 * self.delta)

    def derivative(self, p: float, y: float) -> float:
        return max(-self.delta, min(self.delta, p - y))


class Poisson(Loss):
    """The prediction is the logarithm of a rate: another unit than that of the label."""

    def value(self, p: float, y: float) -> float:
        return math.exp(p) - y * p

    def derivative(self, p: float, y: float) -> float:
        return math.exp(p) - y


class RelativeError(Loss):
    """Not defined for labels that are not positive, and does not say so."""

    def value(self, p: float, y: float) -> float:
        return 0.5 * (p - math.log(y)) ** 2

    def derivative(self, p: float, y: float) -> float:
        return p - math.log(y)


class Share(Huber):
    domain = UNIT_INTERVAL


FOLLOWING = ["quantile", "squared"]


@pytest.mark.parametrize("name", losses.names())
def test_which_losses_follow_their_labels(name: str) -> None:
    assert target_scale.follow(losses.by_name(name)) == (name in FOLLOWING)


def test_which_users_losses_follow_their_labels() -> None:
    assert target_scale.follow(Huber(delta=0.1))
    assert not any(target_scale.follow(loss) for loss in (Poisson(), RelativeError(), Share()))


def test_only_normalized_scaling_follows_and_only_if_it_may() -> None:
    assert Settings().has_label_unit
    for other in ({"scaling": "adaptive"}, {"follow_labels": False}, {"loss": losses.Logistic()}):
        assert not Settings(**other).has_label_unit


def learned(settings: Settings, chunk: Examples) -> tuple[np.ndarray, np.ndarray]:
    """Predictions made before each row, and in the end."""
    learner = Learner(settings, chunk.features)
    return learner.learn(chunk), learner.predict(chunk)


UPDATES = ["explicit", "implicit", "invariant"]


@pytest.mark.parametrize(("factor", "offset"), [(1e-6, 1e-3), (3.0, 1e4), (1e6, -1e7)])
@pytest.mark.parametrize(
    ("bias", "l1", "l2", "power_t"),
    [(True, 0.0, 0.0, 0.5), (True, 0.01, 0.02, 0.0), (False, 0.01, 0.02, 0.5)],
)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("loss", [losses.Squared(), losses.Quantile(tau=0.3), Huber(delta=0.5)], ids=repr)
def test_predictions_come_in_the_units_of_the_labels(
    loss: Loss, update: str, bias: bool, l1: float, l2: float, power_t: float, factor: float, offset: float
) -> None:
    """y → a·y + b makes p → a·p + b; a loss with a parameter in these units must be told."""
    offset = offset if bias else 0.0
    settings = Settings(loss, update, power_t=power_t, l1=l1, l2=l2, bias=bias, dtype="float64")
    settings = replace(settings, learning_rate=0.1 if update == "explicit" else 0.5)
    other = replace(settings, loss=Huber(factor * loss.delta)) if isinstance(loss, Huber) else settings
    matrix, labels, sample_weight = stream(loss, seed=2, rows=200)
    before = learned(settings, examples(matrix, labels, sample_weight))
    after = learned(other, examples(matrix, factor * labels + offset, sample_weight))
    rounding = 1e-16 * (factor + abs(offset)) / factor
    for here, there in zip(before, after, strict=True):
        np.testing.assert_allclose((there - offset) / factor, here, rtol=1e-7, atol=1e-8 + 1e5 * rounding)


@pytest.mark.parametrize("name", FOLLOWING)
@pytest.mark.parametrize("bias", [True, False])
def test_single_rows_add_up_to_the_whole(name: str, bias: bool) -> None:
    """To the last bit, also through rows of weight 0."""
    settings = Settings(losses.by_name(name), bias=bias, l1=1e-3, l2=1e-3)
    matrix, labels, sample_weight = stream(settings.loss, rows=150)
    sample_weight[:3] = 0.0
    whole, rows = (Learner(settings, matrix.shape[1]) for _ in range(2))
    predictions = whole.learn(examples(matrix, labels, sample_weight))
    one_by_one = [
        rows.learn(examples(matrix[[i]], labels[[i]], sample_weight[[i]]))[0] for i in range(len(labels))
    ]
    np.testing.assert_array_equal(predictions, one_by_one)
    for array, other in zip(whole.model.arrays().values(), rows.model.arrays().values(), strict=True):
        np.testing.assert_array_equal(array, other)


def test_the_unit_is_the_spread_of_the_labels() -> None:
    matrix, labels, sample_weight = stream(losses.Squared(), rows=500)
    labels = 7.0 * labels + 100.0
    mean = np.average(labels, weights=sample_weight)
    spread = np.sqrt(np.average((labels - mean) ** 2, weights=sample_weight))
    for bias, expected in ((True, spread), (False, np.sqrt(spread**2 + mean**2))):
        learner = Learner(Settings(bias=bias), matrix.shape[1])
        learner.learn(examples(matrix, labels, sample_weight))
        assert learner.model.unit == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("name", FOLLOWING)
def test_equal_labels_are_learned_at_once_and_nothing_else(name: str) -> None:
    learner = Learner(Settings(losses.by_name(name)), 3)
    rows = examples(np.random.default_rng(0).normal(size=(20, 3)), np.full(20, 1234.5))
    np.testing.assert_array_equal(learner.learn(rows), 1234.5)
    np.testing.assert_array_equal(learner.predict(rows), 1234.5)
    assert not learner.model.coefficients().any()


def test_without_a_bias_one_label_has_a_unit() -> None:
    learner = Learner(Settings(bias=False), 1)
    learner.learn(examples(np.ones((1, 1)), [-400.0]))
    assert learner.model.unit == 400.0
    assert learner.predict(examples(np.ones((1, 1))))[0] < -50.0


@pytest.mark.parametrize("size", [1e100, 1e300])
def test_monstrous_labels_break_nothing(size: float) -> None:
    learner = Learner(Settings(losses.Quantile(), dtype="float64"), 2)
    random = np.random.default_rng(0)
    learner.learn(examples(random.normal(size=(50, 2)), size * random.normal(size=50)))
    assert all(np.isfinite(array).all() for array in learner.model.arrays().values())


def test_a_robust_loss_bears_wild_labels() -> None:
    """One label in a hundred is off by a hundred times their spread."""
    random = np.random.default_rng(0)
    matrix = random.normal(size=(10_000, 5))
    truth = matrix @ np.arange(5.0) + 50.0
    wild = random.random(10_000) < 0.01
    learner = Learner(Settings(losses.Quantile()), 5)
    learner.learn(examples(matrix, np.where(wild, truth + 100.0 * truth.std(), truth)))
    errors = learner.predict(examples(matrix)) - truth
    assert np.sqrt(np.mean(errors**2)) < 0.1 * truth.std()


def test_weights_are_nearly_copies() -> None:
    settings = Settings(dtype="float64")
    random = np.random.default_rng(0)
    matrix = random.normal(size=(300, 4))
    labels = matrix @ [1.0, 2.0, -1.0, 0.0] * 100.0 + 5000.0
    times = random.integers(1, 6, 300)
    weighted, copied = (Learner(settings, 4) for _ in range(2))
    weighted.learn(examples(matrix, labels, times))
    copied.learn(examples(matrix.repeat(times, axis=0), labels.repeat(times)))
    ours, theirs = (learner.predict(examples(matrix)) for learner in (weighted, copied))
    assert np.sqrt(np.mean((ours - theirs) ** 2)) < 0.05 * theirs.std()
