"""Steps are longer where a class is rare, and neither chunks, lanes nor parts of a weight change them."""

from typing import Any

import numpy as np
import pytest

from steelyard import OnlineClassifier, class_balance, losses
from steelyard.class_balance import FACTOR, SECOND, WEIGHT
from steelyard.engine.lane_block import LaneBlock
from steelyard.examples import examples
from steelyard.learn import linear, rare_classes
from steelyard.learner import Learner
from steelyard.losses import Loss, OneOf
from steelyard.merging import parts
from steelyard.settings import Settings

HUBER = losses.by_name("modified_huber")
ROWS = 300


class OneClass(Loss):
    labels = OneOf((1.0,))


def rare_rows(share: float = 0.1) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(5)
    X = random.normal(size=(ROWS, 4))
    y = np.where(X[:, 0] + 0.3 * random.normal(size=ROWS) > np.quantile(X[:, 0], 1.0 - share), 1.0, -1.0)
    return X, y, random.uniform(0.01, 5.0, ROWS)


@pytest.mark.parametrize("name", losses.names())
def test_which_losses_have_classes(name: str) -> None:
    two = name in ("exponential", "hinge", "logistic", "modified_huber", "tanh_logarithmic")
    loss = losses.by_name(name)
    assert class_balance.follow(loss) == two
    assert Settings(loss).has_class_factor == two
    assert not Settings(loss, scaling="normalized").has_class_factor
    assert not Settings(loss, follow_classes=False).has_class_factor
    assert not class_balance.follow(OneClass())


def test_the_rarer_a_class_the_longer_the_steps_up_to_five() -> None:
    found = np.array(
        [rare_classes.factor_for(1e6, 1e6 * share) for share in (0.5, 0.25, 0.05, 0.01, 1e-4, 0.0)]
    )
    np.testing.assert_allclose(found[:3], [1.0, 1.147, 2.120], atol=1e-3)
    assert (np.diff(found) > 0.0).all()
    assert 4.99 < found[-1] < 5.0
    assert rare_classes.factor_for(100.0, 93.0) == pytest.approx(rare_classes.factor_for(100.0, 7.0))
    assert rare_classes.factor_for(0.0, 0.0) == 1.0  # nothing seen yet


@pytest.mark.parametrize("size", [1, 7, 64])
def test_chunks_do_not_matter(size: int) -> None:
    X, y, weights = rare_rows()
    whole, cut = Learner(Settings(HUBER), 4), Learner(Settings(HUBER), 4)
    said = whole.learn(examples(X, y, weights))
    pieces = [slice(start, start + size) for start in range(0, ROWS, size)]
    again = np.concatenate([cut.learn(examples(X[p], y[p], weights[p])) for p in pieces])
    np.testing.assert_array_equal(said, again)
    for name, array in whole.model.arrays().items():
        np.testing.assert_array_equal(array, cut.model.arrays()[name], err_msg=name)
    assert whole.model.class_state[FACTOR] > 1.3
    ordered = Learner(Settings(HUBER), 4)
    ordered.learn(examples(X[::-1], y[::-1], weights[::-1]), np.arange(ROWS)[::-1])
    np.testing.assert_array_equal(ordered.model.coefficients(), whole.model.coefficients())


def test_lanes_have_classes_of_their_own() -> None:
    """Each learns as it would alone, whether rows are given to all or to each."""
    X, y, weights = rare_rows()
    rates = (0.2, 0.4, 0.8)
    settings = [Settings(HUBER, learning_rate=rate, dtype="float64") for rate in rates]
    block = LaneBlock(settings, 4)
    labels = np.column_stack([y, -y, np.where(np.arange(ROWS) % 2, 1.0, -1.0)])
    own = np.column_stack([weights, weights, np.ones(ROWS)])
    rows, half = examples(X, y, weights), ROWS // 2
    learners = [Learner(each, 4) for each in settings]
    first, second = np.arange(half), np.arange(half, ROWS)
    block.learn(rows, first, labels[first], own[first])
    block.learn(rows, second, y[second, np.newaxis], weights[second, np.newaxis])
    for k, learner in enumerate(learners):
        learner.learn(examples(X[:half], labels[:half, k], own[:half, k]))
        learner.learn(examples(X[half:], y[half:], weights[half:]))
        np.testing.assert_allclose(block.model(k).class_state, learner.model.class_state, rtol=1e-12)
        np.testing.assert_allclose(block.model(k).coefficients(), learner.model.coefficients(), rtol=1e-9)
    together = LaneBlock(settings, 4)
    together.learn(rows, np.arange(ROWS), y[:, np.newaxis], weights[:, np.newaxis])
    alone = Learner(settings[1], 4)
    alone.learn(rows)
    np.testing.assert_allclose(together.model(1).coefficients(), alone.model.coefficients(), rtol=1e-9)
    block.put(0, together.model(1))
    np.testing.assert_array_equal(block.model(0).class_state, together.model(1).class_state)


def test_a_heavy_row_beyond_several_powers_of_two_is_its_copies() -> None:
    """What it cost and what was said of it is from before."""
    X, y, _ = rare_rows(0.03)
    counts = np.where(y > 0.0, 40, 1)
    settings = Settings(HUBER, dtype="float64")
    heavy, copies = Learner(settings, 4), Learner(settings, 4)
    said = heavy.learn(examples(X, y, counts.astype(float)))
    again = copies.learn(examples(X.repeat(counts, axis=0), y.repeat(counts)))
    np.testing.assert_allclose(heavy.model.coefficients(), copies.model.coefficients(), rtol=1e-10)
    np.testing.assert_allclose(said, again[np.cumsum(counts) - counts], rtol=1e-9, atol=1e-11)
    lost = sum(count * HUBER.value(p, label) for count, p, label in zip(counts, said, y, strict=True))
    assert heavy.model.state[linear.LOSS] == pytest.approx(lost, rel=1e-12)
    np.testing.assert_allclose(heavy.model.class_state, copies.model.class_state, rtol=1e-12)


def test_merged_models_have_seen_what_their_parts_have() -> None:
    X, y, weights = rare_rows()
    base = Learner(Settings(HUBER), 4)
    base.learn(examples(X[:100], y[:100], weights[:100]))
    halves = []
    for rows in (slice(100, 200), slice(200, 300)):
        learner = Learner(Settings(HUBER), 4)
        learner.model.hold_gains()
        for name, array in learner.model.arrays().items():
            array[...] = base.model.arrays()[name]
        learner.learn(examples(X[rows], y[rows], weights[rows]))
        halves.append(parts.part_of(learner.model, base.model))
    merged = halves[0].merged(halves[1]).model(base.model)
    assert merged.class_state[WEIGHT] == pytest.approx(weights.sum())
    assert merged.class_state[SECOND] == pytest.approx(weights[y > 0.0].sum())
    assert merged.class_state[FACTOR] == rare_classes.factor_for(*merged.class_state[[WEIGHT, SECOND]])


def test_settings_from_before_go_on_as_they_began() -> None:
    old = Settings(HUBER, follow_classes=False)
    assert old.rate == pytest.approx(0.6)
    assert Settings(HUBER).rate == 0.4
    X, y, weights = rare_rows()
    learner = Learner(old, 4)
    learner.learn(examples(X, y, weights))
    assert not len(learner.model.class_state)


def test_of_several_classes_all_take_the_same_steps() -> None:
    """Each is rare against the rest; and a model that was begun goes on so in Python."""
    X, y, _ = rare_rows()
    classes = np.where(y > 0.0, 2, (X[:, 1] > 0.0).astype(int))
    model = OnlineClassifier(passes=1).fit(X, classes)
    assert model.learning_rate_ == pytest.approx(0.6)
    assert not any(len(each.class_state) for each in model.models_)
    assert model.partial_fit(X, classes).learning_rate_ == pytest.approx(0.6)
    assert OnlineClassifier(passes=1).fit(X, y).learning_rate_ == 0.4
