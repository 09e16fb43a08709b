"""Models as ONNX, evaluated by its reference implementation."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from steelyard import OnlineClassifier, OnlineRegressor
from tests.cli.running import refused, run

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 4)).astype(np.float32)


def evaluated(model: Path, folder: Path, x: Any) -> tuple[onnx.ModelProto, Any]:
    run("export", model, "-o", folder / "m.onnx", "--force")
    found = onnx.load(folder / "m.onnx")
    return found, ReferenceEvaluator(found).run(None, {"X": x})


def test_classes(tmp_path: Path) -> None:
    for labels in (X[:, 0] > 0.0, np.argmax(X, axis=1)):
        estimator = OnlineClassifier().fit(X, labels)
        estimator.save(tmp_path / "m.model")
        found, (prediction, probability) = evaluated(tmp_path / "m.model", tmp_path, X)
        expected = estimator.predict_proba(X)
        shown = probability if probability.shape[1] > 1 else np.hstack([1.0 - probability, probability])
        np.testing.assert_allclose(shown, expected, atol=1e-5)
        assert len(prediction) == 300
        assert found.metadata_props[0].key == "classes"


def test_numbers(tmp_path: Path) -> None:
    estimator = OnlineRegressor().fit(X, X[:, 1])
    estimator.save(tmp_path / "m.model")
    _, (prediction,) = evaluated(tmp_path / "m.model", tmp_path, X)
    np.testing.assert_allclose(prediction[:, 0], estimator.predict(X), atol=1e-5)


def test_tables_of_numbers(tmp_path: Path) -> None:
    table = tmp_path / "x.csv"
    table.write_text("y,a,b\n" + "".join(f"{a - b},{a},{b}\n" for a, b, *_ in X.tolist()))
    run("train", table, "--label", "y", "--bits", "12", "-o", tmp_path / "m.model")
    _, (prediction,) = evaluated(tmp_path / "m.model", tmp_path, X[:, :2])
    shown = np.array(run("predict", tmp_path / "m.model", table).stdout.split(), float)
    np.testing.assert_allclose(prediction[:, 0], shown, atol=1e-5)


def test_texts_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "x.csv"
    table.write_text("y,colour\n" + "".join(f"{k % 2},{'ab'[k % 2]}\n" for k in range(20)))
    run("train", table, "--bits", "12", "-o", tmp_path / "m.model")
    assert "no columns of numbers" in refused("export", tmp_path / "m.model", "-o", tmp_path / "m.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert 'pip install "steelyard[onnx]"' in refused(
        "export", tmp_path / "m.model", "-o", tmp_path / "m.onnx"
    )


def test_a_loss_of_your_own_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from steelyard.losses import Loss\n\n\nclass Half(Loss):\n"
        "    def value(self, p, y):\n        return 0.25 * (p - y) ** 2\n\n"
        "    def derivative(self, p, y):\n        return 0.5 * (p - y)\n"
    )
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "x.csv"
    table.write_text("y,a\n" + "".join(f"{k},{k % 5}\n" for k in range(20)))
    run("train", table, "--label", "y", "--loss", "own:Half", "--bits", "12", "-o", tmp_path / "m.model")
    said = refused("export", tmp_path / "m.model", "--loss", "own:Half", "-o", tmp_path / "m.json")
    assert "a loss of your own cannot be exported" in said
    monkeypatch.undo()
