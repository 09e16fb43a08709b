"""One example, drawn for each loss and update: prediction against weight. README shows this picture."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from steelyard import updates
from steelyard.cli.demonstration.comparison import LOSSES, WEIGHT, Curve, at_once, curves
from steelyard.cli.demonstration.style import COLOURS, GREY, INK

_LEAST, _MOST = 0.7, 100.0
_WEIGHTS = [_LEAST * (_MOST / _LEAST) ** (i / 100) for i in range(101)]
_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
_TICKS = (1, 2, 5, 10, 20, 50, 100)


def draw() -> Figure:
    """The whole figure."""
    names = updates.names()
    figure = Figure(figsize=(10.5, 5.6), layout="constrained", facecolor="white")
    grid = figure.subplots(len(LOSSES), len(names), sharex=True, sharey="row")
    for loss, row in zip(LOSSES, grid, strict=True):
        _row(list(row), loss, {curve.update: curve for curve in curves(loss, _WEIGHTS, _COUNTS)})
    for update, column in zip(names, grid.T, strict=True):
        column[0].set_title(_spoken(update), color=COLOURS[update], fontsize=12, fontweight="bold")
        column[-1].set_xlabel("importance weight $h$")
    figure.legend(
        handles=[
            Line2D([], [], color=GREY, linewidth=3.0, label="one step of weight $h$"),
            Line2D([], [], color=INK, linestyle="", marker="o", label="$h$ copies, one step each"),
        ],
        loc="outside upper center",
        ncols=2,
        frameon=False,
        fontsize=11.0,
    )
    return figure


def _row(row: list[Axes], loss: str, found: dict[str, Curve]) -> None:
    top = 1.5 * max(prediction for curve in found.values() for _, prediction in curve.copies)
    row[0].set(ylim=(0.0, top), ylabel=f"{loss} loss\nprediction")
    row[0].locator_params(axis="y", nbins=4)
    for update, axes in zip(updates.names(), row, strict=True):
        axes.set(xscale="log", xlim=(_LEAST, 1.2 * _MOST))
        axes.set_xticks(_TICKS, labels=[str(tick) for tick in _TICKS])
        axes.set_xticks([], minor=True)
        if update in found:
            _panel(axes, found[update], top)
        else:
            _empty(axes, f"none: {loss} loss is made\nof straight lines")


def _panel(axes: Axes, curve: Curve, top: float) -> None:
    colour = COLOURS[curve.update]
    axes.plot(*zip(*curve.at_once, strict=True), color=colour, linewidth=3.0)
    axes.plot(*zip(*curve.copies, strict=True), "o", color=INK, markersize=4.0)
    outside = [weight for weight, prediction in curve.at_once if prediction > top]
    if outside:
        axes.annotate(
            f"{at_once(curve.loss, curve.update, WEIGHT):g} at\nweight {WEIGHT}",
            (outside[0], top),
            xytext=(5.0, 2.0),
            textcoords="offset points",
            va="top",
            color=colour,
        )


def _empty(axes: Axes, reason: str) -> None:
    axes.text(0.5, 0.5, reason, transform=axes.transAxes, ha="center", va="center", color=GREY)
    axes.spines["left"].set_visible(False)
    axes.tick_params(left=False)
    axes.grid(visible=False)


def _spoken(update: str) -> str:
    return update.replace("_", "-")
