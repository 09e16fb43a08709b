"""Label Studio: a JSON list of tasks, whose annotations are choices."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from steelyard.active.label_store import Document
from steelyard.io import sound_json
from steelyard.io.errors import InputError
from steelyard.labelling.exchange import ORIGINAL, Outcome

TEXTS: tuple[str, ...] | None = None
_CONTROL = {"from_name": "label", "type": "choices"}


def recognise(path: str, start: bytes) -> bool:
    return start.startswith(b"[") and b'"data"' in start


def read(path: Path, classes: tuple[str, ...] | None) -> Iterator[Document]:
    try:
        tasks = sound_json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise InputError(f"{path}: is no JSON ({error})") from None
    for number, task in enumerate(tasks, 1):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise InputError(f"{path}: task {number} has no 'data'; are these tasks of Label Studio?")
        texts = {name: value for name, value in task["data"].items() if isinstance(value, str)}
        yield Document(str(task.get("id", number)), texts | {ORIGINAL: task}, _label(task, classes))


def _label(task: dict[str, Any], classes: tuple[str, ...] | None) -> str | None:
    """The choice of the last annotation that was not cancelled, if it is one of the classes."""
    for annotation in reversed(task.get("annotations") or []):
        for result in annotation.get("result") or []:
            choices = (result.get("value") or {}).get("choices") or []
            if choices and not annotation.get("was_cancelled") and choices[0] in (classes or ()):
                return str(choices[0])
    return None


def write(outcomes: Iterable[Outcome], classes: tuple[str, ...], path: Path) -> None:
    tasks = []
    for outcome in outcomes:
        task = dict(outcome.document.fields[ORIGINAL])
        texts = [name for name, value in task["data"].items() if isinstance(value, str)]
        control = _CONTROL | {"to_name": texts[0] if texts else "text"}
        if outcome.label is not None or outcome.skipped:
            chosen = [] if outcome.label is None else [control | {"value": {"choices": [outcome.label]}}]
            task["annotations"] = [{"result": chosen, "was_cancelled": outcome.label is None}]
        task["predictions"] = [
            {
                "model_version": "steelyard",
                "score": round(outcome.probabilities[outcome.prediction], 9),
                "result": [control | {"value": {"choices": [outcome.prediction]}}],
            }
        ]
        tasks.append(task)
    path.write_text(json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
