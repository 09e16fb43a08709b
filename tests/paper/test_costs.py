"""Decisions and what they cost; verdicts by rules."""

import numpy as np
import pytest

from paper.studies import costs
from paper.studies.costs import Costs
from paper.studies.weighted import decisions, sets
from paper.studies.weighted.decisions import APPROACHES
from paper.study import ReportFigure, ReportTable, Row, Verdict
from tests.paper.weighted_rows import QUICK, put_in_place, tables, weighted


def test_rows_and_part(monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_place(monkeypatch)
    monkeypatch.setattr(decisions, "RATES", (0.1, 1.0))
    found = tables(Costs())
    made = found["costs"]
    assert len(made) == 2 + len(APPROACHES) * 2
    data = weighted("credit-costs")
    test = data.split(0)[1]
    wrong = data.weights[test] * (data.labels[test] > 0.0)
    by_name = {row["approach"]: float(row["cost"]) for row in made}
    assert by_name["give to all"] == pytest.approx(wrong.mean())
    assert by_name["give to all"] + by_name["give to none"] == pytest.approx(data.weights[test].mean())
    best = min(float(row["cost"]) for row in made if row["approach"] == "invariant")
    assert best < 0.5 * min(by_name["give to all"], by_name["give to none"])
    part = Costs().part(found, QUICK)
    table = next(block for block in part.blocks if isinstance(block, ReportTable))
    assert [line[0] for line in table.rows][:2] == ["give to all", "give to none"]
    assert [block.name for block in part.blocks if isinstance(block, ReportFigure)] == ["costs-rates"]


def test_where_it_is_cheaper_to_refuse() -> None:
    odds = decisions._border("threshold")
    probability = 1.0 / (1.0 + np.exp(-odds))
    assert probability * sets.LOST_IF_BAD == pytest.approx((1.0 - probability) * sets.LOST_IF_GOOD)
    assert decisions._border("invariant") == 0.0


def rows(explicit: float, overshooting: float) -> list[Row]:
    """The cost of multiplication at a low and at a high rate; all others cost 100."""
    return [
        {"approach": name, "rate": rate, "largest_over_mean": 8.0,
         "cost": {1.0: explicit, 10.0: overshooting}[rate] if name == "explicit" else 100.0}
        for name in (*APPROACHES, *costs.CONSTANT)
        for rate in (1.0, 10.0)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("explicit", "overshooting", "expected"),
    [
        (110.0, 200.0, Verdict.HOLDS),
        (100.0, 200.0, Verdict.PARTLY),
        (100.0, 100.0, Verdict.FAILS),
        (90.0, 200.0, Verdict.FAILS),
    ],
)
def test_verdicts(explicit: float, overshooting: float, expected: Verdict) -> None:
    claim = costs.claim(rows(explicit, overshooting))
    assert claim.verdict is expected
    # why it should not hold is no reason where it does
    assert ("no step is large enough to overshoot" in claim.why) == (expected is not Verdict.HOLDS)
