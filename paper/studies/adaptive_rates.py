"""Adaptive rates: does the update still matter if each feature has its own rate?"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from paper import verdicts
from paper.drawing import COLOURS, figure
from paper.grids import NEAR, Cells, FloatArray, Grid, format_spread, group_by_update, make_grids
from paper.studies import adaptive_steps
from paper.studies.adaptive_steps import POWERS, RATES, TABLE
from paper.study import Claim, Part, ReportFigure, ReportTable, Scope, Step, Study, Tables
from paper.sweeping import LOSSES, UPDATES


class AdaptiveRates(Study):
    """The paper's "experiments not reported here"."""

    name = TABLE
    title = "Adaptive and normalized rates"

    def steps(self, scope: Scope) -> list[Step]:
        return adaptive_steps.steps(scope)

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows = tables[TABLE]
        found = group_by_update(make_grids(rows, ("data", "loss", "scaling", "update")))
        return Part(
            [
                "With `scaling='adaptive'` (AdaGrad) each feature has its own rate, which falls with the "
                "gradients it has met; `'normalized'` does so in units of each feature's largest value. One "
                "factor remains to be chosen, here from 2⁻¹⁰ to 2¹⁰, constant (`power_t` 0) or decaying (½). "
                "One pass, no bias, the same rows and test rows as for passive learning.",
                _best(found),
                _width(found),
                _figure(found),
            ],
            [_improves(found), _accuracy(found)],
        )


def doublings(grid: Grid) -> FloatArray:
    """How often, in each shuffle, the rate can be doubled while the accuracy stays within 0.005 of the best.

    Counted at constant rates, along the longest run of good rates.
    """
    constant = grid.accuracy[:, : len(RATES)]
    return np.array([_longest(line >= line.max() - NEAR - 1e-9) - 1.0 for line in constant])


def _longest(good: NDArray[np.bool_]) -> int:
    longest = run = 0
    for each in good:
        run = run + 1 if each else 0
        longest = max(longest, run)
    return longest


def _best(found: Cells) -> ReportTable:
    return ReportTable(
        ["data", "loss", "scaling", *UPDATES],
        [[*key, *(format_spread(each[update].best()) for update in UPDATES)] for key, each in found.items()],
        f"Test accuracy of the best of {len(RATES) * len(POWERS)} schedules.",
        TABLE,
    )


def _width(found: Cells) -> ReportTable:
    return ReportTable(
        [
            "data",
            "loss",
            "scaling",
            *(f"{update}, {unit}" for unit in ("doublings", "% near") for update in UPDATES),
        ],
        [
            [
                *key,
                *(format_spread(doublings(each[update]), 1) for update in UPDATES),
                *(format_spread(each[update].share(NEAR), 1, 100.0) for update in UPDATES),
            ]
            for key, each in found.items()
        ],
        "How wide the range of good rates is. Doublings: how often a constant rate can be doubled within "
        f"{NEAR} of the best accuracy. % near: share of all schedules within that distance.",
        TABLE,
    )


def _figure(found: Cells) -> ReportFigure:
    places = list(dict.fromkeys(key[0] for key in found))
    drawing = figure(2.6 * len(places), 9.4)
    axes = drawing.subplots(len(LOSSES), len(places), sharex=True, sharey=True, squeeze=False)
    for (place, loss, scaling), each in found.items():
        axis = axes[LOSSES.index(loss), places.index(place)]
        for update in ("explicit", "invariant"):
            axis.plot(
                RATES, each[update].by_schedule()[: len(RATES)], "-" if scaling == "adaptive" else ":",
                color=COLOURS[update], label=f"{update}, {scaling}", linewidth=1.6,
            )  # fmt: skip
        axis.set(xscale="log", ylim=(0.5, 1.0))
        axis.set_xscale("log", base=2)
        axis.set_xticks([2.0**-10, 2.0**-5, 1.0, 2.0**5, 2.0**10])
        if axis in axes[0]:
            axis.set_title(place, fontsize=10.5)
        if axis in axes[:, 0]:
            axis.set_ylabel(f"{loss}\ntest accuracy")
        if axis in axes[-1]:
            axis.set_xlabel("learning rate")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=4)
    return ReportFigure(
        "adaptive_rates-range",
        drawing,
        "Test accuracy against the learning rate, which is constant, with adaptive rates and with normalized "
        "rates. Where a line is flat, the rate needs no tuning.",
        TABLE,
    )


def _improves(found: Cells) -> Claim:
    """C15: what improves is how many rates do well, as in Table 4; a case for each set, loss and scaling."""
    widths = {key: {update: doublings(grid) for update, grid in each.items()} for key, each in found.items()}
    gains = [each["invariant"] - each["explicit"] for each in widths.values()]
    cases = verdicts.tally(verdicts.sign(float(each.min()), float(each.max())) for each in gains)
    mean = {update: np.mean([each[update].mean() for each in widths.values()]) for update in UPDATES}
    narrower = [_gap(found[key]) for key, gain in zip(widths, gains, strict=True) if gain.max() < 0.0]
    worst = {
        update: np.mean([each[update].by_schedule().min() for each in found.values()]) for update in UPDATES
    }
    return Claim(
        where="§7",
        says="Adaptive gradient methods (AdaGrad and relatives) improve too.",
        paper="experiments mentioned, not reported",
        ours=f"a wider range of good rates in {cases.agree} of {len(widths)} cases, narrower in "
        f"{cases.against}; the rate may be doubled {mean['explicit']:.1f} times (standard), "
        f"{mean['invariant']:.1f} (invariant); worst accuracy {worst['explicit']:.2f}, "
        f"{worst['invariant']:.2f}",
        verdict=verdicts.judge(cases),
        why="Within 0.005 of each update's own best."
        + (
            f" Where narrower, that best is {min(narrower):+.4f} to {max(narrower):+.4f} higher."
            if narrower
            else " Elsewhere ranges are equal, or shuffles disagree."
        ),
        source=TABLE,
        number=15,
        cases=cases,
    )


def _accuracy(found: Cells) -> Claim:
    gaps = {key: _gap(each) for key, each in found.items()}
    equal = sum(gap >= -NEAR for gap in gaps.values())
    extreme = max(gaps, key=lambda key: abs(gaps[key]))
    return Claim(
        where="Section 7",
        says="Is the best accuracy with adaptive or normalized rates no worse with the invariant update?",
        paper="–",
        ours=f"no worse by more than {NEAR} in {equal} of {len(gaps)} cases; the largest difference, "
        f"invariant − explicit, is {gaps[extreme]:+.4f} ({', '.join(extreme)})",
        verdict=verdicts.judge_cases(equal, len(gaps)),
        why="Small steps are similar with every update, and small rates are among those tried.",
        source=TABLE,
    )


def _gap(each: Mapping[str, Grid]) -> float:
    return float(each["invariant"].best().mean() - each["explicit"].best().mean())
