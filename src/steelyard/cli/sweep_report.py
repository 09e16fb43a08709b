"""The results of a sweep, for machines and as a table."""

from typing import Any

import numpy as np

from steelyard._messages import counted
from steelyard.cli.common import aligned, skips_and_notes, unused_interactions
from steelyard.cli.wording import problem_texts
from steelyard.io.stream import Stream
from steelyard.scoring.metrics import finite
from steelyard.sweep.results import Results, loss_name, measured
from steelyard.sweep.search import Search

_NOTHING_HELD_OUT = (
    "no row with a label and a weight was held out, so there is no best: --holdout 5 for every fifth"
)
NEAR = (0.005, 0.001)
_BY_GROUP = ("loss", "update")


def summarise(
    search: Search, stream: Stream, notes: list[str], *, seconds: float, startup: float
) -> dict[str, Any]:
    results = search.results
    rows = results.rows()
    best = best_of(results)
    if not results.compared and not results.found["diverged"].all():
        notes = [*notes, _NOTHING_HELD_OUT]
    return {
        "models": len(rows),
        "rounds": len(search.plan.rounds),
        "examples": stream.rows,
        "learned": search.learned,
        "classes": search.classes,
        "criterion": results.criterion,
        "best": None if best is None else rows[best],
        "diverged": int(results.found["diverged"].sum()),
        "varied": [name for name in results.points[0].params if len({str(row[name]) for row in rows}) > 1],
        "groups": groups(results),
        "results": rows,
        "notes": [*notes, *sorted(stream.remarks), *unused_interactions(stream, None)],
        "skipped": stream.skipped,
        "problems": problem_texts(stream.problems),
        "seconds": seconds,
        "startup_seconds": startup,
    }


def best_of(results: Results) -> int | None:
    """The number of the best point, if there is one."""
    return results.best_index if results.comparable and results.compared else None


def groups(results: Results) -> list[dict[str, Any]]:
    """For each loss and update: its best point, and how many of its points come near that."""
    called, figure, of_classes = measured(results)
    settings = [point.settings for point in results.points]
    names = [(loss_name(each.loss), each.update) for each in settings]
    alive, score = ~results.found["diverged"], results.score
    rows, described = results.rows(), []
    for group in dict.fromkeys(names):
        here = np.array([name == group for name in names])
        best = int(np.argmax(np.where(here, score, -np.inf)))
        entry: dict[str, Any] = dict(zip(_BY_GROUP, group, strict=True))
        entry |= {"models": int(here.sum()), "diverged": int((here & ~alive).sum()), "figure": called}
        working = bool(np.isfinite(score[here]).any())
        entry["best"] = rows[best] if working else None
        entry["value"] = finite(float(figure[best])) if working else None
        if of_classes:
            reference = figure[here & alive].max() if working else np.nan
            for margin in NEAR:
                near = here & alive & (figure >= reference - margin)
                entry[f"within_{margin}"] = float(near.sum() / here.sum())
        described.append(entry)
    return described


def text(result: dict[str, Any]) -> str:
    lines = _table(result["groups"], result["varied"])
    best = result["best"]
    lines.append("")
    if best is not None:
        lines.append(f"best by {result['criterion'].replace('_', ' ')}: {_figures(best)}")
        lines.append(f"  {result['command']}")
    elif result["diverged"] == result["models"]:
        lines.append("every model has diverged: lower the learning rates, or try --update invariant")
    rate = f"{result['learned'] / max(result['seconds'], 1e-9) / 1e6:,.2f} M rows × models a second"
    counts = f"{counted(result['models'], 'model')}, {counted(result['examples'], 'row')}"
    start = f"{result['startup_seconds']:.2f} s to start"
    lines.append(f"{counts}, {result['seconds']:.1f} s ({rate}), and {start}")
    lines += skips_and_notes(result, result["notes"])
    for name, what in (("output", "all results"), ("model", "the best, trained again on all rows")):
        if result[name] is not None:
            lines.append(f"{what}: {result[name]}")
    if result["pictures"]:
        stems = dict.fromkeys(path.rpartition(".")[0] for path in result["pictures"])
        lines.append(f"pictures (svg and png): {', '.join(stems)}")
    return "\n".join(lines)


def _table(described: list[dict[str, Any]], varied: list[str]) -> list[str]:
    near = [f"within_{margin}" for margin in NEAR if f"within_{margin}" in described[0]]
    settings = [name for name in varied if name not in _BY_GROUP]
    head = ["loss", "update", "models", described[0]["figure"], *settings, *near, "diverged"]
    table = [[name.replace("_", " ") for name in head]]
    for entry in described:
        best = entry["best"] or {}
        figure = f"{entry['value']:.4f}" if near and entry["value"] is not None else _shown(entry["value"])
        table.append(
            [entry["loss"], entry["update"], f"{entry['models']:,}", figure]
            + [_shown(best.get(name)) for name in settings]
            + [f"{entry[name]:.1%}" for name in near]
            + [f"{entry['diverged']:,}"]
        )
    return aligned(table, left=2)


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _figures(row: dict[str, Any]) -> str:
    names = ("progressive_loss", "progressive_error", "held_out_loss", "held_out_accuracy")
    return ", ".join(f"{name.replace('_', ' ')} {_shown(row[name])}" for name in names if name in row)
