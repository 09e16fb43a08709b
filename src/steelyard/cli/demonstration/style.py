"""How pictures look, and how they get into a page or into files.

They are drawn on figures of their own, so neither a display nor the global state of pyplot is involved.
"""

import base64
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from steelyard import _atomic_files

# From the palettes of Okabe & Ito and of Tol: distinct for every common kind of colour vision.
COLOURS = {"explicit": "#D55E00", "implicit": "#0072B2", "second_order": "#AA4499", "invariant": "#009E73"}
OURS, OTHERS = "#0072B2", "#D55E00"
INK, GREY, FAINT = "#222222", "#777777", "#E6E6E6"
_STYLE: dict[Any, Any] = {
    "font.size": 10.5,
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
    "font.family": ["DejaVu Sans"],
    "svg.hashsalt": "steelyard",
}


def address(draw: Callable[[], Figure]) -> str:
    """The picture itself in place of an address, so that the page needs no other file."""
    drawn = io.BytesIO()
    with mpl.rc_context(_STYLE):
        # without its date, a picture drawn again is the same again
        draw().savefig(drawn, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(drawn.getvalue()).decode()


def written(draw: Callable[[], Figure], stem: Path) -> list[Path]:
    """The picture as an SVG and a PNG file."""
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in ("svg", "png")]
    with mpl.rc_context(_STYLE):
        drawn = draw()
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else None
            with _atomic_files.replacing(path) as temporary:
                drawn.savefig(temporary, format=path.suffix[1:], dpi=150, metadata=metadata)
    return paths


def figure(width: float = 6.4, height: float = 3.4) -> Figure:
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")
