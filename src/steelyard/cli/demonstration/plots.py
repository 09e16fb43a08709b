"""The plots of the report, each for one question. These files alone need matplotlib."""

from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from steelyard.cli.demonstration import pictures
from steelyard.cli.demonstration.findings import Findings
from steelyard.cli.demonstration.style import COLOURS, GREY, INK, OTHERS, OURS, address, figure
from steelyard.cli.demonstration.telling import word
from steelyard.cli.demonstration.weighing import UPDATES, WEIGHT

_COUNT = FuncFormatter(lambda value, _: f"{value:,.10g}")  # 1,000 rather than 10³


def drawn(found: Findings) -> dict[str, str]:
    """The address of each picture, by the name with which the page asks for it."""
    pictured: dict[str, Callable[[], Figure]] = {
        "learning": partial(learning, found),
        "words": partial(words, found),
        "scores": partial(scores, found),
        "calibration": partial(calibration, found),
        "one": partial(one, found),
        "all": partial(sweep, found),
        "toy": pictures.draw,
    }
    return {name: address(draw) for name, draw in pictured.items()}


def learning(found: Findings) -> Figure:
    """The progressive loss."""
    drawn = figure()
    axes = drawn.subplots()
    rows = len(found.averages)
    counts = np.unique(np.geomspace(1, rows, 300).astype(np.int64))  # as many as can be told apart
    axes.plot(
        counts, np.array(found.averages)[counts - 1], color=OURS, linewidth=2.2, label="average loss so far"
    )
    constant, held = found.summary["best_constant_loss"], found.quality["loss"]
    axes.axhline(constant, color=GREY, linestyle="--", label=f"best constant: {constant:.3f}")
    axes.plot(rows, held, "D", color=OTHERS, label=f"docstrings held out: {held:.3f}")
    axes.set(xscale="log", xlabel="docstrings learned", ylabel="average loss", ylim=(0.0, None))
    axes.xaxis.set_major_formatter(_COUNT)
    axes.legend(loc="lower left")
    return drawn


def words(found: Findings) -> Figure:
    """The largest weights of either sign."""
    drawn = figure(height=5.0)
    axes = drawn.subplots()
    entries = [*found.model["top_positive"], *reversed(found.model["top_negative"])]
    weights = [entry["weight"] for entry in entries]
    places = np.arange(len(entries))
    axes.barh(places, weights, color=[OURS if weight > 0.0 else OTHERS for weight in weights])
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.set_yticks(places, labels=[_plain(word(entry["feature"])) for entry in entries])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"weight: ← another package    {found.folder.package} →")
    return drawn


def scores(found: Findings) -> Figure:
    """How far apart the two sides are."""
    drawn = figure(4.4, 3.4)
    axes = drawn.subplots()
    sides = [[score for score, ours in found.scores if ours is side] for side in (True, False)]
    reach = float(np.quantile(np.abs([score for score, _ in found.scores]), 0.99))
    bins = np.linspace(-reach, reach, 31)
    for side, colour, label in zip(sides, (OURS, OTHERS), (found.folder.package, "others"), strict=True):
        axes.hist(np.clip(side, -reach, reach), bins.tolist(), color=colour, alpha=0.6, label=_plain(label))
    axes.axvline(0.0, color=INK, linestyle="--", linewidth=1.0)
    axes.set(xlabel="prediction", ylabel="docstrings held out")
    axes.legend()
    return drawn


def calibration(found: Findings) -> Figure:
    """Whether seven of ten are right where the model says seven of ten."""
    drawn = figure(4.4, 3.4)
    axes = drawn.subplots()
    rows = found.quality["calibration"]
    heaviest = max(row["weight"] for row in rows)
    axes.plot([0, 1], [0, 1], "--", color=GREY)
    axes.scatter(
        [row["predicted"] for row in rows],
        [row["observed"] for row in rows],
        s=[20.0 + 180.0 * row["weight"] / heaviest for row in rows],
        color=OURS,
        alpha=0.8,
    )
    axes.set(xlabel="predicted probability", ylabel=f"part that is {_plain(found.folder.package)}")
    axes.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
    return drawn


def one(found: Findings) -> Figure:
    """The one docstring, its prediction against its weight."""
    drawn = figure(height=3.8)
    axes = drawn.subplots()
    heavy = found.plain_rates
    ends = [prediction for step in heavy.steps.values() for _, prediction in step.copies] + [heavy.before]
    reach = max(ends) - min(ends)
    low, high = (min(ends) - 0.1 * reach, max(ends) + 0.7 * reach)
    if heavy.label < 0.0:
        low, high = min(ends) - 0.7 * reach, max(ends) + 0.1 * reach
    for (update, step), marker in zip(heavy.steps.items(), ("s", "o"), strict=True):
        axes.plot(*zip(*step.curve, strict=True), color=COLOURS[update], linewidth=2.4,
                  label=f"{update}, one step")  # fmt: skip
        axes.plot(*zip(*step.copies, strict=True), marker, color=COLOURS[update], markersize=5.0,
                  markeredgecolor="white", label=f"{update}, copies one by one")  # fmt: skip
    axes.axhline(heavy.before, color=GREY, linestyle=":")
    axes.annotate("before", (100.0, heavy.before), ha="right", va="bottom", color=GREY)
    axes.axhline(0.0, color=INK, linestyle="--", linewidth=0.8)
    axes.set(xscale="log", ylim=(low, high), xlabel="weight, or number of copies", ylabel="prediction")
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], labels=["1", "2", "5", "10", "20", "50", "100"])
    axes.set_xticks([], minor=True)
    axes.annotate(
        f"explicit goes on to {heavy.steps['explicit'].at_once:+.0f}\nat weight {WEIGHT}",
        (0.98, 0.98 if heavy.label > 0.0 else 0.02),
        xycoords="axes fraction",
        ha="right",
        va="top" if heavy.label > 0.0 else "bottom",
        color=COLOURS["explicit"],
    )
    drawn.legend(loc="outside upper center", ncols=2, fontsize=9)
    return drawn


def sweep(found: Findings) -> Figure:
    """All docstrings with weights: accuracy and log loss against the largest weight."""
    drawn = figure(height=5.6)
    above, below = drawn.subplots(2, 1, sharex=True)
    for update in UPDATES:
        for qualities, line in ((found.sweep.same_rate[update], "-"), (found.sweep.best_rate[update], ":")):
            label = f"{update}, {'one rate for all' if line == '-' else 'best of seven rates'}"
            _against(above, found, [100.0 * quality.accuracy for quality in qualities], update, line, label)
            _against(below, found, [quality.log_loss for quality in qualities], update, line, label)
    above.set(ylabel="accuracy, held out (%)")
    below.set(xscale="log", yscale="log", ylabel="log loss, held out", xlabel="largest weight")
    below.xaxis.set_major_formatter(_COUNT)
    below.yaxis.set_major_formatter(_COUNT)
    drawn.legend(*below.get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=9)
    return drawn


def _against(axes: Axes, found: Findings, values: list[float], update: str, line: str, label: str) -> None:
    axes.plot(
        found.sweep.largest, values, line, color=COLOURS[update], marker="o", markersize=4.0, linewidth=2.0,
        label=label,
    )  # fmt: skip


def _plain(text: str) -> str:
    """A dollar is a dollar, not the beginning of a formula."""
    return text.replace("$", r"\$")
