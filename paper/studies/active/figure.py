"""Figure 1: test error against the fraction of labels, a panel a data set."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from paper.drawing import COLOURS, INK, figure
from paper.studies.active.hulls import BASELINE, Shuffle, budgets, mean_hull
from paper.studies.active.trials import UPDATES
from paper.study import ReportFigure, Scope, Tables

NAMES = {
    BASELINE: "passive",
    "explicit": "multiplication",
    "implicit": "implicit",
    "invariant": "invariant",
}
_TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_WORST = 4.0  # of the axis, in units of the least error of passive learning
_AT = np.geomspace(_TICKS[0], 1.0, 400)


def draw(
    found: Mapping[str, Sequence[Shuffle]], tables: Tables, constants: str, scope: Scope
) -> ReportFigure:
    drawing = figure(7.6, 6.4)
    panels = drawing.subplots(2, 2).ravel()
    for panel, (name, several) in zip(panels, found.items(), strict=True):
        _curves(panel, several, constants)
        _budgets(panel, tables, name)
        panel.set_title(name, loc="left", fontsize=10.0, fontweight="bold")
        panel.set_ylim(0.0, _WORST * float(np.mean([each.passive.errors.min() for each in several])))
    for panel in panels[2:]:
        panel.set_xlabel("labels, % of the rows shown")
    for panel in panels[::2]:
        panel.set_ylabel("test error, %")
    named, title = panels[0].get_legend_handles_labels(), f"constants of {constants}"
    drawing.legend(*named, loc="outside upper center", ncols=3, title=title)
    mean = scope.choose("the mean of three shuffles", "one shuffle")
    caption = (
        f"**Figure 1, constants of {constants}.** Lower convex hulls over 198 schedules × 10 values of C₀, "
        f"for passive learning over 198 schedules × 3 updates; {mean}. Every point of a hull was chosen in "
        "hindsight, by the test error. The dots were not: `ActiveClassifier(budget=…)` as it comes, and as "
        "many random labels for the same learner. Errors above the axis are cut off."
    )
    return ReportFigure(f"active_figure_1_{constants}", drawing, caption, "active_trials")


def _curves(panel: Axes, several: Sequence[Shuffle], constants: str) -> None:
    points = {BASELINE: [each.passive for each in several]} | {
        update: [each.active[constants, update] for each in several] for update in UPDATES
    }
    for way, style in zip(points, ("--", "-", "-", "-"), strict=True):
        panel.plot(
            _AT, mean_hull(points[way], _AT), style, color=COLOURS[way], label=NAMES[way], linewidth=1.8
        )
    panel.set_xscale("log")
    panel.set_xlim(_TICKS[0], 1.0)
    panel.xaxis.set_major_locator(FixedLocator(_TICKS))
    panel.xaxis.set_minor_locator(NullLocator())
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100.0 * value:g}"))


def _budgets(panel: Axes, tables: Tables, name: str) -> None:
    marks = {"budget": (INK, "a budget, no hindsight"), "random": ("white", "random labels, same learner")}
    for way, (colour, label) in marks.items():
        fractions, errors = zip(*budgets(tables, name, way), strict=True)
        panel.plot(
            fractions, errors, "o", color=INK, markerfacecolor=colour, markersize=5.0, label=label, zorder=3
        )
