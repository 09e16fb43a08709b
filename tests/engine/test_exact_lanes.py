"""A weight of h is h copies, and any parts that add up to h, in models side by side, each as if alone."""

from typing import Any

import numpy as np
import pytest

from steelyard import losses
from steelyard.engine.lane_block import LaneBlock
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.losses import Loss
from steelyard.native.declare import CHECKED
from steelyard.settings import SCALINGS, Settings
from tests.support.splits import FEATURES, Numbers, broken, cut, of_all_sizes, rows, whole

LOSSES = [losses.by_name(name) for name in losses.names()]
ONE_COMPILED = ["float64"] if CHECKED else ["float64", "float32"]
MOST = {"float64": 1e-10, "float32": 1e-5}
RATES = (0.05, 0.2, 0.7)


def settings_for(loss: Loss, scaling: str, dtype: str, l2: float = 0.0) -> list[Settings]:
    schedules = ((1.0, 0.0), (3.0, 0.5), (10.0, 1.0))
    scale = 1e-3 if scaling == "plain" else 1.0
    return [
        Settings(loss, "invariant", scaling, scale * rate, *schedule, l2=l2, dtype=dtype)
        for rate, schedule in zip(RATES, schedules, strict=True)
    ]


def taught(
    settings: list[Settings], matrix: Any, labels: Numbers, weights: Numbers, size: int = 1000
) -> LaneBlock:
    """Chunks of so many rows."""
    block, chunk = LaneBlock(settings, FEATURES), examples(matrix)
    for start in range(0, len(labels), size):
        turns = np.arange(start, min(start + size, len(labels)))
        columns = weights[turns].reshape(len(turns), -1)
        block.learn(chunk, turns, labels[turns, np.newaxis], columns)
    return block


def apart(p: Numbers, q: Numbers) -> float:
    """The root mean square of the difference, relative to that of the predictions; the worst lane."""
    worst: float = np.sqrt(np.square(p - q).mean(axis=0) / np.square(q).mean(axis=0)).max()
    return worst


@pytest.mark.no_cover
@pytest.mark.parametrize("l2", [0.0, 0.02])
@pytest.mark.parametrize("dtype", ONE_COMPILED)
@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_weights_are_copies_and_parts_and_lanes_are_models(
    loss: Loss, scaling: str, dtype: str, l2: float
) -> None:
    settings = settings_for(loss, scaling, dtype, l2)
    matrix, labels, rng = rows(loss, seed=3)
    for weights in (whole(rng, 16), broken(rng, 16)):
        heavy = taught(settings, matrix, labels, weights)
        p = heavy.predict(examples(matrix))
        number, parts = cut(weights, rng)
        assert (
            apart(taught(settings, matrix[number], labels[number], parts).predict(examples(matrix)), p)
            < MOST[dtype]
        )
        alone = [Learner(each, FEATURES) for each in settings]
        for learner in alone:
            learner.learn(examples(matrix, labels, weights))
        q = np.column_stack([learner.predict(examples(matrix)) for learner in alone])
        assert apart(q, p) < MOST[dtype]
        np.testing.assert_allclose(
            [heavy.model(k).clock for k in range(3)], [learner.model.clock for learner in alone], rtol=1e-12
        )
    counts = whole(rng, 16)
    p = taught(settings, matrix, labels, counts).predict(examples(matrix))
    number = np.repeat(np.arange(16), counts.astype(int))
    copies = taught(settings, matrix[number], labels[number], np.ones(len(number)))
    assert apart(copies.predict(examples(matrix)), p) < MOST[dtype]


@pytest.mark.parametrize("scaling", SCALINGS)
def test_weights_of_all_sizes(scaling: str) -> None:
    loss = losses.by_name("logistic")
    settings = settings_for(loss, scaling, "float64")
    matrix, labels, rng = rows(loss, seed=5)
    weights = of_all_sizes(rng, 16)
    number, parts = cut(weights, rng)
    p = taught(settings, matrix, labels, weights).predict(examples(matrix))
    q = taught(settings, matrix[number], labels[number], parts).predict(examples(matrix))
    assert apart(q, p) < 1e-8  # weights of 1e6 are known to 1e-10


@pytest.mark.parametrize("l2", [0.0, 0.02, 30.0])
@pytest.mark.parametrize("scaling", SCALINGS)
def test_lanes_that_cut_rows_beside_lanes_that_do_not(scaling: str, l2: float) -> None:
    """Each with weights of its own; some have none, and some stop and go on in the middle of a unit."""
    loss = losses.by_name("squared")
    rate = 1e-5 if scaling == "plain" else 0.05
    settings = [
        Settings(loss, update, scaling, rate, l2=l2, dtype="float64", bias=False)
        for update in ("explicit", "invariant", "implicit", "invariant")
    ]
    matrix, labels, rng = rows(loss, seed=7)
    # a column with an origin is one for all lanes
    weights = np.column_stack([broken(rng, 16) for _ in settings])
    weights[rng.random(weights.shape) < 0.2] = 0.0
    weights[3] = 0.0
    block = taught(settings, matrix, labels, weights, size=5)
    moved = LaneBlock(settings, FEATURES)
    chunk = examples(matrix)
    for k, each in enumerate(settings):
        learner = Learner(each, FEATURES)
        learner.learn(examples(matrix, labels, weights[:, k]))
        p, q = block.predict(chunk)[:, k], learner.predict(chunk)
        np.testing.assert_allclose(p, q, rtol=1e-9, atol=1e-9 * np.abs(q).max())
        moved.put(k, block.model(k))
    rows_again = np.arange(16)
    for engine in (block, moved):
        engine.learn(chunk, rows_again, labels[:, np.newaxis], weights)
    np.testing.assert_array_equal(block.predict(chunk), moved.predict(chunk))


@pytest.mark.parametrize("dtype", ONE_COMPILED)
@pytest.mark.parametrize("l2", [0.0, 0.02])
@pytest.mark.parametrize("scaling", SCALINGS)
def test_chunks_do_not_matter(scaling: str, l2: float, dtype: str) -> None:
    """To the last bit, from the middle of a unit on, too."""
    loss = losses.by_name("modified_huber")
    settings = settings_for(loss, scaling, dtype, l2)
    matrix, labels, rng = rows(loss, seed=9)
    weights = broken(rng, 16)
    blocks = [taught(settings, matrix, labels, weights, size) for size in (16, 1, 5)]
    for name, array in blocks[0].arrays().items():
        for block in blocks[1:]:
            np.testing.assert_array_equal(array, block.arrays()[name], err_msg=name)
