"""Draw docs/weight-50.png, the figure of the README: one example, for each loss and update.

The example has the one feature x = 1 and the label 1, the model starts at 0, and the learning rate is
constant, so that a weight of h pushes by h times the rate.

    python docs/draw_weight_50.py
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from steelyard import losses, plotting, updates
from steelyard.plotting import COLOURS, GREY, INK

LOSSES = ("squared", "logistic", "hinge")
RATE = 0.5
WEIGHT = 50
COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
_TICKS = (1, 2, 5, 10, 20, 50, 100)


def step_once(loss: str, update: str, weight: float, start: float = 0.0) -> float:
    """The prediction for the example (x = 1, label 1) after one step of this weight from `start`."""
    return start + updates.by_name(update).change(losses.by_name(loss), start, 1.0, RATE * weight)


def step_copies(loss: str, update: str, count: int) -> list[float]:
    """The predictions after 1, 2, …, `count` steps of weight 1."""
    predictions = [0.0]
    for _ in range(count):
        predictions.append(step_once(loss, update, 1.0, predictions[-1]))
    return predictions[1:]


def draw() -> Figure:
    """Prediction against weight, for each loss and update."""
    figure = plotting.new_figure(10.5, 5.6)
    grid = figure.subplots(len(LOSSES), len(updates.names()), sharex=True, sharey="row")
    for loss, row in zip(LOSSES, grid, strict=True):
        known = updates.names_for(losses.by_name(loss))
        top = 1.5 * max(max(step_copies(loss, update, max(COUNTS))) for update in known)
        row[0].set(ylim=(0.0, top), ylabel=f"{loss} loss\nprediction")
        row[0].locator_params(axis="y", nbins=4)
        for update, axes in zip(updates.names(), row, strict=True):
            axes.set_xscale("log")
            axes.set_xticks(_TICKS, labels=[str(tick) for tick in _TICKS])
            axes.set_xticks([], minor=True)
            axes.set_xlim(0.7, 120.0)
            if update in known:
                _draw_panel(axes, loss, update, top)
            else:
                reason = f"none: {loss} loss is made\nof straight lines"
                axes.text(0.5, 0.5, reason, transform=axes.transAxes, ha="center", va="center", color=GREY)
                axes.spines["left"].set_visible(False)
                axes.tick_params(left=False)
                axes.grid(visible=False)
    for update, column in zip(updates.names(), grid.T, strict=True):
        title = update.replace("_", "-")
        column[0].set_title(title, color=COLOURS[update], fontsize=12, fontweight="bold")
        column[-1].set_xlabel("importance weight $h$")
    handles = [
        Line2D([], [], color=GREY, linewidth=3.0, label="one step of weight $h$"),
        Line2D([], [], color=INK, linestyle="", marker="o", label="$h$ copies, one step each"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False, fontsize=11.0)
    return figure


def _draw_panel(axes: Axes, loss: str, update: str, top: float) -> None:
    weights = np.geomspace(0.7, 100.0, 101).tolist()
    steps = [step_once(loss, update, weight) for weight in weights]
    copies = step_copies(loss, update, max(COUNTS))
    axes.plot(weights, steps, color=COLOURS[update], linewidth=3.0)
    axes.plot(COUNTS, [copies[count - 1] for count in COUNTS], "o", color=INK, markersize=4.0)
    outside = [weight for weight, prediction in zip(weights, steps, strict=True) if prediction > top]
    if outside:
        axes.annotate(
            f"{step_once(loss, update, WEIGHT):g} at\nweight {WEIGHT}",
            (outside[0], top),
            xytext=(5.0, 2.0),
            textcoords="offset points",
            va="top",
            color=COLOURS[update],
        )


if __name__ == "__main__":
    with mpl.rc_context(plotting.STYLE):
        plotting.write_figure(draw(), Path(__file__).parent / "weight-50.png")
