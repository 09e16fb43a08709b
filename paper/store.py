"""Computed rows are stored in CSV files, so that a run that was killed can continue.

folder/steps/TABLE/KEY.csv     the rows of one step, written whole or not at all
folder/steps/TABLE/KEY.json    their inputs, their digest, how long they took; written last
folder/tables/TABLE.csv        the rows of all steps of a table, one after another
"""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import steelyard
from paper import machine, source_code, typed_csv
from paper.study import Row, Step
from steelyard._atomic_files import replacing


@dataclass(frozen=True)
class Store:
    """A folder of results."""

    folder: Path

    def seconds(self, step: Step) -> float | None:
        """How long the step took if it is finished with the same inputs as now; else None.

        A step is finished if its rows are unchanged since they were written; damaged files count as missing.
        """
        about = self.about(step)
        try:
            if about["inputs"] != _inputs(step) or about["rows"] != _digest(self._files(step)[0]):
                return None
            return float(about["seconds"])
        except (OSError, KeyError):
            return None

    def about(self, step: Step) -> dict[str, Any]:
        """What is recorded about a step, whenever and with whatever inputs it was computed; may be empty."""
        try:
            found = json.loads(self._files(step)[1].read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def do(self, step: Step) -> float:
        """Compute and store the rows; returns the seconds."""
        start = time.perf_counter()
        text, kinds = typed_csv.format_rows(step.compute())
        seconds = time.perf_counter() - start
        rows, about = self._files(step)
        rows.parent.mkdir(parents=True, exist_ok=True)
        about.unlink(missing_ok=True)  # the new rows must not pass for the old ones
        write_text(rows, text)
        found = {
            "inputs": _inputs(step),
            "seconds": seconds,
            "rows": _digest(rows),
            "kinds": kinds,
            "machine": machine.description(),
        }
        write_text(about, json.dumps(found, indent=1))
        return seconds

    def gather(self, steps: Sequence[Step]) -> dict[str, list[Row]]:
        """The rows of finished steps by table, in order; also written to tables/."""
        tables: dict[str, list[Row]] = {}
        for step in steps:
            text = self._files(step)[0].read_text(encoding="utf-8")
            tables.setdefault(step.table, []).extend(typed_csv.parse_rows(text, self.about(step)["kinds"]))
        (self.folder / "tables").mkdir(parents=True, exist_ok=True)
        for table, rows in tables.items():
            write_text(self.folder / "tables" / f"{table}.csv", typed_csv.format_rows(rows)[0])
        return tables

    def check(self, steps: Sequence[Step]) -> None:
        """Raise an error if two steps share a file."""
        taken: dict[str, Step] = {}
        for step in steps:
            path = str(self._files(step)[0]).casefold()  # some file systems ignore case
            if path in taken:
                raise ValueError(
                    f"two steps of table {step.table!r} have keys that make one file name: "
                    f"{taken[path].key!r} and {step.key!r}"
                )
            taken[path] = step

    def _files(self, step: Step) -> tuple[Path, Path]:
        stem = self.folder / "steps" / step.table / step.key.replace("/", "-").replace(" ", "_")
        return stem.with_name(stem.name + ".csv"), stem.with_name(stem.name + ".json")


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all, with line ends as they are."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def _inputs(step: Step) -> Mapping[str, Any]:
    """The inputs of the step, its code, and the version and code of the library, as JSON reads them back."""
    everything = {
        **step.inputs,
        "code": source_code.digest(step.compute),
        "steelyard": steelyard.__version__,
        "library": source_code.library(),
    }
    found: dict[str, Any] = json.loads(json.dumps(everything))
    return found


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
