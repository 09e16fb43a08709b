"""What the demo says: on the terminal, and on one HTML page that needs no other file.

The words are in the templates. In a template for the terminal, a line that begins with # is a heading, a
line that begins with two spaces is printed as it is, and other lines are paragraphs, wrapped to the width.
"""

import platform
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

import steelyard
from steelyard import _atomic_files, plotting
from steelyard.demo import docstrings, weights
from steelyard.demo.experiment import REPORT, Findings, format_command, word_of

_MAX_COLUMNS = 88
_MAX_LETTERS = 200  # of a docstring shown on the terminal


def print_text(template: str, **values: Any) -> None:
    """Print a template for the terminal."""
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


def write_page(findings: Findings) -> None:
    """Write the page, whole or not at all; it has plots if matplotlib is installed."""
    plots: dict[str, str] = {}
    if plotting.is_available():
        from steelyard.demo.plots import draw_plots

        plots = draw_plots(findings)
    with _atomic_files.replacing(findings.folder.path / REPORT) as temporary:
        temporary.write_text(render_page(findings, plots), encoding="utf-8")


def render_page(findings: Findings, plots: dict[str, str]) -> str:
    """The page; without plots it lists the words instead, and says how to get plots."""
    versions = f"steelyard {steelyard.__version__}, Python {platform.python_version()}"
    return _render("page.html.j2", findings=findings, plots=plots, versions=versions)


def shorten(text: str) -> str:
    return text if len(text) <= _MAX_LETTERS else text[:_MAX_LETTERS].rpartition(" ")[0] + " …"


def _render(template: str, **values: Any) -> str:
    """Fill a template; in those for HTML, every value is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # only needed here

    environment = Environment(
        loader=PackageLoader("steelyard.demo"),
        autoescape=lambda name: name is not None and ".html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "fmt": format, "word": word_of, "shorten": shorten, "command": format_command,
    }  # fmt: skip
    environment.globals |= {
        "weight": weights.WEIGHT, "rate": weights.RATE, "largest": weights.LARGEST,
        "max_words": docstrings.MAX_WORDS, "zip": zip,
    }  # fmt: skip
    return environment.get_template(template).render(**values)
