"""Every loss is in Table 1; its certificate finds what is wrong."""

import math
from dataclasses import replace

import pytest

from paper.studies import table1
from paper.studies.table1 import FORMULAS, Table1
from paper.studies.weighted import certificates
from paper.studies.weighted.certificates import Case, flow_deviation, implicit_deviation
from paper.study import ReportTable, Row, Scope, Verdict
from steelyard import losses

CLOSED = [name for name in losses.names() if name in FORMULAS]


def row(name: str, soft: bool = False, **found: float) -> Row:
    right: Row = {"loss": name, "soft": soft, "cases": 1, "flow": 1e-15, "implicit": 1e-15, "invariance": 0.0}
    return {**right, **({"printed": math.inf} if name == "hinge" else {}), **found}


def test_every_loss_has_formulas() -> None:
    assert set(losses.names()) <= set(FORMULAS)


def test_a_loss_without_formulas_is_shown_all_the_same() -> None:
    part = Table1().part({"table1": [row("hinge"), row("brand_new")]}, Scope())
    table = next(block for block in part.blocks if isinstance(block, ReportTable))
    assert table.rows[1][:3] == ["brand_new", "as in the code", "numeric"]


def test_one_step_for_each_loss_and_for_soft_labels() -> None:
    keys = [step.key for step in Table1().steps(Scope())]
    assert keys[: len(losses.names())] == losses.names()
    assert "logarithmic soft" in keys


@pytest.mark.parametrize("name", CLOSED)
def test_certificates(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "PUSHES", (1e-6, 0.5, 1e8))
    monkeypatch.setattr(certificates, "_REAL", (-1.5, 0.3, 5.0))
    monkeypatch.setattr(certificates, "_UNIT", (0.0, 0.3, 0.9))
    found = certificates._certify(name, soft=False)
    assert max(float(found[kind]) for kind in ("flow", "implicit", "invariance")) < table1.EXACT
    assert found["cases"] == sum(1 for _ in certificates.cases(losses.by_name(name), soft=False))


@pytest.mark.parametrize("name", CLOSED)
def test_a_change_that_is_wrong_is_found(name: str) -> None:
    loss = losses.by_name(name)
    case = Case(loss, 0.3, 1.0, 0.01)
    flow, implicit = loss.flow(0.3, 1.0, 0.01), loss.implicit(0.3, 1.0, 0.01)
    assert flow_deviation(case, 1.001 * flow) == pytest.approx(0.001, rel=0.2)
    assert implicit_deviation(case, 1.001 * implicit) == pytest.approx(0.001, rel=1e-3)


def test_the_minimiser_may_be_reached_and_not_be_passed() -> None:
    case = Case(losses.by_name("squared"), 0.0, 1.0, 1e9)
    assert flow_deviation(case, 1.0) < 1e-14
    assert flow_deviation(case, 1.1) == math.inf
    assert flow_deviation(case, -0.5) == math.inf
    assert flow_deviation(replace(case, u=1.0), 1.0) == math.inf  # so soon it cannot be there
    assert flow_deviation(case, 0.0) > 1.0


def test_hinge_as_printed_is_wrong_past_the_margin_only() -> None:
    hinge = losses.by_name("hinge")
    for p, wrong in ((-3.0, False), (0.9, False), (1.5, True)):
        case = Case(hinge, p, 1.0, 0.2)
        assert (flow_deviation(case, certificates._hinge_as_printed(case)) > 1e-9) == wrong


def test_verdicts() -> None:
    rows = [row(name) for name in losses.names()]
    formulas, invariance, closed, hinge = (claim.verdict for claim in table1.claims(rows))
    assert (formulas, invariance) == (Verdict.HOLDS, Verdict.HOLDS)
    assert (closed, hinge) == (Verdict.PARTLY, Verdict.FAILS)


def test_verdicts_on_wrong_formulas() -> None:
    rows = [row(name, flow=1e-3, implicit=1e-3, invariance=1e-3) for name in losses.names()]
    assert [claim.verdict for claim in table1.claims(rows)][:3] == [
        Verdict.FAILS,
        Verdict.FAILS,
        Verdict.HOLDS,
    ]
    assert table1.claims([*map(row, losses.names()), row("hellinger", soft=True, flow=1.0)])[0].verdict is (
        Verdict.HOLDS
    )
