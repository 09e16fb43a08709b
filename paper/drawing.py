"""The house style of figures, a little smaller than the library's own, and the colours of this report."""

import matplotlib as mpl
from matplotlib.figure import Figure

from steelyard import plotting
from steelyard.plotting import FAINT, GREY, INK

__all__ = ["COLOURS", "FAINT", "GREY", "INK", "figure"]

COLOURS = {**plotting.COLOURS, "passive": GREY}

mpl.rcParams.update({**plotting.STYLE, "font.size": 10.0})


def figure(width: float = 7.2, height: float = 4.2) -> Figure:
    """An empty figure, in inches; the report shows it at its own size on a wide window."""
    return plotting.new_figure(width, height)
