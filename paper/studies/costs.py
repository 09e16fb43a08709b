"""Costs that differ by example and class, as importance weights."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from paper import drawing
from paper.studies.weighted import decisions, sets
from paper.studies.weighted.decisions import APPROACHES, TABLE
from paper.studies.weighted.learning import UPDATES
from paper.studies.weighted.pictures import curve
from paper.studies.weighted.summaries import NAMES, best_rate, describe_shuffles, mean, mean_by, select_rows
from paper.study import Claim, Part, ReportFigure, ReportTable, Row, Scope, Step, Study, Tables, Verdict

TIE = 0.01
NAMED = {**NAMES, "ignored": "costs ignored", "threshold": "costs ignored, threshold moved"}
CONSTANT = ("give to all", "give to none")

WHAT = f"""
credit-costs lists people who wanted a loan, and whether they fell behind with it. It has no costs, so we
assume them: a loan is {sets.MONTHS:g} months' income, from {sets.LINE[0]:,.0f} to {sets.LINE[1]:,.0f} (the
median if the income is unknown); {sets.LOST_IF_BAD:.0%} of it is lost if the person falls behind, and
{sets.LOST_IF_GOOD:.0%} is not earned if a person who would have paid is refused. The weight of a row is the
cost of a wrong decision about it. Then the classifier decides at even odds.
"""
OTHER = """
For comparison, the costs are ignored in training, and then either ignored altogether, or used to move the
threshold: refuse if the possible loss times its probability exceeds the possible gain. Logistic loss, one
pass.
"""


class Costs(Study):
    """Loans."""

    name = "costs"
    title = "Applications: costs"

    def steps(self, scope: Scope) -> list[Step]:
        return [decisions.step(seed, scope.choose(120_000, 20_000)) for seed in range(scope.choose(5, 1))]

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows = tables[TABLE]
        figure = ReportFigure(
            "costs-rates",
            _drawing(rows),
            "Average cost of the decisions about the test rows, against the learning rate; "
            f"{describe_shuffles(rows)}.",
            TABLE,
        )
        return Part([WHAT, OTHER, _table(rows), figure], [claim(rows)])


def claim(rows: Sequence[Row]) -> Claim:
    """The claim holds if the best rate is better by more than TIE, and in part if only the average over rates is."""
    costs = {
        name: best_rate(select_rows(rows, approach=name), "cost")[1] for name in (*APPROACHES, *CONSTANT)
    }
    overall = {name: mean(select_rows(rows, approach=name), "cost") for name in UPDATES}
    gain = costs["explicit"] / costs["invariant"] - 1.0
    wide = overall["explicit"] / overall["invariant"] - 1.0
    if gain > TIE:
        verdict = Verdict.HOLDS
    elif gain >= -TIE and wide > TIE:
        verdict = Verdict.PARTLY
    else:
        verdict = Verdict.FAILS
    return Claim(
        "mentioned only", "Costs of errors are weights, which the invariant update learns best.", "–",
        f"each at its best rate, multiplication costs {gain:+z.1%} beside the invariant update, "
        f"{wide:+z.1%} on average over all rates; the costs ignored, "
        f"{costs['ignored'] / costs['invariant'] - 1.0:+z.0%}, or "
        f"{costs['threshold'] / costs['invariant'] - 1.0:+z.1%} with the threshold moved",
        verdict,
        _because(rows, verdict, wide), TABLE,
    )  # fmt: skip


def _because(rows: Sequence[Row], verdict: Verdict, wide: float) -> str:
    largest = f"The largest weight is {mean(rows, 'largest_over_mean'):.0f} times the mean"
    if verdict is Verdict.HOLDS:
        return f"{largest}."
    higher = " With higher rates some are." if wide > TIE else ""
    return f"{largest}: with a low rate no step is large enough to overshoot.{higher}"


def _table(rows: Sequence[Row]) -> ReportTable:
    free = best_rate(select_rows(rows, approach="give to all"), "cost")[1]
    lines = []
    for name in (*CONSTANT, *APPROACHES):
        found = select_rows(rows, approach=name)
        rate, cost = best_rate(found, "cost")
        learned = name in APPROACHES
        lines.append([
            NAMED.get(name, name), f"{cost:.1f}", f"{1.0 - cost / free:.1%}", f"{rate:g}" if learned else "–",
            f"{mean(found, 'cost'):.1f}" if learned else "–",
        ])  # fmt: skip
    heads = ["decisions", "cost a person", "saved", "best rate", "cost, all rates"]
    caption = (
        f"credit-costs, {int(rows[0]['rows']):,} rows: average cost of the decisions about the test rows, "
        "in the currency of the incomes; the share of the cost of giving to all that this saves; the mean "
        "over all rates."
    )
    return ReportTable(heads, lines, caption, TABLE)


def _drawing(rows: Sequence[Row]) -> Figure:
    figure = drawing.figure()
    axes = figure.subplots()
    looks = {"ignored": "ignored", "threshold": "costing"}
    for name in APPROACHES:
        means = mean_by(select_rows(rows, approach=name), "rate", "cost")
        curve(axes, looks.get(name, name), list(means), list(means.values()), label=NAMED[name])
    free = mean(select_rows(rows, approach="give to all"), "cost")
    least = min(best_rate(select_rows(rows, approach=name), "cost")[1] for name in APPROACHES)
    axes.axhline(free, color=drawing.GREY, lw=1.0, ls=":", label="give to all")
    axes.set(xscale="log", ylim=(0.95 * least, 1.1 * free))
    axes.set(xlabel="learning rate × mean weight", ylabel="cost a person (curves may leave the picture)")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=9)
    return figure
