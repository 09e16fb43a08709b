"""Section 2: the approaches that the paper argues against, tested."""

from collections.abc import Sequence
from itertools import product

from matplotlib.figure import Figure

from paper import drawing
from paper.studies.weighted import approaches
from paper.studies.weighted.approaches import APPROACHES, LARGEST, MEAN, PLACE, SURVEYS, TABLE
from paper.studies.weighted.learning import MEMBERS, RATES
from paper.studies.weighted.pictures import curve
from paper.studies.weighted.summaries import (
    NAMES,
    best_rate,
    describe_shuffles,
    format_range,
    mean,
    mean_by,
    select_rows,
    values,
)
from paper.study import Claim, Part, ReportFigure, ReportTable, Row, Scope, Step, Study, Tables, Verdict
from paper.verdicts import judge, tally

TIE = 0.01
"""Log losses that differ by a smaller share than this count as equal."""
SENSITIVE = 1.1
"""An approach counts as more sensitive if its mean log loss over all rates is this many times as large."""


WAYS = f"""
A row of weight *h* can be learned *h* times (**copies**); its gradient can be multiplied by *h*
(**multiplication**, the `explicit` update); it can be kept with probability *h* / largest *h* and then have
weight one (**rejection sampling**); several predictors, {MEMBERS} here, can each learn such a sample, and
their probabilities are averaged (**costing**); or it can be learned with the `implicit` or the `invariant`
update. All are compared here, with one pass of logistic loss.
"""
WEIGHTS = f"""
adult and census-income have survey weights, and the weights of credit-costs are the costs of wrong decisions
(see [costs](#costs)); these weights are scaled to a mean of {MEAN:g} and rounded to at least 1, so that
copies can be made. The rows of the text data set have random weights from 1 to {LARGEST:g}, drawn
log-uniformly: these are pure noise, and ignoring them is best. There all test rows have weight one; on the
other data sets they have their own weights.
"""
RATE = f"""
Learning rates are meant for rows with a mean weight of one: with weights they are divided by the mean. The
best of {len(RATES)} rates is chosen on the test rows, in the same way for every approach.
"""


class Section2(Study):
    """Copies, multiplication, rejection sampling, costing, against the invariant update."""

    name = "section2"
    title = "Section 2: ways to use a weight"

    def steps(self, scope: Scope) -> list[Step]:
        rows, seeds = scope.choose(50_000, 8_000), scope.choose(3, 1)
        return [approaches.step(name, seed, rows) for name, seed in product((*SURVEYS, PLACE), range(seeds))]

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows = tables[TABLE]
        sets = [str(name) for name in values(rows, "data")]
        figure = ReportFigure(
            "section2-rates",
            _drawing(rows, sets),
            f"Log loss on the test rows against the learning rate, "
            f"{describe_shuffles(rows)}. Copies and the invariant update differ only "
            "where the rate is large.",
            TABLE,
        )
        tables_by_set = [_table(select_rows(rows, data=name), name) for name in sets]
        return Part([WAYS, WEIGHTS, RATE, *tables_by_set, figure], claims(rows))


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Judged on each data set: an approach counts as better if its log loss is lower by more than TIE."""
    sets = [select_rows(rows, data=name) for name in values(rows, "data")]
    return [_ways(sets), _implicit(sets)]


def _ways(sets: list[list[Row]]) -> Claim:
    """C6: four statements, each tested on every data set."""
    spread = [_over_rates(found, "explicit") / _over_rates(found, "invariant") for found in sets]
    slower = [_seconds(found, "copies") / _seconds(found, "invariant") for found in sets]
    worse = [_loss(found, "rejection") / _loss(found, "invariant") - 1.0 for found in sets]
    repaired = [_loss(found, "rejection") / _loss(found, "costing") - 1.0 for found in sets]
    dearer = [_seconds(found, "costing") / _seconds(found, "rejection") for found in sets]
    outcomes = [
        *(_beyond(ratio, SENSITIVE) for ratio in spread),
        *(_beyond(ratio, 2.0) for ratio in slower),
        *(_beyond(1.0 + gap, 1.0 + TIE) for gap in worse),
        *(
            min(_beyond(1.0 + gap, 1.0 + TIE), _beyond(ratio, 2.0))
            for gap, ratio in zip(repaired, dearer, strict=True)
        ),
    ]
    cases = tally(outcomes)
    return Claim(
        "§2.1",
        "Multiplying the gradient by h is not h updates; copies are slow; rejection sampling loses data; "
        "several samples repair that and cost time.",
        "argued, no experiment",
        f"mean log loss over all rates × {format_range(spread, '.1f')}; copies: time × "
        f"{format_range(slower, '.0f')}; rejection: log loss {format_range(worse, '+z.1%')}; costing wins "
        f"back {format_range(repaired, '+z.1%')} at {format_range(dearer, '.0f')} times its cost",
        judge(cases),
        f"Beside the invariant update, {len(sets)} sets. At its best rate multiplication loses little where "
        "weights are a few times their mean.",
        TABLE,
        6,
        cases,
    )


def _beyond(ratio: float, limit: float) -> int:
    """1 above the limit, −1 below its inverse, 0 between: about equal."""
    return (ratio > limit) - (ratio < 1.0 / limit)


def _implicit(sets: list[list[Row]]) -> Claim:
    ratios = [_loss(found, "implicit") / _loss(found, "invariant") - 1.0 for found in sets]
    spread = [_over_rates(found, "implicit") / _over_rates(found, "invariant") - 1.0 for found in sets]
    return Claim(
        "Section 2", "How does the implicit update do beside the invariant one?", "–",
        f"log loss {format_range(ratios, '+z.1%')} off at the best rates, "
        f"{format_range(spread, '+z.0%')} on average over all rates",
        Verdict.NOTED, "It is not what copies do: it moves less far, which serves high rates well.", TABLE,
    )  # fmt: skip


def _loss(rows: Sequence[Row], approach: str) -> float:
    return best_rate(select_rows(rows, approach=approach))[1]


def _over_rates(rows: Sequence[Row], approach: str) -> float:
    return mean(select_rows(rows, approach=approach), "log_loss")


def _seconds(rows: Sequence[Row], approach: str) -> float:
    """The shortest time: other processes may have disturbed the longer ones."""
    return min(float(row["seconds"]) for row in select_rows(rows, approach=approach))


def _table(rows: Sequence[Row], name: str) -> ReportTable:
    lines = []
    for approach in APPROACHES:
        found = select_rows(rows, approach=approach)
        rate, loss = best_rate(found)
        lines.append([
            NAMES[approach], f"{loss:.4f}",
            f"{100.0 * mean(select_rows(found, rate=rate), 'error'):.2f}", f"{rate:g}",
            f"{_over_rates(rows, approach):.3f}", f"{mean(found, 'updates'):,.0f}",
            f"{1000.0 * _seconds(rows, approach):.1f}",
        ])  # fmt: skip
    heads = [
        "approach", "log loss", "error, %", "best rate", "log loss, all rates", "updates", "milliseconds",
    ]  # fmt: skip
    example = rows[0]
    return ReportTable(
        heads, lines,
        f"{name}: {int(example['rows']):,} rows; the largest weight is "
        f"{float(example['largest_weight']):.0f}, the mean {float(example['mean_weight']):.0f}. "
        "Log loss and error, by weight, at the best rate; the mean log loss over all rates; "
        "processor time of learning.",
        TABLE,
    )  # fmt: skip


def _drawing(rows: Sequence[Row], sets: Sequence[str]) -> Figure:
    figure = drawing.figure(8.0, 6.4)
    for axes, name in zip(figure.subplots(2, 2, sharex=True).flat, sets, strict=False):
        for approach in APPROACHES:
            found = select_rows(rows, data=name, approach=approach)
            means = mean_by(found, "rate", "log_loss")
            curve(axes, approach, list(means), list(means.values()))
        least = min(best_rate(select_rows(rows, data=name, approach=approach))[1] for approach in APPROACHES)
        axes.set(xscale="log", ylim=(0.9 * least, 2.5 * least), title=name)
    figure.supxlabel("learning rate × mean weight")
    figure.supylabel("log loss (curves leave the picture above)")
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=4)
    return figure
