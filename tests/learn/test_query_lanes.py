"""Active learners abreast against a slow one."""

from dataclasses import replace

import numpy as np
import pytest

from steelyard import losses
from steelyard.active.counter_rng import uniform
from steelyard.active.simulation import Asker, Simulation
from steelyard.active.strategies.iwal import CONSTANTS
from steelyard.examples import examples
from steelyard.losses import class_labels, decision_point
from steelyard.settings import Settings
from tests.support.naive_asking import NaiveAsker, askers, stream
from tests.support.streams import compiled


@pytest.mark.parametrize("constants", CONSTANTS)
@pytest.mark.parametrize("scaling", ["plain", "row_norm"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "logarithmic", "exponential"])
def test_every_lane_asks_and_learns_as_the_slow_one(loss: str, scaling: str, constants: str) -> None:
    matrix, labels = stream(class_labels(losses.by_name(loss))[0], rows=compiled(120))
    ways = askers(loss, scaling)
    simulation = Simulation(ways, 8, constants=constants, floor=0.02, seed=3)
    chunk = examples(matrix, labels)
    simulation.learn(chunk)
    draws = uniform(3, 0, np.arange(len(labels)))
    errors = simulation.errors(chunk)
    for number, asker in enumerate(ways):
        if simulation.diverged[number]:  # the explicit update of the exponential loss does
            assert asker.settings.update == "explicit"
            continue
        naive = NaiveAsker(asker, 8, constants, 0.02)
        naive.learn(matrix, labels, draws)
        assert simulation.asked[number] == len(naive.asked)
        predictions = [
            naive.learner.predict(dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)))
            for row in (matrix[[i]] for i in range(len(labels)))
        ]
        boundary = decision_point(asker.settings.loss)
        wrong = (np.array(predictions) > boundary) != (labels > 0.5 * sum(class_labels(asker.settings.loss)))
        assert errors[number] == pytest.approx(wrong.mean())


def test_rows_that_nobody_asks_for_and_rows_of_nothing() -> None:
    matrix, labels = stream(rows=24)
    settings = Settings(losses.by_name("hinge"), scaling="plain", bias=False, dtype="float64")
    ways = [Asker(settings, "random", 0.3), Asker(replace(settings, update="explicit"), "iwal", 1e-6)]
    simulation = Simulation(ways, 8, seed=2, threads=1)
    simulation.learn(examples(matrix, labels))
    draws = uniform(2, 0, np.arange(24))
    for number, asker in enumerate(ways):
        naive = NaiveAsker(asker, 8, "practice", 0.0)
        naive.learn(matrix, labels, draws)
        assert simulation.asked[number] == len(naive.asked) < 24
