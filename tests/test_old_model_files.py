"""Files of earlier releases load in every later one, and go on."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard import OnlineClassifier, OnlineRegressor, losses, model_file
from steelyard.engine.row_sources import RowsInMemory
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.settings import Settings
from steelyard.sweep import grid
from steelyard.sweep.search import Search
from tests.cli.running import matrix, run, trained

DATA = Path(__file__).parent / "data"
FIRST_FORMAT = DATA / "format-1.safetensors"
OLD = DATA / "old"
EXPECTED = json.loads((OLD / "expected.json").read_text())


def test_the_first_format_loads_for_ever() -> None:
    """The file was written by the first release. Never write it anew: teach the loader instead."""
    content = model_file.load(FIRST_FORMAT)
    (old,) = content.engine.models
    assert old.settings == Settings(
        losses.by_name("quantile", tau=0.3), "invariant", "normalized", 0.25, 2.0, 0.5, 0.001, 0.002,
        follow_labels=False, follow_classes=False,
    )  # fmt: skip
    assert old.unit == 1.0
    assert (content.spec, content.class_names, content.estimator) == (None, None, None)
    assert old.clock == 20.0
    np.testing.assert_allclose(old.coefficients(), [-0.08692036, 0.0, 0.24467939], rtol=1e-6)


def test_the_first_format_learns_on_as_it_used_to(tmp_path: Path) -> None:
    """The unit of the labels was not looked at in those days, so it stays 1."""
    learner = Learner.load(FIRST_FORMAT)
    bias = learner.model.bias
    learner.learn(examples(np.ones((1, 3)), [1e6]))
    assert abs(learner.model.bias - bias) < 0.25
    learner.save(tmp_path / "again")
    assert Learner.load(tmp_path / "again").model.settings == learner.model.settings


@pytest.mark.parametrize("name", ["classifier", "auto", "classes", "regressor"])
def test_old_files_of_estimators(name: str, tmp_path: Path) -> None:
    """Written by the release before the present one; they predict the same, and so do their copies."""
    cls = OnlineRegressor if name == "regressor" else OnlineClassifier
    path, rows = OLD / f"python-{name}.model", np.array(EXPECTED["rows"])
    for turn in range(2):
        estimator = cls.load(path)
        answer = estimator.predict if name == "regressor" else estimator.decision_function
        np.testing.assert_allclose(answer(rows), EXPECTED["predictions"][name], rtol=1e-12)
        path = tmp_path / "again"
        if turn == 0:
            estimator.save(path)
    for column, class_name in enumerate(("a", "b", "c") if name == "classes" else (None,)):
        learner = Learner.load(path, class_name=class_name)
        expected = np.array(EXPECTED["predictions"][name]).reshape(len(rows), -1)[:, column]
        np.testing.assert_allclose(learner.predict(examples(rows)), expected, rtol=1e-5)
    if name == "classifier":
        assert cls.load(path).class_weight == {"ham": 2.0}
    assert name == "regressor" or cls.load(path).n_iter_ == 1


BEFORE_EPOCHS = json.loads((OLD / "before-epochs-expected.json").read_text())


@pytest.mark.parametrize("name", BEFORE_EPOCHS)
def test_files_of_the_release_before_epochs(name: str, tmp_path: Path) -> None:
    """Their total weight is not whole. They predict the same and learn on; from copies of them, to the last bit."""
    estimator = (OnlineRegressor if "regressor" in name else OnlineClassifier).load(
        OLD / f"before-epochs-{name}.model"
    )
    answer = estimator.predict if "regressor" in name else estimator.decision_function
    rows = np.load(OLD / "rows.npy")[: len(BEFORE_EPOCHS[name])]
    np.testing.assert_allclose(answer(rows), BEFORE_EPOCHS[name], rtol=1e-5, atol=1e-6)
    estimator.save(tmp_path / "copy")
    copy = type(estimator).load(tmp_path / "copy")
    labels = np.resize(getattr(estimator, "classes_", [9.0, 11.0]), len(rows))
    for each in (estimator, copy):
        each.partial_fit(rows, labels, sample_weight=np.full(len(rows), 0.3))
    again = copy.predict if "regressor" in name else copy.decision_function
    assert not np.allclose(answer(rows), BEFORE_EPOCHS[name], rtol=1e-5)
    np.testing.assert_array_equal(answer(rows), again(rows))


def test_a_model_of_the_command_line_goes_on_in_python() -> None:
    """Whether it follows labels was decided when it was begun, and is no parameter."""
    estimator = OnlineClassifier.load(OLD / "cli-two-classes.model")
    rows = matrix(OLD / "cli-two-classes.model", OLD / "rows.csv")
    before = estimator.decision_function(rows)
    estimator.partial_fit(rows, np.resize(["ham", "spam"], rows.shape[0]))
    assert (estimator.decision_function(rows) != before).any()


@pytest.mark.parametrize("name", ["cli-two-classes", "sweep-winner"])
def test_old_files_of_the_command_line(name: str) -> None:
    model, rows = OLD / f"{name}.model", OLD / "rows.csv"
    printed = run("predict", model, rows).stdout.split()
    labels = run("predict", model, rows, "--as", "label").stdout.split()
    estimator = OnlineClassifier.load(model)
    assert estimator.classes_.tolist() == ["ham", "spam"]
    assert estimator.decision_function(matrix(model, rows)) == pytest.approx(np.array(printed, float))
    assert labels == ["spam" if float(value) > 0.0 else "ham" for value in printed]
    assert Learner.load(model).model.features == estimator.n_features_in_
    assert json.loads(run("evaluate", model, rows, "--json").stdout)["accuracy"] > 0.6
    assert "word=a" in run("inspect", model).stdout
    assert run("explain", model, rows).stdout.count("prediction") == 10


def test_an_old_checkpoint_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the present release had begun the run, but for rates that changed with every row until then."""
    options = ("--bits", 8, "--passes", 2, "--holdout", 4, "--scaling", "normalized", "--repeated", "counts")
    (tmp_path / "rows.csv").write_bytes((OLD / "rows.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    found = trained("rows.csv", "--resume", OLD / "cli.model.checkpoint", "-o", "on")
    whole = trained("rows.csv", *options, "-o", "whole")
    for key in ("examples", "learned", "weight", "progressive_loss", "best_constant", "held_out_loss"):
        assert found[key] == pytest.approx(whole[key], rel=5e-3), key
    for name, array in model_file.load("whole").engine.models[0].arrays().items():
        resumed = model_file.load("on").engine.models[0].arrays()[name]
        if name == "weights":
            np.testing.assert_allclose(resumed, array, atol=0.02 * np.abs(array).max(), err_msg=name)


def test_an_old_state_of_a_search_goes_on(tmp_path: Path) -> None:
    rows = np.load(OLD / "rows.npy")
    state = tmp_path / "sweep.state"
    state.write_bytes((OLD / "sweep.state").read_bytes())
    labels = (rows @ np.array([1.0, -2.0, 0.5, 0.0]) > 0.0).astype(float)
    grid_ = {"learning_rate": [0.1, 0.5], "l1": [0.0, 0.01]}
    search = Search(
        grid.expand(Settings(losses.by_name("logistic"), scaling="normalized"), grid_).points,
        RowsInMemory(examples(rows, labels), holdout=5),
        features=4, classes=2, passes=3, threads=1, state=state, identity={"rows": "old"},
    )  # fmt: skip
    found = search.run()
    for name, expected in json.loads((OLD / "sweep-expected.json").read_text()).items():
        assert found.columns[name].tolist() == pytest.approx(expected, rel=0.01), name  # with rates of then


@pytest.mark.parametrize("name", ["standardized", "standardized-classes"])
def test_models_from_before_steps_followed_the_classes_go_on_as_they_began(name: str, tmp_path: Path) -> None:
    """Their learning rate is that of those days, and stays so in copies."""
    rows = np.load(OLD / "rows.npy")
    half = len(rows) // 2
    labels = np.where(rows @ np.array([1.0, -2.0, 0.5, 0.0]) > 1.0, "spam", "ham")
    if name == "standardized-classes":
        labels = np.where(rows[:, 0] > 0.5, "c", np.where(rows[:, 1] > 0.0, "b", "a"))
    expected = json.loads((OLD / "standardized-expected.json").read_text())[name]
    model = OnlineClassifier.load(OLD / f"python-{name}.model")
    np.testing.assert_allclose(model.decision_function(rows[:10]), expected["before"], rtol=1e-9)
    assert model.learning_rate_ == pytest.approx(0.6)
    model.save(tmp_path / "copy")
    for each in (model, OnlineClassifier.load(tmp_path / "copy")):
        each.partial_fit(rows[half:], labels[half:])
        answers = each.decision_function(rows[:10])
        np.testing.assert_allclose(answers, expected["after"], atol=0.03)  # rates follow the clock since then
        np.testing.assert_array_equal(answers, model.decision_function(rows[:10]))
