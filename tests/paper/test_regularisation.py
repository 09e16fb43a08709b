"""Penalties: steps on small data, verdicts on made-up rows."""

import math

import pytest

from paper.studies.regularisation import Regularisation, steps
from paper.studies.regularisation.steps import COPIED_STRENGTHS, COPIES, PENALTIES, STRENGTHS, TIMES, WAYS
from paper.study import Claim, ReportFigure, ReportTable, Row, Scope, Verdict
from tests.paper.fakes import small_data


def _penalties(*, fine: bool) -> list[Row]:
    """Where `fine`, a moderate penalty leaves few features and nothing diverges."""
    return [
        {
            "data": "one",
            "loss": loss,
            "update": update,
            "penalty": penalty,
            "strength": strength,
            "rate": rate,
            "accuracy": 0.9 if strength <= 0.01 and (fine or update == "explicit") else 0.6,
            "used": 1.0 if penalty == "l2" or strength < 0.01 or not fine else 0.2,
            "largest": 1.0 if fine else math.inf,
            "diverged": not fine,
        }
        for loss in ("squared", "logistic")
        for update in ("explicit", "invariant")
        for penalty in ("l1", "l2")
        for rate in (0.5, 4.0)
        for strength in (0.0, *STRENGTHS)
    ]


def _copies(deviations: dict[str, float]) -> list[Row]:
    return [
        {
            "data": "one",
            "loss": "squared",
            "way": way,
            "strength": strength,
            "times": times,
            "rows": 10,
            "deviation": deviations[way],
        }
        for way in WAYS
        for strength in COPIED_STRENGTHS
        for times in TIMES
    ]


def _claims(*, fine: bool, split: float, joint: float) -> list[Claim]:
    copies = _copies({"explicit, split": 1.0, "invariant, split": split, "invariant, joint": joint})
    tables = {PENALTIES: _penalties(fine=fine), COPIES: copies}
    return list(Regularisation().part(tables, Scope()).claims)


def test_a_penalty_makes_weights_few_and_a_huge_one_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    monkeypatch.setattr(steps, "STRENGTHS", [0.01, 1000.0])
    rows = Regularisation().steps(Scope(quick=True))[0].compute()
    assert len(rows) == 2 * 2 * 2 * 3
    found = {(row["update"], row["penalty"], row["rate"], row["strength"]): row for row in rows}
    assert float(found["invariant", "l1", 0.5, 0.0]["used"]) == 1.0
    assert float(found["invariant", "l1", 0.5, 1000.0]["used"]) == 0.0
    assert not found["invariant", "l2", 4.0, 1000.0]["diverged"]
    assert found["explicit", "l2", 4.0, 0.0]["diverged"] or float(
        found["explicit", "l2", 4.0, 0.0]["largest"]
    ) > float(found["invariant", "l2", 4.0, 0.0]["largest"])


def test_only_the_joint_flow_takes_a_weight_for_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    monkeypatch.setattr(steps, "COPIED_STRENGTHS", (0.1,))
    step = next(step for step in Regularisation().steps(Scope(quick=True)) if step.table == COPIES)
    found = {(row["way"], row["times"]): float(row["deviation"]) for row in step.compute()}
    assert found["invariant, split", 1] == 0.0
    assert found["invariant, joint", 10] < 1e-6
    assert 1e-3 < found["invariant, split", 10] < found["explicit, split", 10]


def test_all_claims_hold_where_all_is_fine() -> None:
    claims = _claims(fine=True, split=0.1, joint=1e-9)
    assert [claim.verdict for claim in claims] == [Verdict.HOLDS] * 4
    assert "56 of 56 runs with ηλ from 4 to 4,000" in claims[0].ours
    assert claims[2].why == "Of two rates, the better for both."


def test_all_claims_fail_where_nothing_is() -> None:
    claims = _claims(fine=False, split=2.0, joint=0.1)
    assert [claim.verdict for claim in claims] == [Verdict.FAILS] * 4
    assert "Not so for one, squared, l1 (" in claims[2].why
    assert "without a penalty)" in claims[2].why


def test_the_part_has_tables_and_a_figure() -> None:
    tables = {PENALTIES: _penalties(fine=True), COPIES: _copies(dict.fromkeys(WAYS, 0.5))}
    blocks = Regularisation().part(tables, Scope()).blocks
    shown = [block for block in blocks if isinstance(block, ReportTable)]
    assert shown[0].rows[0] == ["one", "squared", "l1", *["0.9000", "0.9000 (0)", "20%"] * 2]
    assert all(len(row) == len(table.heads) for table in shown for row in table.rows)
    assert [block.name for block in blocks if isinstance(block, ReportFigure)] == ["regularisation-logistic"]
