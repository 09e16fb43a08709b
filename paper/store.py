"""Rows that were computed once stay in CSV files: whoever was killed half way goes on from there.

folder/steps/TABLE/KEY.csv     the rows of one step, written whole or not at all
folder/steps/TABLE/KEY.json    what they depend on, and how long they took; written last
folder/tables/TABLE.csv        the rows of all steps of a table, one after another
"""

import csv
import hashlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import steelyard
from paper.study import Cell, Row, Step
from steelyard.files import replacing


@dataclass(frozen=True)
class Store:
    """A folder of results."""

    folder: Path

    def seconds(self, step: Step) -> float | None:
        """How long a step took that is finished, its inputs the same as now; None for any other."""
        _, about = self._files(step)
        try:
            found = json.loads(about.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return float(found["seconds"]) if found["inputs"] == _inputs(step) else None

    def do(self, step: Step) -> float:
        """Compute and keep the rows; returns the seconds."""
        start = time.perf_counter()
        found = step.compute()
        seconds = time.perf_counter() - start
        rows, about = self._files(step)
        rows.parent.mkdir(parents=True, exist_ok=True)
        about.unlink(missing_ok=True)  # the new rows must not pass for the old ones
        _write(rows, found)
        with replacing(about) as path:
            path.write_text(
                json.dumps({"inputs": _inputs(step), "seconds": seconds}, indent=1), encoding="utf-8"
            )
        return seconds

    def gather(self, steps: Sequence[Step]) -> dict[str, list[Row]]:
        """The rows of finished steps by table, in order; they also go to tables/."""
        tables: dict[str, list[Row]] = {}
        for step in steps:
            tables.setdefault(step.table, []).extend(_read(self._files(step)[0]))
        (self.folder / "tables").mkdir(parents=True, exist_ok=True)
        for table, rows in tables.items():
            _write(self.folder / "tables" / f"{table}.csv", rows)
        return tables

    def _files(self, step: Step) -> tuple[Path, Path]:
        stem = self.folder / "steps" / step.table / step.key.replace("/", "-").replace(" ", "_")
        return stem.with_name(stem.name + ".csv"), stem.with_name(stem.name + ".json")


def _inputs(step: Step) -> dict[str, Any]:
    """With the code of the study and the version of what it tries; as JSON gives them back."""
    source = Path(str(sys.modules[step.compute.__module__].__file__)).read_bytes()
    everything = {
        **step.inputs,
        "code": hashlib.sha256(source).hexdigest()[:16],
        "steelyard": steelyard.__version__,
    }
    found: dict[str, Any] = json.loads(json.dumps(everything))
    return found


def _write(path: Path, rows: Sequence[Row]) -> None:
    heads = list(dict.fromkeys(name for row in rows for name in row))
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, heads)
        table.writeheader()
        table.writerows(rows)


def _read(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as stream:
        return [
            {name: _cell(text) for name, text in row.items() if text != ""} for row in csv.DictReader(stream)
        ]


def _cell(text: str) -> Cell:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
