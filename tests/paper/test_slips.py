"""Slips: the evidence is right, and told also where other studies were left out."""

import pytest

from paper.studies import slips_steps
from paper.studies.choices import Choices
from paper.studies.safety.theorem import LENGTHS, TABLE
from paper.studies.slips import Slips
from paper.study import ReportTable, Row, Scope, Tables, Verdict
from tests.paper.fakes import small_data, swept_rows


@pytest.fixture(scope="module")
def tables() -> dict[str, list[Row]]:
    return {step.table: step.compute() for step in Slips().steps(Scope())}


def _evidence(tables: Tables) -> list[str]:
    (table,) = Slips().part(tables, Scope()).blocks
    assert isinstance(table, ReportTable)
    return [row[-1] for row in table.rows]


def test_what_is_right_is_right(tables: dict[str, list[Row]]) -> None:
    rows = tables[slips_steps.SLIPS]
    printed = {str(row["quantity"]): (float(row["printed"]), float(row["right"])) for row in rows}
    assert printed["s(0)·n for y = 0, p = 0.7"] == pytest.approx((1.4, 0.0))
    assert printed["change of p = 1.5, y = 1, u = 0.2"] == (-0.5, 0.0)
    checks = [float(row["right"]) for row in rows if row["slip"] in ("closed", "flip", "smooth")]
    assert len(checks) == 9
    assert max(checks) < 1e-12


def test_weights_are_of_order_1_over_the_rate_only_where_it_falls_like_1_over_t(
    tables: dict[str, list[Row]],
) -> None:
    (claim,) = Slips().part(tables, Scope()).claims
    assert (claim.number, claim.verdict) == (13, Verdict.PARTLY)
    assert claim.cases is not None
    assert (claim.cases.agree, claim.cases.against) == (2, 2)
    chances = [
        float(row["probability"])
        for row in tables[slips_steps.QUERIES]
        if row["power"] == 0.5 and row["constants"] == "practice"
    ]
    assert chances == sorted(chances)  # it does not fall at all


def test_evidence_of_other_studies_is_taken_from_them(tables: dict[str, list[Row]]) -> None:
    alone = _evidence(tables)
    assert "see the section on regret" in alone[5]
    regrets: list[Row] = [
        {"stream": "two halves", "rate": rate, "length": length, "regret": 0.1 * length}
        for rate in ("1/t", "1/√t")
        for length in LENGTHS
    ]
    swept = swept_rows(lambda *_: 0.95, places=("mail",), losses=("logistic",))
    passive: list[Row] = [{**row, "place": "spam", "variant": "v"} for row in swept]
    told = _evidence({**tables, TABLE: regrets, "passive": passive})
    assert "regret 100, 400, 1,600, 6,400 with 1/t" in told[5]
    assert "here standard 0.9500, Imp² 0.9500, invariant 0.9500" in told[8]


def test_every_open_choice_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    (table,) = Choices().part({}, Scope()).blocks
    assert isinstance(table, ReportTable)
    assert any("enron-spam counts" in row[2] for row in table.rows)
    assert all(row[1] and row[2] and row[3] for row in table.rows)
