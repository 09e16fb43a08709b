"""The end of the report: how it came about, so that it can be done again."""

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from paper import data, machine
from paper.report.markup import element, inline
from paper.report.output import Output
from paper.report.run import Run
from paper.report.tables import as_csv, shown
from paper.rows import opened
from paper.time_left import worded


def written(run: Run, output: Output) -> list[str]:
    """Pieces of HTML."""
    _steps(run, output)
    return [
        element("p", "The command:"),
        element("pre", escape(run.command)),
        _times(run, output),
        *_data(output),
        _versions(run, output),
    ]


def _steps(run: Run, output: Output) -> None:
    """Every step with all that its rows depend on; too long for the page."""
    rows = [
        [
            study.name,
            step.table,
            step.key,
            json.dumps(about["inputs"], sort_keys=True),
            repr(about["seconds"]),
        ]
        for study in run.studies
        for step in run.steps[study.name]
        for about in [run.store.about(step)]
    ]
    output.text("tables/steps.csv", as_csv(("study", "table", "key", "inputs", "seconds"), rows))


def _times(run: Run, output: Output) -> str:
    rows, total, steps = [], 0.0, 0
    for number, study in enumerate(run.studies, start=1):
        mine = run.steps[study.name]
        seconds = sum(float(run.store.about(step)["seconds"]) for step in mine)
        seeds = list(dict.fromkeys(seed for step in mine for seed in _seeds(step.inputs)))
        rows.append(
            [f"{number}. {study.title}", str(len(mine)), f"{seconds:.1f}", ", ".join(seeds) or "none named"]
        )
        total, steps = total + seconds, steps + len(mine)
    rows.append(["**in total**", str(steps), f"**{total:.1f}**", ""])
    caption = inline(
        f"**Run time and seeds.** {worded(total)} in all, by the clock, of steps that ran one after another, "
        "whenever they did; drawing and reading are extra. Every step with its inputs is in "
        "[steps.csv](tables/steps.csv)."
    )
    return shown(output, "run-times", ("section", "steps", "seconds", "seeds"), rows, caption)


def _seeds(inputs: Any) -> Iterator[str]:
    """Whatever is named a seed, or a shuffle, which is known by its seed."""
    for name, value in inputs.items():
        if "seed" in name or "shuffle" in name:
            yield from map(str, value if isinstance(value, list | tuple | range) else [value])


def _data(output: Output) -> Iterator[str]:
    asked = data.digests_asked_for()
    if not asked:
        yield element("p", "No data file was used.")
        return
    rows = []
    for place in data.places_asked_for():
        for path, digest in data.sources(place).items():
            asked.pop(path, None)
            found = data.load(place)
            kind = "original" if found.original else "stand-in"
            size = f"{found.matrix.shape[0]:,}", f"{found.matrix.shape[1]:,}"
            rows.append(
                [place, found.name, kind, *size, _tested(found), found.note or "all", _name(path), digest]
            )
    if rows:
        heads = ("in the paper", "here", "kind", "rows", "features", "test set", "taken", "file", "SHA-256")
        caption = inline(
            "**The paper's data sets.** A stand-in is another set of the same kind: docs/paper-data.md says "
            "how it differs."
        )
        yield shown(output, "data", heads, rows, caption)
    if asked:
        others = [[_name(path), f"{_lines(path):,}", digest] for path, digest in asked.items()]
        caption = inline("**Other files that were used.**")
        yield shown(output, "other-data", ("file", "lines", "SHA-256"), others, caption)


def _tested(found: data.Data) -> str:
    if found.first_test is None:
        return f"{data.TEST_SHARE:.0%}, shuffled"
    return f"official, {len(found.labels) - found.first_test:,} rows"


def _name(path: Path) -> str:
    """Within the data folder."""
    return str(path.relative_to(data.folder())) if path.is_relative_to(data.folder()) else path.name


def _lines(path: Path) -> int:
    with opened(path) as stream:
        return sum(1 for _ in stream)


def _versions(run: Run, output: Output) -> str:
    """As the steps were made with; several values if they were not made with the same."""
    made = [run.store.about(step)["machine"] for study in run.studies for step in run.steps[study.name]] or [
        machine.description()
    ]
    names = list(dict.fromkeys(name for each in made for name in each))
    rows = [[name, "; ".join(dict.fromkeys(each.get(name, "–") for each in made))] for name in names]
    caption = inline("**Versions** with which the steps were made.")
    return shown(output, "versions", ("what", "which"), rows, caption)
