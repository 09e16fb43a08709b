"""The end of the report: how it came about, so that it can be done again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paper import data, machine
from paper.report.output import Output
from paper.report.run import Run
from paper.report.tables import PageTable, format_csv, lay_out
from paper.rows import open_unpacked
from paper.time_left import format_seconds


def list_tables(run: Run, output: Output) -> Iterator[PageTable]:
    """Run times, data sets, versions."""
    yield _list_times(run, output)
    yield from _list_data(output)
    yield _list_versions(run, output)


def write_steps(run: Run, output: Output) -> None:
    """Write tables/steps.csv: every step with all that its rows depend on; too long for the page."""
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
    output.write_text("tables/steps.csv", format_csv(("study", "table", "key", "inputs", "seconds"), rows))


def _list_times(run: Run, output: Output) -> PageTable:
    rows, total, count = [], 0.0, 0
    for number, study in enumerate(run.studies, start=1):
        steps = run.steps[study.name]
        seconds = sum(float(run.store.about(step)["seconds"]) for step in steps)
        seeds = list(dict.fromkeys(seed for step in steps for seed in _find_seeds(step.inputs)))
        rows.append(
            [f"{number}. {study.title}", str(len(steps)), f"{seconds:.1f}", ", ".join(seeds) or "none named"]
        )
        total, count = total + seconds, count + len(steps)
    rows.append(["**in total**", str(count), f"**{total:.1f}**", ""])
    caption = (
        f"**Run time and seeds.** {format_seconds(total)} of wall-clock time in total, for steps that ran "
        "one after another, possibly in several runs; drawing and reading come on top. Every step with its "
        "inputs is in [steps.csv](tables/steps.csv)."
    )
    return lay_out(output, "run-times", ("section", "steps", "seconds", "seeds"), rows, caption)


def _find_seeds(inputs: Any) -> Iterator[str]:
    """The values of whatever is named a seed, or a shuffle, which is known by its seed."""
    for name, value in inputs.items():
        if "seed" in name or "shuffle" in name:
            yield from map(str, value if isinstance(value, list | tuple | range) else [value])


def _list_data(output: Output) -> Iterator[PageTable]:
    others = data.digests_asked_for()
    rows = []
    for place in data.places_asked_for():
        for path, digest in data.sources(place).items():
            others.pop(path, None)
            loaded = data.load(place)
            kind = "original" if loaded.original else "stand-in"
            size = f"{loaded.matrix.shape[0]:,}", f"{loaded.matrix.shape[1]:,}"
            test, note = _describe_test(loaded), loaded.note or "all"
            rows.append([place, loaded.name, kind, *size, test, note, _name(path), digest])
    if rows:
        heads = ("in the paper", "here", "kind", "rows", "features", "test set", "taken", "file", "SHA-256")
        caption = (
            "**The paper's data sets.** A stand-in is another data set of the same kind; docs/paper-data.md "
            "says how it differs."
        )
        yield lay_out(output, "data", heads, rows, caption)
    if others:
        rows = [[_name(path), f"{_count_lines(path):,}", digest] for path, digest in others.items()]
        caption = "**Other files that were used.**"
        yield lay_out(output, "other-data", ("file", "lines", "SHA-256"), rows, caption)


def _describe_test(loaded: data.Data) -> str:
    if loaded.first_test is None:
        return f"{data.TEST_SHARE:.0%}, shuffled"
    return f"official, {len(loaded.labels) - loaded.first_test:,} rows"


def _name(path: Path) -> str:
    """The name within the data folder."""
    return str(path.relative_to(data.folder())) if path.is_relative_to(data.folder()) else path.name


def _count_lines(path: Path) -> int:
    with open_unpacked(path) as stream:
        return sum(1 for _ in stream)


def _list_versions(run: Run, output: Output) -> PageTable:
    """The versions the steps were computed with; several values if they differ."""
    machines = [run.store.about(step)["machine"] for study in run.studies for step in run.steps[study.name]]
    machines = machines or [machine.description()]
    names = list(dict.fromkeys(name for each in machines for name in each))
    rows = [[name, "; ".join(dict.fromkeys(each.get(name, "–") for each in machines))] for name in names]
    caption = "**Versions** that the steps were computed with."
    return lay_out(output, "versions", ("what", "which"), rows, caption)
