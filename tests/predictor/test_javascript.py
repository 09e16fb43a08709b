"""The scorer in JavaScript beside the compiled predictions: `make test-node`."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from steelyard import exporting
from steelyard.predictor import Predictor
from tests.predictor.models import KINDS, as_read, assert_same, made

pytestmark = pytest.mark.node

_SCORE = """
import { readFileSync } from "node:fs";
import { Scorer } from "./scorer.js";
const scorer = new Scorer(JSON.parse(readFileSync("model.json")));
const rows = JSON.parse(readFileSync("rows.json"));
console.log(JSON.stringify(rows.map((row) => scorer.score(row))));
"""


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_predictions_in_node(kind: str, tmp_path: Path) -> None:
    model, rows, shown = made(kind, tmp_path)
    exporting.write_scorer(tmp_path / "scorer.js")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "score.js").write_text(_SCORE)
    (tmp_path / "model.json").write_text(json.dumps(as_read(model)))
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    found = json.loads(subprocess.check_output(["node", "score.js"], cwd=tmp_path, text=True))
    assert_same([each["prediction"] for each in found], shown)
    if model.class_names is not None:
        predictor = Predictor(as_read(model))
        assert [each["label"] for each in found] == predictor.predict(rows)
        chances = [[each["probabilities"][name] for name in model.class_names] for each in found]
        np.testing.assert_allclose(chances, predictor.predict_proba(rows), atol=1e-12)
