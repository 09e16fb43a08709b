"""`--learning-rate auto`, `--class-weight` and `--calibrate`: what the estimators do, bit for bit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from steelyard import OnlineClassifier, model_file
from tests.cli.running import blocks_of, matrix, refused, rows, run, trained
from tests.estimators.data import STREAM

BITS = ("--bits", 10)


def labels(path: Path) -> tuple[list[int], list[float]]:
    """The labels and the weights of a Vowpal Wabbit file."""
    lines = [line.split() for line in path.read_text().splitlines()]
    return [int(line[0]) for line in lines], [float(line[1]) for line in lines]


def same(model: Path, expected: OnlineClassifier) -> OnlineClassifier:
    loaded = OnlineClassifier.load(model)
    np.testing.assert_array_equal(loaded.coef_, expected.coef_)
    np.testing.assert_array_equal(loaded.intercept_, expected.intercept_)
    return loaded


def further(estimator: OnlineClassifier, model: Path, path: Path) -> OnlineClassifier:
    codes, weights = labels(path)
    return estimator.partial_fit(matrix(model, path), codes, sample_weight=weights)


def test_auto(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "m"
    options = ("--learning-rate", "auto", *BITS)
    said = run("train", file, *options, "-o", model).stdout
    assert "learning rate: auto, a mixture of " in said
    found = trained(file, *options)
    expected = OnlineClassifier(learning_rate="auto", **STREAM).fit(matrix(model, file), *labels(file))
    loaded = same(model, expected)
    assert loaded.learning_rate == "auto"
    assert found["auto"]
    assert found["learning_rate"] == expected.learning_rate_
    assert f"learning rate          {found['learning_rate']:g}, power_t {found['power_t']:g} (auto)\n" in said
    assert found["progressive_loss"] == pytest.approx(expected.progressive_loss_, rel=1e-12)
    assert " (auto)\n" in run("inspect", model).stdout
    more = tmp_path / "more.vw"
    more.write_text(rows(60, 3, weights=True))
    trained(more, "--resume", model, "-o", tmp_path / "on")
    same(tmp_path / "on", further(expected, model, more))
    whole = trained(file, *options, "--passes", 2, "-o", tmp_path / "whole")
    save = model_file.save

    def stop(path: Path, content: Any) -> None:
        save(path, content)
        raise KeyboardInterrupt

    blocks_of(700, monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr(model_file, "save", stop)
        given = (file, *options, "--passes", 2, "-o", tmp_path / "n", "--checkpoint-every", 120)
        run("train", *given, code=1)
    on = trained(file, "--resume", tmp_path / "n.checkpoint", "-o", tmp_path / "n")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "whole").read_bytes()
    assert on["progressive_loss"] == whole["progressive_loss"]


def test_a_rate_that_is_none(file: Path) -> None:
    assert (
        "'fast' is neither a number nor auto." in run("train", file, "--learning-rate", "fast", code=2).stderr
    )


@pytest.mark.parametrize("command", ["train", "sweep"])
@pytest.mark.parametrize(("option", "value"), [("--rates", "flow"), ("--l2-flow", "joint")])
def test_options_that_are_gone(file: Path, command: str, option: str, value: str) -> None:
    said = " ".join(run(command, file, option, value, code=2).stderr.split())
    assert (
        f"No such option '{option}': it is gone, since a weight of h is exactly h copies with every setting; "
        "leave it out" in said
    )


@pytest.mark.parametrize(
    ("given", "weights"), [("balanced", "balanced"), ("-1=3,1=0.5", {-1: 3.0, 1: 0.5}), ("1.0=2", {1: 2.0})]
)
def test_class_weights(file: Path, tmp_path: Path, given: str, weights: Any) -> None:
    model = tmp_path / "m"
    found = trained(file, "--class-weight", given, *BITS, "-o", model)
    expected = OnlineClassifier(class_weight=weights, **STREAM).fit(matrix(model, file), *labels(file))
    loaded = same(model, expected)
    assert loaded.class_weight == weights
    assert found["weight"] == pytest.approx(expected.model_.total_weight)
    if weights == "balanced":
        return
    more = tmp_path / "more.vw"
    more.write_text(rows(60, 3, weights=True))
    trained(more, "--resume", model, "-o", model)
    same(model, further(expected, model, more))


@pytest.mark.parametrize(("given", "weights"), [("balanced", "balanced"), ("c=2, a=5", {"a": 5.0, "c": 2.0})])
def test_weights_of_classes_by_name(tmp_path: Path, given: str, weights: Any) -> None:
    path, model = tmp_path / "rows.csv", tmp_path / "m"
    names = ["abcab"[k % 5] for k in range(50)]
    path.write_text("label,x\n" + "".join(f"{name},{k % 7}\n" for k, name in enumerate(names)))
    trained(path, "--class-weight", given, *BITS, "-o", model)
    same(model, OnlineClassifier(class_weight=weights, **STREAM).fit(matrix(model, path), names))
    said = refused("train", path, "--class-weight", "d=2")
    assert said == "--class-weight has 'd', which is not a class; the classes are ['a', 'b', 'c']"


def test_class_weights_that_make_no_sense(file: Path, tmp_path: Path) -> None:
    for given in ("heavy", "a=b", "=2", "1=2,"):
        said = " ".join(run("train", file, "--class-weight", given, code=2).stderr.split())
        assert f"{given!r} is neither balanced nor of the form ham=1,spam=5." in said
    assert "the class weight of 1 must be finite and not negative; got -2.0" in refused(
        "train", file, "--class-weight", "1=-2"
    )
    assert refused("train", file, "--class-weight", "1=2", "--loss", "squared") == (
        "class weights are for classes, and the labels are numbers"
    )
    said = refused("train", "-", "--class-weight", "balanced", stdin=file.read_bytes())
    assert said.startswith("standard input can be read only once, and --class-weight balanced counts")


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_calibrated_probabilities(tmp_path: Path, loss: str, classes: int) -> None:
    """Fitted to rows that were not learned, on which they are no worse than the shares of the classes."""
    path, model = tmp_path / "rows.csv", tmp_path / "m"
    draw = np.random.default_rng(classes)
    codes = draw.integers(0, classes, 240)
    values = codes[:, np.newaxis] == np.arange(classes) + draw.normal(0.0, 0.9, (240, classes)).round()
    lines = ["label,weight," + ",".join(f"x{k}" for k in range(classes))]
    lines += [
        f"{'abc'[code]},{1 + k % 3}," + ",".join(map(str, row.astype(int)))
        for k, (code, row) in enumerate(zip(codes, values, strict=True))
    ]
    path.write_text("\n".join(lines) + "\n")
    options = (path, "--loss", loss, *BITS, "--holdout", 3, "--label", "label", "--weight", "weight")
    assert trained(*options, "--calibrate", "-o", model)["calibrated"]
    plain = tmp_path / "plain"
    assert not trained(*options, "--no-calibrate", "-o", plain)["calibrated"]
    assert run("predict", model, path).stdout == run("predict", plain, path).stdout
    printed = [
        line.split() for line in run("predict", model, path, "--as", "probability").stdout.splitlines()
    ]
    chances = np.array(printed, float)
    if classes == 2:
        chances = np.column_stack((1.0 - chances, chances))
    assert chances.sum(axis=1) == pytest.approx(np.ones(240))
    estimator = OnlineClassifier.load(model)
    assert estimator.predict_proba(matrix(model, path)) == pytest.approx(chances, rel=1e-6, abs=1e-8)
    weights = 1.0 + np.arange(240) % 3
    held = np.arange(2, 240, 3)

    def log_loss(shown: Any) -> float:
        found: float = sklearn_metrics.log_loss(
            codes[held], shown, sample_weight=weights[held], labels=range(classes)
        )
        return found

    shares = np.bincount(codes[held], weights[held]) / weights[held].sum()
    assert log_loss(chances[held]) < log_loss(np.tile(shares, (len(held), 1)))
    if loss == "logistic":
        uncalibrated = OnlineClassifier.load(plain).predict_proba(matrix(model, path))
        assert log_loss(chances[held]) <= log_loss(uncalibrated[held]) + 0.01
    else:
        assert "hinge loss has no probabilities" in refused("predict", plain, path, "--as", "probability")
        with pytest.raises(AttributeError, match="there is no predict_proba"):
            _ = OnlineClassifier.load(plain).predict_proba
    found = json.loads(run("evaluate", model, path, "--json").stdout)
    expected = sklearn_metrics.log_loss(codes, chances, sample_weight=weights)
    assert found["log_loss"] == pytest.approx(expected, rel=1e-6)
    assert found["calibration_error"] < 0.2
    assert json.loads(run("inspect", model, "--json").stdout)["calibrated"]


def test_calibration_needs_rows_that_are_not_learned(file: Path, model: Path, tmp_path: Path) -> None:
    said = refused("train", file, "--calibrate", "--resume", model)
    needs = "calibration on held-out rows needs classes, and rows that are not learned: --holdout 10, say"
    assert said == needs
    assert refused("train", file, "--calibrate", "--holdout", 5, "--loss", "squared") == said
    trained(file, "--calibrate", "--holdout", 5, "--resume", model, "-o", tmp_path / "on")
    assert not model_file.load(tmp_path / "on").progressive_calibration
    shown = run("train", file, "--resume", tmp_path / "on").stdout
    assert "the calibration of probabilities was kept; --holdout 10 --calibrate fits it again" in shown
    assert "calibrated on rows held out" in run("inspect", tmp_path / "on").stdout
    assert len(model_file.load(tmp_path / "on").calibration or ()) == 1
    said = refused("train", "-", "--calibrate", "--holdout", 5, stdin=file.read_bytes())
    assert said.startswith("standard input can be read only once, and calibration predicts the rows")
    few = tmp_path / "few.vw"
    few.write_text("1 |a b\n-1 |a c\n")
    said = refused("train", few, "--calibrate", "--holdout", 5)
    assert said == "no row with a label and a weight was held out to calibrate on"


@pytest.mark.parametrize("kind", ["two", "three", "auto", "numbers", "named"])
def test_models_saved_from_python(tmp_path: Path, kind: str) -> None:
    """Every command opens them; those that read files say what is missing."""
    from steelyard import OnlineRegressor

    draw = np.random.default_rng(0)
    X: Any = draw.normal(size=(400, 3))
    names = np.array(["a", "b", "c"])[X.argmax(axis=1)]
    path = tmp_path / "m"
    if kind == "numbers":
        OnlineRegressor().fit(X, X[:, 0]).save(path)
    elif kind == "three":
        OnlineClassifier().fit(X, names).save(path)
    else:
        if kind == "named":
            pandas = pytest.importorskip("pandas")
            X = pandas.DataFrame(X, columns=["red", "green", "blue"])
        rate = "auto" if kind == "auto" else None
        OnlineClassifier(learning_rate=rate).fit(X, np.where(names == "a", 1, 0)).save(path)
    said = run("inspect", path).stdout
    found = json.loads(run("inspect", path, "--json").stdout)
    assert "reads                  rows in Python (it does not know how files are read)\n" in said
    assert found["made_by"] == ("OnlineRegressor" if kind == "numbers" else "OnlineClassifier")
    assert found["classes"] == {"numbers": None, "three": ["a", "b", "c"]}.get(kind, ["0", "1"])
    assert found["settings"]["auto"] == (kind == "auto")
    assert found["learned_weight"] == 2000.0  # in five passes
    shown = found["models"][0] if kind == "three" else found
    assert shown["top_positive"][0]["feature"] == ("red" if kind == "named" else "#0")
    rows_file = tmp_path / "rows.csv"
    rows_file.write_text("label,x\n1,2\n0,3\n")
    for command in (("predict", path), ("evaluate", path), ("explain", path), ("train", "--resume", path)):
        said = refused(*command, rows_file)
        assert said == (
            f"{path}: this model was fitted to rows in Python and does not know how files are read; "
            "use it there, or train it on files (steelyard train, or fit_files)"
        )


def test_inspect_shows_class_weights(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,a\n" + "ham,1\nspam,2\n" * 9)
    for given, shown in (("ham=1,spam=5", "ham=1, spam=5"), ("balanced", "balanced")):
        run("train", path, "--bits", 4, "--class-weight", given, "-o", tmp_path / "m")
        assert f"class weight           {shown}\n" in run("inspect", tmp_path / "m").stdout


def test_progressive_predictions_calibrate(file: Path, tmp_path: Path) -> None:
    """By default, and the same as in Python; going on with a model goes on with that."""
    model, whole, twice = (tmp_path / name for name in ("m", "whole", "twice"))
    assert trained(file, "-o", model)["calibrated"]
    assert "calibrated on progressive predictions" in run("inspect", model).stdout
    trained(file, "--calibrate", "-o", whole)
    assert whole.read_bytes() == model.read_bytes()
    estimator = OnlineClassifier.load(model)
    assert estimator.calibrate
    assert estimator.calibration_ == model_file.load(model).calibration
    trained(file, file, "-o", whole)
    trained(file, "--resume", model, "-o", twice)
    assert model_file.load(whole).calibration == model_file.load(twice).calibration
    assert estimator.partial_fit_files(file).calibration_ == model_file.load(twice).calibration
    said = refused("train", file, "--no-calibrate", "--resume", model)
    assert said == "a model keeps its calibration when it is resumed: leave out --no-calibrate"
    said = refused("train", file, "--calibrate", "--loss", "squared")
    assert said == "--calibrate is for classes, and the labels are numbers"
    assert not trained(file, "--loss", "squared")["calibrated"]
    trained(file, "--loss", "hinge", "--no-calibrate", "-o", model)
    assert not OnlineClassifier.load(model).calibrate
    assert "the model was not calibrated" in refused("predict", model, file, "--as", "probability")
