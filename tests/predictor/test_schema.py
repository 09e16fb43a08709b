"""Exports that were damaged are refused before anything of them is used."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.predictor import Predictor

TABLE: dict[str, Any] = {
    "steelyard": 1, "dtype": "float32", "features": 16, "classes": ["a", "b"], "calibration": [[1.0, 0.0]],
    "loss": {"name": "logistic", "parameters": {}}, "kind": "table", "missing": ["NA"],
    "columns": [{"name": "t", "role": "text"}], "models": [{"bias": 0.5, "indices": [3], "weights": [1.0]}],
    "text": {"words": 1, "characters": [2, 3], "repeated": "counts"},
}  # fmt: skip


def changed(*place: Any, value: Any) -> dict[str, Any]:
    content = copy.deepcopy(TABLE)
    within: Any = content
    for each in place[:-1]:
        within = within[each]
    within[place[-1]] = value
    return content


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("dtype",), "object"), (("dtype",), 7), (("features",), 10**12), (("features",), 12),
        (("features",), True), (("kind",), "other"), (("classes",), ["a"]), (("classes",), ["a", "b", "c"]),
        (("classes",), [1, 2]), (("classes",), ["a", "\ud800"]), (("calibration",), [[1.0]]),
        (("calibration",), [[1.0, 0.0, -1.0]]),
        (("calibration",), [[1.0, 0.0]] * 2), (("loss",), "logistic"), (("loss", "parameters"), {"x": None}),
        (("models",), []), (("models", 0), 7), (("models", 0, "bias"), float("inf")),
        (("models", 0, "bias"), 10**400),
        (("models", 0, "indices"), [16]), (("models", 0, "indices"), [-1]),
        (("models", 0, "indices"), [3, 4]),
        (("models", 0, "weights"), [1e300]), (("models", 0, "weights"), [float("nan")]),
        (("columns",), 7), (("columns", 0, "role"), "label"), (("columns", 0), {}), (("missing",), [True]),
        (("text",), {}), (("text", "words"), 10**6), (("text", "characters"), [3, 2]),
        (("text", "characters"), [1]), (("text", "repeated"), []), (("text", "more"), 1),
    ],
)  # fmt: skip
def test_damaged_parts_are_named(place: tuple[Any, ...], value: Any) -> None:
    with pytest.raises(ValueError, match=f"is damaged: '{place[0]}' is not as"):
        Predictor(changed(*place, value=value))


def test_whole_numbers_of_any_size() -> None:
    huge = {"bias": 10**30, "indices": [0], "weights": [1]}
    matrix = changed("kind", value="matrix") | {"models": [huge], "calibration": [[10**30, -(10**30)]]}
    predictor = Predictor(matrix)
    assert predictor.decision_function([[0.0] * 16]) == [1e30]
    assert predictor.predict_proba([[0.0] * 16]).tolist() == [[1.0, 0.0]]


def test_sound_ones_and_no_exports(tmp_path: Path) -> None:
    for content in (TABLE, changed("text", "characters", value=None), changed("calibration", value=None),
                    changed("calibration", value=[[1.0, 0.0, 0.5]])):  # fmt: skip
        assert Predictor(content).decision_function([{"t": "x"}]).shape == (1,)
    path = tmp_path / "model.json"
    nothings: list[Any] = [[], 7, {}, {"steelyard": 2}]
    for nothing in nothings:
        path.write_text(json.dumps(nothing))
        with pytest.raises(ValueError, match=r"model\.json: not a model that steelyard export has written"):
            Predictor.load(path)
    path.write_text("[" * 100_000)
    with pytest.raises(ValueError, match="is no JSON"):
        Predictor.load(path)
    without = {name: part for name, part in TABLE.items() if name != "loss"}
    with pytest.raises(ValueError, match="'loss' is not as"):
        Predictor(without)
