"""One against the rest: a class is a lane."""

from dataclasses import replace

import numpy as np
import pytest

from steelyard import losses
from steelyard.engine.one_vs_rest import OneVsRest
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.settings import Settings
from tests.support.streams import stream

SETTINGS = [
    Settings(losses.by_name("logarithmic"), scaling="plain", learning_rate=0.01),
    Settings(losses.by_name("modified_huber"), scaling="normalized", follow_labels=False),
]


def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    matrix, _, sample_weight = stream(SETTINGS[0].loss, rows=90)
    dense = matrix.toarray()
    return dense, dense[:, :3].argmax(axis=1).astype(np.float64), sample_weight


def test_each_class_is_a_model_against_the_rest() -> None:
    matrix, codes, sample_weight = rows()
    engine = OneVsRest(SETTINGS, 3, matrix.shape[1])
    chunk = examples(matrix, codes, sample_weight)
    engine.learn(chunk, np.arange(50))
    engine.learn(chunk, np.arange(50, 90))
    for number, settings in enumerate(SETTINGS):
        low = 0.0 if number == 0 else -1.0
        singles = [Learner(settings, matrix.shape[1]) for _ in range(3)]
        before = np.stack(
            [
                each.learn(examples(matrix, np.where(codes == c, 1.0, low), sample_weight))
                for c, each in enumerate(singles)
            ],
            axis=1,
        )
        losses_of_classes = [each.model.progressive_loss for each in singles]
        assert engine.progressive_loss[number] == pytest.approx(np.mean(losses_of_classes), rel=1e-5)
        mistakes = sample_weight @ (before.argmax(axis=1) != codes)
        assert engine.progressive_error[number] == pytest.approx(mistakes / sample_weight.sum(), rel=1e-9)
        after = np.stack([each.predict(chunk) for each in singles], axis=1)
        predictions = engine.model_set.predict(chunk).reshape(len(chunk), 2, 3)[:, number]
        np.testing.assert_allclose(predictions, after, rtol=1e-4, atol=1e-5)
        for own, each in zip(engine.models(number), singles, strict=True):
            np.testing.assert_allclose(
                own.raw_coefficients, each.model.raw_coefficients, rtol=1e-3, atol=1e-6
            )
    assert not engine.diverged.any()
    best = engine.predict(chunk)
    expected = np.stack([Learner(model=each).predict(chunk) for each in engine.models()], axis=1)
    np.testing.assert_allclose(best, expected, rtol=1e-5, atol=1e-6)
    alone = engine.separate(1)
    assert alone.settings == [replace(SETTINGS[1], follow_classes=False)]
    np.testing.assert_array_equal(alone.predict(chunk), engine.model_set.predict(chunk)[:, 3:])
    np.testing.assert_array_equal(alone.progressive_error, engine.progressive_error[[1]])


def test_measuring_learns_nothing() -> None:
    matrix, codes, sample_weight = rows()
    engine = OneVsRest(SETTINGS, 3, matrix.shape[1])
    chunk = examples(matrix, codes, sample_weight)
    assert np.isnan(engine.progressive_error).all()
    engine.learn(chunk)
    lost, wrong = engine.measure(chunk, np.arange(len(chunk)))
    predictions = engine.model_set.predict(chunk).reshape(len(chunk), 2, 3)
    for number in range(2):
        mistakes = predictions[:, number].argmax(axis=1) != codes
        assert wrong[number] == pytest.approx(sample_weight @ mistakes)
    loss, low = SETTINGS[1].loss, -1.0
    values = [
        [loss.value(p, 1.0 if code == c else low) for c, p in enumerate(row)]
        for row, code in zip(predictions[:, 1], codes, strict=True)
    ]
    assert lost[1] == pytest.approx(sample_weight @ np.mean(values, axis=1), rel=1e-9)
    np.testing.assert_array_equal(engine.measure(chunk, np.arange(len(chunk)))[0], lost)


@pytest.mark.parametrize("l1", [0.0, 1e-9])
@pytest.mark.parametrize("chunk", [300, 7])
def test_one_that_diverges_is_always_wrong_from_there_on(chunk: int, l1: float) -> None:
    random = np.random.default_rng(0)
    matrix, codes = 9.0 * random.normal(size=(300, 4)), random.integers(3, size=300).astype(np.float64)
    table = examples(matrix, codes)
    wild = Settings(losses.by_name("squared"), "explicit", "plain", learning_rate=1.0, l1=l1)
    engine = OneVsRest([wild], 3, 4)
    for start in range(0, 300, chunk):
        engine.learn(table, np.arange(start, min(start + chunk, 300)))
        if engine.diverged[0]:
            break
    learned = min(start + chunk, 300)
    wrong = float(engine.error[0])
    engine.learn(table)
    assert engine.diverged[0]
    assert learned - wrong < 60  # what was right is from before
    assert engine.error[0] == wrong + 300.0
    assert engine.measure(table, np.arange(len(table)))[1].tolist() == [300.0]


def test_losses_and_errors_of_rows_add_up_to_the_progressive_figures() -> None:
    matrix, codes, sample_weight = rows()
    engine = OneVsRest(SETTINGS, 3, matrix.shape[1])
    predictions = engine.learn(examples(matrix, codes, sample_weight), predictions=True)
    assert predictions is not None
    total = sample_weight.sum()
    np.testing.assert_allclose(
        sample_weight @ engine.row_losses(predictions, codes) / total, engine.progressive_loss, rtol=1e-5
    )
    np.testing.assert_allclose(
        sample_weight @ engine.row_errors(predictions, codes) / total, engine.progressive_error, rtol=1e-12
    )
