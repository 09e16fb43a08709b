"""Units that are found from the rows: counts, columns of numbers, values larger than ever; and averages."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from steelyard import losses
from steelyard.engine.lane_block import LaneBlock
from steelyard.engine.model_set import ModelSet
from steelyard.examples import examples
from steelyard.learn import origins
from steelyard.learner import Learner
from steelyard.settings import Settings
from tests.support.naive import NaiveLearner

HUBER = losses.by_name("modified_huber")


def table(seed: int = 0, rows: int = 120) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Columns that are never absent, counts, heavy tails, and columns that are absent now and then."""
    rng = np.random.default_rng(seed)
    never_absent = np.column_stack(
        [2000.0 + rng.integers(0, 30, rows), rng.normal(5.0, 1.0, rows), np.full(rows, 7.0)]
    )
    counts = rng.poisson(1.0, (rows, 4)) * np.array([1.0, 3.0, 0.1, 1e-7])
    tails = np.exp(3.0 * rng.normal(size=(rows, 2))) * (rng.random((rows, 2)) < 0.5)
    nearly = rng.normal(3.0, 0.5, (rows, 1)) * (np.arange(rows) != 10)[:, np.newaxis]
    matrix = np.hstack([never_absent, counts, tails, nearly, 25.0 * rng.poisson(2.0, (rows, 1))])
    labels = np.sign(matrix[:, 0] - 2015.0 + matrix[:, 3] - matrix[:, 4] + rng.normal(size=rows))
    weights = rng.exponential(size=rows) * (rng.random(rows) < 0.9)
    return sparse.csr_array(matrix), np.where(labels >= 0.0, 1.0, -1.0), weights


def settings(**more: Any) -> Settings:
    given: dict[str, Any] = {"loss": HUBER, "scaling": "standardized", "dtype": "float64", "average": 0}
    return Settings(**given | more)


@pytest.mark.parametrize("average", [0, 1, 8])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"bias": False},
        {"update": "explicit", "learning_rate": 0.01},
        {"l2": 0.5},
        {"l1": 0.01, "l2": 0.1},
    ],
)
@pytest.mark.parametrize("dense", [False, True])
def test_agrees_with_the_slow_twin(dense: bool, more: dict[str, Any], average: int) -> None:
    chosen = settings(average=average, **more)
    matrix, labels, weights = table()
    naive = NaiveLearner(chosen, matrix.shape[1])
    expected = naive.learn(matrix, labels, weights)
    learner = Learner(chosen, matrix.shape[1])
    rows = examples(matrix.toarray() if dense else matrix, labels, weights)
    np.testing.assert_allclose(learner.learn(rows), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(learner.model.coefficients(), naive.coefficients(), rtol=1e-9, atol=1e-12)
    assert learner.model.bias == pytest.approx(naive.intercept(), rel=1e-9)
    assert len(learner.model.columns.found) == (
        2 if chosen.bias else 0
    )  # one is constant, one was absent once


def test_a_slope_that_vanishes_in_the_new_unit() -> None:
    """A value larger than ever shrinks its coefficient, and then the prediction may be right as it is."""
    matrix = sparse.csr_array(np.array([[1.0], [0.37], [100.0], [0.5]]))
    labels, offsets = np.array([1.0, 1.0, -1.0, 1.0]), np.array([0.0, 0.0, -5.0, 0.0])
    chosen = settings(loss=losses.by_name("hinge"), bias=False, learning_rate=50.0)
    naive = NaiveLearner(chosen, 1)
    expected = naive.learn(matrix, labels, np.ones(4), offsets)
    learner = Learner(chosen, 1)
    rows = examples(matrix, labels, offsets=offsets)
    np.testing.assert_allclose(learner.learn(rows), expected, rtol=1e-10)
    assert expected[2] > 90.0
    assert learner.model.units.tolist() == [-100.0]


def test_columns_are_found_though_nothing_was_learned() -> None:
    """Labels are as predicted, so there are no units before there are origins; then comes one that is not."""
    matrix = np.column_stack([np.arange(3.0, 33.0), np.ones(30)])
    labels = np.append(np.zeros(29), 5.0)
    chosen = settings(loss=losses.by_name("squared"), follow_labels=False, average=8)
    naive = NaiveLearner(chosen, 2)
    expected = naive.learn(matrix, labels, np.ones(30))
    learner, block = Learner(chosen, 2), LaneBlock([chosen], 2)
    rows = examples(matrix, labels)
    np.testing.assert_allclose(learner.learn(rows), expected, atol=1e-12)
    block.learn(rows, np.arange(30), labels[:, np.newaxis], np.ones((30, 1)))
    for model in (learner.model, block.model(0)):
        np.testing.assert_allclose(model.coefficients(), naive.coefficients(), rtol=1e-9)
        assert model.columns.found.tolist() == [0]


def test_l1_is_paid_before_an_origin_moves() -> None:
    matrix, labels, weights = table()
    chosen = settings(l1=0.002)
    naive = NaiveLearner(chosen, matrix.shape[1])
    expected = naive.learn(matrix, labels, weights)
    learner = Learner(chosen, matrix.shape[1])
    np.testing.assert_allclose(
        learner.learn(examples(matrix, labels, weights)), expected, rtol=1e-9, atol=1e-9
    )


def test_averages_of_lanes_that_learn_different_rows() -> None:
    matrix, labels, weights = table(3)
    both = np.column_stack([weights + 0.1, np.where(np.arange(len(weights)) % 3, weights + 0.1, 0.0)])
    block = LaneBlock([settings(average=8)] * 2, matrix.shape[1])
    block.learn(examples(matrix, labels), np.arange(len(labels)), labels[:, np.newaxis], both)
    naive = NaiveLearner(settings(average=8), matrix.shape[1])
    naive.learn(matrix, labels, both[:, 0])
    np.testing.assert_allclose(block.model(0).coefficients(), naive.coefficients(), rtol=1e-9, atol=1e-12)
    assert block.model(1).clock == pytest.approx(both[:, 1].sum())


@pytest.mark.parametrize("scaling", ["standardized", "plain"])
def test_units_that_are_known(scaling: str) -> None:
    """Of all features but some; scalings without units of their own do not care."""
    own = np.array([1])
    chosen = settings(scaling=scaling, learning_rate=0.5)
    several = ModelSet([chosen, replace(chosen, l1=0.1)], 3)
    several.fix_units(own)
    for number in range(2):
        units_now = several.model(number).units.tolist()
        assert units_now == ([-1.0, 0.0, -1.0] if scaling == "standardized" else [])


@pytest.mark.parametrize("average", [0, 8])
@pytest.mark.parametrize("dense", [False, True])
def test_lanes_agree_with_the_slow_twin(dense: bool, average: int) -> None:
    several = [
        settings(average=average, learning_rate=rate, l2=l2) for rate in (0.1, 0.4) for l2 in (0.0, 0.5)
    ]
    matrix, labels, weights = table(1)
    rows = examples(matrix.toarray() if dense else matrix, labels, weights)
    block = LaneBlock(several, matrix.shape[1])
    predictions = np.empty((len(rows), len(several)))
    block.learn(rows, np.arange(len(rows)), labels[:, np.newaxis], weights[:, np.newaxis], predictions)
    answers = block.predict(rows)
    for number, each in enumerate(several):
        naive = NaiveLearner(each, matrix.shape[1])
        expected = naive.learn(matrix, labels, weights)
        np.testing.assert_allclose(predictions[:, number], expected, rtol=1e-10, atol=1e-10)
        alone = block.model(number)
        np.testing.assert_allclose(alone.coefficients(), naive.coefficients(), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            answers[:, number], Learner(model=alone).predict(rows), rtol=1e-8, atol=1e-8
        )


def test_lanes_go_on_from_a_model() -> None:
    matrix, labels, weights = table(2)
    first, second = (
        examples(matrix[part], labels[part], weights[part]) for part in (slice(0, 15), slice(15, None))
    )
    learner = Learner(settings(average=4), matrix.shape[1])
    learner.learn(first)
    block = LaneBlock([learner.model.settings], matrix.shape[1])
    block.put(0, learner.model)
    learner.learn(second)
    columns = second.labels[:, np.newaxis], second.sample_weight[:, np.newaxis]
    block.learn(second, np.arange(len(second)), *columns)
    np.testing.assert_allclose(
        block.model(0).coefficients(), learner.model.coefficients(), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_columns_may_be_multiplied(factor: float) -> None:
    """Each kind of them: the predictions stay."""
    matrix, labels, weights = table()
    expected = Learner(settings(average=8), matrix.shape[1]).learn(examples(matrix, labels, weights))
    for column in range(matrix.shape[1]):
        scaled = matrix.toarray()
        scaled[:, column] *= factor
        got = Learner(settings(average=8), matrix.shape[1]).learn(
            examples(sparse.csr_array(scaled), labels, weights)
        )
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


def units_of(*values: float) -> float:
    """The unit of one feature after these values."""
    learner = Learner(settings(bias=False), 1)
    labels = np.resize([1.0, -1.0], len(values))  # so that each row teaches something
    learner.learn(examples(np.array(values)[:, np.newaxis], labels))
    return float(learner.model.units[0])


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ((3.0,), 3.0),
        ((3.0, 2.0), 1.0),
        ((6.0, 4.0, -2.0), 2.0),
        ((1.0, 16.0), 1.0),
        ((1.0, 17.0), -17.0),
        ((1.0, 2.5), 0.5),
        ((1.0, 0.7718), -1.0),
        ((0.5, 0.7718, 0.9), -0.9),
        ((1e-31, 2.0), 2.0),
        ((0.0, 0.3), 0.3),
    ],
)
def test_units(values: tuple[float, ...], unit: float) -> None:
    """Positive for counts, of which it is the common divisor; else the largest, with a minus."""
    assert units_of(*values) == pytest.approx(unit)


def test_a_row_that_is_only_predicted_changes_no_unit() -> None:
    learner = Learner(settings(), 2)
    learner.learn(examples(np.array([[1.0, 0.5]]), [1.0]))
    before = {name: array.copy() for name, array in learner.model.arrays().items()}
    said = learner.learn(examples(np.array([[40.0, 0.7]]), [1.0], [0.0]))
    for name, array in learner.model.arrays().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)
    np.testing.assert_allclose(said, learner.predict(examples(np.array([[40.0, 0.7]]))), rtol=1e-12)


def test_candidates_are_found_wherever_they_stand_in_a_row() -> None:
    """Rows of a file have their features in any order, and another one in each."""
    rng = np.random.default_rng(0)
    indptr = np.arange(0, 41) * 3
    indices = np.concatenate([rng.permutation(3) for _ in range(40)]).astype(np.int32)
    rows = replace(
        examples(sparse.csr_array((np.ones(120), np.tile(np.arange(3), 40), indptr), (40, 3)), np.ones(40)),
        indices=indices,
        values=rng.normal(5.0, 1.0, 120),
        labels=np.where(rng.random(40) < 0.5, -1.0, 1.0),
    )
    learner = Learner(settings(), 3)
    learner.learn(rows)
    assert sorted(learner.model.columns.found.tolist()) == [0, 1, 2]


def test_only_so_many_columns_have_origins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.feature_columns.MOST", 2)
    rng = np.random.default_rng(0)
    learner = Learner(settings(), 4)
    learner.learn(examples(rng.normal(9.0, 1.0, (40, 4)), np.where(rng.random(40) < 0.5, -1.0, 1.0)))
    assert learner.model.columns.found.tolist() == [0, 1]


def test_averages_go_through_many_references() -> None:
    """Times are measured by a reference that grows: the clock runs from 1e-3 to 9e3."""
    rng = np.random.default_rng(1)
    weights = np.exp(np.linspace(np.log(1e-3), np.log(2e3), 60))
    matrix = sparse.random_array((60, 8), density=0.5, rng=rng, format="csr")
    labels = np.where(rng.random(60) < 0.5, -1.0, 1.0)
    chosen = settings(average=8, l2=0.01)
    naive = NaiveLearner(chosen, 8)
    naive.learn(matrix, labels, weights)
    for dtype, rtol in (("float64", 1e-9), ("float32", 2e-3)):
        learner = Learner(replace(chosen, dtype=dtype), 8)
        learner.learn(examples(matrix, labels, weights))
        np.testing.assert_allclose(learner.model.coefficients(), naive.coefficients(), rtol=rtol, atol=1e-4)
        assert learner.model.bias == pytest.approx(naive.intercept(), rel=rtol, abs=1e-4)


def test_the_highest_power_stays_within_the_range_of_float32() -> None:
    """In lanes too, of which one learns every other row only: references grow apart."""
    matrix, labels, _ = table(rows=400)
    chosen = settings(average=64, dtype="float32")
    learner, block = Learner(chosen, matrix.shape[1]), LaneBlock([chosen] * 2, matrix.shape[1])
    learner.learn(examples(matrix, labels))
    weights = np.column_stack([np.ones(400), np.arange(400.0) % 2.0])
    block.learn(examples(matrix, labels), np.arange(400), labels[:, np.newaxis], weights)
    naive = NaiveLearner(chosen, matrix.shape[1])
    naive.learn(matrix, labels, np.ones(400))
    for model in (learner.model, block.model(0)):
        np.testing.assert_allclose(model.coefficients(), naive.coefficients(), rtol=0.01, atol=1e-3)
    assert np.isfinite(block.model(1).coefficients()).all()


def test_the_average_is_between_the_models_on_the_way() -> None:
    """Of a coefficient that only grows, it is smaller than the last, larger than that at half the time."""
    rows = examples(np.ones((100, 1)), np.ones(100))
    half = examples(np.ones((50, 1)), np.ones(50))
    last, average, before = (Learner(settings(average=power, learning_rate=0.01), 1) for power in (0, 8, 0))
    last.learn(rows)
    average.learn(rows)
    before.learn(half)
    assert before.model.bias < average.model.bias < last.model.bias


@pytest.mark.parametrize("average", [-1, 65, 1.5])
def test_an_average_is_a_small_whole_number(average: float) -> None:
    with pytest.raises(ValueError, match="average: a whole number from 0 to 64"):
        settings(average=average)


def test_averages_need_standardized_scaling() -> None:
    with pytest.raises(ValueError, match="averages need scaling='standardized'; set average=0"):
        Settings(scaling="plain", average=8)


def test_features_whose_units_are_known_are_no_candidates() -> None:
    known = np.array([0.0, -1.0, 0.0])
    found = origins.candidates(np.array([0, 1, 2]), np.array([2.0, 3.0, 1e-40]), known)
    assert found[:, origins.INDEX].tolist() == [0.0]
