"""Inverse propensities: learn from the log of one policy what another would meet."""

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from paper import drawing
from paper.studies.weighted import propensities
from paper.studies.weighted.pictures import curve
from paper.studies.weighted.propensities import APPROACHES, COMPARED, EVALUATED, TABLE
from paper.studies.weighted.summaries import NAMES, describe_shuffles, mean, mean_by, select_rows, values
from paper.study import Claim, Part, ReportFigure, ReportTable, Row, Scope, Step, Study, Tables, Verdict

MATTERS = 0.01
"""A smaller relative difference of log losses does not matter, even if it is significant."""

WHAT = """
open-bandit records what a shop showed its visitors, and whether they clicked. In one log Thompson sampling
chose the items, and the probability of each choice, its propensity, is known. In the other log items were
chosen uniformly. The models learn the first log (logistic loss, one pass; item, position, visitor), with the
inverse propensity of each row as its weight, so that it represents the second log, on which the models are
evaluated. Each approach uses the rate with the lowest progressive loss on the first log; the second log has
no influence on it.
"""
WHY = {
    Verdict.NOTED: "The interval contains 0: there are too few clicks to tell.",
    Verdict.HOLDS: "The interval does not contain 0.",
    Verdict.PARTLY: f"There is a difference, but of less than {MATTERS:.0%}.",
    Verdict.FAILS: "With so few clicks, models learn more noise than signal.",
}
EVALUATION = """
From the first log alone, the same weights estimate how many clicks uniform choices would get.
"""


class Bandit(Study):
    """Clicks."""

    name = "bandit"
    title = "Applications: inverse propensities"

    def steps(self, scope: Scope) -> list[Step]:
        return propensities.steps(seeds=scope.choose(10, 2), resamples=scope.choose(2_000, 500))

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows, compared, evaluated = tables[TABLE], tables[COMPARED], tables[EVALUATED]
        figure = ReportFigure(
            "bandit-rates",
            _drawing(rows),
            f"Log loss on the second log against the learning rate on the first; {describe_shuffles(rows)}.",
            TABLE,
        )
        few = (
            f"**There is little data.** There are {evaluated[0]['clicks']} clicks in the "
            f"{evaluated[0]['rows']:,} rows of the first log and {evaluated[0]['even_clicks']} in the "
            f"{evaluated[0]['even_rows']:,} of the second. The intervals are 95 % "
            "bootstrap intervals over the rows of the second log. Rows of one log are not independent, so "
            "the intervals are rather too narrow."
        )
        return Part(
            [WHAT, few, _comparison(compared), figure, EVALUATION, _evaluation(evaluated)],
            [*claims(compared), evaluation_claim(evaluated)],
        )


def claims(rows: Sequence[Row]) -> list[Claim]:
    """The claims. An interval that contains 0 decides nothing; a small difference counts in part."""
    ours = float(select_rows(rows, approach="invariant")[0]["mean"])
    told = {str(row["approach"]): row for row in rows}
    return [
        Claim(
            "mentioned only", says, "–", _difference(told[other], ours), _verdict(told[other], ours),
            WHY[_verdict(told[other], ours)], COMPARED,
        )
        for other, says in (
            ("explicit", "The invariant update learns inverse propensities better than multiplication."),
            ("unweighted", "Learning with inverse propensities is better than without."),
            ("constant", "The model knows more than the overall share of clicks."),
        )
    ]  # fmt: skip


def _difference(row: Row, ours: float) -> str:
    mean, low, high = (float(row[f"beyond_invariant_{name}"]) / ours for name in ("mean", "low", "high"))
    other = NAMES.get(str(row["approach"]), "the constant")
    return f"log loss of {other} beside the invariant update: {mean:+z.1%} ({low:+z.1%} to {high:+z.1%})"


def _verdict(row: Row, ours: float) -> Verdict:
    mean, low, high = (float(row[f"beyond_invariant_{name}"]) / ours for name in ("mean", "low", "high"))
    if low <= 0.0 <= high:
        return Verdict.NOTED
    if high < 0.0:
        return Verdict.FAILS
    return Verdict.HOLDS if mean > MATTERS else Verdict.PARTLY


def evaluation_claim(rows: Sequence[Row]) -> Claim:
    """An estimate agrees with the truth if the interval of their difference contains 0."""
    naive, _, weighted, truth = rows
    right, seen = _agree(weighted, truth), not _agree(naive, truth)
    if right:
        verdict = Verdict.HOLDS if seen else Verdict.PARTLY
        why = (
            "Without weights, the difference is more than chance." if seen else "So it does without weights."
        )
    else:
        verdict, why = Verdict.FAILS, "The difference is more than chance; the reason is not known."
    return Claim(
        "mentioned only", "Inverse propensities make one policy's log an unbiased sample of another's.", "–",
        f"clicks: {_percent(weighted)} estimated, {_percent(truth)} came; without weights {_percent(naive)}",
        verdict, why, EVALUATED,
    )  # fmt: skip


def _agree(estimate: Row, truth: Row) -> bool:
    """Half the interval of a difference is the root of the sum of squares of both halves."""
    halves = [0.5 * (float(row["high"]) - float(row["low"])) for row in (estimate, truth)]
    return abs(float(estimate["mean"]) - float(truth["mean"])) <= math.hypot(*halves)


def _percent(row: Row) -> str:
    mean, low, high = (100.0 * float(row[name]) for name in ("mean", "low", "high"))
    return f"{mean:.2f} % ({low:.2f} to {high:.2f})"


def _comparison(rows: Sequence[Row]) -> ReportTable:
    lines = [
        [
            NAMES.get(str(row["approach"]), "the share of clicks, a constant"),
            f"{float(row['rate']):g}" if float(row["rate"]) else "–",
            f"{float(row['mean']):.5f}", f"{float(row['low']):.5f} to {float(row['high']):.5f}",
            f"{float(row['beyond_invariant_mean']):+.5f}",
            f"{float(row['beyond_invariant_low']):+.5f} to {float(row['beyond_invariant_high']):+.5f}",
        ]
        for row in rows
    ]  # fmt: skip
    heads = ["way", "rate", "log loss", "95 % interval", "beyond the invariant update", "95 % interval"]
    return ReportTable(
        heads, lines, "Log loss on the second log, at the rate that the first log chose.", COMPARED
    )


def _evaluation(rows: Sequence[Row]) -> ReportTable:
    lines = [[str(row["estimate"]), _percent(row)] for row in rows]
    largest = f"{float(rows[0]['largest_over_mean']):.0f}"
    caption = (
        f"The share of clicks when items are chosen evenly. The largest weight is {largest} times the mean."
    )
    return ReportTable(["estimate", "clicks (95 % interval)"], lines, caption, EVALUATED)


def _drawing(rows: Sequence[Row]) -> Figure:
    figure = drawing.figure()
    axes = figure.subplots()
    for approach in APPROACHES:
        means = mean_by(select_rows(rows, approach=approach), "rate", "log_loss")
        curve(axes, approach, list(means), list(means.values()))
    least = min(mean(select_rows(rows, rate=rate), "log_loss") for rate in values(rows, "rate"))
    axes.set(xscale="log", ylim=(0.9 * least, 2.0 * least))
    axes.set(xlabel="learning rate × mean weight", ylabel="log loss (curves leave the picture above)")
    axes.legend()
    return figure
