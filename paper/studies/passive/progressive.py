"""Do progressive error and loss tell which schedules do well on test rows?"""

from collections.abc import Callable

import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator
from scipy.stats import rankdata

from paper import verdicts
from paper.drawing import COLOURS, GREY, figure
from paper.grids import NEAR, Cells, Grid, Numbers, format_spread
from paper.studies.passive.steps import TABLE
from paper.study import Claim, ReportFigure, ReportTable, Verdict
from paper.sweeping import UPDATES

SHOWN = (0.003, 0.6)

Measure = Callable[[Grid, str], Numbers]


def blocks(found: Cells) -> list[str | ReportFigure | ReportTable]:
    return [
        "**Progressive error and loss.** A model predicts each row before it learns it. The share of errors "
        "and the mean loss of these predictions need no test rows: can they choose the schedule? Diverged "
        "schedules rank last.",
        _table(
            found, correlation, 2,
            "Rank correlation over the schedules of progressive error, or progressive loss, with test error. "
            "1: the same order; – where all schedules are equal.",
        ),
        _table(
            found, lost, 4,
            "Test accuracy lost by the schedule with the least progressive error, or loss, against the "
            "schedule that is best in hindsight.",
        ),
        _figure(found),
    ]  # fmt: skip


def claims(found: Cells) -> list[Claim]:
    return [_chooses(found, "error"), _chooses(found, "loss"), *_webspam(found)]


def _figures(grid: Grid, kind: str) -> Numbers:
    known = grid.progressive_error if kind == "error" else grid.progressive_loss
    worst: Numbers = np.where(grid.diverged | ~np.isfinite(known), np.inf, known)
    return worst


def correlation(grid: Grid, kind: str) -> Numbers:
    """Spearman's, by shuffle; NaN where one of the two is the same for all schedules."""
    return np.array(
        [
            _correlation(rankdata(figures), rankdata(-accuracy))
            for figures, accuracy in zip(_figures(grid, kind), grid.accuracy, strict=True)
        ]
    )


def lost(grid: Grid, kind: str) -> Numbers:
    """By shuffle."""
    chosen = _figures(grid, kind).argmin(axis=1)
    loss: Numbers = grid.best() - grid.accuracy[np.arange(len(chosen)), chosen]
    return loss


def _correlation(a: Numbers, b: Numbers) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) > 0.0 and np.ptp(b) > 0.0 else float("nan")


def _table(found: Cells, measure: Measure, digits: int, caption: str) -> ReportTable:
    kinds = ("error", "loss")
    return ReportTable(
        ["data", "loss", *(f"{update}, by {kind}" for kind in kinds for update in UPDATES)],
        [
            [
                *key,
                *(
                    _format_values(measure(each[update], kind), digits)
                    for kind in kinds
                    for update in UPDATES
                ),
            ]
            for key, each in found.items()
        ],
        caption,
        TABLE,
    )


def _format_values(values: Numbers, digits: int) -> str:
    return "–" if np.isnan(values).any() else format_spread(values, digits)


def _figure(found: Cells) -> ReportFigure:
    places = list(dict.fromkeys(place for place, _ in found))
    drawing = figure(7.6, 7.6)
    axes = drawing.subplots(2, 2, sharex=True, sharey=True).ravel()
    for axis, place in zip(axes, places, strict=False):
        axis.plot(SHOWN, SHOWN, color=GREY, linewidth=0.8)
        for update in ("explicit", "invariant"):
            here = [each[update] for (where, _), each in found.items() if where == place]
            axis.plot(
                np.concatenate([grid.progressive_error.mean(axis=0) for grid in here]),
                np.concatenate([1.0 - grid.by_schedule() for grid in here]),
                "o", markersize=3.0, alpha=0.35, markeredgewidth=0.0, color=COLOURS[update], label=update,
            )  # fmt: skip
        axis.set(title=place, xscale="log", yscale="log", xlim=SHOWN, ylim=SHOWN)
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_locator(FixedLocator([0.003, 0.01, 0.03, 0.1, 0.3]))
            side.set_major_formatter(lambda value, _: f"{value:g}")
            side.set_minor_locator(NullLocator())
    axes[0].legend(loc="upper left", markerscale=2.0)
    drawing.supxlabel("progressive error")
    drawing.supylabel("test error")
    return ReportFigure(
        "passive-progressive",
        drawing,
        "Progressive error and test error of every schedule, all four losses together, explicit and "
        "invariant updates. Below the line the final model is better than the models on the way were.",
        TABLE,
    )


def _chooses(found: Cells, kind: str) -> Claim:
    losses = {key: float(lost(each["invariant"], kind).mean()) for key, each in found.items()}
    cheap = sum(each <= NEAR for each in losses.values())
    dearest = max(losses, key=lambda key: losses[key])
    return Claim(
        where="Section 6",
        says=f"Progressive {kind}, which needs no test rows, chooses a schedule nearly as good as the best "
        "in hindsight.",
        paper="–",
        ours=f"invariant update: {NEAR} of accuracy or less is lost in {cheap} of {len(losses)} pairs of "
        f"data and loss, {np.mean(list(losses.values())):.4f} on average",
        verdict=verdicts.judge_cases(cheap, len(losses)),
        why=f"Most is lost for {', '.join(dearest)}: {losses[dearest]:.4f}. A progressive figure is an "
        "average over all models on the way, the test is of the last one.",
        source=TABLE,
    )


def _webspam(found: Cells) -> list[Claim]:
    by_place: dict[str, list[float]] = {}
    for (place, _), each in found.items():
        by_place.setdefault(place, []).append(float(np.mean(correlation(each["invariant"], "loss"))))
    means = {place: float(np.nanmean(values)) for place, values in by_place.items()}
    return [
        Claim(
            where="Section 6, webspam",
            says="The paper discusses progressive loss against test accuracy on webspam.",
            paper="–",
            ours="rank correlation of progressive loss and test error, invariant update, mean over the "
            "losses: " + ", ".join(f"{place} {value:.2f}" for place, value in means.items()),
            verdict=Verdict.NOTED,
            why=f"The order of schedules is told worst on {min(means, key=lambda place: means[place])}.",
            source=TABLE,
        )
    ]
