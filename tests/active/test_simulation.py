"""Active learners abreast against a slow one."""

import numpy as np
import pytest
from scipy import sparse

from steelyard import losses, updates
from steelyard.active.simulation import CONSTANTS, Asker, Simulation
from steelyard.examples import examples
from steelyard.losses import two_classes
from steelyard.model import Settings
from tests.naive_asking import NaiveAsker


def stream(low: float = -1.0, rows: int = 120) -> tuple[sparse.csr_array, np.ndarray]:
    rng = np.random.default_rng(5)
    dense = rng.normal(size=(rows, 8)) * (rng.random((rows, 8)) < 0.6)
    dense[17] = 0.0
    labels = np.where(dense[:, 0] + 0.5 * dense[:, 1] + 0.3 * rng.normal(size=rows) > 0.0, 1.0, low)
    return sparse.csr_array(dense), labels


def askers(loss: str, scaling: str, bias: bool = True) -> list[Asker]:
    kind = losses.by_name(loss)
    return [
        Asker(
            Settings(kind, update, scaling, rate, 10.0, power, bias=bias, dtype="float64"), policy, parameter
        )
        for update in updates.names_for(kind)
        for rate, power in ((0.05, 0.0), (0.2, 0.5))
        for policy, parameter in (("iwal", 1e-3), ("iwal", 1.0), ("random", 0.3), ("margin", 0.2))
    ]


@pytest.mark.parametrize("constants", CONSTANTS)
@pytest.mark.parametrize("scaling", ["plain", "row_norm"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "logarithmic", "exponential"])
def test_every_lane_asks_and_learns_as_the_slow_one(loss: str, scaling: str, constants: str) -> None:
    matrix, labels = stream(two_classes.labels(losses.by_name(loss))[0])
    ways = askers(loss, scaling)
    simulation = Simulation(ways, 8, constants=constants, floor=0.02, seed=3)
    chunk = examples(matrix, labels)
    simulation.learn(chunk)
    draws = np.random.default_rng(3).random(len(labels))
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
        boundary = two_classes.boundary(asker.settings.loss)
        wrong = (np.array(predictions) > boundary) != (
            labels > 0.5 * sum(two_classes.labels(asker.settings.loss))
        )
        assert errors[number] == pytest.approx(wrong.mean())


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
    draws = np.random.default_rng(0).random(120)
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
    ("settings", "policy", "parameter", "message"),
    [
        (
            Settings(scaling="plain"),
            "hope",
            1.0,
            "there is no policy 'hope'; it is one of iwal, random, margin",
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
def test_what_cannot_be_simulated(settings: Settings, policy: str, parameter: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Asker(settings, policy, parameter)
