"""Table 3: test accuracy after an exhaustive search."""

from collections.abc import Mapping

import numpy as np

from paper import verdicts
from paper.grids import NEAR, Cells, Grid, Key, format_spread
from paper.studies.passive.steps import TABLE, UNIT
from paper.study import Claim, ReportTable
from paper.sweeping import UPDATES


def blocks(found: Cells, others: Mapping[str, Cells]) -> list[str | ReportTable]:
    return [
        ReportTable(
            ["data", "loss", *UPDATES, "± (one standard error)"],
            [
                [*key, *(format_spread(each[update].best()) for update in UPDATES), f"{_error(each):.4f}"]
                for key, each in found.items()
            ],
            "The paper's Table 3: test accuracy of the best schedule, chosen by the same accuracy, so "
            "slightly optimistic. The standard error is that of a share of the test rows.",
            TABLE,
        ),
        ReportTable(
            ["data", "loss", *(f"{update}, {name}" for name in others for update in UPDATES)],
            [
                [
                    *key,
                    *(
                        format_spread(other[key][update].best())
                        for other in others.values()
                        for update in UPDATES
                    ),
                ]
                for key in found
            ],
            "The same with a bias, and with every row scaled to length 1; one shuffle.",
            TABLE,
        ),
    ]


def claims(found: Cells, unit: Cells) -> list[Claim]:
    gaps = {key: _gap(each) for key, each in found.items()}
    apart = {key: gap for key, gap in gaps.items() if abs(gap) > NEAR}
    largest = max(gaps, key=lambda key: abs(gaps[key]))
    return [
        Claim(
            where="Table 3",
            says="With the best schedule of each, found by exhaustive search, explicit and invariant updates "
            "are about equally accurate.",
            paper="–",
            ours=f"within {NEAR} in {len(gaps) - len(apart)} of {len(gaps)} pairs of data and loss; the "
            f"largest difference, invariant − explicit, is {gaps[largest]:+.4f} ({', '.join(largest)})",
            verdict=verdicts.judge_cases(len(gaps) - len(apart), len(gaps)),
            why=_why(apart, unit),
            source=TABLE,
        )
    ]


def _why(apart: Mapping[Key, float], unit: Cells) -> str:
    if not apart:
        return f"No best accuracy of explicit and invariant updates differs by more than {NEAR}."
    changed = "; ".join(
        f"{', '.join(key)}: {gap:+.4f}, with {UNIT} {_gap(unit[key]):+.4f}" for key, gap in apart.items()
    )
    return (
        "The length of rows plays a part: at a rate divided by x·x a short row moves the weights far more "
        f"than a long one, so rows of length 1 were tried. Invariant − explicit: {changed}."
    )


def _gap(each: Mapping[str, Grid]) -> float:
    return float(each["invariant"].best().mean() - each["explicit"].best().mean())


def _error(each: Mapping[str, Grid]) -> float:
    return float(np.mean([grid.standard_error() for grid in each.values()]))
