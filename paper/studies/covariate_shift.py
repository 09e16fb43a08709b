"""Covariate shift: learn from reviews of one kind of goods, predict those of another."""

from collections.abc import Sequence
from itertools import permutations
from statistics import median

from matplotlib.figure import Figure

from paper import drawing
from paper.studies.weighted import domains
from paper.studies.weighted.domains import DOMAINS, LIMIT, TABLE, TRIED
from paper.studies.weighted.pictures import MARKERS, SHADES
from paper.studies.weighted.summaries import (
    NAMES,
    best_rate,
    describe_shuffles,
    mean,
    select_rows,
)
from paper.study import Claim, Part, ReportFigure, ReportTable, Row, Scope, Step, Study, Tables
from paper.verdicts import judge_cases

TIE = 0.01
QUICK = (("books", "dvd"), ("dvd", "electronics"), ("kitchen", "books"), ("electronics", "kitchen"))

WHAT = f"""
The model learns reviews of one kind of goods, and predicts for another kind whether a review is positive. A
second classifier, which does not see the labels, tells the two kinds apart, and gives each training review
the odds that it is of the new kind. These odds, from 1/{LIMIT:g} to {LIMIT:g}, are its weight; or, flattened,
their square root. Logistic loss, one pass, the best rate for each on the test rows.
"""
FEW = """
The text reveals the kind of goods: most weights are almost zero, and all rows together are worth only a few
rows of equal weight (the column *worth*, the effective sample size). Being closer to the new kind is paid for
with fewer effective rows. This is known of odds in many dimensions, and no update can change it; but an
update can do additional harm.
"""


class CovariateShift(Study):
    """From each kind of goods to each other."""

    name = "covariate_shift"
    title = "Applications: covariate shift"

    def steps(self, scope: Scope) -> list[Step]:
        pairs = scope.choose(tuple(permutations(DOMAINS, 2)), QUICK)
        return [domains.step(source, target, scope.choose(5, 2)) for source, target in pairs]

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows = tables[TABLE]
        figure = ReportFigure(
            "covariate-shift",
            _drawing(rows),
            "Test error, each way at its best rate, "
            f"{describe_shuffles(rows)}. Full weights on the left, flattened ones on "
            "the right.",
            TABLE,
        )
        return Part([WHAT, FEW, _table(rows), figure], claims(rows))


def _pairs(rows: Sequence[Row]) -> list[list[Row]]:
    names = dict.fromkeys((row["source"], row["target"]) for row in rows)
    return [select_rows(rows, source=source, target=target) for source, target in names]


def _error(rows: Sequence[Row], approach: str, power: float) -> float:
    return best_rate(select_rows(rows, approach=approach, power=power), "error")[1]


def claims(rows: Sequence[Row]) -> list[Claim]:
    """An error counts as lower than another if the difference is more than TIE of it."""
    pairs = _pairs(rows)
    ratios = [
        [_error(found, "explicit", power) / _error(found, "invariant", power) - 1.0 for found in pairs]
        for power in (1.0, 0.5)
    ]
    worse = [ratio > TIE for ratio in ratios[0] + ratios[1]]
    helped = [
        min(_error(found, "invariant", power) for power in (1.0, 0.5)) / _error(found, "unweighted", 0.0)
        - 1.0
        for found in pairs
    ]
    return [
        Claim(
            "mentioned only", "The invariant update learns such weights better than multiplication.", "–",
            f"the error of multiplication is {median(ratios[0]):+z.0%} off in the median pair with full "
            f"weights, {median(ratios[1]):+z.0%} with flattened ones",
            judge_cases(sum(worse), 2 * len(pairs)),
            f"In {sum(worse[: len(pairs)])} of {len(pairs)} pairs, flattened in {sum(worse[len(pairs) :])}. "
            "A few rows have nearly all the weight; multiplication lets them overrule all others.", TABLE,
        ),
        Claim(
            "mentioned only", "Weights from a classifier of domains adapt to a new domain.", "–",
            f"beside learning without weights the error is {min(helped):+z.0%} to {max(helped):+z.0%}, "
            f"{median(helped):+z.0%} in the median pair; lower in {sum(ratio < -TIE for ratio in helped)} of "
            f"{len(pairs)}",
            judge_cases(sum(ratio < -TIE for ratio in helped), len(pairs)),
            "The classifier separates the kinds so well that few training rows have any weight.",
            TABLE,
        ),
    ]  # fmt: skip


def _table(rows: Sequence[Row]) -> ReportTable:
    lines = [
        [
            f"{found[0]['source']} → {found[0]['target']}",
            *(f"{mean(select_rows(found, power=power), 'effective'):.0f}" for power in (1.0, 0.5)),
            *(f"{100.0 * _error(found, approach, power):.1f}" for approach, power in TRIED),
        ]
        for found in _pairs(rows)
    ]
    heads = ["learned → judged", "worth", "worth, flattened", *(_name(*tried) for tried in TRIED)]
    caption = (
        f"Test errors in per cent at the best rate. Worth: how many rows of equal weight the "
        f"{int(rows[0]['rows']):,} rows are worth."
    )
    return ReportTable(heads, lines, caption, TABLE)


def _name(approach: str, power: float) -> str:
    return f"{NAMES[approach]}, flattened" if power == 0.5 else NAMES[approach]


def _drawing(rows: Sequence[Row]) -> Figure:
    pairs = _pairs(rows)
    figure = drawing.figure(8.0, 1.4 + 0.32 * len(pairs))
    places = range(len(pairs))
    for axes, power in zip(figure.subplots(1, 2, sharey=True, sharex=True), (1.0, 0.5), strict=True):
        for approach in dict.fromkeys(approach for approach, _ in TRIED):
            used = 0.0 if approach == "unweighted" else power
            errors = [100.0 * _error(found, approach, used) for found in pairs]
            look = {"color": SHADES[approach], "marker": MARKERS[approach], "label": NAMES[approach]}
            axes.plot(errors, places, ls="none", ms=6.0, **look)
        axes.set(title="full weights" if power == 1.0 else "flattened weights", xlabel="test error, %")
        axes.set_yticks(places, [f"{found[0]['source']} → {found[0]['target']}" for found in pairs])
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure
