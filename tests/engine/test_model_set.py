"""Sets of models: who learns with whom, threads, and models that must learn alone."""

import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from steelyard import losses, updates
from steelyard.engine import model_set as model_sets
from steelyard.engine.model_set import WIDEST, ModelSet, group
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.settings import Settings
from tests.engine.problems import FEATURES, two_classes
from tests.support.streams import stream

LOGISTIC, HINGE = losses.by_name("logistic"), losses.by_name("hinge")


def mixed() -> list[Settings]:
    """Two losses, all updates, and some that cannot learn side by side."""
    rates = np.geomspace(0.01, 0.5, 12).tolist()
    return [
        *(Settings(LOGISTIC, name, "plain", rate, 3.0, 0.5) for name in updates.names() for rate in rates),
        *(Settings(HINGE, scaling="normalized", learning_rate=rate) for rate in rates),
        Settings(LOGISTIC, scaling="plain", learning_rate=0.1, l1=0.01),
        Settings(LOGISTIC, scaling="plain", learning_rate=0.1, l1=0.001, l2=0.01),
    ]


def test_every_model_is_what_the_single_kernel_makes_of_it() -> None:
    matrix, labels, sample_weight = stream(LOGISTIC, rows=150)
    chunk = examples(matrix, labels, sample_weight)
    models = ModelSet(mixed(), matrix.shape[1])
    before = np.empty((150, len(models)))
    models.learn(chunk, predictions=before)
    predicted = models.predict(chunk)
    lost, wrong = models.measure(chunk)
    for number, settings in enumerate(mixed()):
        learner = Learner(settings, matrix.shape[1])
        np.testing.assert_allclose(before[:, number], learner.learn(chunk), rtol=1e-4, atol=1e-5)
        assert models.progressive_loss[number] == pytest.approx(learner.model.progressive_loss, rel=1e-5)
        p = learner.predict(chunk)
        np.testing.assert_allclose(predicted[:, number], p, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(
            models.model(number).raw_coefficients, learner.model.raw_coefficients, rtol=1e-3, atol=1e-6
        )
        values = [settings.loss.value(each, y) for each, y in zip(p, labels, strict=True)]
        assert lost[number] == pytest.approx(sample_weight @ values, rel=1e-5)
        assert wrong[number] == pytest.approx(sample_weight @ ((p > 0.0) != (labels > 0.0)), rel=1e-9)
        errors = sample_weight @ ((before[:, number] > 0.0) != (labels > 0.0))
        assert models.progressive_error[number] == pytest.approx(errors / sample_weight.sum(), rel=1e-9)


def test_threads_and_pieces_do_not_matter() -> None:
    matrix, labels, sample_weight = stream(LOGISTIC, rows=100)
    chunk = examples(matrix, labels, sample_weight)
    model_sets = [ModelSet(mixed(), matrix.shape[1], threads) for threads in (1, 3)]
    model_sets[0].learn(chunk)
    for first in range(0, 100, 9):
        model_sets[1].learn(chunk, np.arange(first, min(first + 9, 100)))
    np.testing.assert_array_equal(model_sets[0].progressive_loss, model_sets[1].progressive_loss)
    for number in range(len(model_sets[0])):
        one, other = (models.model(number) for models in model_sets)
        np.testing.assert_array_equal(one.raw_coefficients, other.raw_coefficients)
        np.testing.assert_array_equal(one.state, other.state)


def test_rows_are_taken_up_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, labels, sample_weight = stream(LOGISTIC, rows=100)
    chunk = examples(matrix, labels, sample_weight)
    whole, pieces = (ModelSet(mixed(), matrix.shape[1], threads) for threads in (1, 2))
    whole.learn(chunk)
    monkeypatch.setattr("steelyard.engine.model_set._PIECE", 7)
    pieces.learn(chunk)
    np.testing.assert_array_equal(whole.progressive_loss, pieces.progressive_loss)
    order = np.arange(100)
    np.testing.assert_allclose(whole.measure(chunk, order), pieces.measure(chunk, order), rtol=1e-12)


def test_labels_and_importances_may_differ_from_model_to_model() -> None:
    matrix, _, _ = stream(LOGISTIC, rows=80)
    rng = np.random.default_rng(1)
    settings = mixed()
    labels = rng.choice([-1.0, 1.0], (80, len(settings)))
    sample_weight = rng.exponential(size=labels.shape)
    models = ModelSet(settings, matrix.shape[1])
    order = rng.permutation(80)
    models.learn(examples(matrix), order, labels, sample_weight)
    for number in (0, 17, 50, len(settings) - 2, len(settings) - 1):
        learner = Learner(settings[number], matrix.shape[1])
        learner.learn(examples(matrix[order], labels[:, number], sample_weight[:, number]))
        assert models.progressive_loss[number] == pytest.approx(learner.model.progressive_loss, rel=1e-5)


def test_going_on_from_stored_arrays() -> None:
    matrix, labels, sample_weight = stream(LOGISTIC, rows=60)
    chunk = examples(matrix, labels, sample_weight)
    models = ModelSet(mixed(), matrix.shape[1])
    models.learn(chunk, np.arange(30))
    stored = {name: array.copy() for name, array in models.arrays().items()}
    other = ModelSet(mixed(), matrix.shape[1])
    other.hold_gains()
    for name, array in other.arrays().items():
        array[...] = stored[name] if stored[name].size else 0.0  # some had no gains to hold
    other.list_gains()
    for each in (models, other):
        each.learn(chunk, np.arange(30, 60))
    np.testing.assert_array_equal(models.progressive_loss, other.progressive_loss)
    np.testing.assert_array_equal(models.progressive_error, other.progressive_error)


def test_the_diverged_are_reported_and_have_no_loss() -> None:
    squared = losses.by_name("squared")
    matrix, labels, _ = stream(squared, rows=100)
    wild = [
        Settings(squared, "explicit", "plain", 1e4),
        Settings(squared, "explicit", "plain", 1e4, l1=0.1),
        Settings(squared, "invariant", "plain", 1.0),
    ]
    models = ModelSet(wild, matrix.shape[1])
    before = np.empty((100, 3))
    models.learn(examples(matrix, labels, np.full(100, 100.0)), predictions=before)
    models.learn(examples(matrix, labels, np.full(100, 100.0)))
    np.testing.assert_array_equal(models.diverged, [True, True, False])
    np.testing.assert_array_equal(np.isnan(models.progressive_loss), [True, True, False])
    assert models.progressive_error[1] == 1.0
    assert np.isfinite(before[:, 2]).all()


@pytest.mark.parametrize("failing", [0, 1])
def test_when_one_thread_fails_no_other_begins_another_piece(
    monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    monkeypatch.setattr(model_sets, "_PIECE", 1)
    matrix, labels, sample_weight = stream(LOGISTIC, rows=100)
    models = ModelSet([Settings(LOGISTIC), Settings(HINGE)], matrix.shape[1], threads=2)
    learned, stopped = [], threading.Event()
    monkeypatch.setattr(model_sets, "threading", SimpleNamespace(Event=lambda: stopped))

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    def learn_slowly(_: Any, rows: Any, *__: Any) -> None:
        learned.append(rows)
        assert stopped.wait(60.0)

    for number, (crew, _) in enumerate(models._members):
        monkeypatch.setattr(crew, "learn", fail if number == failing else learn_slowly)
    with pytest.raises(KeyboardInterrupt):
        models.learn(examples(matrix, labels, sample_weight))
    assert len(learned) <= 1


def test_before_anything_is_learned_there_is_no_loss() -> None:
    assert np.isnan(ModelSet(mixed(), 3).progressive_loss).all()


def test_there_is_no_such_model() -> None:
    with pytest.raises(IndexError, match="there are 62 models, from 0; got 99"):
        ModelSet(mixed(), 3).model(99)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_are_of_one_kind_not_too_wide_and_enough_for_all_threads(threads: int) -> None:
    settings = [
        Settings(loss, name, "row_norm", rate)
        for loss in (LOGISTIC, HINGE)
        for name in updates.names_for(HINGE)
        for rate in np.geomspace(0.01, 0.5, 70).tolist()
    ]
    blocks = group(settings, threads)
    assert sorted(number for block in blocks for number in block) == list(range(len(settings)))
    for block in blocks:
        assert len(block) <= WIDEST
        assert len({settings[number].loss for number in block}) == 1
    assert len(blocks) % threads == 0


CODED = [
    Settings(losses.by_name(name), learning_rate=rate, scaling="row_norm")
    for rate in (0.1, 0.2)
    for name in ("tanh_logarithmic", "squared")
]


def test_coded_classes_become_the_labels_of_each_loss() -> None:
    rows = two_classes(40)
    coded = ModelSet(CODED, FEATURES, coded=True)
    coded.learn(rows)
    for number, settings in enumerate(CODED):
        model = coded.model(number)
        assert model.settings == settings
        assert model.progressive_loss == coded.progressive_loss[number]
        low, high = losses.class_labels(settings.loss)
        alone = Learner(settings, FEATURES)
        alone.learn(replace(rows, labels=np.where(rows.labels > 0.5, high, low)))
        np.testing.assert_allclose(model.coefficients(), alone.model.coefficients(), rtol=1e-3, atol=1e-6)
    assert {name.count(".") for name in coded.arrays()} == {2}  # labels, member, array
    with pytest.raises(IndexError, match="there are 4 models, from 0; got 4"):
        coded.model(4)
