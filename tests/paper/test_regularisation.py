"""Penalties: steps on small data, verdicts on made-up rows."""

import math

import pytest

from paper.studies.regularisation import Regularisation, copies, steps
from paper.studies.regularisation.copies import COPIES, EXPLICIT, INVARIANT, JOINT, TIMES, UNITS, WAYS
from paper.studies.regularisation.steps import PENALTIES, STRENGTHS
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
        for strength in copies.STRENGTHS
        for times in TIMES
    ]


def _claims(*, fine: bool, split: float, joint: float) -> list[Claim]:
    deviations = {EXPLICIT: 1.0, INVARIANT: split, UNITS: joint, JOINT: joint}
    tables = {PENALTIES: _penalties(fine=fine), COPIES: _copies(deviations)}
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


def test_a_penalty_for_each_unit_of_weight_takes_a_weight_for_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    monkeypatch.setattr(copies, "STRENGTHS", (0.1,))
    deviations: dict[tuple[object, ...], float] = {}
    for step in Regularisation().steps(Scope(quick=True)):
        if step.table == COPIES:
            deviations |= {
                (row["loss"], row["way"], row["times"]): float(row["deviation"]) for row in step.compute()
            }
    assert {key[0] for key in deviations if key[1] == JOINT} == {"squared"}
    assert deviations["squared", INVARIANT, 1] == 0.0
    assert deviations["squared", JOINT, 10] < 1e-12
    assert all(deviations[loss, UNITS, 100] < 1e-12 for loss in ("squared", "logistic", "hinge"))
    assert 1e-3 < deviations["squared", INVARIANT, 10] < deviations["squared", EXPLICIT, 10]


def test_the_joint_solution_follows_its_equation() -> None:
    parts, p, kept = 100_000, 0.3, 1.0
    for _ in range(parts):
        p += (1.0 - p - 0.7 * p) * 2.0 / parts
        kept *= 1.0 - 0.7 * 2.0 / parts
    assert copies.solve_squared(p=0.3, y=1.0, u=2.0, strength=0.7) == pytest.approx((kept, p), rel=1e-4)


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
