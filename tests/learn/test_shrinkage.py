"""Averages of coefficients that L1 and L2 shrink are means of what the coefficients were, over the clock."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from steelyard import losses, model_arrays
from steelyard.engine.lane_block import LaneBlock
from steelyard.examples import examples
from steelyard.learn import linear, shrinkage
from steelyard.learner import Learner
from steelyard.model import Model
from steelyard.native.declare import PLAIN
from steelyard.settings import SCALINGS, Settings
from tests.support.naive import NaiveLearner
from tests.support.naive_clock import NaiveClock

PENALTIES = [{"l1": 0.002}, {"l1": 0.03}, {"l2": 0.5}, {"l1": 0.01, "l2": 3.0}, {"l1": 0.003, "l2": 1e-4}]


def documents(seed: int = 0, rows: int = 400, features: int = 60) -> tuple[sparse.csr_array, np.ndarray]:
    """Some features are in most rows and some in few, so that L1 has long since taken them to zero."""
    rng = np.random.default_rng(seed)
    often = rng.random(features) ** 3
    matrix = rng.poisson(1.5, (rows, features)) * (rng.random((rows, features)) < often)
    truth = rng.normal(size=features) * (np.arange(features) % 3 == 0)
    labels = np.where(matrix @ truth + rng.normal(size=rows) > 0.0, 1.0, -1.0)
    return sparse.csr_array(matrix.astype(np.float64)), labels


def settings(**more: Any) -> Settings:
    given: dict[str, Any] = {"dtype": "float64"}
    return Settings(losses.by_name("modified_huber"), **given | more)


@pytest.fixture(params=[256, 7])
def short_list(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether all features pay at the end of a list, and how often, must not matter."""
    monkeypatch.setattr(shrinkage, "_FEWEST", request.param)


@pytest.mark.usefixtures("short_list")
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("average", [0, 1, 8])
@pytest.mark.parametrize("more", [{}, {"power_t": 0.5}, {"bias": False}], ids=str)
def test_agrees_with_the_slow_twin(average: int, more: dict[str, Any], penalty: dict[str, float]) -> None:
    chosen = settings(average=average, **more, **penalty)
    matrix, labels = documents(rows=120 if PLAIN else 400)
    weights = np.random.default_rng(1).exponential(size=len(labels)) + 0.1
    naive = NaiveLearner(chosen, matrix.shape[1])
    expected = naive.learn(matrix, labels, weights)
    learner = Learner(chosen, matrix.shape[1])
    np.testing.assert_allclose(
        learner.learn(examples(matrix, labels, weights)), expected, rtol=1e-9, atol=1e-9
    )
    found = learner.model.coefficients()
    np.testing.assert_allclose(found, naive.coefficients(), rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(found == 0.0, naive.coefficients() == 0.0)
    assert learner.model.bias == pytest.approx(naive.intercept(), rel=1e-8, abs=1e-9)
    assert "l1" not in penalty or np.count_nonzero(found) < len(found)


@pytest.mark.parametrize("penalty", [{"l1": 0.002}, {"l2": 0.01}, {"l1": 0.001, "l2": 0.01}], ids=str)
@pytest.mark.parametrize("scaling", SCALINGS)
def test_the_answer_is_the_mean_over_the_clock(scaling: str, penalty: dict[str, float]) -> None:
    """By brute force: the last coefficients are looked at after each row. (Only one scaling has averages.)"""
    chosen = settings(scaling=scaling, **penalty)
    matrix, labels = documents(seed=2, rows=300)
    matrix = (matrix > 0.0).astype(np.float64)  # units stay as they are, or the past would be measured anew
    rows = examples(matrix, labels)
    averaged, last = (
        Learner(settings(scaling=scaling, average=power, learning_rate=chosen.rate, **penalty), rows.features)
        for power in (None, 0)
    )
    averaged.learn(rows)
    now, lag, clock = np.zeros(rows.features), np.zeros(rows.features), NaiveClock()
    power = chosen.average_power
    for t in range(len(rows)):
        before, clock.epoch = now, t
        last.learn(rows.take(np.array([t])))
        now = last.model.coefficients().astype(np.float64)
        lag += clock.time**power * (now - before)  # L1 and L2 are half an epoch later
    mean = now - lag / float(len(rows)) ** power if power else now
    expected = np.where(now == 0.0, 0.0, mean) if "l1" in penalty else mean
    found = averaged.model.coefficients()
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=0.01 * np.abs(now).max())


def test_what_l1_holds_at_zero_is_zero_whatever_it_was() -> None:
    matrix = sparse.csr_array(np.array([[1.0, 0.0]] + [[0.0, 1.0]] * 60))
    labels = np.array([1.0] + [1.0, -1.0] * 30)
    learner = Learner(settings(l1=0.05, bias=False), 2)
    learner.learn(examples(matrix[:4], labels[:4]))
    assert learner.model.coefficients()[0] > 0.1
    learner.learn(examples(matrix[4:], labels[4:]))
    assert learner.model.coefficients()[0] == 0.0
    assert learner.model.coefficients()[1] != 0.0


@pytest.mark.parametrize("penalty", [{"l2": 0.5}, {"l2": 20.0}], ids=str)
def test_lanes_do_as_one_model(penalty: dict[str, float]) -> None:
    matrix, labels = documents(seed=3)
    chosen = [settings(learning_rate=rate, **penalty) for rate in (0.1, 0.5)]
    block = LaneBlock(chosen, matrix.shape[1])
    rows = examples(matrix, labels)
    block.learn(rows, np.arange(len(rows)), labels[:, np.newaxis], np.ones((len(rows), 1)))
    predictions = block.predict(rows)
    for number, each in enumerate(chosen):
        alone = Learner(each, matrix.shape[1])
        alone.learn(rows)
        np.testing.assert_allclose(predictions[:, number], alone.predict(rows), rtol=1e-8, atol=1e-10)
        model = block.model(number)
        np.testing.assert_allclose(model.coefficients(), alone.model.coefficients(), rtol=1e-8, atol=1e-10)


@pytest.mark.usefixtures("short_list")
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_chunks_and_files_do_not_matter(dtype: str, penalty: dict[str, float], tmp_path: Any) -> None:
    """Bit for bit, also if somebody looks at the model on the way, or goes on with a saved copy."""
    chosen = settings(dtype=dtype, **penalty)
    matrix, labels = documents(seed=4)
    whole = Learner(chosen, matrix.shape[1])
    whole.learn(examples(matrix, labels))
    pieces = Learner(chosen, matrix.shape[1])
    for cut in (slice(0, 1), slice(1, 90), slice(90, 91), slice(91, 300), slice(300, 400)):
        pieces.learn(examples(matrix[cut], labels[cut]))
        pieces.model.coefficients()
        pieces.save(tmp_path / "model")
        loaded = Learner.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.model.coefficients(), pieces.model.coefficients())
        pieces = loaded
    for name, array in whole.model.arrays().items():
        np.testing.assert_array_equal(array, pieces.model.arrays()[name], err_msg=name)


@pytest.mark.usefixtures("short_list")
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_float32_is_float64_to_its_precision(penalty: dict[str, float]) -> None:
    matrix, labels = documents(seed=5, rows=300 if PLAIN else 2000)
    found = []
    for dtype in ("float32", "float64"):
        learner = Learner(settings(dtype=dtype, **penalty), matrix.shape[1])
        learner.learn(examples(matrix, labels))
        found.append(learner.model.coefficients())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-2, atol=2e-4)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_models_of_older_files_go_on_from_their_last_coefficients(penalty: dict[str, float]) -> None:
    """Their averages left the shrinkage out, so nobody knows what they ought to be."""
    chosen = settings(**penalty)
    matrix, labels = documents(seed=6)
    rows = examples(matrix, labels)
    learner = Learner(chosen, rows.features)
    learner.learn(rows)
    stored = model_arrays.compact(learner.model)
    stored["state"] = stored["state"][: linear.SCALE_LAG]
    older = {name: array for name, array in stored.items() if name not in ("debt_lags", "payments")}
    last, _ = learner.model.last_and_behind()
    for found in (
        model_arrays.fill(Model(chosen, rows.features), older.get),
        model_arrays.StoredModel(chosen, rows.features, {k: v.copy() for k, v in older.items()}.get),
    ):
        sizes = np.where(found.units == 0.0, np.inf, np.abs(found.units))
        np.testing.assert_allclose(found.coefficients(), last / sizes, rtol=1e-12)
    going_on = Learner(model=model_arrays.fill(Model(chosen, rows.features), older.get))
    before = going_on.predict(rows)
    going_on.learn(rows)
    assert np.isfinite(going_on.predict(rows)).all()
    assert not np.array_equal(going_on.predict(rows), before)


@pytest.mark.parametrize(
    ("count", "payments", "said"),
    [
        (0.5, [[0.0, 0.0]], "promises 0.5 payments of L1"),
        (-1.0, [[0.0, 0.0]], "promises -1 payments"),
        (1e9, [[0.0, 0.0]], "promises 1e\\+09 payments of L1 and has room for 256"),
        (2.0, [[1.0, 0.0], [0.5, 0.0]], "do not rise"),
    ],
)
def test_damaged_payments_are_refused(count: float, payments: list[list[float]], said: str) -> None:
    stored = model_arrays.compact(Model(settings(l1=0.1), 3))
    stored["state"] = stored["state"].copy()
    stored["state"][linear.PAYMENTS] = count
    stored["payments"] = np.array(payments)
    with pytest.raises(ValueError, match=said):
        model_arrays.fill(Model(settings(l1=0.1), 3), stored.get)
