"""Settings of which the best so far answers. (What they learn is tested through the estimators.)"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from steelyard import Learner, Settings, losses, model_file
from steelyard.engine.auto_rate import candidates
from steelyard.engine.model_set import ModelSet
from steelyard.engine.selection import Selection
from steelyard.examples import examples
from steelyard.learn import linear
from steelyard.model_file import ModelFile
from tests.support.streams import stream

PLAIN = Settings(losses.by_name("logistic"), scaling="row_norm", dtype="float64")
RATES = (0.4, 0.1, 0.2)


def rows() -> Any:
    matrix, labels, sample_weight = stream(PLAIN.loss, rows=80)
    return examples(matrix, labels, sample_weight)


def selection(**changes: Any) -> Selection:
    settings = [replace(PLAIN, learning_rate=rate, **changes) for rate in RATES]
    learned = Selection(settings, rows().features, threads=1, must_answer=True)
    learned.learn(rows())
    return learned


@pytest.mark.parametrize("l1", [0.0, 0.01])
def test_models_that_are_handed_out_or_put_in_are_copies(l1: float) -> None:
    models = ModelSet([replace(PLAIN, l1=l1)], rows().features, threads=1)
    models.learn(rows())
    taken = models.model(0)
    other = ModelSet([replace(PLAIN, l1=l1, learning_rate=0.1)], rows().features, threads=1)
    other.put(0, taken)
    before = taken.raw_coefficients.copy()
    models.learn(rows())
    other.learn(rows())
    np.testing.assert_array_equal(taken.raw_coefficients, before)
    alone = Learner(model=taken)
    alone.model.settings = other.settings[0]
    alone.learn(rows())
    np.testing.assert_allclose(other.model(0).coefficients(), alone.model.coefficients(), rtol=1e-10)
    with pytest.raises(IndexError, match="there are 1 models, from 0; got 1"):
        other.put(1, taken)


def test_the_best_has_the_least_loss() -> None:
    learned = selection()
    assert learned.best == int(np.argmin(learned.progressive_loss))
    worse = learned.progress[0].copy()
    worse[learned.best] *= 10.0
    earlier = learned.best
    learned.progress = (worse, *learned.progress[1:])
    assert learned.best != earlier
    learned.reset_progress()
    assert learned.best == 0
    assert np.isnan(learned.progressive_loss).all()


def test_progress_may_be_put_back() -> None:
    learned = selection()
    before, error = learned.progressive_loss, learned.progressive_error
    kept = learned.progress
    learned.learn(rows())
    assert not np.array_equal(learned.progressive_loss, before)
    learned.progress = kept
    np.testing.assert_array_equal(learned.progressive_loss, before)
    np.testing.assert_array_equal(learned.progressive_error, error)
    assert learned.model_set.scalars(linear.CLOCK)[0] == pytest.approx(2.0 * rows().sample_weight.sum())


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ("2.weights", "the array 'weights' is missing"),
        ("contest.error", "a damaged one .*lacks the figures of its settings"),
    ],
)
def test_a_damaged_file(array: str, message: str, tmp_path: Path) -> None:
    model_file.save(tmp_path / "good", ModelFile(selection().state()))
    with safe_open(tmp_path / "good", "numpy") as file:
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        about = file.metadata()
    del arrays[array]
    save_file(arrays, tmp_path / "bad", about)
    with pytest.raises(ValueError, match=message):
        model_file.load(tmp_path / "bad")


def test_candidates_of_other_scalings_are_far_apart() -> None:
    assert [each.rate for each in candidates(PLAIN)] == [0.4 * 4.0**n for n in (0, -1, 1, -2, -3, -4)]
    normalized = candidates(replace(PLAIN, scaling="normalized"))
    assert normalized[0].rate == PLAIN.loss.default_learning_rate
    assert {each.power_t for each in normalized} == {0.0, 0.25}


def test_separate_engines() -> None:
    learned = selection()
    for number in range(len(RATES)):
        alone = learned.separate(number)
        assert alone.settings == [learned.settings[number]]
        np.testing.assert_array_equal(alone.progressive_loss, learned.progressive_loss[[number]])
        np.testing.assert_allclose(alone.progressive_error, learned.progressive_error[[number]], rtol=1e-12)


def test_losses_and_errors_of_rows_add_up_to_the_progressive_figures() -> None:
    learned = selection()
    learned.reset_progress()
    chunk = rows()
    predictions = learned.learn(chunk, predictions=True)
    assert predictions is not None
    weights = chunk.sample_weight
    losses_of_rows = weights @ learned.row_losses(predictions, chunk.labels) / weights.sum()
    np.testing.assert_allclose(losses_of_rows, learned.progressive_loss, rtol=1e-9)
    errors = weights @ learned.row_errors(predictions, chunk.labels) / weights.sum()
    np.testing.assert_allclose(errors, learned.progressive_error, rtol=1e-12)
    sums = learned.progress_sums()
    np.testing.assert_allclose(sums[0] / sums[1], learned.progressive_loss, rtol=1e-12)


def test_other_settings_go_on_with_the_same_models() -> None:
    learned = selection()
    implicit = [replace(each, update="implicit") for each in learned.settings]
    other = learned.with_settings(implicit)
    assert other.settings == implicit
    np.testing.assert_array_equal(other.progressive_loss, learned.progressive_loss)
    np.testing.assert_array_equal(other.predict(rows()), learned.predict(rows()))
    learned.learn(rows())
    other.learn(rows())
    assert not np.array_equal(other.predict(rows()), learned.predict(rows()))
