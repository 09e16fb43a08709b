"""Prodigy: JSON lines with a text and, once annotated, an answer: a choice of options, or yes or no."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from steelyard.active.label_store import Document
from steelyard.io import sound_json
from steelyard.io.errors import InputError
from steelyard.labelling.exchange import ORIGINAL, Outcome

TEXTS: tuple[str, ...] | None = ("text",)
_MARKS = {"_input_hash", "_task_hash", "_view_id", "answer", "accept"}


def recognise(path: str, start: bytes) -> bool:
    try:
        first = json.loads(start.partition(b"\n")[0])
    except ValueError:
        return False
    return isinstance(first, dict) and "text" in first and bool(_MARKS & first.keys())


def read(path: Path, classes: tuple[str, ...] | None) -> Iterator[Document]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                task = sound_json.loads(line)
            except ValueError as error:
                raise InputError(f"{path}, line {number}: is no JSON ({error})") from None
            if not isinstance(task, dict) or not isinstance(task.get("text"), str):
                raise InputError(f"{path}, line {number}: has no 'text'; are these tasks of Prodigy?")
            yield Document(
                str(task.get("_input_hash", number)),
                {"text": task["text"], ORIGINAL: task},
                _label(task, classes),
            )


def _label(task: dict[str, Any], classes: tuple[str, ...] | None) -> str | None:
    """The choice; if a single label was rejected, the other class of two."""
    chosen, answer = task.get("accept") or [], task.get("answer")
    if classes is None or answer not in ("accept", "reject"):
        return None
    if chosen:
        return chosen[0] if answer == "accept" and chosen[0] in classes else None
    if task.get("label") not in classes:
        return None
    rest = [name for name in classes if name != task["label"]]
    return str(task["label"]) if answer == "accept" else rest[0] if len(rest) == 1 else None


def write(outcomes: Iterable[Outcome], classes: tuple[str, ...], path: Path) -> None:
    """Write all as choices; a document without a label stays a task without an answer."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for outcome in outcomes:
            original = outcome.document.fields[ORIGINAL]
            task = {name: original[name] for name in original if name not in ("label", "accept", "answer")}
            task["options"] = [{"id": name, "text": name} for name in classes]
            if outcome.label is not None or outcome.skipped:
                task["accept"] = [] if outcome.label is None else [outcome.label]
                task["answer"] = "ignore" if outcome.label is None else "accept"
                task["_annotator_id"], task["_timestamp"] = outcome.annotator, int(outcome.time or 0)
            file.write(json.dumps(task, ensure_ascii=False) + "\n")
