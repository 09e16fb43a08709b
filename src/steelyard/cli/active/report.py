"""The results of `active simulate`, for people and for machines."""

from collections.abc import Sequence
from typing import Any

from steelyard._messages import counted
from steelyard.active.simulation import Schedule
from steelyard.active.strategy_trials import TrialPlan, count_settings
from steelyard.cli.active.labelled_rows import LabelledRows
from steelyard.cli.sweeps.report import aligned

_MOST_PROBLEMS = 3
_HINDSIGHT = "the best settings are chosen in hindsight, by the held-out rows themselves"


def summarise(
    rows: LabelledRows, given: dict[str, Any], found: dict[str, Any], seconds: float
) -> dict[str, Any]:
    """Everything for --json."""
    kept = len(rows.examples) // given["holdout"]
    notes = sorted(rows.stream.remarks)
    if rows.unlabelled:
        notes.append(f"{counted(rows.unlabelled, 'row')} without a label left out")
    if given["grid"]:
        notes.append(_HINDSIGHT)
    return found | {
        "rows": len(rows.examples) - kept,
        "held_out": kept,
        "classes": list(rows.classes),
        "grid": given["grid"],
        "learner": None if given["grid"] else given["learner"],
        "shuffles": given["seeds"],
        "notes": notes,
        "skipped": rows.stream.skipped,
        "problems": [str(problem) for problem in rows.stream.problems],
        "seconds": seconds,
        "pictures": [],
    }


def announcement(
    rows: LabelledRows, plan: TrialPlan, learner: str, schedules: Sequence[Schedule] | None
) -> list[str]:
    """The lines before the work; `schedules` are those of a grid."""
    kept = len(rows.examples) // plan.holdout
    lines = [
        f"format: {rows.format}",
        f"classes: {rows.classes[0]} and {rows.classes[1]}",
        f"{counted(len(rows.examples) - kept, 'row')} to learn from, {kept:,} held out, "
        f"{counted(plan.seeds, 'shuffle')}",
    ]
    if schedules is None:
        return [*lines, f"learner: {learner}"]
    settings = (f"{name} {count_settings(name, schedules):,}" for name in plan.strategies)
    return [*lines, f"settings with each update: {', '.join(settings)}"]


def text(result: dict[str, Any]) -> str:
    """The results as lines."""
    lines = _grid_table(result) if result["grid"] else _trials_table(result)
    lines += ["", f"{result['seconds']:.1f} s"]
    if result["skipped"]:
        lines.append(f"skipped: {counted(result['skipped'], 'line')} that could not be read, among them")
        lines += [f"  {problem}" for problem in result["problems"][:_MOST_PROBLEMS]]
    lines += [f"note: {note}" for note in result["notes"]]
    if result["pictures"]:
        lines.append(f"pictures: {', '.join(result['pictures'])}")
    return "\n".join(lines)


def _trials_table(result: dict[str, Any]) -> list[str]:
    heads = ["fraction", "strategy", "update", "labels", "test error", "95 %", "its own estimate", "95 %"]
    table = [[*heads, "inside"]]
    for entry in result["results"]:
        own = entry["estimate"]
        diverged = sum(trial["diverged"] for trial in entry["trials"])
        table.append(
            [
                f"{entry['fraction']:.3g}",
                entry["strategy"],
                entry["update"],
                f"{entry['labels']:,.0f}",
                _percent(entry["error"]) + (f" ({diverged} diverged)" if diverged else ""),
                _span(entry),
                "–" if own is None else _percent(own["value"]),
                "–" if own is None else _span(own),
                "–" if own is None else f"{entry['inside']} of {len(entry['trials'])}",
            ]
        )
    explained = [
        "test error: mean over shuffles; the interval covers their spread and the number of held-out rows",
        "its own estimate: of the current model, from the labels it asked for; the interval is valid at any",
        "  stopping time; inside: the shuffles in which it contained the test error",
    ]
    return [*aligned(table, left=3), "", *explained]


def _grid_table(result: dict[str, Any]) -> list[str]:
    table = [["fraction", "strategy", "update", "settings", "test error", "of shuffles"]]
    for entry in result["results"]:
        known = entry["error"] is not None
        table.append(
            [
                f"{entry['fraction']:.3g}",
                entry["strategy"],
                entry["update"],
                f"{entry['settings']:,}",
                _percent(entry["error"]) if known else "–",
                _span(entry) if known else "–",
            ]
        )
    return [
        *aligned(table, left=3),
        "",
        "test error: the least of all settings that asked for no more; – where none asked for so little",
    ]


def _percent(share: float) -> str:
    return f"{100.0 * share:.2f} %"


def _span(entry: dict[str, Any]) -> str:
    return f"{100.0 * entry['low']:.2f} – {100.0 * entry['high']:.2f}"
