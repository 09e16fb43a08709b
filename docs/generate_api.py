"""Writes docs/api.md from the docstrings: `make docs`, or `python docs/generate_api.py`."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import steelyard
from steelyard import losses
from steelyard.active import estimates, label_sample, stopping
from steelyard.examples import examples
from steelyard.filtering import TableScorer, audit_filter, filter_files
from steelyard.predictor import Predictor
from steelyard.schedules import PowerDecay
from steelyard.updates import by_name as update_by_name
from steelyard.weight_summary import WeightSummary

PAGE = Path(__file__).parent / "api.md"

INTRODUCTION = """\
# The Python interface

`make docs` writes this page from the docstrings, and a test fails when it is stale. `help(OnlineClassifier)`
prints the same. The guides explain more: [estimators](estimators.md), [active learning](active.md),
[sweeps](sweeps.md), [the learner](learner.md), [a loss of your own](own-loss.md).
"""

# Headings, and what stands below them by the name with which it is imported.
CONTENT: dict[str, dict[str, Any]] = {
    "Estimators": {
        f"steelyard.{name}": getattr(steelyard, name)
        for name in (
            "OnlineClassifier",
            "OnlineRegressor",
            "ActiveClassifier",
            "Sweep",
            "DistributedClassifier",
        )
    },
    "Without scikit-learn": {
        "steelyard.Learner": steelyard.Learner,
        "steelyard.Settings": steelyard.Settings,
        "steelyard.examples.examples": examples,
    },
    "Losses, updates, schedules": {
        "steelyard.losses.names": losses.names,
        "steelyard.losses.by_name": losses.by_name,
        "steelyard.losses.Loss": losses.Loss,
        "steelyard.updates.by_name": update_by_name,
        "steelyard.schedules.PowerDecay": PowerDecay,
    },
    "Estimates from labels": {
        "steelyard.active.label_sample.from_labels": label_sample.from_labels,
        "steelyard.active.label_sample.from_losses": label_sample.from_losses,
        "steelyard.active.estimates.progressive": estimates.progressive,
        "steelyard.active.estimates.current": estimates.current,
        "steelyard.active.estimates.pool": estimates.pool,
        "steelyard.active.stopping.ErrorBelow": stopping.ErrorBelow,
        "steelyard.active.stopping.RecallAbove": stopping.RecallAbove,
        "steelyard.active.stopping.Narrow": stopping.Narrow,
        "steelyard.active.stopping.Budget": stopping.Budget,
    },
    "Filtering files": {
        "steelyard.filtering.filter_files": filter_files,
        "steelyard.filtering.audit_filter": audit_filter,
        "steelyard.filtering.TableScorer": TableScorer,
        "steelyard.predictor.Predictor": Predictor,
    },
    "Weights and warnings": {
        "steelyard.weight_summary.WeightSummary": WeightSummary,
        "steelyard.WeightWarning": steelyard.WeightWarning,
        "steelyard.RowOrderWarning": steelyard.RowOrderWarning,
        "steelyard.AbsentColumnsWarning": steelyard.AbsentColumnsWarning,
        "steelyard.JoinedLabelsWarning": steelyard.JoinedLabelsWarning,
        "steelyard.LargeModelWarning": steelyard.LargeModelWarning,
    },
}


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for heading, content in CONTENT.items():
        parts.append(f"## {heading}\n")
        for name, thing in content.items():
            parts += _described(name, thing)
    return "\n".join(parts)


def _described(name: str, thing: Any) -> Iterator[str]:
    """A class with its methods, or a function."""
    module, _, short = name.rpartition(".")
    yield f"### {short if inspect.isclass(thing) else name.removeprefix('steelyard.')}\n"
    yield f"`from {module} import {short}`\n"
    if not (inspect.isclass(thing) and issubclass(thing, Warning)):
        yield f"```text\n{_signature(short, thing)}\n```\n"
    yield from _docstring(thing)
    if not inspect.isclass(thing) or issubclass(thing, stopping.Rule | WeightSummary | Warning):
        return
    for method_name, method in _methods(thing):
        yield f"#### {short}.{method_name}\n"
        yield f"```text\n{_signature(method_name, method)}\n```\n"
        yield from _docstring(method)


def _methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Public ones that are ours and say what they do, in alphabetical order."""
    for name, value in inspect.getmembers(cls):
        if isinstance(value, property):
            # Some methods are there only if the loss has what they need; they say how they are called.
            if (value.__doc__ or "").startswith(f"{name}("):
                yield name, value
        elif callable(value) and not name.startswith("_") and name != "set_params":
            function = inspect.unwrap(value)
            if str(getattr(function, "__module__", "")).startswith("steelyard") and function.__doc__:
                yield name, value


def _signature(name: str, thing: Any) -> str:
    """Names and defaults; the types are in the text. On one line, or one a line."""
    if isinstance(thing, property):
        return str(thing.__doc__).partition(":")[0]
    signature = inspect.signature(thing)
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    text = f"{name}{signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)}"
    text = re.sub(r"<[\w.]+ object at 0x\w+>|<factory>", "…", text)
    if len(text) <= 100:
        return text
    inside = text.removeprefix(f"{name}(").removesuffix(")")
    lines = [""]
    for word in inside.split(", "):
        if len(lines[-1]) + len(word) > 90:
            lines.append("")
        lines[-1] += f"{word}, "
    return f"{name}(\n    " + "\n    ".join(line.rstrip() for line in lines).rstrip(",") + "\n)"


def _docstring(thing: Any) -> Iterator[str]:
    """In Markdown: text, a list for each section of numpydoc, and examples as code."""
    text = inspect.cleandoc((thing if isinstance(thing, property) else inspect.unwrap(thing)).__doc__ or "")
    if isinstance(thing, property):
        text = text.partition(": ")[2]
        text = text[:1].upper() + text[1:]
    # Every other piece is the title of a section.
    first, *sections = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    yield from _text(first)
    for title, content in zip(sections[::2], sections[1::2], strict=True):
        yield f"**{title}**\n"
        yield from _text(content) if title in ("Examples", "Notes") else [_definitions(content)]


def _definitions(text: str) -> str:
    """Names with a type, and below them indented text."""
    items: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith(" "):
            items[-1] += f" {_escaped(line.strip())}"
        elif line:
            name, _, kind = line.partition(" : ")
            items.append(f"- `{name}`" + (f" ({_escaped(kind)})" if kind else "") + ":")
    return "\n".join(items) + "\n"


def _text(text: str) -> Iterator[str]:
    """Paragraphs, and examples as they would be typed."""
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if paragraph.startswith(">>>"):
            yield f"```python\n{paragraph}\n```\n"
        elif paragraph.startswith("    "):
            yield f"{paragraph}\n"
        elif paragraph:
            yield f"{_escaped(paragraph)}\n"


def _escaped(text: str) -> str:
    """Without what Markdown would take for more than text, but for `code`; pages of these docs are linked."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*_])", r"\\\1", part).replace("<", "&lt;") for part in parts[::2]]
    return re.sub(r"\bdocs/([\w-]+\.md)", r"[\1](\1)", "`".join(parts))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
