"""Settings that compete, and their files. (What they learn is tested through the estimators.)"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from steelyard import Learner, Settings, losses
from steelyard.engine import auto_candidates, selection_files
from steelyard.engine.model_set import ModelSet
from steelyard.engine.selection import Selection
from steelyard.examples import examples
from steelyard.learn import lanes, linear
from tests.streams import stream

PLAIN = Settings(losses.by_name("logistic"), scaling="row_norm", dtype="float64")
RATES = (0.4, 0.1, 0.2)


def rows() -> Any:
    matrix, labels, sample_weight = stream(PLAIN.loss, rows=80)
    return examples(matrix, labels, sample_weight)


def contest(**changes: Any) -> Selection:
    settings = [replace(PLAIN, learning_rate=rate, **changes) for rate in RATES]
    learned = Selection(settings, 2, rows().features)
    learned.learn(rows())
    return learned


@pytest.mark.parametrize("l1", [0.0, 0.01])
def test_models_that_are_handed_out_or_put_in_are_copies(l1: float) -> None:
    fleet = ModelSet([replace(PLAIN, l1=l1)], rows().features, threads=1)
    fleet.learn(rows())
    taken = fleet.model(0)
    other = ModelSet([replace(PLAIN, l1=l1, learning_rate=0.1)], rows().features, threads=1)
    other.put(0, taken)
    before = taken.weights.copy()
    fleet.learn(rows())
    other.learn(rows())
    np.testing.assert_array_equal(taken.weights, before)
    alone = Learner(model=taken)
    alone.model.settings = other.settings[0]
    alone.learn(rows())
    np.testing.assert_allclose(other.model(0).coefficients(), alone.model.coefficients(), rtol=1e-10)
    with pytest.raises(IndexError, match="there are 1 models, from 0; got 1"):
        other.put(1, taken)


def test_read_only_rows_need_no_other_kernel() -> None:
    fleet = ModelSet([PLAIN], rows().features, threads=1)
    fleet.learn(rows())
    known = len(lanes.learn.signatures)
    chunk = rows()
    for array in chunk.arrays[:3]:
        array.flags.writeable = False
    fleet.learn(chunk)
    assert len(lanes.learn.signatures) == known


def test_the_leader_has_lost_least() -> None:
    learned = contest()
    assert learned.leader == int(np.argmin(learned.progressive_loss))
    worse = learned.progress[0].copy()
    worse[learned.leader] *= 10.0
    earlier = learned.leader
    learned.progress = (worse, *learned.progress[1:])
    assert learned.leader != earlier
    learned.forget_progress()
    assert learned.leader == 0
    assert np.isnan(learned.progressive_loss).all()


def test_progress_may_be_put_back() -> None:
    learned = contest()
    before, error = learned.progressive_loss, learned.progressive_error
    kept = learned.progress
    learned.learn(rows())
    assert not np.array_equal(learned.progressive_loss, before)
    learned.progress = kept
    np.testing.assert_array_equal(learned.progressive_loss, before)
    np.testing.assert_array_equal(learned.progressive_error, error)
    assert learned.fleet.scalars(linear.CLOCK)[0] == pytest.approx(2.0 * rows().sample_weight.sum())


@pytest.mark.parametrize(
    ("array", "message"),
    [("2.weights", "the array 'weights' is missing"), ("contest.error", "a damaged one .*contest.error")],
)
def test_a_damaged_file(array: str, message: str, tmp_path: Path) -> None:
    selection_files.save(contest(), tmp_path / "good", {})
    with safe_open(tmp_path / "good", "numpy") as file:
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        about = file.metadata()
    del arrays[array]
    save_file(arrays, tmp_path / "bad", about)
    with pytest.raises(ValueError, match=message):
        selection_files.load(tmp_path / "bad", None)


def test_rivals_of_other_scalings_are_far_apart() -> None:
    assert [each.rate for each in auto_candidates.of(PLAIN)] == [0.4 * 4.0**n for n in (0, -1, 1, -2, -3, -4)]
    normalized = auto_candidates.of(replace(PLAIN, scaling="normalized"))
    assert normalized[0].rate == PLAIN.loss.default_learning_rate
    assert {each.power_t for each in normalized} == {0.0, 0.25}
