"""Pictures of a sweep. These need matplotlib.

- For each loss, `schedules-LOSS`: heat maps of accuracy over learning rate and initial t, one for each
  update and power t, all on one scale.
- `explicit-against-invariant`: a point for every schedule, its accuracy with either update.

Where labels are numbers, the loss takes the place of accuracy.
"""

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from steelyard.cli.demonstration.style import COLOURS, GREY, INK, figure, written
from steelyard.cli.sweeps import report
from steelyard.model import Settings
from steelyard.sweep.results import Results, loss_name

_MARKERS = ("o", "s", "^", "D", "v", "P")
_LOWEST = 3.4  # inches, so that the label beside the scale has room
_WORST = 0.05  # share of points that may lie below the scale, so that the best can be told apart


class _Pictured:
    """The figures of a sweep by loss and setting, and the way from bad to good."""

    def __init__(self, results: Results) -> None:
        found = report.accuracy(results)
        self.called, self.values = found or report.loss(results)
        self.higher_is_better = found is not None
        self.alive = ~results.found["diverged"]
        self.settings = [point.settings for point in results.points]
        self.losses = list(dict.fromkeys(loss_name(each.loss) for each in self.settings))

    def of(self, loss: str, **wanted: Any) -> list[int]:
        return [
            number
            for number, each in enumerate(self.settings)
            if loss_name(each.loss) == loss
            and all(getattr(each, name) == value for name, value in wanted.items())
        ]

    def axis(self, loss: str, name: str) -> list[Any]:
        """The values of a setting among the models of a loss; numbers in their order."""
        found = dict.fromkeys(getattr(self.settings[number], name) for number in self.of(loss))
        return list(found) if name == "update" else sorted(found)

    def scale(self, loss: str) -> tuple[float, float]:
        """From the worst that is shown to the best."""
        numbers = [number for number in self.of(loss) if self.alive[number]]
        shown = self.values[numbers] if numbers else np.zeros(1)
        if self.higher_is_better:
            return float(np.quantile(shown, _WORST)), float(shown.max())
        return float(shown.min()), float(np.quantile(shown, 1.0 - _WORST))


def drawn(results: Results, folder: Path) -> list[Path]:
    """Draw what there is to be drawn into the folder; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    pictured = _Pictured(results)
    paths = []
    for loss in pictured.losses:
        if len(pictured.axis(loss, "rate")) > 1:
            paths += written(partial(_schedules, pictured, loss), folder / f"schedules-{_file_name(loss)}")
    if any(_pairs(pictured, loss) for loss in pictured.losses):
        paths += written(partial(_scatter, pictured), folder / "explicit-against-invariant")
    return paths


def _schedules(pictured: _Pictured, loss: str) -> Figure:
    updates, powers = pictured.axis(loss, "update"), pictured.axis(loss, "power_t")
    rates, times = pictured.axis(loss, "rate"), pictured.axis(loss, "initial_t")
    width = 1.9 + len(updates) * (0.6 + 0.26 * len(rates))
    drawn = figure(width, max(1.5 + len(powers) * (0.7 + 0.26 * len(times)), _LOWEST))
    axes = drawn.subplots(len(powers), len(updates), squeeze=False, sharex=True, sharey=True)
    low, high = pictured.scale(loss)
    image = None
    for row, power in enumerate(powers):
        for column, update in enumerate(updates):
            here = axes[row, column]
            grid, diverged = _cells(pictured, pictured.of(loss, update=update, power_t=power), rates, times)
            image = here.imshow(
                grid, origin="lower", aspect="auto", vmin=low, vmax=high, interpolation="nearest",
                cmap="viridis" if pictured.higher_is_better else "viridis_r",
            )  # fmt: skip
            here.plot(*np.nonzero(diverged.T), "x", color=COLOURS["explicit"], markersize=5.0)
            here.grid(visible=False)
            here.set_title(f"{update}, power t = {power:g}", fontsize=10)
            _ticks(here, rates, times)
            if column == 0:
                here.set_ylabel("initial t (weighted examples)")
            if row == len(powers) - 1:
                here.set_xlabel("learning rate")
    assert image is not None
    best = "lightest is best" if pictured.higher_is_better else "lightest is least"
    extend = "min" if pictured.higher_is_better else "max"
    drawn.colorbar(image, ax=axes, label=f"{pictured.called} ({best})", extend=extend)
    crosses = "; × diverged" if not pictured.alive[pictured.of(loss)].all() else ""
    drawn.suptitle(f"{loss} loss: {pictured.called} by schedule{crosses}")
    return drawn


def _cells(
    pictured: _Pictured, numbers: list[int], rates: list[float], times: list[float]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The best of the models in each cell, which may differ in L2 or scaling still."""
    grid = np.full((len(times), len(rates)), np.nan)
    alive = np.zeros_like(grid)
    filled = np.zeros_like(grid)
    for number in numbers:
        settings = pictured.settings[number]
        place = times.index(settings.initial_t), rates.index(settings.rate)
        filled[place] = 1.0
        if pictured.alive[number]:
            alive[place] = 1.0
            pick = np.fmax if pictured.higher_is_better else np.fmin
            grid[place] = pick(grid[place], pictured.values[number])
    return grid, (filled > alive)


def _ticks(axes: Axes, rates: list[float], times: list[float]) -> None:
    axes.set_xticks(
        range(len(rates)), labels=_labels(rates), rotation=90 if len(rates) > 6 else 0, fontsize=8
    )
    axes.set_yticks(range(len(times)), labels=_labels(times), fontsize=8)


def _labels(values: list[float]) -> list[str]:
    """Powers of two and ten as such."""
    for base in (2, 10):
        exponents = [round(float(np.log(value) / np.log(base))) if value > 0.0 else 0 for value in values]
        exact = all(float(base) ** e == value for e, value in zip(exponents, values, strict=True))
        if exact and max(map(abs, exponents)) > 3:
            return [f"${base}^{{{exponent}}}$" for exponent in exponents]
    return [f"{value:.4g}" for value in values]


def _pairs(pictured: _Pictured, loss: str) -> list[tuple[int, int]]:
    """The numbers of the models that differ in the update only: explicit, and invariant."""
    invariant = {_but_update(pictured.settings[n]): n for n in pictured.of(loss, update="invariant")}
    explicit = {_but_update(pictured.settings[n]): n for n in pictured.of(loss, update="explicit")}
    return [(explicit[key], invariant[key]) for key in explicit if key in invariant]


def _but_update(settings: Settings) -> tuple[Any, ...]:
    return tuple(value for name, value in vars(settings).items() if name != "update")


def _scatter(pictured: _Pictured) -> Figure:
    losses = [loss for loss in pictured.losses if _pairs(pictured, loss)]
    columns = min(len(losses), 2)
    rows = -(-len(losses) // columns)
    drawn = figure(3.9 * columns + 0.4, 3.7 * rows + 0.7)
    panels = drawn.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[len(losses) :]:
        panel.set_axis_off()
    for panel, loss in zip(panels, losses, strict=False):
        _scatter_one(panel, pictured, loss)
    by_label: dict[str, Any] = {}
    for panel in panels[: len(losses)]:
        by_label |= dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    drawn.legend(list(by_label.values()), list(by_label), loc="outside lower center", ncols=4, fontsize=9)
    side = "above" if pictured.higher_is_better else "below"
    title = f"{pictured.called}, a point for each schedule: {side} the line the invariant update is better"
    drawn.suptitle(title, fontsize=10.5)
    return drawn


def _scatter_one(axes: Axes, pictured: _Pictured, loss: str) -> None:
    pairs = _pairs(pictured, loss)
    shown = [number for pair in pairs for number in pair if pictured.alive[number]]
    values = pictured.values[shown] if shown else np.zeros(1)
    margin = 0.04 * float(np.ptp(values)) or 0.01
    low, high = float(values.min()) - margin, float(values.max()) + margin
    worst = low if pictured.higher_is_better else high
    powers = sorted({pictured.settings[number].power_t for pair in pairs for number in pair})
    colours = (COLOURS["implicit"], COLOURS["invariant"], COLOURS["second_order"], GREY)
    for place, power in enumerate(powers):
        of_power = [
            pair for pair in pairs if pictured.settings[pair[0]].power_t == power and pictured.alive[pair[0]]
        ]
        points = np.array([[_or(pictured, number, worst) for number in pair] for pair in of_power])
        points = points.reshape(-1, 2)  # also if there are none
        axes.scatter(
            points[:, 0], points[:, 1], s=18.0, marker=_MARKERS[place % len(_MARKERS)], alpha=0.6,
            linewidths=0.0, color=colours[place % len(colours)], label=f"power t = {power:g}", clip_on=False,
        )  # fmt: skip
    diverged = [pair for pair in pairs if not pictured.alive[pair[0]]]
    if diverged:
        heights = [_or(pictured, number, worst) for _, number in diverged]
        axes.plot([worst] * len(heights), heights, "x", color=COLOURS["explicit"], clip_on=False,
                  label="explicit diverged: put at the edge")  # fmt: skip
    axes.plot([low, high], [low, high], "--", color=INK, linewidth=0.9, label="equal")
    axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    axes.set(xlabel=f"explicit: {pictured.called}", ylabel=f"invariant: {pictured.called}")
    of_them = f", {len(diverged)} of them diverged" if diverged else ""
    axes.set_title(f"{loss} loss, {len(pairs)} schedules{of_them}", fontsize=10)


def _or(pictured: _Pictured, number: int, otherwise: float) -> float:
    return float(pictured.values[number]) if pictured.alive[number] else otherwise


def _file_name(loss: str) -> str:
    return re.sub(r"[^\w.=-]+", "-", loss).strip("-")
