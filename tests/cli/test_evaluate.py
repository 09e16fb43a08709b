"""`evaluate` against scikit-learn's weighted metrics."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from steelyard import losses
from steelyard.cli.commands import evaluate
from steelyard.scoring import evaluation, ranked_scores
from tests.cli.running import refused, rows, run


def evaluated(model: Path, *files: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("evaluate", model, *files, "--json").stdout)
    return found


@pytest.mark.parametrize("loss", ["logistic", "hinge", "logarithmic", "modified_huber", "tanh_logarithmic"])
def test_against_scikit_learn(tmp_path: Path, file: Path, loss: str) -> None:
    model, test = tmp_path / "m", tmp_path / "test.vw"
    test.write_text(rows(400, 5, weights=True))
    run("train", file, "--loss", loss, "--labels=-1,1", "-o", model)
    lines = [line.split() for line in test.read_text().splitlines()]
    positive = np.array([line[0] == "1" for line in lines])
    weights = np.array([float(line[1]) for line in lines])
    raw = np.array([float(line.split()[0]) for line in run("predict", model, test).stdout.splitlines()])
    found = evaluated(model, test)
    zero_one = loss in ("logarithmic", "tanh_logarithmic")
    labels = np.where(positive, 1.0, 0.0 if zero_one else -1.0)
    middle = 0.5 if loss == "logarithmic" else 0.0
    assert found["examples"] == np.count_nonzero(weights)
    assert found["weight"] == pytest.approx(weights.sum())
    values = [losses.by_name(loss).value(p, y) for p, y in zip(raw.tolist(), labels.tolist(), strict=True)]
    assert found["loss"] == pytest.approx(np.average(values, weights=weights), rel=1e-6)
    assert found["accuracy"] == pytest.approx(
        sklearn_metrics.accuracy_score(positive, raw > middle, sample_weight=weights)
    )
    assert found["auc"] == pytest.approx(
        sklearn_metrics.roc_auc_score(positive, raw, sample_weight=weights), abs=1e-9
    )
    if loss == "logistic":
        chances = 1.0 / (1.0 + np.exp(-raw))
        expected = sklearn_metrics.log_loss(positive, chances, sample_weight=weights)
        assert found["loss"] == pytest.approx(expected, rel=1e-6)
    assert "calibration" in found


def test_calibration(file: Path, model: Path) -> None:
    found = evaluated(model, file)
    lines = [line.split() for line in file.read_text().splitlines()]
    positive = np.array([line[0] == "1" for line in lines])
    weights = np.array([float(line[1]) for line in lines])
    printed = run("predict", model, file, "--as", "probability").stdout.splitlines()
    chances = np.array([float(line.split()[0]) for line in printed])
    error = 0.0
    for row in found["calibration"]:
        within = (chances >= row["from"]) & (chances < row["from"] + 0.1)
        assert row["weight"] == pytest.approx(weights[within].sum())
        assert row["predicted"] == pytest.approx(np.average(chances[within], weights=weights[within]))
        assert row["observed"] == pytest.approx(np.average(positive[within], weights=weights[within]))
        error += row["weight"] * abs(row["predicted"] - row["observed"])
    assert found["calibration_error"] == pytest.approx(error / weights.sum())
    text = run("evaluate", model, file).stdout
    calibration = text[text.index("calibration: predicted probability of") :]
    assert calibration.count("\n") == len(found["calibration"]) + 2 + len(found["notes"])


def test_a_regression(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("".join(f"{k % 7 / 7} |a w{k % 7} w{k % 3}\n" for k in range(100)))
    run("train", path, "--loss", "squared", "-o", tmp_path / "m")
    predictions = np.array(run("predict", tmp_path / "m", path).stdout.split(), float)
    labels = np.array([k % 7 / 7 for k in range(100)])
    found = evaluated(tmp_path / "m", path)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((predictions - labels) ** 2)), rel=1e-6)
    assert found["best_constant"] == pytest.approx(labels.mean())
    assert "accuracy" not in found
    assert "root mean square error" in run("evaluate", tmp_path / "m", path).stdout
    said = refused("evaluate", tmp_path / "m", path, "--labels", "0,1")
    assert said == "--labels 0,1: the model predicts numbers, and knows no classes"


def test_one_class_only(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("1 |a w1\n1 |a w2\n")
    assert evaluated(model, path)["auc"] is None
    assert "area under ROC         undefined\n" in run("evaluate", model, path).stdout


def test_labels_matter(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("|a w1\n1 0 |a w1\n")
    assert "no row has a label and a weight" in refused("evaluate", model, path)
    path.write_text("|a w1\n1 |a w1\n5 |a w1\n")
    assert "rows.vw, line 3: the label 5 does not suit logistic loss" in refused("evaluate", model, path)
    found = json.loads(run("evaluate", model, path, "--json", "--on-error", "skip").stdout)
    assert (found["examples"], found["skipped"]) == (1, 1)


def test_what_is_beyond_all_numbers_is_undefined() -> None:
    assert evaluate.text({"examples": 3, "loss": None, "notes": []}) == (
        "examples               3\naverage loss           undefined"
    )


def test_what_a_constant_would_do_is_said(tmp_path: Path) -> None:
    path, other = tmp_path / "rows.csv", tmp_path / "other.csv"
    path.write_text("label,x\n" + "no,1\nyes,2\nno,1\n" * 30)
    run("train", path, "-o", tmp_path / "m", "--bits", "8")
    found = evaluated(tmp_path / "m", path)
    assert (found["most_frequent_class"], found["most_frequent_class_accuracy"]) == (
        "no",
        pytest.approx(2 / 3),
    )
    assert found["notes"] == [f"the model was trained on {path}: on new rows it may be much worse"]
    other.write_text("label,x\n" + "yes,1\nno,2\nyes,1\n" * 30)
    said = run("evaluate", tmp_path / "m", other).stdout
    assert "base-rate accuracy     0.666667\n" in said
    assert said.endswith("note: the model is worse than always answering yes, which is right for 66.67%\n")
    other.write_text("label,x\n" + "no,1\n" * 30 + "yes,1\n" * 10)
    assert evaluated(tmp_path / "m", other)["notes"] == [
        "the loss is above the best constant's: the same answer for every row would be better"
    ]


@pytest.mark.parametrize(
    ("log_loss", "said"),
    [
        (None, "the loss is above the best constant's, although more answers are right"),
        (0.6, "the loss is above the best constant's, although answers and probabilities are better"),
        (0.7, "more answers are right than a constant's, but the probabilities are worse than constant ones"),
    ],
)
def test_a_loss_above_the_constants_does_not_deny_the_accuracy(log_loss: float | None, said: str) -> None:
    result = {
        "loss": 0.5, "best_constant_loss": 0.4, "accuracy": 0.7, "most_frequent_class_accuracy": 0.5,
        "weight": 4.0, "classes": [{"weight": 2.0}, {"weight": 2.0}, {"weight": 0.0}],
    }  # fmt: skip
    result |= {} if log_loss is None else {"log_loss": log_loss}
    assert evaluation._worse_than_a_constant(result, weighted=False) == [said]


def test_class_weights_were_asked_for(tmp_path: Path) -> None:
    """A model that learned with them is not blamed for a lower accuracy."""
    path = tmp_path / "rows.csv"
    path.write_text("label,x\n" + "no,1\nno,1\nyes,1\nno,2\n" * 30)
    run("train", path, "-o", tmp_path / "m", "--bits", "8", "--class-weight", "yes=20")
    assert evaluated(tmp_path / "m", path)["notes"][0] == (
        "the model was trained with class weights, which trade accuracy for recall of the classes that "
        "weigh more (always answering no is right for 75.00%); its probabilities refer to the weighted rows"
    )


def test_figures_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    values = np.random.default_rng(5).normal(1e3, 1.0, 50)
    path.write_text("y,x\n" + "".join(f"{value:.6f},{k}\n" for k, value in enumerate(values)))
    run("train", path, "-o", tmp_path / "m", "--bits", "8")
    predictions = np.array(run("predict", tmp_path / "m", path).stdout.split(), float)
    labels = np.array([f"{value:.6f}" for value in values], float)
    found = evaluated(tmp_path / "m", path)
    assert found["r2"] == pytest.approx(sklearn_metrics.r2_score(labels, predictions), rel=1e-3)
    assert found["mae"] == pytest.approx(np.abs(labels - predictions).mean(), rel=1e-5)
    path.write_text("y,x\n3,1\n3,2\n")
    assert evaluated(tmp_path / "m", path)["r2"] is None


def test_many_different_scores(file: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than are kept: the area says how far it may be off."""
    exact = evaluated(model, file)
    assert exact["auc_error"] == 0.0
    monkeypatch.setattr(ranked_scores, "MOST", 20)
    found = evaluated(model, file)
    assert 0.0 < abs(found["auc"] - exact["auc"]) <= found["auc_error"] < 0.1
    assert any("the area under ROC may be off by" in note for note in found["notes"])
