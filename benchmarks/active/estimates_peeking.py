"""A picture of one stream: a confidence sequence beside a naive interval of fixed size."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.active.simulated import constant, naive, streams
from steelyard.active.estimates import EstimatePath, RunningEstimate

ERROR, PROBABILITY, ROWS = 0.1, 0.1, 20_000
_FIRST = 400  # rows: before that both intervals are as wide as the picture


def picture(path: Path) -> None:
    """The first of some streams in which the naive interval loses the truth for a good while."""
    sample = streams(constant(ERROR, PROBABILITY), runs=40, rows=ROWS, seed=4)
    lost = [_lost(naive(sample.draws(run)).low, naive(sample.draws(run)).high) for run in range(40)]
    draws = sample.draws(int(np.argmax(np.array(lost) > 0.02)))
    moments = np.unique(np.geomspace(_FIRST, ROWS, 500).astype(int))  # enough for a picture
    fixed, sequence = (
        EstimatePath(*(column[moments] for column in each))
        for each in (naive(draws), RunningEstimate("progressive").path(draws))
    )
    figure = Figure(figsize=(8.0, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.fill_between(
        moments, sequence.low, sequence.high, color="#9ecae1", lw=0, label="confidence sequence, 95 %"
    )
    axes.plot(moments, sequence.value, color="#08519c", lw=1.2, label="estimate")
    axes.plot(moments, fixed.low, color="#d94801", lw=1.0, label="naive interval, ± 1.96 standard errors")
    axes.plot(moments, fixed.high, color="#d94801", lw=1.0)
    axes.axhline(ERROR, color="black", lw=1.0, label="the truth")
    wrong = moments[(fixed.low > ERROR) | (fixed.high < ERROR)]
    axes.plot(
        wrong,
        np.full(len(wrong), ERROR),
        "s",
        color="#d94801",
        ms=4,
        label="the naive interval is wrong here",
    )
    axes.set(xscale="log", xlim=(_FIRST, ROWS), ylim=(0.0, 0.35), ylabel="error")
    axes.set_xlabel("rows seen, of which a tenth was asked")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    with mpl.rc_context({"svg.hashsalt": "steelyard", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _lost(low: np.ndarray, high: np.ndarray) -> float:
    return float(np.mean((low > ERROR) | (high < ERROR)))
