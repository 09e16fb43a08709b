"""Colours and markers of approaches, which are the same in every figure."""

from collections.abc import Sequence
from typing import Any

from paper.drawing import COLOURS
from paper.studies.weighted.summaries import NAMES

SHADES = {
    **COLOURS,
    "ignored": COLOURS["passive"],
    "unweighted": COLOURS["passive"],
    "copies": "#E69F00",
    "rejection": "#56B4E9",
    "costing": "#CC79A7",
}
MARKERS = {
    "ignored": "x",
    "unweighted": "x",
    "copies": "s",
    "explicit": "v",
    "rejection": "D",
    "costing": "P",
    "implicit": "^",
    "invariant": "o",
}


def curve(axes: Any, approach: str, xs: Sequence[float], ys: Sequence[float], **more: Any) -> None:
    """Draw the curve of an approach. Copies are dashed and on top, since they coincide with others."""
    on_top = {"ls": "--", "zorder": 3} if approach == "copies" else {}
    look = {"color": SHADES[approach], "marker": MARKERS[approach], "ms": 4.5, "lw": 1.3}
    axes.plot(xs, ys, **{**look, "label": NAMES[approach], **on_top, **more})
