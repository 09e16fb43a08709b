"""What the demo says: on the terminal, and on one HTML page that needs no other file.

The words are in the templates. In a template for the terminal, a line that begins with # is a heading, a
line that begins with two spaces is printed as it is, and other lines are paragraphs, wrapped to the width.
"""

import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from markupsafe import Markup

import steelyard
from steelyard import _atomic_files
from steelyard.demo.experiment import (
    EVERYBODY,
    MODEL,
    OF_ALL,
    ORDERS,
    PAGE,
    PREDICTED,
    REPORT,
    SAMPLE,
    TEST,
    WITHOUT,
    Findings,
)
from steelyard.demo.titanic import ONE_IN
from steelyard.demo.weights import RATE, WEIGHT
from steelyard.report import BEGINNING
from steelyard.report.charts import Chart, share_rows

_MAX_COLUMNS = 88
_FEW = 20  # people: smaller groups say little


def print_text(template: str, **values: Any) -> None:
    width = min(shutil.get_terminal_size().columns, _MAX_COLUMNS)
    for line in _render(template, **values).splitlines():
        if line.startswith("# "):
            click.secho(f"\n{line[2:]}", bold=True)
        elif line.startswith("  ") or not line:
            click.echo(line)
        else:
            click.echo(textwrap.fill(line, width, break_on_hyphens=False))


@contextmanager
def show_status(text: str) -> Iterator[None]:
    """Say what takes a while, on standard error and only if that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def write(findings: Findings) -> None:
    """Write the page, whole or not at all."""
    with _atomic_files.replacing(findings.folder / PAGE) as temporary:
        temporary.write_text(BEGINNING.decode() + render(findings), encoding="utf-8")


def render(findings: Findings) -> str:
    return _render(
        "page.html.j2", findings=findings, groups=plot_groups(findings), steps=plot_steps(findings)
    )


def _render(template: str, **values: Any) -> str:
    """Fill a template; in those for HTML, every value is escaped. The style is that of `steelyard report`."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # only needed here

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("steelyard.demo"), PackageLoader("steelyard.report")]),
        autoescape=lambda name: name is not None and ".html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["fmt"] = format
    names = {"sample": SAMPLE, "everybody": EVERYBODY, "test": TEST, "report": REPORT, "predicted": PREDICTED}
    models = {"weighted": MODEL, "unweighted": WITHOUT, "all": OF_ALL}
    environment.globals |= {
        "weight": WEIGHT, "rate": RATE, "one_in": ONE_IN, "few": _FEW, "names": names, "models": models,
        "orders": ORDERS, "version": steelyard.__version__,
    }  # fmt: skip
    return environment.get_template(template).render(**values)


def plot_groups(findings: Findings) -> Markup:
    """The survival of each group, and what the three models say of it."""
    return share_rows(
        [
            (group.name, group.survived,
             [("ring", group.everybody), ("first", group.weighted), ("second", group.unweighted)])
            for group in findings.groups if group.people >= _FEW
        ]
    )  # fmt: skip


def plot_steps(findings: Findings) -> Markup:
    """The prediction for one person against the weight; what leaves the picture is cut off at its edge."""
    heavy = findings.heavy
    ends = [prediction for step in heavy.steps.values() for _, prediction in step.copies] + [heavy.before]
    room = 0.6 * (max(ends) - min(ends))
    low, high = min(ends) - room, max(ends) + room
    explicit, invariant = heavy.steps["explicit"], heavy.steps["invariant"]
    chart = Chart(
        (1.0, 100.0), (low, high), labels=("weight, or number of copies", "prediction"), log=True,
        alt=f"Prediction against weight. At {WEIGHT}, a multiplied gradient reaches {explicit.at_once:+.1f}; "
        f"copies end at {invariant.one_by_one:+.1f}, as one weighted step does.",
    )  # fmt: skip
    inside = [low <= prediction <= high for _, prediction in explicit.curve]
    chart.line(explicit.curve[: inside.index(False) if False in inside else None], "second")
    chart.line(invariant.curve, "first")
    chart.dots(invariant.copies, "first", [3.5] * len(invariant.copies))
    return chart.draw()
