"""Model files that were damaged or made up are refused, with the path and a reason, before they are used."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from steelyard import OnlineClassifier, OnlineRegressor, _field_types, model_file
from steelyard.cli import main
from steelyard.engine.training_record import TrainingRecord
from steelyard.io.errors import InputError
from steelyard.io.labels import LabelRule
from steelyard.text.tokens import TextOptions
from tests.cli.running import run

Arrays = dict[str, NDArray[Any]]
STRANGE: tuple[Any, ...] = (
    float("inf"), float("nan"), -1, 0, 10**6, 10**30, 1e308, -1e308, "", "x", "\x1b[31m", [], {}, None, True,
    [1], [[1]], {"a": 1},
)  # fmt: skip


def content(path: Path) -> tuple[dict[str, Any], Arrays]:
    with safe_open(path, "numpy") as file:
        about = json.loads(file.metadata()["steelyard"])
        return about, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def written(path: Path, about: Any, arrays: Arrays) -> Path:
    save_file(arrays, path, {"steelyard": json.dumps(about)})
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of files, with names, numbers, texts and four classes."""
    folder = tmp_path_factory.mktemp("models")
    rows = "".join(f"c{i % 4},{1.5 * i},{'AB'[i % 2]},good word{i % 5} bad\n" for i in range(60))
    (folder / "rows.csv").write_text("label,age,city,text\n" + rows)
    run("train", folder / "rows.csv", "--bits", 10, "-o", folder / "model")
    return folder / "model"


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("features", float("inf"), "no 'features' that makes sense"),
        ("features", 2**33, "no 'features'"),
        ("settings", {"loss": 1}, "no 'settings'"),
        ("extra", [], "no 'extra'"),
        ("format", float("inf"), "metadata make no sense"),
        ("extra.n_iter", -1, "no 'n_iter'"),
        ("extra.calibration", [[0.0]], "no 'calibration'"),
        ("extra.calibration", [[0.0, 1.0, -1.0]], "no 'calibration'"),
        ("extra.calibration", [[0.0, 1.0]], "it has 4 models but probabilities for 1"),
        ("extra.classes", {"dtype": "V8", "values": []}, "no 'classes'"),
        ("extra.classes", {"dtype": "<U1", "values": ["a"]}, "it has 4 classes but the names of 1"),
        ("extra.contest.classes", 10**9, "no 'contest'"),
        ("extra.weight_summary", {"rows": float("nan")}, "no 'weight_summary'"),
        ("settings.bias", [1], "Settings.bias"),
        ("settings.l2", float("inf"), "l2 must be a finite number"),
    ],
)
def test_metadata(place: str, value: Any, reason: str, model: Path, tmp_path: Path) -> None:
    about, arrays = content(model)
    *parents, last = place.split(".")
    inner = about
    for name in parents:
        inner = inner[name]
    inner[last] = value
    bad = written(tmp_path / "bad", about, arrays)
    with pytest.raises(ValueError, match="bad: not a model file") as raised:
        model_file.load(bad)
    assert reason in str(raised.value)


def with_one(array: NDArray[Any], value: float) -> NDArray[Any]:
    changed = array.copy()
    changed.reshape(-1)[0] = value
    return changed


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("weights", lambda array: with_one(array, np.nan), "'weights' has something that is not a number"),
        ("weights", lambda array: array.astype(bool), "'weights' has something that is not a number"),
        ("column_counts", lambda array: array + 10**6, "promises"),
        ("columns", lambda array: with_one(array, 10**6), "not among its features"),
        ("candidates", lambda array: with_one(array, 0.5), "no whole numbers"),
        ("names_index", lambda array: array.reshape(1, -1), "'names_index' is missing or"),
        ("names_text", lambda array: array.astype("f8"), "'names_text' is missing or not of the right kind"),
        ("names_length", lambda array: array[1:], "'names_index' and 'names_length' do not fit"),
        ("names_first", lambda array: with_one(array, -1), "'names_first' names features"),
        ("names_text", lambda array: array[1:], "longer or shorter than their text"),
        ("names_length", lambda array: with_one(array, -1), "longer or shorter than their text"),
    ],
)  # fmt: skip
def test_arrays(
    name: str, change: Callable[[NDArray[Any]], NDArray[Any]], reason: str, model: Path, tmp_path: Path
) -> None:
    about, arrays = content(model)
    if name == "columns":
        arrays["column_counts"][0], arrays["columns"] = 1, np.zeros(1, np.int64)
    if name == "candidates":
        arrays["column_counts"][1], arrays["candidates"] = 1, np.zeros((1, 5))
    arrays[name] = np.ascontiguousarray(change(arrays[name]))
    with pytest.raises(ValueError, match="bad: not a model file") as raised:
        model_file.load(written(tmp_path / "bad", about, arrays))
    assert reason in str(raised.value)


def changed_somewhere(about: Any, chance: random.Random) -> None:
    """One value of the metadata, at any depth, replaced or left out."""
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        keys = list(value) if isinstance(value, dict) else list(range(min(len(value), 4)))
        for key in keys:
            places.append((value, key))
            if isinstance(value[key], dict | list):
                walk(value[key])

    walk(about)
    inside, key = chance.choice(places)
    if isinstance(inside, dict) and chance.random() < 0.2:
        del inside[key]
    else:
        inside[key] = chance.choice(STRANGE)


def test_no_metadata_end_in_a_traceback(model: Path, tmp_path: Path) -> None:
    chance = random.Random(0)
    X = np.random.default_rng(0).normal(size=(40, 3))
    OnlineRegressor().fit(X, X[:, 0]).save(tmp_path / "numbers")
    refused = 0
    for turn in range(120):
        source = model if turn % 3 else tmp_path / "numbers"
        about, arrays = content(source)
        changed_somewhere(about, chance)
        bad = written(tmp_path / "bad", about, arrays)
        try:
            if turn % 3:
                OnlineClassifier.load(bad)
            else:
                OnlineRegressor.load(bad).predict(X)
        except ValueError:
            refused += 1
        command = ("evaluate", "predict")[turn % 2]
        arguments = (command, bad, model.parent / "rows.csv") if turn % 3 else ("inspect", bad)
        result = CliRunner().invoke(main, list(map(str, arguments)))
        assert result.exception is None or isinstance(result.exception, SystemExit), about
        assert "\x1b" not in result.output
    assert refused > 20


def test_what_is_found_when_it_is_used(model: Path, tmp_path: Path) -> None:
    about, arrays = content(model)
    about["extra"]["reading"]["weight_factor"] = -1.0
    with pytest.raises(ValueError, match=r"bad: damaged: how rows are to be read .*times -1"):
        OnlineClassifier.load(written(tmp_path / "bad", about, arrays))
    OnlineRegressor().fit([[1.0], [2.0]], [1.0, 2.0]).save(tmp_path / "numbers")
    about, arrays = content(tmp_path / "numbers")
    about["extra"]["parameters"]["unheard_of"] = 1
    with pytest.raises(ValueError, match=r"bad: not a model file, or a damaged one .*unheard_of"):
        OnlineRegressor.load(written(tmp_path / "bad", about, arrays))


def test_types_of_fields() -> None:
    _field_types.check(TextOptions(2, (3, 5)))
    with pytest.raises(TypeError, match=r"TextOptions\.characters is"):
        _field_types.check(TextOptions(2, (1, 2, 3)))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"TextOptions\.words is 'True'"):
        _field_types.check(TextOptions(True))
    with pytest.raises(InputError, match="its record of the training makes no sense"):
        TrainingRecord.of({"curve": [[]]})
    with pytest.raises(ValueError, match="the codes of 3 classes are"):
        LabelRule.from_json({"names": ["a", "b", "c"], "values": [0, 1, 1e308]})
