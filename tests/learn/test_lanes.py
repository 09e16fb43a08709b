"""Models abreast against the slow twin of the single kernel, for every loss, update and scaling."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from steelyard import losses, updates
from steelyard.engine.lane_block import LaneBlock
from steelyard.examples import examples
from steelyard.learn import lanes, linear
from steelyard.losses import Loss
from steelyard.native.declare import CHECKED
from steelyard.settings import SCALINGS, Settings
from tests.support.naive import NaiveLearner
from tests.support.streams import compiled, labels_for, stream

one_kind = pytest.mark.skipif(CHECKED, reason="tried with one kind of arrays: compiling takes long")

LOSSES = [losses.by_name(name) for name in losses.names()]
# In units that they find, lanes share what they know of features: a row counts if any lane learns it.
OF_THEIR_OWN = [scaling for scaling in SCALINGS if scaling != "standardized"]


def settings_for(loss: Loss, scaling: str, **more: Any) -> list[Settings]:
    """Every update, with rates that stand still and that decay."""
    return [
        Settings(loss, name, scaling, rate, initial_t, power_t, dtype="float64", **more)
        for name in reversed(updates.names_for(loss))
        for rate, initial_t, power_t in ((0.01, 1.0, 0.0), (0.02, 3.0, 0.5), (0.03, 10.0, 1.0))
    ]


def learned(
    settings: list[Settings], matrix: Any, labels: np.ndarray, sample_weight: np.ndarray, offsets: Any = None
) -> tuple[LaneBlock, np.ndarray]:
    """Labels and sample_weight are columns, or matrices with a column for each of the settings."""
    block = LaneBlock(settings, matrix.shape[1])
    chunk = examples(matrix, offsets=offsets)
    predictions = np.empty((len(chunk), len(settings)))
    columns = [np.reshape(each, (len(chunk), -1)).astype(np.float64) for each in (labels, sample_weight)]
    block.learn(chunk, np.arange(len(chunk)), columns[0], columns[1], predictions)
    return block, predictions


def agree(
    settings: list[Settings], matrix: Any, labels: np.ndarray, sample_weight: np.ndarray, offsets: Any = None
) -> None:
    block, predictions = learned(settings, matrix, labels, sample_weight, offsets)
    for number, each in enumerate(settings):
        own_labels = labels[:, number] if labels.ndim > 1 else labels
        own_importances = sample_weight[:, number] if sample_weight.ndim > 1 else sample_weight
        naive = NaiveLearner(each, matrix.shape[1])
        expected = naive.learn(sparse.csr_array(matrix), own_labels, own_importances, offsets)
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(predictions[:, number], expected, rtol=1e-11, atol=1e-11 * scale)
        model = block.model(number)
        np.testing.assert_allclose(model.coefficients(), naive.coefficients(), rtol=1e-9, atol=1e-11 * scale)
        assert model.bias == pytest.approx(naive.intercept(), rel=1e-10, abs=1e-11 * scale)
        assert model.progressive_loss == pytest.approx(naive.progressive_loss, rel=1e-11)
        assert model.clock == pytest.approx(naive.clock, rel=1e-14)
        assert model.settings == each


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_agrees_with_the_slow_twin(loss: Loss, scaling: str) -> None:
    agree(settings_for(loss, scaling), *stream(loss, rows=compiled(50)))


@pytest.mark.parametrize("scaling", OF_THEIR_OWN)
def test_each_lane_may_have_its_own_labels_and_importances(scaling: str) -> None:
    loss = losses.by_name("modified_huber")
    settings = settings_for(loss, scaling)[:5]
    matrix, _, _ = stream(loss, rows=40)
    rng = np.random.default_rng(3)
    labels = np.stack([labels_for(loss, rng, 40) for _ in settings], axis=1)
    sample_weight = rng.exponential(size=(40, len(settings))) * (rng.random((40, len(settings))) < 0.7)
    sample_weight[7] = 0.0
    agree(settings, matrix, labels, sample_weight)


@one_kind
@pytest.mark.parametrize("scaling", OF_THEIR_OWN)
def test_lanes_of_no_importance_are_absent_to_the_last_bit(scaling: str) -> None:
    """Though their neighbours learn."""
    loss = losses.by_name("logistic")
    settings = 2 * [Settings(loss, scaling=scaling, learning_rate=0.5)]
    matrix, labels, _ = stream(loss, rows=40)
    sample_weight = np.ones((40, 2))
    sample_weight[1::3, 1] = 0.0
    block, _ = learned(settings, matrix, labels, sample_weight)
    kept = sample_weight[:, 1] > 0.0
    alone, _ = learned(settings[:1], matrix[kept], labels[kept], np.ones(kept.sum()))
    np.testing.assert_array_equal(block.model(1).raw_coefficients, alone.model(0).raw_coefficients)
    np.testing.assert_array_equal(block.model(1).state, alone.model(0).state)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("l2", [0.3, 50.0])
def test_l2_also_where_the_scale_has_to_be_folded_in(scaling: str, l2: float) -> None:
    loss = losses.by_name("squared")
    settings = [replace(each, l2=l2 * share) for share in (0.0, 1.0) for each in settings_for(loss, scaling)]
    agree(settings, *stream(loss, rows=compiled(150)))


def test_labels_of_any_size_set_their_own_unit() -> None:
    loss = losses.by_name("squared")
    matrix, labels, sample_weight = stream(loss, rows=60)
    sample_weight[:2] = 0.0
    agree(settings_for(loss, "normalized", l2=0.01), matrix, 1e4 + 1e3 * labels, sample_weight)


@one_kind
@pytest.mark.parametrize("scaling", SCALINGS)
def test_bases_dense_rows_no_bias_and_empty_rows(scaling: str) -> None:
    loss = losses.by_name("hinge")
    matrix, labels, sample_weight = stream(loss, rows=30)
    empty = sparse.csr_array(matrix.toarray() * (np.arange(30) % 4 > 0)[:, np.newaxis])
    for bias in (True, False):
        settings = [replace(each, bias=bias) for each in settings_for(loss, scaling)]
        agree(settings, empty, labels, sample_weight, np.linspace(-1.0, 1.0, 30))
        agree(settings, matrix.toarray(), labels, sample_weight)


@one_kind
@pytest.mark.parametrize("scaling", SCALINGS)
def test_in_float32_the_progressive_loss_agrees_to_five_digits(scaling: str) -> None:
    loss = losses.by_name("logistic")
    matrix, labels, sample_weight = stream(loss, rows=compiled(300), features=40, nonzeros=13)
    settings = [replace(each, dtype="float32") for each in settings_for(loss, scaling)]
    block, _ = learned(settings, matrix, labels, sample_weight)
    for number, each in enumerate(settings):
        naive = NaiveLearner(each, 40)
        naive.learn(matrix, labels, sample_weight)
        assert block.model(number).progressive_loss == pytest.approx(naive.progressive_loss, rel=1e-5)


@one_kind
def test_an_explicit_lane_that_diverges_stops_and_disturbs_nobody() -> None:
    loss = losses.by_name("squared")
    calm = Settings(loss, "invariant", "plain", 0.3)
    wild = Settings(loss, "explicit", "plain", 1e4)
    matrix, labels, _ = stream(loss, rows=200)
    block, predictions = learned([wild, calm, wild], matrix, labels, np.full(200, 100.0))
    np.testing.assert_array_equal(block.scalars(lanes.ALIVE), [0.0, 1.0, 0.0])
    assert np.isfinite(predictions[:, 1]).all()
    assert not np.isinf(predictions).any()
    assert np.isnan(predictions[-1]).tolist() == [True, False, True]  # no predictions once it has stopped
    assert np.isfinite(block.weights).all()
    alone, _ = learned([calm], matrix, labels, np.full(200, 100.0))
    np.testing.assert_array_equal(block.model(1).raw_coefficients, alone.model(0).raw_coefficients)
    assert block.model(1).progressive_loss == alone.model(0).progressive_loss


@pytest.mark.skipif(CHECKED, reason="with bounds checked, loops do have leftovers")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scaling", SCALINGS)
def test_what_becomes_of_a_lane_depends_neither_on_neighbours_nor_on_chunks(scaling: str, dtype: str) -> None:
    """To the last bit, whichever part of a loop over so many lanes it falls into."""
    loss = losses.by_name("logistic")
    rows = compiled(90)
    matrix, labels, sample_weight = stream(loss, rows=rows)
    settings = [
        Settings(loss, name, scaling, rate, 3.0, 0.5, l2=1e-3, dtype=dtype)
        for name in updates.names_for(loss)
        for rate in np.geomspace(0.01, 0.3, 25).tolist()
    ]
    block, _ = learned(settings, matrix, labels, sample_weight)
    chunk = examples(matrix, labels, sample_weight)
    for first, last in ((4, 7), (10, 50), (40, 100)):
        few = LaneBlock(settings[first:last], matrix.shape[1])
        for start in range(0, rows, 7):
            turns = np.arange(start, min(start + 7, rows))
            few.learn(chunk, turns, labels[turns, np.newaxis], sample_weight[turns, np.newaxis])
        for number in range(last - first):
            one, other = block.model(first + number), few.model(number)
            np.testing.assert_array_equal(one.raw_coefficients, other.raw_coefficients)
            np.testing.assert_array_equal(one.state, other.state)


def test_measuring_is_the_loss_and_the_errors_without_learning() -> None:
    for name in ("hinge", "logarithmic", "squared"):
        loss = losses.by_name(name)
        matrix, _, sample_weight = stream(loss, rows=40)
        labels = (
            labels_for(loss, np.random.default_rng(1), 40)
            if name != "squared"
            else np.sign(matrix[:, [0]].toarray()[:, 0]) + 0.0
        )
        settings = settings_for(loss, "plain")
        block, _ = learned(settings, matrix, labels, sample_weight)
        before = block.weights.copy(), block.state.copy()
        chunk = examples(matrix, labels, sample_weight)
        lost, wrong = block.measure(chunk, np.arange(40), labels[:, np.newaxis], sample_weight[:, np.newaxis])
        np.testing.assert_array_equal(block.weights, before[0])
        np.testing.assert_array_equal(block.state, before[1])
        predictions = block.predict(chunk)
        middle, boundary = (0.5, 0.5) if name == "logarithmic" else (0.0, 0.0)
        for number in range(len(settings)):
            p = predictions[:, number]
            assert lost[number] == pytest.approx(
                sum(h * loss.value(q, y) for q, y, h in zip(p, labels, sample_weight, strict=True)), rel=1e-12
            )
            mistakes = (p > boundary) != (labels > middle)
            assert wrong[number] == pytest.approx(sample_weight @ mistakes, rel=1e-12)


def test_errors_are_counted_before_a_row_is_learned() -> None:
    loss = losses.by_name("logistic")
    matrix, labels, sample_weight = stream(loss, rows=80)
    block, predictions = learned(settings_for(loss, "plain"), matrix, labels, sample_weight)
    expected = sample_weight @ ((predictions > 0.0) != (labels > 0.0)[:, np.newaxis])
    np.testing.assert_allclose(block.scalars(lanes.ERROR), expected, rtol=1e-12)
    np.testing.assert_allclose(block.scalars(linear.WEIGHT), sample_weight.sum(), rtol=1e-12)


def test_updates_are_found_by_name_whatever_their_order_and_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A further update needs no change in the kernels."""
    loss = losses.by_name("logistic")

    def half(loss: Loss, p: float, y: float, u: float) -> float:
        return 0.5 * loss.flow(p, y, u)

    further = updates.Update("half", half, updates.by_name("invariant").time)
    registry = {name: updates.by_name(name) for name in reversed(updates.names())}
    monkeypatch.setattr(updates, "_updates", {"half": further, **registry})
    agree(settings_for(loss, "plain"), *stream(loss, rows=compiled(50)))
