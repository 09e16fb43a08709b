"""What the demo says: on the terminal, and on one HTML page with plots that needs no other file.

The words are in the templates. In a template for the terminal, a line that begins with # is a heading, a
line that begins with two spaces is printed as it is, and other lines are paragraphs, wrapped to the width.
"""

import platform
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import steelyard
from steelyard import _atomic_files, plotting
from steelyard.demo import docstrings
from steelyard.demo.experiment import REPORT, Findings, format_command, word_of
from steelyard.demo.weights import LARGEST, RATE, UPDATES, WEIGHT
from steelyard.plotting import BLUE, COLOURS, GREY, INK, ORANGE, escape_dollars, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAX_COLUMNS = 88
_MAX_LETTERS = 200  # of a docstring shown on the terminal


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


def write_page(findings: Findings) -> None:
    """Write the page, whole or not at all; it has plots if matplotlib is installed."""
    plots = draw_plots(findings) if plotting.is_available() else {}
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
        "weight": WEIGHT, "rate": RATE, "largest": LARGEST, "max_words": docstrings.MAX_WORDS, "zip": zip,
    }  # fmt: skip
    return environment.get_template(template).render(**values)


def draw_plots(findings: Findings) -> dict[str, str]:
    """Each plot as an address that holds it, by the name with which the page asks for it."""
    plots = {
        "learning": plot_learning, "words": plot_words, "scores": plot_scores,
        "calibration": plot_calibration, "one": plot_one, "all": plot_weighted,
    }  # fmt: skip
    return {name: plotting.figure_as_url(partial(plot, findings)) for name, plot in plots.items()}


def plot_learning(findings: Findings) -> "Figure":
    """The progressive loss."""
    figure = new_figure()
    axes = figure.subplots()
    axes.plot(*zip(*findings.curve, strict=True), color=BLUE, linewidth=2.2, label="average loss so far")
    constant, held_out = findings.training["best_constant_loss"], findings.quality["loss"]
    axes.axhline(constant, color=GREY, linestyle="--", label=f"best constant: {constant:.3f}")
    axes.plot(
        findings.curve[-1][0], held_out, "D", color=ORANGE, label=f"held-out docstrings: {held_out:.3f}"
    )
    axes.set(xscale="log", xlabel="docstrings learned", ylabel="average loss", ylim=(0.0, None))
    plotting.use_counts(axes.xaxis)
    axes.legend(loc="lower left")
    return figure


def plot_words(findings: Findings) -> "Figure":
    """The largest weights of either sign."""
    figure = new_figure(height=5.0)
    axes = figure.subplots()
    entries = [*findings.model["top_positive"], *reversed(findings.model["top_negative"])]
    weights = [entry["weight"] for entry in entries]
    places = np.arange(len(entries))
    axes.barh(places, weights, color=[BLUE if weight > 0.0 else ORANGE for weight in weights])
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.set_yticks(places, labels=[escape_dollars(word_of(entry["feature"])) for entry in entries])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"weight: ← another package    {findings.folder.package} →")
    return figure


def plot_scores(findings: Findings) -> "Figure":
    """How far apart the two sides are."""
    figure = new_figure(4.4, 3.4)
    axes = figure.subplots()
    reach = float(np.quantile(np.abs([score for score, _ in findings.scores]), 0.99))
    bins = np.linspace(-reach, reach, 31).tolist()
    for ours, colour, label in ((True, BLUE, findings.folder.package), (False, ORANGE, "others")):
        side = [score for score, is_ours in findings.scores if is_ours is ours]
        axes.hist(np.clip(side, -reach, reach), bins, color=colour, alpha=0.6, label=escape_dollars(label))
    axes.axvline(0.0, color=INK, linestyle="--", linewidth=1.0)
    axes.set(xlabel="prediction", ylabel="held-out docstrings")
    axes.legend()
    return figure


def plot_calibration(findings: Findings) -> "Figure":
    """Whether seven of ten are right where the model says seven of ten."""
    figure = new_figure(4.4, 3.4)
    axes = figure.subplots()
    rows = findings.quality["calibration"]
    sizes = np.array([row["weight"] for row in rows])
    x, y = ([row[name] for row in rows] for name in ("predicted", "observed"))
    axes.plot([0, 1], [0, 1], "--", color=GREY)
    axes.scatter(x, y, s=20.0 + 180.0 * sizes / sizes.max(), color=BLUE, alpha=0.8)
    axes.set(xlabel="predicted probability", ylabel=f"share of {escape_dollars(findings.folder.package)}")
    axes.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
    return figure


def plot_one(findings: Findings) -> "Figure":
    """The one docstring: its prediction against its weight."""
    figure = new_figure(height=3.8)
    axes = figure.subplots()
    heavy = findings.plain_rates
    ends = [prediction for step in heavy.steps.values() for _, prediction in step.copies] + [heavy.before]
    room = (0.1, 0.7) if heavy.label > 0.0 else (0.7, 0.1)  # below and above the copies
    reach = max(ends) - min(ends)
    for (update, step), marker in zip(heavy.steps.items(), ("s", "o"), strict=True):
        axes.plot(*zip(*step.curve, strict=True), color=COLOURS[update], linewidth=2.4,
                  label=f"{update}, one step")  # fmt: skip
        axes.plot(*zip(*step.copies, strict=True), marker, color=COLOURS[update], markersize=5.0,
                  markeredgecolor="white", label=f"{update}, copies one by one")  # fmt: skip
    axes.axhline(heavy.before, color=GREY, linestyle=":")
    axes.annotate("before", (100.0, heavy.before), ha="right", va="bottom", color=GREY)
    axes.axhline(0.0, color=INK, linestyle="--", linewidth=0.8)
    axes.set(xlabel="weight, or number of copies", ylabel="prediction")
    axes.set_ylim(min(ends) - room[0] * reach, max(ends) + room[1] * reach)
    plotting.set_log_ticks(axes, (1, 2, 5, 10, 20, 50, 100))
    axes.annotate(
        f"explicit goes on to {heavy.steps['explicit'].at_once:+.0f}\nat weight {WEIGHT}",
        (0.98, 0.98 if heavy.label > 0.0 else 0.02),
        xycoords="axes fraction",
        ha="right",
        va="top" if heavy.label > 0.0 else "bottom",
        color=COLOURS["explicit"],
    )
    figure.legend(loc="outside upper center", ncols=2, fontsize=9)
    return figure


def plot_weighted(findings: Findings) -> "Figure":
    """All docstrings with weights: accuracy and log loss against the largest weight."""
    figure = new_figure(height=5.6)
    above, below = figure.subplots(2, 1, sharex=True)
    weighted = findings.weighted
    for update in UPDATES:
        lines = (
            (weighted.same_rate, "-", "one rate for all"),
            (weighted.best_rate, ":", "best of seven rates"),
        )
        for qualities, line, rates in lines:
            accuracy = [100.0 * quality.accuracy for quality in qualities[update]]
            log_loss = [quality.log_loss for quality in qualities[update]]
            for axes, values in ((above, accuracy), (below, log_loss)):
                axes.plot(LARGEST, values, line, color=COLOURS[update], marker="o", markersize=4.0,
                          linewidth=2.0, label=f"{update}, {rates}")  # fmt: skip
    above.set(ylabel="held-out accuracy (%)")
    below.set(xscale="log", yscale="log", ylabel="held-out log loss", xlabel="largest weight")
    plotting.use_counts(below.xaxis)
    plotting.use_counts(below.yaxis)
    figure.legend(*below.get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=9)
    return figure
