"""AdaBoost over a classifier that uses weights."""

from collections.abc import Sequence
from itertools import product

from matplotlib.figure import Figure

from paper import drawing
from paper.studies.weighted import rounds
from paper.studies.weighted.pictures import curve
from paper.studies.weighted.rounds import ADULT, PLACES, ROUNDS, TABLE, UPDATES
from paper.studies.weighted.summaries import (
    NAMES,
    best_rate,
    describe_shuffles,
    mean,
    mean_by,
    select_rows,
    values,
)
from paper.study import Claim, Part, ReportFigure, ReportTable, Row, Scope, Step, Study, Tables
from paper.verdicts import judge_cases

TIE = 0.01

WHAT = f"""
AdaBoost (scikit-learn's) reweights the rows in each round: wrong predictions get larger weights. Our
classifier (logistic loss, one pass, weights scaled to a mean of one) learns them by multiplication or by the
invariant update. There are {ROUNDS} rounds, or fewer if a round is no better than chance on its own weights:
then AdaBoost stops, and its error stays.
"""


class Boosting(Study):
    """Weights that grow from round to round."""

    name = "boosting"
    title = "Applications: boosting"

    def steps(self, scope: Scope) -> list[Step]:
        rows, seeds = scope.choose(8_000, 3_000), scope.choose(5, 1)
        rates = scope.choose((0.01, 0.03, 0.1, 0.3, 1.0, 3.0), (0.03, 0.3, 3.0))
        return [
            rounds.step(name, seed, rows, rates) for name, seed in product((ADULT, *PLACES), range(seeds))
        ]

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows = tables[TABLE]
        figure = ReportFigure(
            "boosting-rounds",
            _drawing(rows),
            "Test error against rounds, each update at the rate at which its last error is least; "
            f"{describe_shuffles(rows)}.",
            TABLE,
        )
        return Part([WHAT, _table(rows), figure], [claim(rows)])


def _last(rows: Sequence[Row], name: object, update: str) -> list[Row]:
    return select_rows(rows, data=str(name), approach=update, round=ROUNDS)


def claim(rows: Sequence[Row]) -> Claim:
    """The claim holds on a data set if the last error is lower by more than TIE of it, at the best rates."""
    names = values(rows, "data")
    theirs, ours = (
        [best_rate(_last(rows, name, update), "error")[1] for name in names] for update in UPDATES
    )
    ratios = [their / our - 1.0 for their, our in zip(theirs, ours, strict=True)]
    over_rates = [
        mean(_last(rows, name, "explicit"), "error") / mean(_last(rows, name, "invariant"), "error") - 1.0
        for name in names
    ]
    lower = sum(ratio > TIE for ratio in ratios)
    return Claim(
        "mentioned only", "Boosting makes importance weights, which the invariant update learns better.", "–",
        f"the last error of multiplication is {min(ratios):+z.1%} to {max(ratios):+z.1%} off that of the "
        "invariant update at the best rates; "
        f"over all rates {min(over_rates):+z.1%} to {max(over_rates):+z.1%}",
        judge_cases(lower, len(names)),
        f"The invariant update is better on {lower} of {len(names)} sets. A linear model has little to "
        "gain from rounds, and the round at which AdaBoost stops is partly luck.", TABLE,
    )  # fmt: skip


def _table(rows: Sequence[Row]) -> ReportTable:
    lines = []
    for name, update in product(values(rows, "data"), UPDATES):
        found = _last(rows, name, update)
        rate, error = best_rate(found, "error")
        chosen = select_rows(found, rate=rate)
        first = mean(select_rows(rows, data=name, approach=update, rate=rate, round=1), "error")
        lines.append([
            str(name), NAMES[update], f"{100.0 * first:.2f}", f"{100.0 * error:.2f}", f"{rate:g}",
            f"{100.0 * mean(found, 'error'):.2f}", f"{mean(chosen, 'stopped'):.0f}",
            f"{max(float(row['largest_weight']) for row in found):,.0f}",
        ])  # fmt: skip
    heads = [
        "data", "update", "error after 1 round, %", f"after {ROUNDS}, %", "best rate", "all rates, %",
        "rounds made", "largest weight",
    ]  # fmt: skip
    caption = (
        "Test errors at the best rate, the last one also as a mean over all rates; the largest weight in any "
        "round at any rate, where the mean is one."
    )
    return ReportTable(heads, lines, caption, TABLE)


def _drawing(rows: Sequence[Row]) -> Figure:
    names = values(rows, "data")
    figure = drawing.figure(9.0, 3.6)
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for update in UPDATES:
            rate = best_rate(_last(rows, name, update), "error")[0]
            means = mean_by(select_rows(rows, data=name, approach=update, rate=rate), "round", "error")
            percent = [100.0 * error for error in means.values()]
            curve(axes, update, list(means), percent, label=NAMES[update], ms=3.0)
        axes.set(title=str(name), xlabel="rounds", ylabel="test error, %")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=len(UPDATES))
    return figure
