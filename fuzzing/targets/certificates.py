"""Certificates through `active verify`: all agrees, or a line says what does not."""

import json
from pathlib import Path
from random import Random

import numpy as np

from fuzzing.commands import tried
from fuzzing.text_pieces import damaged_json_text
from steelyard.active.certification import Certification


def _certificate(measure: str, rows: int) -> dict[str, object]:
    target = 0.2 if measure == "error" else 0.7
    test = Certification(measure, target, ["a", "b"], ["a"] * rows, np.arange(rows), positive="a")
    while (row := test.ask_next()) is not None:
        test.answer(row, "b" if row % 31 == 0 else "a")
    return json.loads(json.dumps(test.certificate()))  # type: ignore[no-any-return]


class Certificates:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "bad.json"
        self._contents = [_certificate(measure, 60) for measure in ("error", "precision", "recall")]
        for content in self._contents:
            self._path.write_text(json.dumps(content))
            assert tried("active", "verify", self._path)

    def draw(self, chance: Random) -> bytes:
        return damaged_json_text(chance.choice(self._contents), chance)

    def check(self, data: bytes) -> int:
        self._path.write_bytes(data)
        tried("active", "verify", self._path)
        return 1


TARGETS = {"certificates": Certificates}
