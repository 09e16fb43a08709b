"""Figure 1: test error against the fraction of labels, a panel a data set."""

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from paper.drawing import COLOURS, GREY, figure
from paper.studies.active.hulls import Place, Places
from paper.studies.active.table import LINK, NAMES
from paper.studies.active.trials import PASSIVE, TRIALS
from paper.study import ReportFigure

_TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_WORST = 3.5  # of the axis, in units of the least error of passive learning


def draw(found: Places, constants: str, title: str = "") -> ReportFigure:
    drawing = figure(9.6, 3.0)
    panels = drawing.subplots(1, len(found), squeeze=False)[0]
    for panel, place in zip(panels, found.values(), strict=True):
        _curves(panel, place, constants)
        panel.set_title(place.name, loc="left", fontsize=10.0, fontweight="bold")
    drawing.supxlabel("labels, % of the rows", fontsize=10.0)
    panels[0].set_ylabel("test error, %")
    handles, labels = panels[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside upper center", ncols=len(handles))
    caption = (
        "Test error against the fraction of labels that were queried; the convex hull "
        "of 1,980 runs of each update (198 schedules × 10 values of C₀), every corner one run, and one "
        "typical good run of passive learning. A curve that ends early: no run with more queries was better. "
        f"The cross marks the stated error of Table 2. First shuffle; link {LINK}, constants of {constants}. "
        "Beyond the paper, the axis of labels is logarithmic."
    )
    return ReportFigure(f"active_figure_1_{constants}", drawing, caption, f"{TRIALS} {PASSIVE}", title)


def _curves(panel: Axes, place: Place, constants: str) -> None:
    shuffle = place.shuffles[0]
    runs, stated = shuffle.passive[LINK], shuffle.stated(LINK)
    typical = runs.errors[runs.typical(stated)]
    panel.plot(runs.fractions, typical, "--", color=GREY, label="passive, a typical run", linewidth=1.3)
    for update, name in NAMES.items():
        corners = shuffle.active[LINK, constants, update].corners()
        panel.plot(*corners.T, "o-", color=COLOURS[update], label=name, linewidth=1.7, markersize=3.0)
        needed = shuffle.active[LINK, constants, update].needed(stated)
        if needed <= 1.0:
            panel.plot([needed], [stated], "x", color=COLOURS[update], markersize=7.0, markeredgewidth=1.8)
    panel.axhline(stated, color=GREY, linewidth=0.7, linestyle=":")
    panel.set(xscale="log", xlim=(_TICKS[0], 1.05), ylim=(0.0, _WORST * runs.least))
    panel.xaxis.set_major_locator(FixedLocator([0.01, 0.1, 1.0]))
    panel.xaxis.set_minor_locator(FixedLocator(_TICKS))
    panel.xaxis.set_minor_formatter(NullFormatter())
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100.0 * value:g}"))
