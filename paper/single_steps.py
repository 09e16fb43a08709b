"""The effect of an update on one prediction, over random predictions, labels and pushes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paper.study import ReportTable, Row
from steelyard import losses, updates
from steelyard.losses import Loss
from steelyard.updates import Update

FARTHEST = 100.0
"""Predictions lie within 10 of 0; a minimiser farther away than this counts as infinitely far."""

ROUNDING = 1e-9


@dataclass(frozen=True)
class Push:
    """A prediction, a label, a push."""

    p: float
    y: float
    u: float


def draw_pushes(loss: Loss, count: int, seed: int) -> list[Push]:
    """Draw predictions from the domain, at most −10 to 10; labels −1, 0, 1 if allowed; pushes 10⁻³ to 10³."""
    random = np.random.default_rng(seed)
    labels = [y for y in (-1.0, 0.0, 1.0) if loss.allows(y)]
    low, high = max(loss.domain.low, -10.0), min(loss.domain.high, 10.0)
    places: NDArray[np.float64] = random.uniform(low, high, count)
    pushes = 10.0 ** random.uniform(-3.0, 3.0, count)
    return [
        Push(float(p), y, float(u))
        for p, y, u in zip(places, random.choice(labels, count).tolist(), pushes, strict=True)
    ]


def measure_steps(name: str, update_name: str, count: int, seed: int) -> Row:
    """Measure how often steps of this loss and update go too far, and how far at most."""
    loss, update = losses.by_name(name), updates.by_name(update_name)
    tried = draw_pushes(loss, count, seed)
    return {
        "loss": name,
        "update": update_name,
        "pushes": count,
        "overshoots": sum(overshoots(loss, update, push) for push in tried),
        "makes_worse": sum(makes_worse(loss, update, push) for push in tried),
        "times_the_flow": max(times_the_flow(loss, update, push) for push in tried),
    }


def make_table(rows: Sequence[Row], source: str) -> ReportTable:
    """The measurements as a table of the report."""
    return ReportTable(
        ["loss", "update", "overshoots, %", "makes the loss larger, %", "farthest, times the flow"],
        [
            [
                str(row["loss"]),
                str(row["update"]),
                f"{per_cent(row, 'overshoots'):.1f}",
                f"{per_cent(row, 'makes_worse'):.1f}",
                format_times(float(row["times_the_flow"])),
            ]
            for row in rows
        ],
        "One step from a random prediction with a random push: how often it goes past the minimiser, how "
        "often the example that was learned costs more afterwards, and how many times as far as the exact "
        "flow it went at most.",
        source,
    )


def per_cent(row: Row, column: str) -> float:
    return 100.0 * float(row[column]) / float(row["pushes"])


def overshoots(loss: Loss, update: Update, push: Push) -> bool:
    """Whether the step goes past the nearest prediction without loss to win: where the flow would end."""
    needed = abs(loss.flow(push.p, push.y, 1e300))
    change = abs(update.change(loss, push.p, push.y, push.u))
    return needed < FARTHEST and change > needed * (1.0 + ROUNDING) + ROUNDING


def makes_worse(loss: Loss, update: Update, push: Push) -> bool:
    """Whether the loss of the example just learned has grown."""
    before = loss.value(push.p, push.y)
    after = loss.value(push.p + update.change(loss, push.p, push.y, push.u), push.y)
    return after > before + ROUNDING * (1.0 + abs(before))


def times_the_flow(loss: Loss, update: Update, push: Push) -> float:
    """The length of the step relative to the exact flow with the same push; 1 if the flow does not move."""
    flow = loss.flow(push.p, push.y, push.u)
    change = update.change(loss, push.p, push.y, push.u)
    return change / flow if abs(flow) > ROUNDING and math.isfinite(change) else 1.0


def format_times(number: float) -> str:
    """A factor, with three digits.

    >>> format_times(0.9994), format_times(93.31), format_times(5978.2)
    ('0.999', '93.3', '5,978')
    """
    return f"{number:.3g}" if number < 1000.0 else f"{number:,.0f}"
