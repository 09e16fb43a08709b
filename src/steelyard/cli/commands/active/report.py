"""The results of `active simulate`: for machines, as a table, and as curves of error against labels."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._messages import counted
from steelyard.active.strategy_trials import ALL, TrialPlan
from steelyard.cli.commands.active.simulate import LabelledFile
from steelyard.cli.common import aligned, skips_and_notes
from steelyard.cli.wording import problem_texts
from steelyard.plotting import COLOURS, GREY, INK, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CYCLE = (COLOURS["implicit"], COLOURS["second_order"], GREY, COLOURS["invariant"], COLOURS["explicit"])
_MARKERS = "s^voD"
Way = tuple[str, str]
"""A strategy and an update."""


def summarise(
    rows: LabelledFile, given: dict[str, Any], found: dict[str, Any], seconds: float
) -> dict[str, Any]:
    kept = len(rows.examples) // given["holdout"]
    notes = sorted(rows.stream.remarks)
    if rows.unlabelled:
        notes.append(f"{counted(rows.unlabelled, 'row')} without a label left out")
    return found | {
        "rows": len(rows.examples) - kept,
        "held_out": kept,
        "classes": list(rows.classes),
        "learner": given["learner"],
        "shuffles": given["seeds"],
        "notes": notes,
        "skipped": rows.stream.skipped,
        "problems": problem_texts(rows.stream.problems),
        "seconds": seconds,
        "pictures": [],
    }


def announcement(rows: LabelledFile, plan: TrialPlan, learner: str) -> str:
    """The lines before the work."""
    kept = len(rows.examples) // plan.holdout
    return (
        f"format: {rows.format}\n"
        f"classes: {', '.join(rows.classes[:-1])} and {rows.classes[-1]}\n"
        f"{counted(len(rows.examples) - kept, 'row')} to learn from, {kept:,} held out, "
        f"{counted(plan.seeds, 'shuffle')}\n"
        f"learner: {learner}\n"
    )


def text(result: dict[str, Any]) -> str:
    lines = [*_table(result), "", f"{result['seconds']:.1f} s", *skips_and_notes(result, result["notes"])]
    if result["pictures"]:
        lines.append(f"pictures: {', '.join(result['pictures'])}")
    return "\n".join(lines)


def _table(result: dict[str, Any]) -> list[str]:
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


def _percent(share: float) -> str:
    return f"{100.0 * share:.2f} %"


def _span(entry: dict[str, Any]) -> str:
    return f"{100.0 * entry['low']:.2f} – {100.0 * entry['high']:.2f}"


def draw(result: dict[str, Any], folder: Path) -> list[Path]:
    """Write the curves as SVG and PNG; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = save_figure(partial(_curves, result), folder / "active-errors")
    for way in _ways(result):
        if _estimated(result, way):
            name = _label(result, way).replace(", ", "-")
            paths += save_figure(partial(_estimates, result, way), folder / f"active-estimates-{name}")
    return paths


def _curves(result: dict[str, Any]) -> "Figure":
    drawn = new_figure(6.6, 4.2)
    axes = drawn.subplots()
    for way, style in _styles(result).items():
        fractions, errors, low, high = _columns(_entries(result, way))
        axes.fill_between(fractions, low, high, color=style["color"], alpha=0.13, linewidth=0.0)
        axes.plot(fractions, errors, **style, label=_label(result, way))
    everything = [entry for entry in result["results"] if entry["strategy"] == ALL]
    for entry in everything:
        label = ALL if len(everything) == 1 else f"{ALL}, {entry['update']}"
        axes.axhline(100.0 * entry["error"], color=INK, linestyle="--", linewidth=0.9, label=label)
    _finish(axes, result, [entry for entry in result["results"] if entry["strategy"] != ALL])
    axes.set_title(f"Test error by labels asked for ({_shuffles(result)}; bands: 95 %)", fontsize=10.5)
    return drawn


def _estimates(result: dict[str, Any], way: Way) -> "Figure":
    """The estimate beside the test error."""
    drawn = new_figure(6.6, 4.2)
    axes = drawn.subplots()
    entries = _estimated(result, way)
    fractions, errors, _, _ = _columns(entries)
    own = [entry["estimate"] for entry in entries]
    values, low, high = (100.0 * np.array([each[name] for each in own]) for name in ("value", "low", "high"))
    style = _styles(result)[way]
    axes.fill_between(fractions, low, high, color=style["color"], alpha=0.15, linewidth=0.0,
                      label="95 % interval, valid at any stopping time")  # fmt: skip
    axes.plot(fractions, values, **style, label="its own estimate")
    axes.plot(fractions, errors, "--", color=INK, marker="x", label="test error")
    _finish(axes, result, entries)
    axes.set_title(
        f"{_label(result, way)}: the error as estimated from its labels ({_shuffles(result)})", fontsize=10.5
    )
    return drawn


def _finish(axes: "Axes", result: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    fractions = sorted({entry["fraction"] for entry in entries})
    axes.set_xscale("log")
    axes.set_xticks(fractions, labels=[f"{100.0 * fraction:g} %" for fraction in fractions])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", bottom=False)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel(f"labels asked for, of {result['rows']:,} rows (logarithmic)")
    axes.set_ylabel(f"error on {result['held_out']:,} held-out rows")
    axes.legend(fontsize=9)


def _ways(result: dict[str, Any]) -> list[Way]:
    found = ((entry["strategy"], entry["update"]) for entry in result["results"])
    return list(dict.fromkeys(way for way in found if way[0] != ALL))


def _styles(result: dict[str, Any]) -> dict[Way, dict[str, Any]]:
    return {
        way: {"color": _CYCLE[number % len(_CYCLE)], "marker": _MARKERS[number % len(_MARKERS)]}
        for number, way in enumerate(_ways(result))
    }


def _label(result: dict[str, Any], way: Way) -> str:
    """The strategy; with its update if there are several."""
    updates = {update for _, update in _ways(result)}
    return way[0] if len(updates) == 1 else ", ".join(way)


def _entries(result: dict[str, Any], way: Way) -> list[dict[str, Any]]:
    return [entry for entry in result["results"] if (entry["strategy"], entry["update"]) == way]


def _estimated(result: dict[str, Any], way: Way) -> list[dict[str, Any]]:
    return [entry for entry in _entries(result, way) if entry["estimate"] is not None]


def _columns(entries: list[dict[str, Any]]) -> tuple[np.ndarray[Any, Any], ...]:
    """Fractions; errors and their bounds in per cent."""
    fractions = np.array([entry["fraction"] for entry in entries])
    shares = (100.0 * np.array([entry[name] for entry in entries]) for name in ("error", "low", "high"))
    return fractions, *shares


def _shuffles(result: dict[str, Any]) -> str:
    return "one shuffle" if result["shuffles"] == 1 else f"{result['shuffles']} shuffles"
