"""C12: the cost of an update."""

from collections.abc import Sequence

import numpy as np

from paper.studies import speed_steps
from paper.studies.speed_steps import TABLE
from paper.studies.weighted.summaries import format_range, select_rows
from paper.study import Claim, Part, ReportTable, Row, Scope, Step, Study, Tables
from paper.sweeping import LOSSES, UPDATES
from paper.verdicts import judge, tally

DEARER = 1.25
"""Times the explicit update's time for a document, up to which the cost counts as about the same."""


class Speed(Study):
    """Explicit, implicit and invariant updates timed against each other."""

    name = TABLE
    title = "What an update costs"
    of_paper = True

    def steps(self, scope: Scope) -> list[Step]:
        return speed_steps.steps(scope)

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows = tables[TABLE]
        return Part(
            [
                "The paper gives no running times. Here each update learns the same rows in our compiled "
                "kernel, in turns; the figure is the least processor time for an example, less that of its "
                "dot product, which a prediction takes as well. *Documents* are rows of the first data set. "
                "Rows of *one feature* leave nothing but the step itself and what a row costs anyway.",
                _table(rows),
            ],
            [_claim(rows)],
        )


def _beyond(row: Row) -> float:
    return float(row["nanoseconds"]) - float(row["dot_product"])


def _row(rows: Sequence[Row], kind: str, loss: str, update: str) -> Row:
    return select_rows(rows, kind=kind, loss=loss, update=update)[0]


def _table(rows: Sequence[Row]) -> ReportTable:
    lines = []
    for kind in ("documents", "one feature"):
        for loss in LOSSES:
            each = [_row(rows, kind, loss, update) for update in UPDATES]
            lines.append(
                [
                    f"{kind} ({float(each[0]['features_a_row']):.0f})" if loss == LOSSES[0] else "",
                    loss,
                    f"{float(each[0]['dot_product']):.0f}",
                    *(f"{_beyond(row):.0f}" for row in each),
                    *(f"{_ratio(rows, kind, loss, update):.2f}" for update in UPDATES[1:]),
                ]
            )
    heads = ["rows (features)", "loss", "dot product, ns", *(f"{update}, ns" for update in UPDATES)]
    heads += ["implicit : explicit, whole", "invariant : explicit, whole"]
    caption = (
        "Nanoseconds an example beyond the dot product; and the ratio of the whole times, dot product "
        "included."
    )
    return ReportTable(heads, lines, caption, TABLE)


def _ratio(rows: Sequence[Row], kind: str, loss: str, update: str) -> float:
    one, other = (float(_row(rows, kind, loss, each)["nanoseconds"]) for each in (update, "explicit"))
    return one / other


def _claim(rows: Sequence[Row]) -> Claim:
    """C12."""
    ratios = [_ratio(rows, "documents", loss, "invariant") for loss in LOSSES]
    cases = tally(1 if ratio <= DEARER else -1 for ratio in ratios)
    extra = [
        _beyond(_row(rows, "one feature", loss, "invariant"))
        - _beyond(_row(rows, "one feature", loss, "explicit"))
        for loss in LOSSES
    ]
    features = float(np.mean([float(row["features_a_row"]) for row in rows if row["kind"] == "documents"]))
    return Claim(
        "abstract, §7",
        "The new updates are about as fast as gradient descent.",
        "no figure: “similar”, “free”",
        f"invariant : explicit, a document of {features:.0f} features: {format_range(ratios, '.2f')}; the "
        f"step itself {format_range(extra, '+.0f')} ns",
        judge(cases),
        f"Up to {DEARER:g} counts as similar. Logistic loss costs most: its step is solved for.",
        TABLE,
        12,
        cases,
    )
