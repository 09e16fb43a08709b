"""What a journal was started with, and with which it has to go on."""

import json
import sqlite3
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any

from steelyard.active._damage import reading
from steelyard.active.events import CHANGE, WITHDRAW
from steelyard.model import Settings

WITH_CHANGES, WITH_CLASSES = 3, 4
FORMAT = WITH_CLASSES
"""1: the strategy is iwal; 2: it is another; 3: there are changes; 4: there are more than two classes.

A journal has the lowest that it can have: older versions know up to theirs.
"""

_FORMER = {"name": "iwal"}  # the strategy of journals that do not name one
_UNSAID = {"relevance": {"presumed": 0}}  # parameters of strategies, where journals do not name them


class AboutEntry(ABC):
    """For `Journal`."""

    path: str
    _db: sqlite3.Connection

    @abstractmethod
    def _written(self, *, to_disk: bool = False) -> AbstractContextManager[None]: ...

    def begin(self, about: dict[str, dict[str, Any]]) -> None:
        """Start the journal with these parameters, or check that it was started with the same.

        A setting that an older journal does not name had its default. The positive class and the parts of
        the pool, of which it may not speak either, are those that are named now, and are written down. The
        budget may be another, the pool may grow, and more examples may be expected.
        """
        kept = self.about()
        if kept is None:
            self._write_about(about)
            return
        before, after = kept["strategy"]["name"], about["strategy"]["name"]
        if before != after:
            raise ValueError(
                f"{self.path}: was started with the strategy {before!r} and cannot continue with "
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
                f"{self.path}: was started with another {' and '.join(changed)}; continue with the "
                "parameters it was started with, or start a new journal"
            )
        if unsaid or more:
            self._write_about(kept | {"about": known["about"], "plan": known["plan"]})

    def _write_about(self, about: dict[str, dict[str, Any]]) -> None:
        revised = self._db.execute("SELECT 1 FROM events WHERE kind IN (?, ?)", (CHANGE, WITHDRAW)).fetchone()
        oldest = WITH_CHANGES if revised else 1 if about["strategy"] == _FORMER else 2
        if len(about["about"].get("classes", ())) > 2:
            oldest = WITH_CLASSES
        with self._written(to_disk=True):
            self._db.execute("DELETE FROM about")
            self._db.execute("INSERT INTO about VALUES (?)", (json.dumps({"format": oldest} | about),))

    def about(self) -> dict[str, Any] | None:
        with reading(self.path):
            row = self._db.execute("SELECT about FROM about").fetchone()
            if row is None:
                return None
            kept: dict[str, Any] = json.loads(row[0])
            newest = int(kept.pop("format"))
        if newest > FORMAT:
            raise ValueError(
                f"{self.path}: written by a newer steelyard (format {newest}, this one reads up to "
                f"{FORMAT}); upgrade"
            )
        strategy = kept.get("strategy", _FORMER)
        return kept | {"strategy": _UNSAID.get(strategy["name"], {}) | strategy}

    def _raise_format(self, least: int) -> None:
        """In a transaction: what was added, versions before this format do not know."""
        newer = "max(json_extract(about, '$.format'), ?)"
        self._db.execute(f"UPDATE about SET about = json_set(about, '$.format', {newer})", (least,))

    def save_plan(self, plan: dict[str, Any]) -> None:
        """Another plan, from now on."""
        self._write_about(self._kept() | {"plan": plan})

    def _kept(self) -> dict[str, Any]:
        kept = self.about()
        assert kept is not None  # it was begun
        return kept


def _changed(kept: dict[str, Any], now: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """Plan and pool of a journal with what has changed since; and whether something has."""
    plan, about = dict(kept["plan"]), dict(kept["about"])
    for name in ("budget", "expected"):
        before, after = plan[name], now["plan"][name]
        if before is not None and after is not None:
            plan[name] = after if name == "budget" else max(before, after)
    parts = about.get("parts")
    if parts and now["about"].get("parts", [])[: len(parts)] == parts:
        about["parts"] = now["about"]["parts"]
    return plan, about, (plan, about) != (kept["plan"], kept["about"])
