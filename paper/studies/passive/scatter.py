"""Figures 2 and 3: the accuracies of two updates, schedule by schedule."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from paper.drawing import GREY, figure
from paper.grids import VERY_NEAR, Cells, FloatArray, Grid
from paper.studies.passive.best import LOSSES
from paper.studies.passive.steps import TABLE
from paper.study import Claim, ReportFigure
from paper.verdicts import judge, tally

SHOWN_ABOVE = 0.9
FAR = 0.1
NEARLY_ALL, HARDLY_ANY = 0.9, 0.05
"""Our readings of the paper's "almost all" and "hardly any" schedules."""
_COLOURS = dict(zip(LOSSES, ("#CC79A7", "#0072B2", "#E69F00", "#444444"), strict=True))


def figures(found: Cells, names: Mapping[str, str]) -> tuple[ReportFigure, ReportFigure]:
    """One panel, and three more."""
    return (
        _draw(found, [names["rcv1"]], 2, "One panel"),
        _draw(found, [names[place] for place in ("astro", "spam", "webspam")], 3, "Three more panels"),
    )


def _draw(found: Cells, places: list[str], number: int, panels: str) -> ReportFigure:
    drawing = figure(3.4 * len(places) if len(places) > 1 else 4.6, 3.6)
    axes = drawing.subplots(1, len(places), squeeze=False)[0]
    for axis, place in zip(axes, places, strict=True):
        _panel(axis, {loss: found[place, loss] for loss in LOSSES})
        axis.set_title(place, loc="left", fontsize=10.0, fontweight="bold")
        axis.set_xlabel("accuracy, invariant")
    axes[0].set_ylabel("accuracy, standard")
    axes[0].legend(loc="upper left", markerscale=1.6, handletextpad=0.1)
    caption = (
        f"{panels}: test accuracy of the invariant update (across) and of the "
        f"standard one (up), a point a schedule, where both are above {SHOWN_ABOVE}. Under the line the "
        "invariant update is better. The paper does not say which data set and loss a panel has; ours have a "
        "data set each, and all four losses. In the corner: schedules shown that lie under, and over, the "
        f"line by more than {VERY_NEAR}."
    )
    return ReportFigure(f"passive_figure_{number}", drawing, caption, TABLE, f"Figure {number}")


def _panel(axis: Axes, by_loss: Mapping[str, Mapping[str, Grid]]) -> None:
    highest = SHOWN_ABOVE
    points = {loss: _shown(each) for loss, each in by_loss.items()}
    under, over = _sides(list(points.values()))
    for loss, (x, y) in points.items():
        axis.plot(x, y, "o", markersize=3.0, alpha=0.6, markeredgewidth=0.0, color=_COLOURS[loss], label=loss)
        highest = max(highest, *x, *y) if len(x) else highest
    ends = (SHOWN_ABOVE, highest + 0.04 * (highest - SHOWN_ABOVE) + 1e-3)
    axis.plot(ends, ends, color=GREY, linewidth=0.8)
    axis.set(xlim=ends, ylim=ends, aspect="equal")
    axis.text(0.97, 0.04, f"under {under}\nover {over}", transform=axis.transAxes, ha="right", va="bottom")


def _shown(each: Mapping[str, Grid]) -> tuple[FloatArray, FloatArray]:
    x, y = (each[update].by_schedule() for update in ("invariant", "explicit"))
    both = np.minimum(x, y) > SHOWN_ABOVE
    return x[both], y[both]


def claim(found: Cells) -> Claim:
    """C10: a case for each panel, and one for the leads."""
    panels = [
        [_shown(each) for (where, _), each in found.items() if where == place]
        for place in dict.fromkeys(place for place, _ in found)
    ]
    sides = [_sides(panel) for panel in panels]
    shown = sum(len(x) for panel in panels for x, _ in panel)
    under, over = (sum(each[i] for each in sides) for i in range(2))
    ahead, behind, total = _far(found)
    cases = tally([*map(_side, sides), 1 if (ahead + behind) / total <= HARDLY_ANY else -1])
    return Claim(
        "Figures 2, 3",
        "Schedule by schedule nearly all points are on the invariant update’s side; hardly a lead exceeds "
        "0.1.",
        "in words only",
        f"above 0.9 in both: {under:,} of {shown:,} points on the invariant side, {over:,} on the other; "
        f"lead above 0.1 for {ahead:,} of {total:,} schedules (invariant), {behind:,} (standard)",
        judge(cases),
        f"Nearly all: {NEARLY_ALL:.0%} of those not within {VERY_NEAR}. Large rates ruin the standard update "
        "on far more schedules than the paper says.",
        TABLE,
        10,
        cases,
    )


def _sides(panel: list[tuple[FloatArray, FloatArray]]) -> tuple[int, int]:
    """How many points are under the line, and over it."""
    return (
        sum(int((x > y + VERY_NEAR).sum()) for x, y in panel),
        sum(int((y > x + VERY_NEAR).sum()) for x, y in panel),
    )


def _side(counts: tuple[int, int]) -> int:
    """1: nearly all points are under the line; −1: most are over it."""
    under, over = counts
    share = under / (under + over) if under + over else 0.5
    return 1 if share >= NEARLY_ALL else -1 if share < 0.5 else 0


def _far(found: Cells) -> tuple[int, int, int]:
    gaps = np.concatenate(
        [each["invariant"].by_schedule() - each["explicit"].by_schedule() for each in found.values()]
    )
    return int((gaps > FAR).sum()), int((gaps < -FAR).sum()), len(gaps)
