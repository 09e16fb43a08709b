"""`fit_files` and `partial_fit_files`: what `steelyard train` does, with an estimator's parameters."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import OnlineClassifier, OnlineRegressor
from steelyard.engine import file_rows
from steelyard.engine.file_training import FileTraining
from steelyard.estimators.fitted import fitted_state
from steelyard.io.stream import Stream
from tests.estimators.data import known

WORDS = {"ham": "good day friend", "spam": "buy cash now", "jam": "sweet red berry"}
FEW: dict[str, Any] = {"bits": 8, "threads": 1}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small file has many chunks."""
    monkeypatch.setattr(
        file_rows, "Stream", lambda *given, **more: Stream(*given, **(more | {"block_size": 500}))
    )


def write(path: Path, classes: list[str], rows: int = 90, seed: int = 0) -> Path:
    random = np.random.default_rng(seed)
    lines = ["label,weight,size,text"]
    for name in random.choice(classes, size=rows):
        word = random.choice(WORDS[name].split())
        lines.append(
            f"{name},{random.integers(1, 4)},{random.normal():.3f},{word} {random.choice(['x', 'y'])}"
        )
    path.write_text("\n".join(lines) + "\n")
    return path


def same(one: Any, other: Any) -> bool:
    """Whether two estimators hold the same, but for the names, which have no equality."""
    left, right = known(one), known(other)
    names = left.pop("names"), right.pop("names")
    return left == right and names[0].by_index() == names[1].by_index()


@pytest.mark.parametrize("classes", [["ham", "spam"], ["ham", "jam", "spam"]], ids=["two", "three"])
@pytest.mark.parametrize(
    "parameters", [{}, {"learning_rate": "auto", "loss": "logistic"}], ids=["one", "auto"]
)
def test_files_in_one_go_in_parts_and_resumed(
    tmp_path: Path, classes: list[str], parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = write(tmp_path / "whole.csv", classes)
    header, *lines = whole.read_text().splitlines(keepends=True)
    parts = [tmp_path / "first.csv", tmp_path / "second.csv"]
    for part, own in zip(parts, (lines[:40], lines[40:]), strict=True):
        part.write_text("".join([header, *own]))
    once = OnlineClassifier(**parameters).fit_files(whole, **FEW)
    assert once.classes_.tolist() == sorted(classes)
    assert once.input_spec_.format == "csv"
    assert once.n_features_in_ == 256
    assert once.weight_summary_.rows == 90
    twice = OnlineClassifier(**parameters).partial_fit_files(parts[0], **FEW)
    assert twice.partial_fit_files(parts[1]) is twice
    np.testing.assert_array_equal(twice.coef_, once.coef_)
    assert twice.progressive_loss_ == pytest.approx(once.progressive_loss_, rel=1e-12)
    assert twice.weight_summary_.total == once.weight_summary_.total
    assert twice.weight_summary_.rows == 90
    once.save(tmp_path / "model")
    assert same(OnlineClassifier.load(tmp_path / "model"), once)

    # interrupted while it runs, with a checkpoint after every chunk
    checkpoint = tmp_path / "checkpoint"
    more: dict[str, Any] = {**FEW, "checkpoint": checkpoint, "checkpoint_every": 1, "holdout": 7}
    passes = OnlineClassifier(**parameters, passes=2).fit_files(whole, **FEW, holdout=7)
    save = FileTraining.save_checkpoint
    saved = []

    def interrupted(self: FileTraining, path: Path) -> None:
        save(self, path)
        saved.append(path)
        if len(saved) == 7:
            raise KeyboardInterrupt

    monkeypatch.setattr(FileTraining, "save_checkpoint", interrupted)
    begun = OnlineClassifier(**parameters, passes=2)
    with pytest.raises(KeyboardInterrupt):
        begun.fit_files(whole, **more)
    assert not hasattr(begun, "classes_")
    assert checkpoint.exists()
    with pytest.raises(ValueError, match=r"is the checkpoint of a run over .*name the same files"):
        begun.fit_files(parts[0], **more)
    begun.fit_files(whole, **more)
    assert not checkpoint.exists()
    assert same(begun, passes)
    assert begun.held_out_loss_ == passes.held_out_loss_
    assert 0.0 <= begun.held_out_error_ < 0.5


def test_a_regressor(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("label,a\n" + "".join(f"{k % 7 / 3},{k % 7}\n" for k in range(70)))
    regressor = OnlineRegressor(passes=3).fit_files([path], holdout=5, **FEW)
    assert not hasattr(regressor, "classes_")
    assert not hasattr(regressor, "held_out_error_")
    assert regressor.held_out_loss_ < 0.1
    again = OnlineRegressor().partial_fit_files(path, **FEW, names=False)
    assert fitted_state(again).names is None
    n_iter = regressor.n_iter_
    assert regressor.partial_fit_files(path).n_iter_ == n_iter == 3


def test_class_weights_and_calibration(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", ["ham", "jam", "spam"], rows=300)
    classifier = OnlineClassifier("hinge", class_weight="balanced").fit_files(
        path, holdout=4, calibrate=True, **FEW
    )
    chances = classifier.predict_proba(np.eye(256)[:5])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    classifier.save(tmp_path / "model")
    loaded = OnlineClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(np.eye(256)[:5]), chances)
    assert loaded.class_weight == "balanced"
    held_out = loaded.set_params(class_weight=None).partial_fit_files(path).calibration_
    assert held_out == classifier.calibration_, "it stays"
    assert fitted_state(loaded).calibration is None
    progressive = classifier.fit_files(path, **FEW).calibration_
    assert progressive != held_out
    assert not hasattr(classifier.set_params(calibrate=False).fit_files(path, **FEW), "calibration_")
    with pytest.raises(ValueError, match="held-out rows needs classes, and rows that are not learned"):
        classifier.fit_files(path, calibrate=True, **FEW)


def test_interrupted_going_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (write(tmp_path / f"{seed}.csv", ["ham", "spam"], seed=seed) for seed in (0, 1))
    whole = OnlineClassifier().fit_files(first, **FEW).partial_fit_files(second, holdout=6)
    begun = OnlineClassifier().fit_files(first, **FEW)
    checkpoint = tmp_path / "checkpoint"
    save = FileTraining.save_checkpoint

    def interrupted(self: FileTraining, path: Path) -> None:
        save(self, path)
        raise KeyboardInterrupt

    monkeypatch.setattr(FileTraining, "save_checkpoint", interrupted)
    more: dict[str, Any] = {"checkpoint": checkpoint, "checkpoint_every": 1, "holdout": 6, "threads": 1}
    with pytest.raises(KeyboardInterrupt):
        begun.partial_fit_files(second, **more)
    monkeypatch.setattr(FileTraining, "save_checkpoint", save)
    begun.partial_fit_files(second, **more)
    assert not checkpoint.exists()
    assert same(begun, whole)


def test_progress_is_shown_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "rows.csv", ["ham", "spam"])
    OnlineClassifier().fit_files(path, **FEW, verbose=1)
    shown = capsys.readouterr()
    assert (shown.out, bool(shown.err)) == ("", True)
    OnlineClassifier().fit_files(path, **FEW)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("parameters", "options", "message"),
    [
        ({"early_stopping": True}, {}, "early_stopping of files needs rows held out"),
        ({"early_stopping": True}, {"holdout": 3, "checkpoint": "c"}, "leave out checkpoint"),
        ({"random_state": None}, {"shuffle": True}, "needs a number as random_state, its seed; got None"),
        ({"weight_scale": "mean_one"}, {}, "weight_scale='mean_one' is not for files"),
        ({}, {"on_error": "ignore"}, "on_error must be 'stop' or 'skip'; got 'ignore'"),
        ({}, {"holdout": 1}, "holdout must be 2 or more, for every Nth row"),
        ({"class_weight": {"eggs": 2.0}}, {}, "class_weight has 'eggs', which is not a class"),
    ],
)
def test_what_files_cannot_do(
    tmp_path: Path, parameters: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    path = write(tmp_path / "rows.csv", ["ham", "spam"])
    with pytest.raises(ValueError, match=message):
        OnlineClassifier(**parameters).fit_files(path, **FEW, **options)


def test_failing_leaves_the_estimator_as_it_was(tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good.csv", ["ham", "spam"]), tmp_path / "bad.csv"
    bad.write_text(good.read_text() + "eggs,1,0.5,what\n")
    classifier = OnlineClassifier().fit_files(good, **FEW)
    before = known(classifier)
    with pytest.raises(ValueError, match="the label 'eggs' is neither ham nor spam"):
        classifier.partial_fit_files(bad)
    assert known(classifier) == before
    with pytest.raises(ValueError, match="the label 'eggs' is neither ham nor spam"):
        classifier.fit_files(bad, labels="ham,spam")
    assert known(classifier) == before
    skipped = classifier.partial_fit_files(bad, on_error="skip")
    assert skipped.weight_summary_.rows == 180
    with pytest.raises(ValueError, match="bits: later files are read as the first ones were; leave this out"):
        classifier.partial_fit_files(good, bits=9)
    rows_only = OnlineClassifier().fit(np.eye(2), ["ham", "spam"])
    with pytest.raises(ValueError, match="fitted to rows in Python and does not know how files are read"):
        rows_only.partial_fit_files(good)
    finished = tmp_path / "finished"
    classifier.save(finished)
    with pytest.raises(ValueError, match="is a finished model, not a checkpoint"):
        classifier.fit_files(good, checkpoint=finished, **FEW)


def test_another_learning_rate_for_later_files(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", ["ham", "spam"])
    slow, fast = (OnlineClassifier().fit_files(path, **FEW) for _ in range(2))
    slow.set_params(learning_rate=0.01).partial_fit_files(path)
    fast.partial_fit_files(path)
    assert not np.array_equal(slow.coef_, fast.coef_)
    assert slow.learning_rate_ == 0.01


def test_files_are_predicted(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", ["ham", "jam", "spam"])
    classifier = OnlineClassifier("logistic").fit_files(path, **FEW)
    predicted = classifier.predict_files([path])
    chances = classifier.predict_proba_files(path, threads=1)
    assert predicted.tolist() == classifier.classes_[chances.argmax(axis=1)].tolist()
    assert np.mean(predicted == [line.split(",")[0] for line in path.read_text().splitlines()[1:]]) > 0.8
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("label,a\n" + "".join(f"{k % 7 / 3},{k % 7}\n" for k in range(70)))
    regressor = OnlineRegressor(passes=3).fit_files(numbers, **FEW)
    assert regressor.predict_files(numbers).shape == (70,)
    empty = tmp_path / "empty.csv"
    empty.write_text("label,a\n")
    assert regressor.predict_files(empty).shape == (0,)
    with pytest.raises(ValueError, match="was fitted to rows and does not know how files are read"):
        OnlineRegressor().fit(np.eye(2), [1.0, 2.0]).predict_files(numbers)
    with pytest.raises(AttributeError, match="Hinge loss has no probabilities"):
        OnlineClassifier("hinge", calibrate=False).fit_files(path, **FEW).predict_proba_files(path)


def test_options_take_what_the_command_line_takes(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("ham,1,good day\nspam,2,buy now\n" * 20)
    given: dict[str, Any] = {"header": False, "text": 3, "bits": 8}
    one = OnlineClassifier().fit_files(path, label=1, characters=3, ignore=[2], **given)
    other = OnlineClassifier().fit_files(path, label="1", characters="3-3", ignore="2", **given)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.input_spec_.text.characters == (3, 3)
    with pytest.raises(ValueError, match="'x' is not of the form 3 or 3-5"):
        OnlineClassifier().fit_files(path, characters="x", **given)
    with pytest.raises(
        TypeError, match=r"files are named by paths, or a list of them; got list: use fit\(X, y\)"
    ):
        OnlineClassifier().fit_files([3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="checkpoint_every needs the name of a file"):
        OnlineClassifier().fit_files(path, checkpoint_every=10, label=1, **given)
    with pytest.raises(ValueError, match="class_weight='balanced' needs all the labels"):
        OnlineClassifier(class_weight="balanced").partial_fit_files(path, label=1, **given)
