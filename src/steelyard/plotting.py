"""Figures in the house style: their looks, and how they are saved.

Matplotlib is imported when the first figure is drawn, so importing this module is free and works without
it. Figures are never made through pyplot: no display and no global state is involved.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard import _atomic_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# From the palettes of Okabe & Ito and of Tol: distinct for every common kind of colour vision.
COLOURS = {"explicit": "#D55E00", "implicit": "#0072B2", "second_order": "#AA4499", "invariant": "#009E73"}
INK, GREY, FAINT = "#222222", "#777777", "#E6E6E6"
STYLE: dict[Any, Any] = {
    "font.size": 10.5,
    "font.family": ["DejaVu Sans"],
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",  # text stays text: small, and sharp at any size
    "svg.hashsalt": "steelyard",
}
# Without its date, a figure that is drawn again gives the same file.
UNDATED: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def is_available() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def require_matplotlib() -> None:
    """Fail early, before any long work, if no figure can be drawn."""
    if not is_available():
        raise ImportError('pictures need matplotlib: pip install "steelyard[plot]"')


def new_figure(width: float = 6.4, height: float = 3.4) -> "Figure":
    """An empty figure; sizes are in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def save_figure(draw: "Callable[[], Figure]", stem: Path) -> list[Path]:
    """Write the figure as STEM.svg and STEM.png, each whole or not at all; returns both paths."""
    import matplotlib as mpl

    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in ("svg", "png")]
    with mpl.rc_context(STYLE):
        figure = draw()
        for path in paths:
            write_figure(figure, path)
    return paths


def write_figure(figure: "Figure", path: Path, **metadata: Any) -> None:
    """Write one file in the format of its suffix: svg, png or pdf."""
    suffix = path.suffix[1:]
    with _atomic_files.replacing(path) as temporary:
        figure.savefig(
            temporary, format=suffix, dpi=150, metadata={**UNDATED.get(suffix, {}), **metadata} or None
        )
