"""JSON exports for `steelyard.predictor`: it predicts, or raises a ValueError."""

import contextlib
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzzing.commands import documents, must
from fuzzing.text_pieces import damaged_json_text
from steelyard import OnlineClassifier
from steelyard.predictor import Predictor

_ROWS = [{"text": "buy now é 7", "language": "en", "id": 3}, {"text": None}, {}]


class Exports:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "bad.json"
        rows = documents(folder)
        for name, label in (("two", "quality"), ("several", "language")):
            must("train", rows, "--label", label, "--bits", 8, "--number", "id", "-o", folder / name)
            must("export", folder / name, "-o", folder / f"{name}.json")
        matrix = np.random.default_rng(0).normal(size=(40, 3))
        OnlineClassifier().fit(matrix, np.arange(40) % 3).save(folder / "matrix")
        must("export", folder / "matrix", "-o", folder / "matrix.json")
        self._contents = [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]

    def draw(self, chance: Random) -> bytes:
        return damaged_json_text(chance.choice(self._contents), chance)

    def check(self, data: bytes) -> int:
        self._path.write_bytes(data)
        with contextlib.suppress(ValueError):
            predictor = Predictor.load(self._path)
            rows: Any = [[1.0, 2.0, 3.0]] if predictor._matrix else _ROWS
            found = predictor.decision_function(rows)
            assert not np.isnan(found).any(), found
        return 1


TARGETS = {"exports": Exports}
