"""How the figures look. They are drawn without pyplot: no display is needed."""

from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

# From the palettes of Okabe & Ito and of Tol: distinct for every common kind of colour vision.
COLOURS = {
    "explicit": "#D55E00",
    "implicit": "#0072B2",
    "second_order": "#AA4499",
    "invariant": "#009E73",
    "passive": "#777777",
}
INK, GREY, FAINT = "#222222", "#777777", "#E6E6E6"

_STYLE: dict[Any, Any] = {
    "font.size": 10.0,
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
    "svg.fonttype": "none",  # text stays text: small, and sharp at any size
    "svg.hashsalt": "steelyard",
    "pdf.fonttype": 42,
}
mpl.rcParams.update(_STYLE)


def figure(width: float = 7.2, height: float = 4.2) -> Figure:
    """In inches; the report shows it at its own size on a wide window."""
    return Figure(figsize=(width, height), layout="constrained")
