"""A sweep in pictures.

- For each loss, `schedules-LOSS`: heat maps of accuracy over learning rate and initial t, one for each
  update and power t, all on one scale.
- `explicit-against-invariant`: a point for every schedule, its accuracy with either update.

Where labels are numbers, the loss takes the place of accuracy.
"""

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steelyard.model import Settings
from steelyard.plotting import COLOURS, GREY, INK, new_figure, save_figure
from steelyard.sweep.results import Results, loss_name, measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = ("o", "s", "^", "D", "v", "P")
_MIN_HEIGHT = 3.4  # inches, so that the label beside the scale has room
_OFF_SCALE = 0.05  # share of points that may lie below the scale, so that the best can be told apart


class _Measures:
    """What is drawn of a sweep: a figure for each model, by loss and setting, and which end is good."""

    def __init__(self, results: Results) -> None:
        self.name, self.values, self.higher_is_better = measured(results)
        self.alive = ~results.found["diverged"]
        self.settings = [point.settings for point in results.points]
        self.losses = list(dict.fromkeys(loss_name(each.loss) for each in self.settings))

    def select(self, loss: str, **wanted: Any) -> list[int]:
        """The numbers of the models with this loss and these settings."""
        return [
            number
            for number, each in enumerate(self.settings)
            if loss_name(each.loss) == loss
            and all(getattr(each, name) == value for name, value in wanted.items())
        ]

    def axis(self, loss: str, name: str) -> list[Any]:
        """The values of a setting among the models of a loss; numbers in their order."""
        values = dict.fromkeys(getattr(self.settings[number], name) for number in self.select(loss))
        return list(values) if name == "update" else sorted(values)

    def scale(self, loss: str) -> tuple[float, float]:
        """The lowest and the highest value of the colour scale."""
        numbers = [number for number in self.select(loss) if self.alive[number]]
        shown = self.values[numbers] if numbers else np.zeros(1)
        if self.higher_is_better:
            return float(np.quantile(shown, _OFF_SCALE)), float(shown.max())
        return float(shown.min()), float(np.quantile(shown, 1.0 - _OFF_SCALE))

    def value_or(self, number: int, otherwise: float) -> float:
        """The figure of a model, unless it diverged."""
        return float(self.values[number]) if self.alive[number] else otherwise


def draw_pictures(results: Results, folder: Path) -> list[Path]:
    """Draw everything that the sweep has data for; returns the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    measures = _Measures(results)
    paths = []
    for loss in measures.losses:
        if len(measures.axis(loss, "rate")) > 1:
            name = re.sub(r"[^\w.=-]+", "-", loss).strip("-")
            paths += save_figure(partial(_draw_schedules, measures, loss), folder / f"schedules-{name}")
    if any(_pair_updates(measures, loss) for loss in measures.losses):
        paths += save_figure(partial(_draw_scatter, measures), folder / "explicit-against-invariant")
    return paths


def _draw_schedules(measures: _Measures, loss: str) -> "Figure":
    updates, powers = measures.axis(loss, "update"), measures.axis(loss, "power_t")
    rates, times = measures.axis(loss, "rate"), measures.axis(loss, "initial_t")
    width = 1.9 + len(updates) * (0.6 + 0.26 * len(rates))
    figure = new_figure(width, max(1.5 + len(powers) * (0.7 + 0.26 * len(times)), _MIN_HEIGHT))
    axes = figure.subplots(len(powers), len(updates), squeeze=False, sharex=True, sharey=True)
    low, high = measures.scale(loss)
    image = None
    for row, power in enumerate(powers):
        for column, update in enumerate(updates):
            here = axes[row, column]
            grid, diverged = _fill_cells(
                measures, measures.select(loss, update=update, power_t=power), rates, times
            )
            image = here.imshow(
                grid, origin="lower", aspect="auto", vmin=low, vmax=high, interpolation="nearest",
                cmap="viridis" if measures.higher_is_better else "viridis_r",
            )  # fmt: skip
            here.plot(*np.nonzero(diverged.T), "x", color=COLOURS["explicit"], markersize=5.0)
            here.grid(visible=False)
            here.set_title(f"{update}, power t = {power:g}", fontsize=10)
            turn = 90 if len(rates) > 6 else 0
            here.set_xticks(range(len(rates)), labels=_format_values(rates), rotation=turn, fontsize=8)
            here.set_yticks(range(len(times)), labels=_format_values(times), fontsize=8)
            if column == 0:
                here.set_ylabel("initial t (weighted examples)")
            if row == len(powers) - 1:
                here.set_xlabel("learning rate")
    assert image is not None
    best = "lightest is best" if measures.higher_is_better else "lightest is least"
    extend = "min" if measures.higher_is_better else "max"
    figure.colorbar(image, ax=axes, label=f"{measures.name} ({best})", extend=extend)
    crosses = "; × diverged" if not measures.alive[measures.select(loss)].all() else ""
    figure.suptitle(f"{loss} loss: {measures.name} by schedule{crosses}")
    return figure


def _fill_cells(
    measures: _Measures, numbers: list[int], rates: list[float], times: list[float]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The best model of each cell (they may still differ in L2 or scaling), and where all diverged."""
    grid = np.full((len(times), len(rates)), np.nan)
    filled, alive = np.zeros(grid.shape, bool), np.zeros(grid.shape, bool)
    pick = np.fmax if measures.higher_is_better else np.fmin
    for number in numbers:
        settings = measures.settings[number]
        place = times.index(settings.initial_t), rates.index(settings.rate)
        filled[place] = True
        if measures.alive[number]:
            alive[place] = True
            grid[place] = pick(grid[place], measures.values[number])
    return grid, filled & ~alive


def _format_values(values: list[float]) -> list[str]:
    """Labels of ticks; powers of two and of ten are written as powers."""
    for base in (2, 10):
        exponents = [round(float(np.log(value) / np.log(base))) if value > 0.0 else 0 for value in values]
        exact = all(float(base) ** e == value for e, value in zip(exponents, values, strict=True))
        if exact and max(map(abs, exponents)) > 3:
            return [f"${base}^{{{exponent}}}$" for exponent in exponents]
    return [f"{value:.4g}" for value in values]


def _pair_updates(measures: _Measures, loss: str) -> list[tuple[int, int]]:
    """Pairs of models, explicit and invariant, that differ in the update only."""
    invariant = {_without_update(measures.settings[n]): n for n in measures.select(loss, update="invariant")}
    explicit = {_without_update(measures.settings[n]): n for n in measures.select(loss, update="explicit")}
    return [(explicit[key], invariant[key]) for key in explicit if key in invariant]


def _without_update(settings: Settings) -> tuple[Any, ...]:
    return tuple(value for name, value in vars(settings).items() if name != "update")


def _draw_scatter(measures: _Measures) -> "Figure":
    losses = [loss for loss in measures.losses if _pair_updates(measures, loss)]
    columns = min(len(losses), 2)
    rows = -(-len(losses) // columns)
    figure = new_figure(3.9 * columns + 0.4, 3.7 * rows + 0.7)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[len(losses) :]:
        panel.set_axis_off()
    for panel, loss in zip(panels, losses, strict=False):
        _scatter_panel(panel, measures, loss)
    by_label: dict[str, Any] = {}
    for panel in panels[: len(losses)]:
        by_label |= dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    figure.legend(list(by_label.values()), list(by_label), loc="outside lower center", ncols=4, fontsize=9)
    side = "above" if measures.higher_is_better else "below"
    title = f"{measures.name}, a point for each schedule: {side} the line the invariant update is better"
    figure.suptitle(title, fontsize=10.5)
    return figure


def _scatter_panel(axes: "Axes", measures: _Measures, loss: str) -> None:
    pairs = _pair_updates(measures, loss)
    shown = [number for pair in pairs for number in pair if measures.alive[number]]
    values = measures.values[shown] if shown else np.zeros(1)
    margin = 0.04 * float(np.ptp(values)) or 0.01
    low, high = float(values.min()) - margin, float(values.max()) + margin
    worst = low if measures.higher_is_better else high
    powers = sorted({measures.settings[number].power_t for pair in pairs for number in pair})
    colours = (COLOURS["implicit"], COLOURS["invariant"], COLOURS["second_order"], GREY)
    for place, power in enumerate(powers):
        of_power = [
            pair for pair in pairs if measures.settings[pair[0]].power_t == power and measures.alive[pair[0]]
        ]
        points = np.array([[measures.value_or(number, worst) for number in pair] for pair in of_power])
        points = points.reshape(-1, 2)  # also if there are none
        axes.scatter(
            points[:, 0], points[:, 1], s=18.0, marker=_MARKERS[place % len(_MARKERS)], alpha=0.6,
            linewidths=0.0, color=colours[place % len(colours)], label=f"power t = {power:g}", clip_on=False,
        )  # fmt: skip
    diverged = [pair for pair in pairs if not measures.alive[pair[0]]]
    if diverged:
        heights = [measures.value_or(number, worst) for _, number in diverged]
        axes.plot([worst] * len(heights), heights, "x", color=COLOURS["explicit"], clip_on=False,
                  label="explicit diverged: put at the edge")  # fmt: skip
    axes.plot([low, high], [low, high], "--", color=INK, linewidth=0.9, label="equal")
    axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    axes.set(xlabel=f"explicit: {measures.name}", ylabel=f"invariant: {measures.name}")
    of_them = f", {len(diverged)} of them diverged" if diverged else ""
    axes.set_title(f"{loss} loss, {len(pairs)} schedules{of_them}", fontsize=10)
