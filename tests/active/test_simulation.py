"""Simulations: chunks, threads, labels that nobody asks for, and what cannot be simulated."""

import numpy as np
import pytest

from steelyard import losses
from steelyard.active.counter_rng import uniform
from steelyard.active.simulation import Asker, Simulation
from steelyard.examples import examples
from steelyard.model import Settings
from tests.support.naive_asking import askers, stream


def test_chunks_and_threads_do_not_matter() -> None:
    matrix, labels = stream()
    ways = 3 * askers("squared", "row_norm", bias=False)
    whole, pieces = (Simulation(ways, 8, seed=1, threads=threads) for threads in (1, 3))
    whole.learn(examples(matrix, labels))
    for start in range(0, 120, 33):
        pieces.learn(examples(matrix[start : start + 33], labels[start : start + 33]))
    np.testing.assert_array_equal(whole.asked, pieces.asked)
    chunk = examples(matrix, labels)
    np.testing.assert_array_equal(whole.errors(chunk), pieces.errors(chunk))
    assert not whole.diverged.any()


def test_labels_that_nobody_asks_for_do_not_matter() -> None:
    matrix, labels = stream()
    ways = [Asker(Settings(losses.by_name("hinge"), scaling="plain"), "random", 0.1)]
    draws = uniform(0, 0, np.arange(120))
    flipped = np.where(draws < 0.1, labels, -labels)
    first, second = Simulation(ways, 8), Simulation(ways, 8)
    first.learn(examples(matrix, labels))
    second.learn(examples(matrix, flipped))
    chunk = examples(matrix, labels)
    np.testing.assert_array_equal(first.errors(chunk), second.errors(chunk))


def test_an_asker_that_diverges_is_reported() -> None:
    matrix, labels = stream()
    wild = Settings(losses.by_name("squared"), "explicit", "plain", 1e9)
    calm = Settings(losses.by_name("squared"), "invariant", "plain", 1.0)
    simulation = Simulation([Asker(wild, "random", 1.0), Asker(calm, "random", 1.0)], 8)
    simulation.learn(examples(matrix, labels))
    np.testing.assert_array_equal(simulation.diverged, [True, False])


@pytest.mark.parametrize(
    ("settings", "strategy", "parameter", "message"),
    [
        (
            Settings(scaling="plain"),
            "hope",
            1.0,
            "there is no strategy 'hope'; the strategies are iwal, margin, random",
        ),
        (
            Settings(scaling="plain"),
            "iwal",
            -1.0,
            "the parameter of iwal must be finite, 0 or more; got -1.0",
        ),
        (Settings(), "iwal", 1.0, "simulations take scaling='plain' or 'row_norm'"),
        (Settings(scaling="plain", l2=0.1), "iwal", 1.0, "without L1 and L2"),
    ],
)
def test_what_cannot_be_simulated(settings: Settings, strategy: str, parameter: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Asker(settings, strategy, parameter)
