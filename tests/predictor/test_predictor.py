"""The predictor without compiled code, beside the compiled one."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from steelyard import OnlineClassifier, OnlineRegressor
from steelyard.cli import scoring
from steelyard.predictor import Predictor
from steelyard.scoring import probabilities
from steelyard.token_rules import ASCII
from tests.cli.running import refused, run
from tests.predictor.models import KINDS, as_read, assert_same, made


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_predictions(kind: str, tmp_path: Path) -> None:
    model, rows, shown = made(kind, tmp_path)
    predictor = Predictor(as_read(model))
    raw = predictor.decision_function(rows)
    assert_same(raw, shown)
    if model.class_names is None:
        assert_same(predictor.predict(rows), shown)
        with pytest.raises(ValueError, match="has no probabilities"):
            predictor.predict_proba(rows)
        return
    labels = run("predict", model.path, tmp_path / "rows.jsonl", "--as", "label").stdout.split()
    assert predictor.predict(rows) == labels
    expected = probabilities.class_probabilities(model.loss, np.asarray(raw), model.content.calibration)
    np.testing.assert_allclose(predictor.predict_proba(rows), expected, rtol=0, atol=1e-15)


def test_matrices(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(200, 3)).astype(np.float32)
    y = np.array(["a", "b", "c"])[np.argmax(x, axis=1)]
    for estimator in (
        OnlineClassifier().fit(x, y),
        OnlineClassifier().fit(x, y == "a"),
        OnlineRegressor().fit(x, x[:, 0]),
    ):
        estimator.save(tmp_path / "m.model")
        run("export", tmp_path / "m.model", "-o", tmp_path / "m.json", "--force")
        predictor = Predictor.load(tmp_path / "m.json")
        assert list(map(str, predictor.predict(x))) == list(map(str, estimator.predict(x))) or np.allclose(
            np.asarray(predictor.predict(x), float), estimator.predict(x), rtol=1e-12
        )
    with pytest.raises(ValueError, match="a matrix of 3 columns is expected"):
        predictor.predict(x[:, :2])


def test_uncalibrated_classes_have_shares(tmp_path: Path) -> None:
    x = np.eye(3, dtype=np.float32).repeat(20, axis=0)
    estimator = OnlineClassifier(loss="modified_huber", calibrate=False).fit(x, np.arange(3).repeat(20))
    estimator.save(tmp_path / "m.model")
    predictor = Predictor(as_read(scoring.load_learned(tmp_path / "m.model", None)))
    np.testing.assert_allclose(predictor.predict_proba(-5 * x), estimator.predict_proba(-5 * x), atol=1e-12)


def test_texts_alone_need_no_object(tmp_path: Path) -> None:
    model, rows, _ = made("words", tmp_path)
    predictor = Predictor(as_read(model))
    texts = [str(row["text"]) for row in rows[:5]]
    assert predictor.predict(texts) == predictor.predict(rows[:5])
    assert predictor.predict([]) == []
    for row in ("a text", {"text": "a text"}):
        with pytest.raises(ValueError, match="rows come in a list"):
            predictor.predict(row)  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match="a row is an object by the names of its columns, or a text; got None"
    ):
        predictor.predict([None])  # type: ignore[arg-type]


def test_half_a_pair_of_surrogates(tmp_path: Path) -> None:
    model, _, _ = made("words", tmp_path)
    file = tmp_path / "odd.jsonl"
    file.write_text('{"text": "free \\ud83d prize\\ud83d"}\n{"text": "\\ud83d\\ude00 free"}\n')
    texts = [json.loads(line) for line in file.read_text().splitlines()]
    expected = [float(line.split()[0]) for line in run("predict", model.path, file).stdout.splitlines()]
    np.testing.assert_allclose(Predictor(as_read(model)).decision_function(texts), expected, rtol=1e-6)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    model, _, _ = made("table", tmp_path)
    predictor = Predictor(as_read(model))
    for row, message in (
        ({"id": [1]}, "is nested"),
        ({"id": "many"}, "'id' is 'many', which is not a number"),
        ({"id": "1_000"}, "is not a number"),
        ({"id": 1e30}, "so large that its square overflows"),
    ):
        with pytest.raises(ValueError, match=message):
            predictor.predict([row])
    assert predictor.predict([{"id": float("nan")}]) == predictor.predict([{"id": None}])
    several = Predictor(
        as_read(model) | {"columns": [{"name": "a", "role": "text"}, {"name": "b", "role": "text"}]}
    )
    with pytest.raises(ValueError, match="a row is an object"):
        several.predict(["text"])
    with pytest.raises(ValueError, match="not a model that steelyard export"):
        Predictor({})
    with pytest.raises(ValueError, match="is no JSON"):
        Predictor.load(model.path)


def test_names_are_written(tmp_path: Path) -> None:
    model, _, _ = made("words", tmp_path)
    names = as_read(model)["names"].values()
    assert "text^theorem" in names
    run("export", model.path, "-o", tmp_path / "m.json", "--no-names")
    assert "theorem" not in (tmp_path / "m.json").read_text()


def test_what_is_not_exported(tmp_path: Path) -> None:
    data = tmp_path / "x.vw"
    data.write_text("".join(f"{k % 2} |a w{k % 2}\n" for k in range(20)))
    run("train", data, "--bits", "12", "-o", tmp_path / "vw.model")
    assert "was trained on vw" in refused("export", tmp_path / "vw.model", "-o", tmp_path / "x.json")
    table = tmp_path / "x.csv"
    table.write_text("label,a,b\n" + "".join(f"{k % 2},{k % 3},{k % 5}\n" for k in range(30)))
    run("train", table, "--interactions", "a*b", "--bits", "12", "-o", tmp_path / "crossed.model")
    assert "has interactions" in refused("export", tmp_path / "crossed.model", "-o", tmp_path / "x.json")
    assert (
        "must end in .json" in run("export", tmp_path / "vw.model", "-o", tmp_path / "x.txt", code=2).stderr
    )
    run("export", tmp_path / "vw.model", "-o", tmp_path / "scorer.js")
    scorer = (tmp_path / "scorer.js").read_text()
    assert "class Scorer" in scorer
    assert f"const RULES = {json.dumps(ASCII.as_json())};" in scorer


def test_it_needs_numpy_and_nothing_else() -> None:
    code = (
        "import sys, steelyard.predictor;"
        "print(sorted({'numba', 'scipy', 'sklearn', 'llvmlite', 'safetensors'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
