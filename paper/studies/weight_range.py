"""Log loss and calibration as the largest weight grows."""

from collections.abc import Sequence
from itertools import product

from matplotlib.figure import Figure

from paper import drawing
from paper.studies.weighted import ranges
from paper.studies.weighted.learning import UPDATES
from paper.studies.weighted.measures import CELLS
from paper.studies.weighted.pictures import curve
from paper.studies.weighted.ranges import APPROACHES, CURVES, FEASIBLE, KEPT, LARGEST, TABLE
from paper.studies.weighted.summaries import (
    NAMES,
    best_rate,
    describe_shuffles,
    explain_verdict,
    format_range,
    mean,
    select_rows,
    values,
)
from paper.study import Claim, Part, ReportFigure, ReportTable, Row, Scope, Step, Study, Tables, Verdict
from paper.verdicts import judge_cases

PLACES = ("rcv1", "webspam")
TIE = 0.01
"""Log losses that differ by a smaller share than this count as equal."""

WHAT = f"""
The weights are drawn log-uniformly from 1 up to a largest one, which goes from 1 to 100,000, and rounded to
whole numbers. They are independent of the rows; only their spread changes. There are two settings. *Rate
kept*: the learning rate stays at {KEPT:g}, which suits rows of weight one, as for a user who means copies and
tunes nothing. *Best rate*: the best rate on the test rows, for each update and each range. Logistic loss, one
pass, test rows of weight one. Copies are only made up to a largest weight of {FEASIBLE:,.0f}.
"""
MEASURED = f"""
The calibration error is the mean gap between the predicted probability and the observed share of positive
rows, over {CELLS} cells with equally many rows.
"""


class WeightRange(Study):
    """Multiplication, implicit, invariant, copies."""

    name = "weight_range"
    title = "Section 2: how large may a weight be?"

    def steps(self, scope: Scope) -> list[Step]:
        rows, seeds = scope.choose(25_000, 4_000), scope.choose(3, 1)
        tried = product(PLACES, LARGEST, range(seeds))
        return [
            *(ranges.step(place, largest, seed, rows) for place, largest, seed in tried),
            *(ranges.curves(place, LARGEST[-1], rows) for place in PLACES),
        ]

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows, curves = tables[TABLE], tables[CURVES]
        growing = ReportFigure(
            "weight-range",
            _growing(rows),
            "Log loss and calibration error on the test rows as the largest weight grows; "
            f"{describe_shuffles(rows)}. The axis on the left is logarithmic.",
            TABLE,
        )
        reliable = ReportFigure(
            "weight-range-reliability",
            _reliable(curves),
            f"Weights from 1 to {LARGEST[-1]:,.0f}, the rate kept: the share of rows with label 1 against "
            f"the predicted probability. Each dot is one of {CELLS} cells with equally many rows, of one "
            "shuffle; on the diagonal, the probabilities are calibrated.",
            CURVES,
        )
        return Part([WHAT, MEASURED, _table(rows), growing, reliable], claims(rows))


def _at(rows: Sequence[Row], approach: str, largest: float, kept: bool, measured: str = "log_loss") -> float:
    """The measure at the kept rate, or at the best of all rates, including the kept one."""
    found = select_rows(rows, approach=approach, largest=largest)
    if kept:
        return mean(select_rows(found, kept=True), measured)
    tuned, untuned = select_rows(found, kept=False), select_rows(found, kept=True)
    rate, loss = best_rate(tuned)
    better = loss < mean(untuned, "log_loss")
    return mean(select_rows(tuned, rate=rate) if better else untuned, measured)


def claims(rows: Sequence[Row]) -> list[Claim]:
    sets = [select_rows(rows, data=name) for name in values(rows, "data")]
    ends = min(LARGEST), max(LARGEST)
    theirs, ours = (
        [_at(found, update, ends[1], True) / _at(found, update, ends[0], True) for found in sets]
        for update in ("explicit", "invariant")
    )
    at_best = [
        _at(found, "explicit", ends[1], False) / _at(found, "invariant", ends[1], False) for found in sets
    ]
    gap = _from_copies(sets)
    growing = sum(big > 2.0 * small for big, small in zip(theirs, ours, strict=True))
    remaining = sum(ratio > 1.0 + TIE for ratio in at_best)
    grows, remains = (judge_cases(held, len(sets)) for held in (growing, remaining))
    same = Verdict.HOLDS if gap <= TIE else Verdict.PARTLY if gap <= 10.0 * TIE else Verdict.FAILS
    return [
        Claim(
            "Section 2", "The larger the weights, the worse the gradient times the weight.", "–",
            f"from weights of 1 to weights up to 100,000, the rate kept, log loss grows by a factor of "
            f"{format_range(theirs, ',.0f')}; with the invariant update of {format_range(ours, '.1f')}",
            grows,
            explain_verdict(grows, "The length of a step is proportional to the weight.", growing, len(sets)),
            TABLE,
        ),
        Claim(
            "Section 2", "A lower learning rate does not make up for it.", "–",
            "weights up to 100,000, each at its best rate: multiplication has "
            f"{format_range(at_best, '.2f')} times the log loss of the invariant update",
            remains,
            explain_verdict(
                remains, "A rate that suits the heaviest rows is too low for others.", remaining, len(sets)
            ),
            TABLE,
        ),
        Claim(
            "Section 2", "The invariant update does what copies do.", "–",
            f"weights up to {FEASIBLE:,.0f}: their log losses differ by no more than {gap:.1%}, at the rate "
            "kept and at the best",
            same, "Copies by gradient steps are identical only in the limit of small rates.", TABLE,
        ),
    ]  # fmt: skip


def _from_copies(sets: Sequence[Sequence[Row]]) -> float:
    def gap(found: Sequence[Row], kept: bool) -> float:
        copies = _at(found, "copies", FEASIBLE, kept)
        return abs(_at(found, "invariant", FEASIBLE, kept) / copies - 1.0)

    return max(gap(found, kept) for found in sets for kept in (True, False))


def _table(rows: Sequence[Row]) -> ReportTable:
    lines = [
        [
            str(name),
            NAMES[approach],
            "kept" if kept else "best",
            *_cells(select_rows(rows, data=name), approach, kept),
        ]
        for name in values(rows, "data")
        for kept in (True, False)
        for approach in APPROACHES
    ]
    heads = ["data", "update", "rate", *(f"{largest:,.0f}" for largest in LARGEST)]
    return ReportTable(heads, lines, "Log loss on the test rows by the largest weight.", TABLE)


def _cells(rows: Sequence[Row], approach: str, kept: bool) -> list[str]:
    return [
        f"{_at(rows, approach, largest, kept):.3f}"
        if select_rows(rows, approach=approach, largest=largest)
        else "–"
        for largest in LARGEST
    ]


def _growing(rows: Sequence[Row]) -> Figure:
    names = values(rows, "data")
    figure = drawing.figure(9.0, 2.9 * len(names) + 0.6)
    columns = [
        ("log loss, rate kept", True, "log_loss"),
        ("log loss, best rate", False, "log_loss"),
        ("calibration error, rate kept", True, "calibration"),
    ]
    panels = figure.subplots(len(names), len(columns), squeeze=False)
    for line, name in zip(panels, names, strict=True):
        for axes, (title, kept, measured) in zip(line, columns, strict=True):
            for approach in APPROACHES:
                found = select_rows(rows, data=name, approach=approach)
                reached = [float(largest) for largest in values(found, "largest")]
                losses = [_at(found, approach, largest, kept, measured) for largest in reached]
                curve(axes, approach, reached, losses)
            axes.set_xscale("log")
            if kept and measured == "log_loss":
                axes.set_yscale("log")
            else:
                axes.set_ylim(bottom=0.0)
            axes.set_title(f"{name}\n{title}", fontsize=10)
    figure.supxlabel("largest weight")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=len(APPROACHES))
    return figure


def _reliable(rows: Sequence[Row]) -> Figure:
    names = values(rows, "data")
    figure = drawing.figure(7.6, 4.2)
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        axes.plot([0.0, 1.0], [0.0, 1.0], color=drawing.GREY, lw=1.0, ls=":")
        for update in UPDATES:
            found = select_rows(rows, data=name, approach=update, kept=True)
            predicted, came = ([float(row[column]) for row in found] for column in ("predicted", "came"))
            curve(axes, update, predicted, came, ms=5.5, lw=1.0, alpha=0.85)
        axes.set(
            title=str(name), xlabel="probability predicted", ylabel="share with the label 1", aspect="equal"
        )
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=len(UPDATES))
    return figure
