"""Single steps: do they go too far?"""

from paper import single_steps, verdicts
from paper.studies.safety.steps import SINGLE
from paper.study import Claim, ReportTable, Row

AWARE = ("implicit", "invariant")


def blocks(single: list[Row]) -> list[str | ReportTable]:
    return [
        "An update is *safe* if no push, however large, moves a prediction past the nearest minimiser of "
        f"its loss; for squared loss, w·x − y keeps its sign. Checked with {int(single[0]['pushes']):,} "
        "random predictions, labels and pushes (10⁻³ to 10³) for each loss and update. Logistic and "
        "exponential loss have no minimiser to go past; how far a step goes beyond the exact flow is given "
        "for all.",
        _table(single),
    ]


def _table(single: list[Row]) -> ReportTable:
    """A line for each loss."""
    by_loss: dict[str, dict[str, Row]] = {}
    for row in single:
        by_loss.setdefault(str(row["loss"]), {})[str(row["update"])] = row
    updates = ("explicit", "implicit", "invariant")
    return ReportTable(
        ["loss", *(f"{update} overshoots, %" for update in updates), "explicit, farthest"],
        [
            [
                loss,
                *(f"{single_steps.per_cent(each[update], 'overshoots'):.1f}" for update in updates),
                f"{single_steps.format_times(float(each['explicit']['times_the_flow']))} times the flow",
            ]
            for loss, each in by_loss.items()
        ],
        "One step from a random prediction with a random push: how often it goes past the minimiser.",
        SINGLE,
    )


def claim(single: list[Row]) -> Claim:
    """C3."""
    aware = [row for row in single if row["update"] in AWARE]
    cases = verdicts.tally(
        1 if int(row["overshoots"]) == 0 and int(row["makes_worse"]) == 0 else -1 for row in aware
    )
    squared = next(row for row in single if row["loss"] == "squared" and row["update"] == "explicit")
    unsafe = int(squared["overshoots"]) > 0
    cases = verdicts.Tally(cases.agree + unsafe, 0, cases.against + (not unsafe))
    return Claim(
        "§4.2",
        "Safety: with invariant steps a residual never changes its sign; with standard ones it may.",
        "proved for squared, hinge, quantile",
        f"{cases.against} overshoots in {sum(int(row['pushes']) for row in aware):,} aware steps of "
        f"{len({row['loss'] for row in aware})} losses; standard, squared loss: "
        f"{single_steps.per_cent(squared, 'overshoots'):.0f} % overshoot",
        verdicts.judge(cases),
        "The flow stops where the slope is 0; Imp² is safe as well.",
        SINGLE,
        3,
        cases,
    )
