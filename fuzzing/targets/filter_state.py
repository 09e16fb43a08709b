"""The records of a filter's folder: a run goes on, or says which file is damaged."""

import contextlib
import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

from fuzzing.commands import documents, must
from fuzzing.text_pieces import damage, damage_json
from steelyard.filtering import filter_files, inputs, run
from steelyard.filtering.run_folder import OWN
from tests.filtering.corpus import rows, write_jsonl


class FilterState:
    """An input is a number of a file and its content, behind it."""

    def __init__(self, folder: Path) -> None:
        inputs.BLOCK, run._CHECKPOINT = 1024, 2
        self._folder, self._model, self._corpus = folder, folder / "model", folder / "corpus"
        must(
            "train", documents(folder), "--label", "quality", "--text", "text", "--bits", 8, "-o", self._model
        )
        for name in ("a.jsonl", "b.jsonl"):
            write_jsonl(self._corpus / name, rows(60, 3))
        self._begun = folder / "begun"

        def interrupt(path: str, position: int, count: int) -> None:
            if count > 90:
                raise KeyboardInterrupt

        with contextlib.suppress(KeyboardInterrupt):
            self._filter(self._begun, interrupt)
        self._files = sorted(path for path in (self._begun / OWN).rglob("*.json"))
        self._whole = folder / "whole"
        self._filter(self._whole, None)

    def _filter(self, output: Path, progress: Any) -> None:
        filter_files(
            self._model, self._corpus, output, keep="p >= 0.5", audit_size=10, threads=1, progress=progress
        )

    def draw(self, chance: Random) -> bytes:
        number = chance.randrange(len(self._files))
        path = self._files[number]
        if chance.random() < 0.2:
            return bytes([number]) + damage(path.read_bytes(), [path.read_bytes()], chance)
        return bytes([number]) + json.dumps(damage_json(json.loads(path.read_bytes()), chance)).encode()

    def check(self, data: bytes) -> int:
        output = self._folder / "run"
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(self._begun, output)
        damaged = output / self._files[data[0] % len(self._files)].relative_to(self._begun)
        damaged.write_bytes(data[1:])
        with contextlib.suppress(ValueError, OSError):
            self._filter(output, None)
            assert not list(output.glob(".*.partial"))
        outside = {path.name for path in self._folder.iterdir()}
        assert outside <= {"model", "corpus", "begun", "whole", "run", "rows.jsonl"}, outside
        return 1


TARGETS = {"filter": FilterState}
