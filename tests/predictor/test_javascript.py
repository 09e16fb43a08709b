"""The scorer in JavaScript beside the compiled predictions: `make test-node`."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import exporting
from steelyard.predictor import Predictor
from tests.predictor.models import KINDS, as_read, assert_same, made
from tests.predictor.test_schema import TABLE
from tests.support.token_vectors import CELLS, NAMES, TEXTS, VECTORS, keys_and_values

pytestmark = pytest.mark.node

_SCORE = """
import { readFileSync } from "node:fs";
import { Scorer } from "./scorer.js";
const scorer = new Scorer(JSON.parse(readFileSync("model.json")));
const rows = JSON.parse(readFileSync("rows.json"));
console.log(JSON.stringify(rows.map((row) => scorer.score(row))));
"""
_TOKENISE = """
import { readFileSync } from "node:fs";
import { Scorer, key, murmur, textFeatures } from "./scorer.js";
const { names, cells, texts } = JSON.parse(readFileSync("vectors.json"));
const bytes = (text) => new TextEncoder().encode(text);
const table = JSON.parse(readFileSync("model.json"));
const scorer = (role) => new Scorer({ ...table, columns: [{ name: "c", role }], missing: ["NA", "N/A"] });
console.log(JSON.stringify({
  names: names.map(({ name, seed }) => [murmur(bytes(name), seed), key(bytes(name), seed)]),
  cells: cells.map(({ role, cell }) => [...scorer(role).features({ c: cell })]),
  texts: texts.map(({ text, options }) => [...textFeatures(bytes(text), murmur(bytes("text"), 0), options)]),
}));
"""


def answer_of_node(script: str, folder: Path, **files: Any) -> Any:
    """What a script prints that finds the scorer and these files beside it, as JSON."""
    exporting.write_scorer(folder / "scorer.js")
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "script.js").write_text(script)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return json.loads(subprocess.check_output(["node", "script.js"], cwd=folder, text=True))


def test_tokens_in_node(tmp_path: Path) -> None:
    found = answer_of_node(_TOKENISE, tmp_path, vectors=VECTORS, model=TABLE)
    assert found["names"] == [[each["hash"], each["key"]] for each in NAMES]
    assert found["cells"] == [[[each["key"], each["value"]]] for each in CELLS]
    for given, tokens in zip(TEXTS, found["texts"], strict=True):
        expected = keys_and_values(given)
        assert [key for key, _ in tokens] == [key for key, _ in expected], given
        assert [value for _, value in tokens] == pytest.approx([x for _, x in expected], rel=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_predictions_in_node(kind: str, tmp_path: Path) -> None:
    model, rows, shown = made(kind, tmp_path)
    found = answer_of_node(_SCORE, tmp_path, model=as_read(model), rows=rows)
    assert_same([each["prediction"] for each in found], shown)
    if model.class_names is not None:
        predictor = Predictor(as_read(model))
        assert [each["label"] for each in found] == predictor.predict(rows)
        chances = [[each["probabilities"][name] for name in model.class_names] for each in found]
        np.testing.assert_allclose(chances, predictor.predict_proba(rows), atol=1e-12)
