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
        single_steps.make_table(single, SINGLE),
    ]


def claims(single: list[Row]) -> list[Claim]:
    return [_safe(single), _explicit_is_not(single)]


def _safe(single: list[Row]) -> Claim:
    rows = [row for row in single if row["update"] in AWARE]
    safe = [row for row in rows if int(row["overshoots"]) == 0 and int(row["makes_worse"]) == 0]
    count = sum(int(row["pushes"]) for row in rows)
    return Claim(
        where="On safety",
        says="Implicit and invariant updates are safe: no step goes past the minimiser.",
        paper="–",
        ours=f"no violation with {len(safe)} of {len(rows)} pairs of loss and update, {count:,} steps",
        verdict=verdicts.judge_cases(len(safe), len(rows)),
        why="The flow stops where the slope is 0, and the implicit step ends on the same side.",
        source=SINGLE,
    )


def _explicit_is_not(single: list[Row]) -> Claim:
    bounded = {row["loss"] for row in single if row["update"] == "explicit" and int(row["overshoots"]) > 0}
    squared = next(row for row in single if row["loss"] == "squared" and row["update"] == "explicit")
    return Claim(
        where="On safety",
        says="Explicit updates are not safe: a large weight carries the prediction past the label.",
        paper="–",
        ours=f"squared loss: {single_steps.per_cent(squared, 'overshoots'):.0f} % of the steps overshoot and "
        f"{single_steps.per_cent(squared, 'makes_worse'):.0f} % make the loss larger; overshoots with "
        f"{len(bounded)} losses",
        verdict=verdicts.judge_cases(int(int(squared["overshoots"]) > 0), 1),
        why="It uses the slope at the start for the whole step, as if the loss were a straight line.",
        source=SINGLE,
    )
