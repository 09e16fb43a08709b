"""Figures 2 and 3: the accuracies of two updates, schedule by schedule."""

from dataclasses import dataclass

import numpy as np

from paper import verdicts
from paper.drawing import COLOURS, GREY, figure
from paper.grids import NEAR, VERY_NEAR, Cells, Numbers
from paper.studies.passive.steps import TABLE
from paper.study import Claim, ReportFigure
from paper.sweeping import LOSSES

SHOWN_ABOVE = 0.9
ALIKE = 0.9
"""A panel counts as alike if this share of its schedules has accuracies within 0.005."""


@dataclass(frozen=True)
class Counts:
    """How many schedules are better or worse by more than 0.001; the others are alike."""

    better: int
    worse: int
    hidden: int

    @classmethod
    def compare(cls, other: Numbers, invariant: Numbers) -> "Counts":
        return cls(
            int((invariant > other + VERY_NEAR).sum()),
            int((other > invariant + VERY_NEAR).sum()),
            int((np.minimum(other, invariant) <= SHOWN_ABOVE).sum()),
        )


def blocks(found: Cells) -> list[str | ReportFigure]:
    return [_scatter(found, "explicit", 2), _scatter(found, "implicit", 3)]


def claims(found: Cells) -> list[Claim]:
    return [_better(found), _alike(found), _same(found)]


def _scatter(found: Cells, other: str, number: int) -> ReportFigure:
    places = list(dict.fromkeys(place for place, _ in found))
    drawing = figure(2.55 * len(places), 2.65 * len(LOSSES))
    axes = drawing.subplots(len(LOSSES), len(places), sharex=True, sharey=True, squeeze=False)
    for (place, loss), each in found.items():
        axis = axes[LOSSES.index(loss), places.index(place)]
        x, y = each[other].by_schedule(), each["invariant"].by_schedule()
        counts = Counts.compare(x, y)
        axis.plot([SHOWN_ABOVE, 1.0], [SHOWN_ABOVE, 1.0], color=GREY, linewidth=0.8)
        axis.plot(x, y, "o", markersize=3.2, alpha=0.5, color=COLOURS["invariant"], markeredgewidth=0.0)
        axis.set(xlim=(SHOWN_ABOVE, 1.0), ylim=(SHOWN_ABOVE, 1.0), aspect="equal")
        axis.set_xticks([0.9, 0.95, 1.0], ["0.9", "0.95", "1"])  # short: they must not touch the next panel's
        axis.set_yticks([0.9, 0.95, 1.0])
        axis.text(
            0.985, 0.03, f"better {counts.better}\nworse {counts.worse}\nnot shown {counts.hidden}",
            transform=axis.transAxes, ha="right", va="bottom", fontsize=8.5, linespacing=1.3,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1.0},
        )  # fmt: skip
        if axis in axes[0]:
            axis.set_title(place, fontsize=10.5)
        if axis in axes[:, 0]:
            axis.set_ylabel(f"{loss}\naccuracy, invariant")
        if axis in axes[-1]:
            axis.set_xlabel(f"accuracy, {other}")
    total = len(next(iter(found.values()))["invariant"].by_schedule())
    return ReportFigure(
        f"passive-{other}-against-invariant",
        drawing,
        f"The paper's Figure {number}: test accuracy with the {other} update (across) and with the invariant "
        f"update (up), a dot for each of {total} schedules, accuracies above {SHOWN_ABOVE}. Above the line "
        "the invariant update is better. The numbers count all schedules, also those not shown: with the "
        f"invariant update better, and worse, by more than {VERY_NEAR}.",
        TABLE,
    )


def _counts(found: Cells, other: str) -> dict[tuple[str, ...], Counts]:
    return {
        key: Counts.compare(each[other].by_schedule(), each["invariant"].by_schedule())
        for key, each in found.items()
    }


def _better(found: Cells) -> Claim:
    counts = _counts(found, "explicit")
    better, worse = (sum(getattr(each, name) for each in counts.values()) for name in ("better", "worse"))
    panels = sum(each.better > each.worse for each in counts.values())
    total = sum(each["invariant"].accuracy.shape[1] for each in found.values())
    rest = [", ".join(key) for key, each in counts.items() if each.better <= each.worse]
    return Claim(
        where="Figure 2",
        says="Schedule by schedule the invariant update is mostly as good as the explicit one or better.",
        paper="–",
        ours=f"better by more than {VERY_NEAR} for {better:,} of {total:,} schedules, worse for {worse:,}; "
        f"more are better than worse in {panels} of {len(counts)} panels",
        verdict=verdicts.judge_cases(panels, len(counts)),
        why=f"Not so for {'; '.join(rest)}; the reason was not looked into."
        if rest
        else "So in every panel.",
        source=TABLE,
    )


def _alike(found: Cells) -> Claim:
    near = {
        key: float((np.abs(each["implicit"].by_schedule() - each["invariant"].by_schedule()) <= NEAR).mean())
        for key, each in found.items()
    }
    alike = sum(share >= ALIKE for share in near.values())
    counts = _counts(found, "implicit").values()
    farthest = min(near, key=lambda key: near[key])
    return Claim(
        where="Figure 3",
        says="Implicit and invariant updates do about equally well with the same schedule.",
        paper="–",
        ours=f"{ALIKE:.0%} of the schedules or more differ by {NEAR} or less in {alike} of {len(near)} "
        f"panels; the invariant update is better by more than {VERY_NEAR} for "
        f"{sum(each.better for each in counts):,} schedules, worse for "
        f"{sum(each.worse for each in counts):,}",
        verdict=verdicts.judge_cases(alike, len(near)),
        why=f"They are farthest apart for {', '.join(farthest)}: {near[farthest]:.0%} of the schedules. Of "
        "the error of squared loss the invariant step leaves e^−u, the implicit one 1/(1 + u): a milder step "
        "at the same large rate.",
        source=TABLE,
    )


def _same(found: Cells) -> Claim:
    straight = [each for (_, loss), each in found.items() if loss in ("hinge", "quantile")]
    apart = max(
        float(np.abs(each["implicit"].accuracy - each["invariant"].accuracy).max()) for each in straight
    )
    return Claim(
        where="On hinge and quantile loss",
        says="For hinge and quantile loss implicit and invariant updates are the same.",
        paper="equal",
        ours=f"largest difference of any accuracy: {apart:g}",
        verdict=verdicts.judge_cases(int(apart == 0.0), 1),
        why="A straight piece has one slope: at the start of the step, at its end, and on the way.",
        source=TABLE,
    )
