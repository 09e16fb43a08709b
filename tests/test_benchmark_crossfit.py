"""Lanes: each is what a learner makes of all rows but the lane's own."""

import re

import numpy as np
import pytest

from benchmarks.active.crossfit import CrossFit
from steelyard import losses
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.settings import Settings
from tests.support.streams import stream

LOGISTIC = losses.by_name("logistic")


@pytest.mark.parametrize("scaling", ["plain", "normalized"])
def test_a_lane_is_a_learner_that_never_saw_its_rows(scaling: str) -> None:
    matrix, labels, sample_weight = stream(LOGISTIC, rows=120)
    settings = Settings(LOGISTIC, scaling=scaling, learning_rate=0.3)
    numbers = np.arange(1000, 1120)
    lanes = CrossFit(settings, matrix.shape[1], 4)
    for part in (slice(0, 50), slice(50, 120)):
        lanes.learn(examples(matrix[part], labels[part], sample_weight[part]), numbers[part])
    chunk = examples(matrix, labels, sample_weight)
    held_out, alone = lanes.held_out(chunk, numbers), []
    for lane in range(4):
        rest = np.flatnonzero(numbers % 4 != lane)
        learner = Learner(settings, matrix.shape[1])
        learner.learn(chunk.take(rest))
        alone.append(learner.predict(chunk))
    np.testing.assert_allclose(held_out, np.array(alone)[numbers % 4, np.arange(120)], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(lanes.predict(chunk), np.mean(alone, axis=0), rtol=1e-4, atol=1e-5)


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(ValueError, match="cross-validation takes 2 lanes or more"):
        CrossFit(Settings(), 3, lanes=1)
    with pytest.raises(
        ValueError, match=re.escape("there are 2 rows, but numbers of the stream in the shape (3,)")
    ):
        CrossFit(Settings(), 1).learn(examples(np.ones((2, 1)), [1.0, 1.0]), np.arange(3))
