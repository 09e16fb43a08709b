"""Error against labels, a curve for each policy. These need matplotlib."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from steelyard.cli.active.simulations.trials import ALL
from steelyard.plotting import COLOURS, GREY, INK
from steelyard.plotting import new_figure as figure
from steelyard.plotting import save_figure as written

_COLOURS = {
    "invariant": COLOURS["invariant"],
    "implicit": COLOURS["implicit"],
    "multiplication": COLOURS["explicit"],
    "margin": COLOURS["second_order"],
    "random": GREY,
}
_MARKERS = dict(zip(_COLOURS, "osD^v", strict=True))


def drawn(result: dict[str, Any], folder: Path) -> list[Path]:
    """The curves as SVG and PNG; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    if result["grid"]:
        return written(partial(_hulls, result), folder / "active-hulls")
    paths = written(partial(_curves, result), folder / "active-errors")
    asking = [policy for policy in _policies(result) if _estimated(result, policy)]
    for policy in asking:
        paths += written(partial(_estimates, result, policy), folder / f"active-estimates-{policy}")
    return paths


def _curves(result: dict[str, Any]) -> Figure:
    drawn = figure(6.6, 4.2)
    axes = drawn.subplots()
    for policy in _policies(result):
        fractions, errors, low, high = _columns(_of(result, policy))
        colour = _COLOURS[policy]
        axes.fill_between(fractions, low, high, color=colour, alpha=0.13, linewidth=0.0)
        axes.plot(fractions, errors, color=colour, marker=_MARKERS[policy], label=policy)
    (everything,) = _of(result, ALL)
    axes.axhline(100.0 * everything["error"], color=INK, linestyle="--", linewidth=0.9, label=ALL)
    _dressed(axes, result, [entry for entry in result["results"] if entry["policy"] != ALL])
    axes.set_title(f"Test error by labels paid for ({_shuffles(result)}; bands: 95 %)", fontsize=10.5)
    return drawn


def _estimates(result: dict[str, Any], policy: str) -> Figure:
    """What the labels say beside what is true."""
    drawn = figure(6.6, 4.2)
    axes = drawn.subplots()
    entries = _estimated(result, policy)
    fractions, errors, _, _ = _columns(entries)
    own = [entry["estimate"] for entry in entries]
    values, low, high = (100.0 * np.array([each[name] for each in own]) for name in ("value", "low", "high"))
    colour = _COLOURS[policy]
    axes.fill_between(fractions, low, high, color=colour, alpha=0.15, linewidth=0.0,
                      label="its interval (holds at every moment, 95 %)")  # fmt: skip
    axes.plot(fractions, values, color=colour, marker=_MARKERS[policy], label="its own estimate")
    axes.plot(fractions, errors, "--", color=INK, marker="x", label="test error")
    _dressed(axes, result, entries)
    axes.set_title(
        f"{policy}: what the labels paid for say of the error ({_shuffles(result)})", fontsize=10.5
    )
    return drawn


def _hulls(result: dict[str, Any]) -> Figure:
    drawn = figure(6.6, 4.2)
    axes = drawn.subplots()
    for policy in _policies(result):
        for number, hull in enumerate(result["hulls"][policy]):
            corners = np.array(hull)
            axes.plot(
                corners[:, 0], 100.0 * corners[:, 1], color=_COLOURS[policy], marker=_MARKERS[policy],
                markersize=4.0, alpha=0.8, linewidth=1.2, label=policy if number == 0 else None,
            )  # fmt: skip
    _dressed(axes, result, result["results"])
    corners = np.array([corner for hulls in result["hulls"].values() for hull in hulls for corner in hull])
    fractions = [entry["fraction"] for entry in result["results"]]
    left, right = 0.5 * min(fractions), 1.5 * max(fractions)
    axes.set_xlim(left, right)
    shown = corners[(corners[:, 0] >= left) & (corners[:, 0] <= right), 1]
    axes.set_ylim(0.0, 110.0 * float(shown.max()))
    axes.set_title(f"The best of all settings in hindsight ({_shuffles(result)}, a line each)", fontsize=10.5)
    return drawn


def _dressed(axes: Axes, result: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    fractions = sorted({entry["fraction"] for entry in entries})
    axes.set_xscale("log")
    axes.set_xticks(fractions, labels=[f"{100.0 * fraction:g} %" for fraction in fractions])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", bottom=False)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel(f"labels paid for, of {result['rows']:,} rows (logarithmic)")
    axes.set_ylabel(f"error on {result['held_out']:,} held-out rows")
    axes.legend(fontsize=9)


def _policies(result: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(entry["policy"] for entry in result["results"] if entry["policy"] != ALL))


def _of(result: dict[str, Any], policy: str) -> list[dict[str, Any]]:
    return [entry for entry in result["results"] if entry["policy"] == policy]


def _estimated(result: dict[str, Any], policy: str) -> list[dict[str, Any]]:
    return [entry for entry in _of(result, policy) if entry["estimate"] is not None]


def _columns(entries: list[dict[str, Any]]) -> tuple[np.ndarray[Any, Any], ...]:
    """Fractions; errors and their bounds in per cent."""
    fractions = np.array([entry["fraction"] for entry in entries])
    shares = (100.0 * np.array([entry[name] for entry in entries]) for name in ("error", "low", "high"))
    return fractions, *shares


def _shuffles(result: dict[str, Any]) -> str:
    return "one shuffle" if result["shuffles"] == 1 else f"{result['shuffles']} shuffles"
