"""Theorem 3: what the regret grows like."""

import math
from collections.abc import Sequence

import numpy as np

from paper.drawing import COLOURS, GREY, figure
from paper.studies.safety.theorem import LENGTHS, STREAMS, TABLE
from paper.study import Claim, ReportFigure, ReportTable, Row
from paper.verdicts import judge, tally

GROWS = 1.5
"""A bound holds if regret over it grows by less than this factor while T grows 64-fold."""
_BOUNDS = {"1/√t": ("√T", math.sqrt), "1/t": ("log T", math.log)}


def blocks(rows: Sequence[Row]) -> list[str | ReportFigure | ReportTable]:
    return [
        "**Theorem 3** bounds the regret for h = 1, rows of length 1 and the loss (p − y)²: O(√T) with η = "
        "1/√t, O(log T) with η = 1/t. The second half uses strong convexity, which this loss has in one "
        "dimension only. Against it, *two halves*: x = e₁ for the first half of the time, e₂ for the second, "
        "every label 1. In the second half all rates together are log 2, so the second weight never arrives.",
        _table(rows),
        _figure(rows),
    ]


def _regret(rows: Sequence[Row], stream: str, rate: str, length: int) -> float:
    return float(
        np.mean(
            [
                float(row["regret"])
                for row in rows
                if (row["stream"], row["rate"], row["length"]) == (stream, rate, length)
            ]
        )
    )


def _table(rows: Sequence[Row]) -> ReportTable:
    lines = []
    for rate, (name, bound) in _BOUNDS.items():
        for stream in STREAMS:
            regrets = [_regret(rows, stream, rate, length) for length in LENGTHS]
            last = [regret / bound(length) for regret, length in zip(regrets, LENGTHS, strict=True)]
            lines.append(
                [
                    f"η = {rate}",
                    f"O({name})",
                    stream,
                    *(f"{each:,.1f}" for each in regrets),
                    f"{last[0]:.2f} → {last[-1]:.2f}",
                    "yes" if last[-1] < GROWS * last[0] else "**no**",
                ]
            )
    heads = ["rate", "bound", "stream", *(f"T = {length:,}" for length in LENGTHS), "regret ÷ bound", "holds"]
    caption = "Regret of the invariant update against the best fixed weights; means of the seeds."
    return ReportTable(heads, lines, caption, TABLE)


def _figure(rows: Sequence[Row]) -> ReportFigure:
    drawing = figure(7.6, 3.2)
    colours = dict(
        zip(STREAMS, (COLOURS["implicit"], COLOURS["second_order"], COLOURS["explicit"]), strict=True)
    )
    for axis, (rate, (name, bound)) in zip(drawing.subplots(1, 2), _BOUNDS.items(), strict=True):
        for stream in STREAMS:
            regrets = [_regret(rows, stream, rate, length) for length in LENGTHS]
            axis.plot(LENGTHS, regrets, "o-", color=colours[stream], label=stream, markersize=4.0)
        axis.plot(LENGTHS, [bound(length) for length in LENGTHS], ":", color=GREY, label="order of the bound")
        axis.set(xscale="log", yscale="log", title=f"η = {rate}: O({name})", xlabel="T")
    drawing.axes[0].set_ylabel("regret")
    handles, labels = drawing.axes[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=len(handles))
    caption = "Regret against time, both axes logarithmic; dotted: the order of the bound."
    return ReportFigure("safety-theorem", drawing, caption, TABLE)


def claim(rows: Sequence[Row]) -> Claim:
    """C4."""
    outcomes = {}
    for (rate, (_, bound)), stream in ((each, stream) for each in _BOUNDS.items() for stream in STREAMS):
        ends = [_regret(rows, stream, rate, length) / bound(length) for length in (LENGTHS[0], LENGTHS[-1])]
        outcomes[rate, stream] = 1 if ends[1] < GROWS * ends[0] else -1
    cases = tally(outcomes.values())
    halves = ", ".join(f"{_regret(rows, 'two halves', '1/t', length):,.0f}" for length in LENGTHS)
    root = sum(outcomes["1/√t", stream] > 0 for stream in STREAMS)
    return Claim(
        "Thm 3, §4.3",
        "Regret without weights: O(√T) with η = 1/√t, O(log T) with η = 1/t.",
        "proof sketch",
        f"√T on {root} of {len(STREAMS)} streams; log T in one dimension only: on e₁, then e₂ it is {halves} "
        "as T quadruples",
        judge(cases),
        "The proof needs strong convexity, which (w·x − y)² has in one dimension only.",
        TABLE,
        4,
        cases,
    )
