"""Flip importances, query probabilities beside a slow twin, and the bound that gives a share of questions."""

import copy
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from steelyard import losses, updates
from steelyard.active.strategies.iwal import flip_importances
from steelyard.examples import examples
from steelyard.learn import query_probability
from steelyard.learner import Learner
from steelyard.losses import class_labels, decision_point
from steelyard.settings import Settings
from tests.support.streams import stream


def slow(g: float, b: float, c1: float, c2: float) -> float:
    """By halving s until its own equation gives g."""
    if g <= b**0.5 + b:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(200):
        s = 0.5 * (low + high)
        if (c1 / s**0.5 - c1 + 1.0) * b**0.5 + (c2 / s - c2 + 1.0) * b > g:
            low = s
        else:
            high = s
    return high


@pytest.mark.parametrize("constants", [(1.0, 1.0), (5.0 + 8.0**0.5, 5.0)])
def test_probabilities_are_those_of_the_slow_twin(constants: tuple[float, float]) -> None:
    rng = np.random.default_rng(0)
    g, b = 10.0 ** rng.uniform(-6, 2, 200), 10.0 ** rng.uniform(-8, 1, 200)
    out = np.empty(200)
    query_probability.fill_probabilities(g, b, *constants, out)
    np.testing.assert_allclose(out, [slow(x, y, *constants) for x, y in zip(g, b, strict=True)], rtol=1e-9)
    query_probability.fill_probabilities(
        np.array([np.inf, np.inf, 1e308]), np.array([1.0, np.inf, 1e-9]), *constants, out[:3]
    )
    np.testing.assert_allclose(out[:3], [0.0, 1.0, 0.0], atol=1e-150)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.7])
def test_the_bound_gives_the_share(share: float) -> None:
    g = 10.0 ** np.random.default_rng(1).uniform(-4, 0, 256)
    b = query_probability.bound_for(share, g, 0.01, 1.0, 1.0, -50.0, 10.0, 40)
    out = np.empty(256)
    query_probability.fill_probabilities(g, np.full(256, b), 1.0, 1.0, out)
    assert np.maximum(out, 0.01).mean() == pytest.approx(share, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("squared", lambda p: math.log1p(abs(p))),
        ("logistic", lambda p: 1.0 + abs(p) - math.exp(-abs(p))),
        ("hinge", abs),
        ("exponential", lambda p: -math.expm1(-abs(p))),
    ],
)
def test_closed_forms(name: str, expected: object) -> None:
    """With a constant rate the flip importance is push_for/(n·η)."""
    settings = Settings(losses.by_name(name), scaling="plain", learning_rate=0.25, follow_labels=False)
    learner = Learner(settings, 1)
    learner.model.raw_coefficients[0] = 1.0
    x = np.array([[-3.0], [0.5], [2.0]])
    flips, predictions = flip_importances(learner.model, examples(x))
    assert callable(expected)
    np.testing.assert_allclose(predictions, x[:, 0])
    np.testing.assert_allclose(flips, [expected(p) / ((p * p + 1.0) * 0.25) for p in predictions], rtol=1e-12)


def cases() -> list[Settings]:
    """Every loss and update, with a rate that stands still or that falls."""
    chosen = [
        (losses.by_name(name), u) for name in losses.names() for u in updates.names_for(losses.by_name(name))
    ]
    kinds = itertools.cycle([("plain", 0.0, True), ("row_norm", 0.5, False), ("plain", 1.0, False)])
    return [
        Settings(loss, update, scaling, 0.05, 20.0, power, bias=bias, dtype="float64", follow_labels=False)
        for (loss, update), (scaling, power, bias) in zip(chosen, kinds, strict=False)
    ]


@pytest.mark.parametrize("settings", cases(), ids=lambda s: f"{type(s.loss).__name__}-{s.update}-{s.scaling}")
def test_with_the_flip_importance_the_other_label_gets_to_the_decision_point(settings: Settings) -> None:
    loss = settings.loss
    matrix, labels, sample_weight = stream(loss, rows=40)
    (low, high), boundary = class_labels(loss), decision_point(loss)
    labels = np.where(labels > boundary, high, low)
    begun = Learner(replace(settings, update="invariant"), matrix.shape[1])
    begun.learn(examples(matrix, labels, sample_weight))
    begun.model.settings = settings
    flips, predictions = flip_importances(begun.model, examples(matrix))
    np.testing.assert_allclose(predictions, begun.predict(examples(matrix)), rtol=1e-12, atol=1e-12)
    reachable = np.flatnonzero((flips > 0.0) & (flips < 1e6))
    assert len(reachable) > 5
    for row in reachable:
        learner = Learner(model=copy.deepcopy(begun.model))
        alone = examples(
            matrix[[row]], [low if predictions[row] > boundary else high], flips[[row]], loss=loss
        )
        learner.learn(alone)
        assert learner.predict(alone)[0] == pytest.approx(
            boundary, abs=1e-6 * max(1.0, abs(predictions[row]))
        )


@pytest.mark.parametrize("scaling", ["adaptive", "normalized"])
@pytest.mark.parametrize("name", ["logistic", "modified_huber", "squared"])
def test_with_rates_of_their_own_a_flip_of_weight_one_ends_near_the_boundary(scaling: str, name: str) -> None:
    """The learning rate is chosen so that the row flips with weight 1, for which its rates are meant."""
    loss = losses.by_name(name)
    matrix, labels, _ = stream(loss, rows=60)
    labels = np.where(labels > 0.0, 1.0, -1.0)
    begun = Learner(Settings(loss, scaling=scaling, dtype="float64", follow_labels=False), matrix.shape[1])
    begun.learn(examples(matrix[:50], labels[:50]))
    for row in (3, 21, 44):  # each has a learning rate, and with it a schedule to compile, of its own
        alone = examples(matrix[[row]] * 0.9)  # within the scales
        (h,), (p,) = flip_importances(begun.model, alone)
        rate = begun.model.settings.rate * h
        again = Learner(
            Settings(loss, scaling=scaling, learning_rate=rate, dtype="float64", follow_labels=False),
            matrix.shape[1],
        )
        for name_, array in begun.model.arrays().items():
            again.model.arrays()[name_][...] = array
        assert flip_importances(again.model, alone)[0][0] == pytest.approx(1.0, rel=1e-9)
        again.learn(examples(matrix[[row]] * 0.9, [-1.0 if p > 0.0 else 1.0]))
        assert again.predict(alone)[0] == pytest.approx(0.0, abs=0.05)  # rates have levels


@pytest.mark.parametrize("scaling", ["plain", "row_norm", "adaptive", "normalized"])
def test_what_the_model_knows_nothing_of_is_asked_for(scaling: str) -> None:
    learner = Learner(Settings(losses.by_name("squared"), scaling=scaling, bias=False), 2)
    np.testing.assert_array_equal(flip_importances(learner.model, examples(np.eye(2)))[0], 0.0)
    learner.learn(examples(np.array([[1.0, 0.0]]), [1.0]))
    flips, predictions = flip_importances(learner.model, examples(np.zeros((1, 2)), offsets=[0.3]))
    assert flips[0] == 0.0
    assert predictions[0] == 0.3


def test_a_value_beyond_its_scale_leaves_the_prediction_where_it_is() -> None:
    """In learning it would shrink that weight first, here so far that the prediction changes sides."""
    settings = Settings(losses.by_name("hinge"), scaling="normalized", bias=False, follow_labels=False)
    learner = Learner(settings, 2)
    learner.learn(examples(np.eye(2), [1.0, -1.0]))
    learner.model.raw_coefficients[:] = [1.0, -1.5]
    flips, predictions = flip_importances(learner.model, examples(np.array([[4.0, 1.0], [1.0, 1.0]])))
    np.testing.assert_allclose(predictions, [2.5, -0.5])
    assert np.all(flips > 0.0)


def test_a_loss_without_two_classes() -> None:
    class OneSided(losses.Loss):
        labels = losses.Interval(0.0, math.inf)

        def value(self, p: float, y: float) -> float:
            return 0.5 * (p - y) ** 2

        def derivative(self, p: float, y: float) -> float:
            return p - y

    learner = Learner(Settings(OneSided(), scaling="plain"), 1)
    with pytest.raises(ValueError, match="makes no two classes"):
        flip_importances(learner.model, examples(np.ones((1, 1))))
