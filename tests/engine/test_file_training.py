"""Files learned by an engine, without the command line."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses, model_file
from steelyard.engine import calibration, class_weights, file_labels, file_training
from steelyard.engine.file_rows import FileRows
from steelyard.engine.file_training import FileTraining
from steelyard.engine.run_options import RunOptions
from steelyard.io.errors import InputError
from steelyard.io.read_options import ReadOptions
from steelyard.scoring import probabilities
from steelyard.settings import Settings

TABLE = "label,x\n" + "".join(f"{'abc'[k % 3]},{k % 7}\n" for k in range(30))


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "rows.csv"
    file.write_text(TABLE)
    return str(file)


def begin(path: str, run: RunOptions | None = None, loss: str = "squared", **rest: Any) -> FileTraining:
    settings = Settings(losses.by_name(loss))
    return file_training.begin(
        [path], ReadOptions(bits=6), run or RunOptions(), lambda inferred: [settings], **rest
    )


def test_a_run_that_is_over_has_nothing_to_do(path: str, tmp_path: Path) -> None:
    training = begin(path, RunOptions(2), task=file_labels.CLASSES)
    training.run()
    training.save(tmp_path / "m")
    stored = model_file.load(tmp_path / "m")
    training = file_training.resume(stored, tmp_path / "m", [path], RunOptions(2))
    training.loop.position = 2, 0
    training.run()
    assert training.files.first_stream is not None
    assert training.files.read == (0, 0)
    training.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_a_checkpoint_of_the_same_run_only(path: str, tmp_path: Path) -> None:
    """Files, passes and rows held out must be those of the checkpoint; then it ends as if never stopped."""
    whole = begin(path, RunOptions(2, 4), task=file_labels.CLASSES)
    whole.run()
    training = begin(path, RunOptions(2, 4), task=file_labels.CLASSES)

    def stop(learned: Any) -> None:
        training.save_checkpoint(tmp_path / "c")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.run(stop)
    stored = model_file.load(tmp_path / "c")
    with pytest.raises(InputError, match=r"is the checkpoint of a run over .*rows\.csv: name the same files"):
        file_training.resume(stored, "c", ["other"], RunOptions(2, 4))
    with pytest.raises(InputError, match="with passes=2, and cannot continue with passes=3"):
        file_training.resume(stored, "c", [path], RunOptions(3, 4))
    again = file_training.resume(stored, "c", [path], RunOptions(2, 4))
    again.run()
    for model, other in zip(again.engine.models(), whole.engine.models(), strict=True):
        np.testing.assert_array_equal(model.coefficients(), other.coefficients())
    assert again.totals == replace(whole.totals, labels=again.totals.labels)
    assert again.loop.held_out.loss == pytest.approx(whole.loop.held_out.loss)
    assert again.loop.held_out.error == pytest.approx(whole.loop.held_out.error)
    # one of the days when errors were not counted, nor where a run began
    run = dict(stored.run or {})
    run["held"] = [float(run["held"][0][0]), run["held"][1]]
    del run["before"]
    older = file_training.resume(replace(stored, run=run), "c", [path], RunOptions(2, 4))
    assert np.isnan(older.loop.held_out.error).all()
    assert older.before[0].tolist() == [0.0]


def test_class_weights() -> None:
    totals = np.array([1.0, 3.0, 0.0])
    assert class_weights.factors("balanced", ["a", "b", "c"], totals).tolist() == [2.0, 2.0 / 3.0, 1.0]
    assert class_weights.factors(None, ["a", "b"], totals).tolist() == [1.0, 1.0]
    assert class_weights.factors({"b": 2}, ["a", "b"], totals).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="class_weight must be None, a dict or 'balanced'; got 'heavy'"):
        class_weights.check("heavy")
    for given in (None, "balanced", {"a": 2.0}, {1: 2.0}):
        assert class_weights.from_json(class_weights.as_json(given)) == given
    assert class_weights.as_json({np.int64(3): float(np.float32(2.0))}) == [[3, 2.0]]
    assert class_weights.with_names_of({"1": 2.0, "x": 3.0, 2.5: 1.0}, [1, 2.5]) == {
        1: 2.0,
        "x": 3.0,
        2.5: 1.0,
    }
    assert class_weights.with_names_of("balanced", [1]) == "balanced"


def test_names_of_classes() -> None:
    assert file_labels.name_array(["1", "2.0"]).dtype == np.int64
    assert file_labels.name_array(["0.5", "2"]).tolist() == [0.5, 2.0]
    assert file_labels.name_array(["1", "b"]).tolist() == ["1", "b"]
    assert file_labels.own_classes(losses.by_name("squared")) is None
    classes = file_labels.own_classes(losses.by_name("logarithmic"))
    assert classes is not None
    assert classes.tolist() == [0, 1]


def test_a_pipe_is_read_once(path: str, tmp_path: Path) -> None:
    """Its classes are those of its first rows."""
    spec, first = ReadOptions(bits=6).infer([path], "float32")
    found = file_labels.infer_labels(["-"], spec, first, losses.by_name("hinge"))
    assert found.class_names is not None
    assert found.class_names.tolist() == ["a", "b", "c"]
    rows = FileRows(["-"], spec)
    with pytest.raises(ValueError, match="standard input can be read only once, and it must: save it"):
        rows.check_readable_again("it must")
    assert FileRows([path], spec).read == (0, 0)
    assert FileRows([path], spec)._share() == 0.0


@pytest.mark.parametrize("classes", [2, 4])
def test_calibration_finds_the_sigmoid_that_made_the_labels(classes: int) -> None:
    draw = np.random.default_rng(0)
    count = 1 if classes == 2 else classes
    scores = draw.normal(size=(4000, count))
    if classes == 2:
        codes = (draw.random(4000) < 1.0 / (1.0 + np.exp(-3.0 * scores[:, 0] + 1.0))).astype(np.intp)
        ((slope, shift, bend),) = calibration.calibrate(scores[:, 0], codes, np.ones(4000))
        assert (slope, shift) == pytest.approx((-3.0, 1.0), abs=0.25)
        assert bend == 0.0
        heavy = calibration.calibrate(scores[:, 0], codes, np.full(4000, 2.0))
        twice = calibration.calibrate(np.tile(scores[:, 0], 2), np.tile(codes, 2), np.ones(8000))
        assert heavy[0] == pytest.approx(twice[0], rel=1e-6)
    else:
        codes = scores.argmax(axis=1)
        found = calibration.calibrate(scores, codes, np.ones(4000))
        chances = probabilities.class_probabilities(losses.by_name("hinge"), scores, found)
        assert chances.sum(axis=1) == pytest.approx(np.ones(4000))
        assert (chances.argmax(axis=1) == codes).mean() > 0.9


def test_a_side_that_never_comes_leaves_the_sigmoid_finite() -> None:
    for codes in (np.zeros(20, np.intp), np.ones(20, np.intp)):
        ((slope, shift, _),) = calibration.calibrate(np.linspace(-1, 1, 20), codes, np.ones(20))
        assert np.isfinite([slope, shift]).all()
    # what can be told apart perfectly, too
    scores = np.linspace(-1, 1, 20)
    ((slope, _, _),) = calibration.calibrate(scores, (scores > 0).astype(np.intp), np.ones(20))
    assert -np.inf < slope < 0.0


def test_probabilities_that_are_all_0() -> None:
    """The largest prediction has it all."""
    found = probabilities.class_probabilities(
        losses.by_name("modified_huber"), np.array([[-5.0, -3.0, -4.0], [1.0, -1.0, -1.0]])
    )
    assert found.tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]


def test_a_checkpoint_remembers_calibration(path: str, tmp_path: Path) -> None:
    run = RunOptions(2, 4, calibrate=True)
    whole = begin(path, run, task=file_labels.CLASSES)
    whole.run()
    assert whole.calibration is not None
    training = begin(path, run, task=file_labels.CLASSES)

    def stop(learned: Any) -> None:
        training.save_checkpoint(tmp_path / "c")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.run(stop)
    stored = model_file.load(tmp_path / "c")
    again = file_training.resume(stored, tmp_path / "c", [path], RunOptions(), given=())
    again.check_calibration()
    again.run()
    assert again.calibration == whole.calibration
    # a model that learns more keeps it, until it is fitted anew
    again.save(tmp_path / "m")
    later = file_training.resume(model_file.load(tmp_path / "m"), tmp_path / "m", [path], RunOptions())
    later.run()
    assert later.calibration == whole.calibration
