"""The range of weights: kept and best rates, verdicts by rules."""

import pytest

from paper.studies import weight_range
from paper.studies.weight_range import WeightRange
from paper.studies.weighted import learning, ranges
from paper.studies.weighted.ranges import FEASIBLE, KEPT, LARGEST
from paper.study import ReportFigure, Row, Verdict
from tests.paper.weighted_rows import QUICK, put_in_place, tables


def rows(explicit_kept: float = 50.0, explicit_best: float = 0.5, copies: float = 0.3) -> list[Row]:
    """Log losses that do not change with the weights, but for those of multiplication with the largest."""
    found: list[Row] = []
    for largest in LARGEST:
        for approach in ranges.APPROACHES if largest <= FEASIBLE else learning.UPDATES:
            for kept in (False, True):
                loss = copies if approach == "copies" else 0.3
                if approach == "explicit" and largest == LARGEST[-1]:
                    loss = explicit_kept if kept else explicit_best
                found.append(
                    {"data": "made up", "largest": largest, "approach": approach, "kept": kept,
                     "rate": 1.0, "log_loss": loss}
                )  # fmt: skip
    return found


def verdicts(found: list[Row]) -> list[Verdict]:
    return [claim.verdict for claim in weight_range.claims(found)]


def test_rows_and_part(monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_place(monkeypatch)
    monkeypatch.setattr(weight_range, "PLACES", ("rcv1",))
    monkeypatch.setattr(ranges, "RATES", (0.3, 3.0))
    found = tables(WeightRange())
    made = found["weight_range"]
    assert {row["largest"] for row in made} == set(LARGEST)
    assert {row["largest"] for row in made if row["approach"] == "copies"} == {1.0, 10.0, 100.0, 1000.0}
    light = [row for row in made if row["largest"] == 1.0 and row["kept"]]
    assert {row["rate"] for row in light} == {KEPT}
    same = {row["log_loss"] for row in light if row["approach"] in ("copies", "explicit")}
    assert len(same) == 1  # with weights of one these are the same
    assert {row["kept"] for row in found["weight_range_reliability"]} == {True, False}
    part = WeightRange().part(found, QUICK)
    assert [block.name for block in part.blocks if isinstance(block, ReportFigure)] == [
        "weight-range",
        "weight-range-reliability",
    ]


def test_the_kept_rate_may_be_the_best() -> None:
    found = rows(explicit_kept=0.2, explicit_best=0.5)
    assert weight_range._at(found, "explicit", LARGEST[-1], kept=False) == 0.2
    assert weight_range._at(found, "invariant", LARGEST[-1], kept=False) == 0.3


def test_verdicts() -> None:
    assert verdicts(rows()) == [Verdict.HOLDS] * 3
    assert verdicts(rows(explicit_kept=0.3, explicit_best=0.3)) == [
        Verdict.FAILS,
        Verdict.FAILS,
        Verdict.HOLDS,
    ]
    assert verdicts(rows(copies=0.31))[2] is Verdict.PARTLY
    assert verdicts(rows(copies=0.5))[2] is Verdict.FAILS
