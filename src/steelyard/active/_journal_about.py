"""`AboutEntry`: the parameters that a journal was started with, and has to go on with."""

import json
from dataclasses import asdict
from typing import Any

from steelyard.active._damage import reading
from steelyard.active._journal_file import JournalFile
from steelyard.active.events import CHANGE, WITHDRAW
from steelyard.model import Settings

WITH_CHANGES, WITH_CLASSES = 3, 4
FORMAT = WITH_CLASSES
"""1: the strategy is iwal; 2: it is another; 3: there are changes; 4: there are more than two classes.

A journal has the lowest that it can have: older versions know up to theirs.
"""

_FIRST_STRATEGY = {"name": "iwal"}  # the strategy of journals that do not name one
_FIRST_PARAMETERS = {"relevance": {"presumed": 0}}  # of strategies, where journals do not name them


class AboutEntry:
    """The entry of a journal about settings, plan, training, strategy, classes and pool."""

    def __init__(self, file: JournalFile) -> None:
        self._file = file

    def begin(self, about: dict[str, dict[str, Any]]) -> None:
        """Start the journal with these parameters, or check that it was started with the same.

        A setting that an older journal does not name had its default. The positive class and the parts of
        the pool, if it does not name them either, are those that are named now, and are written down. The
        budget may be another, the pool may grow, and more examples may be expected.
        """
        kept = self.read()
        if kept is None:
            self._write(about)
            return
        before, after = kept["strategy"]["name"], about["strategy"]["name"]
        if before != after:
            raise ValueError(
                f"{self._file.path}: was started with the strategy {before!r} and cannot continue with "
                f"{after!r}; use {before!r}, or start a new journal"
            )
        known = kept | {
            "settings": asdict(Settings()) | kept["settings"],
            "training": {"fit": "averaged"} | kept["training"],
        }
        unsaid = {"positive", "parts"} & (about["about"].keys() - kept["about"].keys())
        known["about"] = {name: about["about"][name] for name in unsaid} | kept["about"]
        same = json.loads(json.dumps(about))
        known["plan"], known["about"], more = _changed(known, same)
        changed = [name for part in same for name in same[part] if known[part].get(name) != same[part][name]]
        if changed:
            raise ValueError(
                f"{self._file.path}: was started with another {' and '.join(changed)}; continue with the "
                "parameters it was started with, or start a new journal"
            )
        if unsaid or more:
            self._write(kept | {"about": known["about"], "plan": known["plan"]})

    def _write(self, about: dict[str, dict[str, Any]]) -> None:
        revised = self._file.db.execute(
            "SELECT 1 FROM events WHERE kind IN (?, ?)", (CHANGE, WITHDRAW)
        ).fetchone()
        oldest = WITH_CHANGES if revised else 1 if about["strategy"] == _FIRST_STRATEGY else 2
        if len(about["about"].get("classes", ())) > 2:
            oldest = WITH_CLASSES
        with self._file.written(to_disk=True):
            self._file.db.execute("DELETE FROM about")
            self._file.db.execute("INSERT INTO about VALUES (?)", (json.dumps({"format": oldest} | about),))

    def read(self) -> dict[str, Any] | None:
        """The parameters; None if the journal is empty."""
        with reading(self._file.path):
            row = self._file.db.execute("SELECT about FROM about").fetchone()
            if row is None:
                return None
            kept: dict[str, Any] = json.loads(row[0])
            newest = int(kept.pop("format"))
        if newest > FORMAT:
            raise ValueError(
                f"{self._file.path}: written by a newer steelyard (format {newest}, this one reads up to "
                f"{FORMAT}); upgrade"
            )
        strategy = kept.get("strategy", _FIRST_STRATEGY)
        return kept | {"strategy": _FIRST_PARAMETERS.get(strategy["name"], {}) | strategy}

    def raise_format(self, least: int) -> None:
        """Within a transaction, raise the format: versions before it do not know what was added."""
        newer = "max(json_extract(about, '$.format'), ?)"
        self._file.db.execute(f"UPDATE about SET about = json_set(about, '$.format', {newer})", (least,))

    def save_plan(self, plan: dict[str, Any]) -> None:
        """Store another plan, which holds from now on."""
        kept = self.read()
        assert kept is not None  # it was begun
        self._write(kept | {"plan": plan})


def _changed(kept: dict[str, Any], now: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """Plan and pool of a journal, brought up to date; and whether something has changed."""
    plan, about = dict(kept["plan"]), dict(kept["about"])
    for name in ("budget", "expected"):
        before, after = plan[name], now["plan"][name]
        if before is not None and after is not None:
            plan[name] = after if name == "budget" else max(before, after)
    parts = about.get("parts")
    if parts and now["about"].get("parts", [])[: len(parts)] == parts:
        about["parts"] = now["about"]["parts"]
    return plan, about, (plan, about) != (kept["plan"], kept["about"])
