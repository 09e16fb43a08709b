"""One against the rest: a class is a lane."""

import numpy as np
import pytest

from steelyard import losses
from steelyard.engine.one_vs_rest import OneVsRest
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.model import Settings
from tests.streams import stream

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
    rivals = OneVsRest(SETTINGS, 3, matrix.shape[1])
    chunk = examples(matrix, codes, sample_weight)
    rivals.learn(chunk, np.arange(50))
    rivals.learn(chunk, np.arange(50, 90))
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
        assert rivals.progressive_loss[number] == pytest.approx(np.mean(losses_of_classes), rel=1e-5)
        mistakes = sample_weight @ (before.argmax(axis=1) != codes)
        assert rivals.progressive_error[number] == pytest.approx(mistakes / sample_weight.sum(), rel=1e-9)
        after = np.stack([each.predict(chunk) for each in singles], axis=1)
        np.testing.assert_allclose(rivals.predict(chunk)[:, number], after, rtol=1e-4, atol=1e-5)
        for own, each in zip(rivals.models(number), singles, strict=True):
            np.testing.assert_allclose(own.weights, each.model.raw_coefficients, rtol=1e-3, atol=1e-6)
    assert not rivals.diverged.any()


def test_measuring_learns_nothing() -> None:
    matrix, codes, sample_weight = rows()
    rivals = OneVsRest(SETTINGS, 3, matrix.shape[1])
    chunk = examples(matrix, codes, sample_weight)
    assert np.isnan(rivals.progressive_error).all()
    rivals.learn(chunk)
    lost, wrong = rivals.measure(chunk)
    predictions = rivals.predict(chunk)
    for number in range(2):
        mistakes = predictions[:, number].argmax(axis=1) != codes
        assert wrong[number] == pytest.approx(sample_weight @ mistakes)
    loss, low = SETTINGS[1].loss, -1.0
    values = [
        [loss.value(p, 1.0 if code == c else low) for c, p in enumerate(row)]
        for row, code in zip(predictions[:, 1], codes, strict=True)
    ]
    assert lost[1] == pytest.approx(sample_weight @ np.mean(values, axis=1), rel=1e-9)
    np.testing.assert_array_equal(rivals.measure(chunk)[0], lost)


@pytest.mark.parametrize("l1", [0.0, 1e-9])
@pytest.mark.parametrize("chunk", [300, 7])
def test_one_that_diverges_is_always_wrong_from_there_on(chunk: int, l1: float) -> None:
    random = np.random.default_rng(0)
    matrix, codes = 9.0 * random.normal(size=(300, 4)), random.integers(3, size=300).astype(np.float64)
    table = examples(matrix, codes)
    wild = Settings(losses.by_name("squared"), "explicit", "plain", learning_rate=1.0, l1=l1)
    rivals = OneVsRest([wild], 3, 4)
    for start in range(0, 300, chunk):
        rivals.learn(table, np.arange(start, min(start + chunk, 300)))
        if rivals.diverged[0]:
            break
    learned = min(start + chunk, 300)
    wrong = float(rivals.error[0])
    rivals.learn(table)
    assert rivals.diverged[0]
    assert learned - wrong < 60  # what was right is from before
    assert rivals.error[0] == wrong + 300.0
    assert rivals.measure(table)[1].tolist() == [300.0]
