"""Lanes whose features have their units beforehand write them when a row needs them, and learn as models alone."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from steelyard.engine.lane_block import LaneBlock
from steelyard.engine.old_lanes import upgraded
from steelyard.examples import Examples, examples
from steelyard.learn.lane_parts import UNIT
from steelyard.learner import Learner
from steelyard.losses import by_name
from steelyard.model import Model
from steelyard.settings import Settings

FEATURES, OWN = 60, np.array([0, 1, 7])
CHOSEN = Settings(by_name("modified_huber"), learning_rate=0.5, average=8, dtype="float64")
SEVERAL = [CHOSEN, replace(CHOSEN, learning_rate=0.1), replace(CHOSEN, l2=0.01)]


def rows(*, broken: bool = False) -> Examples:
    """Of words and a column of numbers; some words have values above 1, some features are in no row."""
    random = np.random.default_rng(1)
    matrix = sparse.random(200, FEATURES, 0.1, "lil", random_state=random)
    matrix[:, 0] = random.normal(5.0, 2.0, 200)
    matrix[::20, 3] = 2.5
    matrix[:, 40:] = 0.0
    weight = random.uniform(0.2, 3.0, 200) if broken else np.ones(200)
    return examples(matrix.tocsr(), np.where(random.random(200) < 0.3, 1.0, -1.0), weight)


def block() -> LaneBlock:
    made = LaneBlock(SEVERAL, FEATURES)
    made.fix_units(OWN)
    return made


def learn(lanes: LaneBlock, given: Examples, part: slice) -> None:
    turns = np.arange(len(given))[part]
    lanes.learn(given, turns, given.labels[turns, np.newaxis], given.sample_weight[turns, np.newaxis])


def same(one: Model, other: Model) -> None:
    for name, array in one.arrays().items():
        if name not in ("gained", "class_state"):
            np.testing.assert_allclose(array, other.arrays()[name], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("broken", [False, True])
def test_they_learn_as_alone(broken: bool) -> None:
    given, lanes = rows(broken=broken), block()
    learn(lanes, given, slice(None))
    for number, settings in enumerate(SEVERAL):
        alone = Learner(settings, FEATURES)
        alone.model.fix_units(OWN)
        alone.learn(given)
        same(lanes.model(number), alone.model)
        same(lanes.model(number, lanes.met()), alone.model)
    assert lanes.columns.found.tolist() == [0]


def test_what_no_row_needs_is_not_written() -> None:
    lanes = block()
    learn(lanes, rows(), slice(None))
    assert not lanes.weights[40:].any()
    assert lanes.met().max() < 40


def test_they_go_on_from_models() -> None:
    given, whole, begun, other = rows(), block(), block(), LaneBlock(SEVERAL, FEATURES)
    learn(whole, given, slice(None))
    learn(begun, given, slice(0, 2))
    for number in reversed(range(len(SEVERAL))):
        other.put(number, begun.model(number))
    learn(other, given, slice(2, None))
    for number in range(len(SEVERAL)):
        same(other.model(number), whole.model(number))


def test_as_earlier_releases_stored_them() -> None:
    """With the unit of each feature, and 0 where one was still to be found."""
    lanes, now = block(), block().weights
    learn(lanes, rows(), slice(0, 2))
    kept = lanes.weights.copy()
    units = kept[:, UNIT]
    untouched = units == 0.0
    units[np.isclose(units, 1e-35)] = 0.0
    units[untouched] = -1.0
    found = upgraded("0.weights", kept, now)
    assert found is now
    expected = np.where(untouched, -1.0, lanes.weights[:, UNIT])
    np.testing.assert_array_equal(found[:, UNIT], expected)
