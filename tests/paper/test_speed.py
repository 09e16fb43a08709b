"""What an update costs: a step on small data, verdicts on made-up rows."""

import pytest

from paper.studies.speed import Speed
from paper.study import ReportTable, Row, Scope, Verdict
from paper.sweeping import LOSSES, UPDATES
from tests.paper.fakes import small_data


def test_each_update_is_timed_beside_its_dot_product(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    steps = {step.key: step for step in Speed().steps(Scope(quick=True))}
    for key, features in (("documents squared", None), ("one feature squared", 1.0)):
        rows = steps[key].compute()
        assert [row["update"] for row in rows] == list(UPDATES)
        assert all(float(row["nanoseconds"]) > 0.0 for row in rows)
        assert features in (None, rows[0]["features_a_row"])


@pytest.mark.parametrize(("invariant", "verdict"), [(1.1, Verdict.HOLDS), (2.0, Verdict.FAILS)])
def test_about_as_fast_is_judged_by_whole_documents(invariant: float, verdict: Verdict) -> None:
    rows: list[Row] = [
        {
            "kind": kind,
            "features_a_row": 75.0,
            "loss": loss,
            "update": update,
            "nanoseconds": 100.0 * (invariant if update == "invariant" else 1.0),
            "dot_product": 40.0,
        }
        for kind in ("documents", "one feature")
        for loss in LOSSES
        for update in UPDATES
    ]
    part = Speed().part({"speed": rows}, Scope())
    (claim,) = part.claims
    assert (claim.number, claim.verdict) == (12, verdict)
    (table,) = (block for block in part.blocks if isinstance(block, ReportTable))
    assert table.rows[0][2:] == [
        "40",
        "60",
        "60",
        f"{100.0 * invariant - 40.0:.0f}",
        "1.00",
        f"{invariant:.2f}",
    ]
