"""Every loss is in Table 1; its certificate finds what is wrong."""

import math
from dataclasses import replace

import pytest

from paper.studies import table1
from paper.studies.table1 import FORMULAS, Table1
from paper.studies.weighted import certificates, laws
from paper.studies.weighted.certificates import Case, flow_deviation, implicit_deviation
from paper.study import Claim, ReportTable, Row, Scope, Verdict
from steelyard import losses

CLOSED = [name for name in losses.names() if name in FORMULAS]


def row(name: str, soft: bool = False, **found: float) -> Row:
    right: Row = {"loss": name, "soft": soft, "cases": 1, "flow": 1e-15, "implicit": 1e-15, "invariance": 0.0}
    return {**right, **({"printed": math.inf} if name == "hinge" else {}), **found}


def test_every_loss_has_formulas() -> None:
    assert set(losses.names()) <= set(FORMULAS)


def test_a_loss_without_formulas_is_shown_all_the_same() -> None:
    known = [row("hinge"), row("brand_new")]
    measured = [law("hinge"), law("squared")]
    part = Table1().part({"table1": known, "table1_laws": measured}, Scope())
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


def law(name: str, **found: float) -> Row:
    right: Row = {
        "loss": name,
        "pushes": 10,
        "decaying": 0.0,
        "implicit_from_flow": 0.0,
        "implicit_in_two": 0.1,
    }
    ends = ("past_gradient", "past_projection", "shorter_with_more", "small_push", "large_push")
    return {**right, **(dict.fromkeys(ends, 0) if name in laws.FINITE else {}), **found}


def judged(found: dict[str, float], of_laws: dict[str, float]) -> dict[int, Claim]:
    speed: list[Row] = [
        {"loss": "logistic", "update": update, "kind": "one feature", "nanoseconds": nanoseconds}
        for update, nanoseconds in (("implicit", 30.0), ("invariant", 10.0))
    ]
    rows: list[Row] = [{**row(name), **found} for name in losses.names()]
    every = [law(name, **of_laws) for name in losses.names()]
    return {claim.number: claim for claim in table1.claims(rows, every, speed)}


def test_verdicts() -> None:
    claims = judged({}, {})
    assert {number: claim.verdict for number, claim in claims.items()} == {
        1: Verdict.HOLDS,
        2: Verdict.HOLDS,
        5: Verdict.PARTLY,  # three of the four are closed
        17: Verdict.HOLDS,
    }
    assert "the logistic root takes 3.0 times" in claims[5].ours
    assert "1 not closed" in claims[5].ours


def test_verdicts_on_wrong_formulas() -> None:
    wrong = {"flow": 1e-3, "implicit": 1e-3, "invariance": 1e-3}
    claims = judged(wrong, {"decaying": 1e-3, "past_gradient": 1})
    assert [claims[number].verdict for number in (1, 2)] == [Verdict.FAILS] * 2
    assert claims[17].verdict is Verdict.FAILS
    assert "4 not closed" in claims[5].ours


def test_soft_labels_are_no_claim_of_the_paper() -> None:
    rows = [*map(row, losses.names()), row("hellinger", soft=True, flow=1.0)]
    first = table1.claims(rows, [law(name) for name in losses.names()], [])[0]
    assert first.verdict is Verdict.HOLDS


@pytest.mark.parametrize("name", losses.names())
def test_laws_of_the_updates(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "COUNT", 100)
    (found,) = laws.step(name).compute()
    assert float(found["decaying"]) < table1.EXACT
    straight = name in ("hinge", "quantile")
    assert (float(found["implicit_from_flow"]) == 0.0) == straight
    assert (float(found["implicit_in_two"]) < table1.EXACT) == straight
    if name in laws.FINITE:
        assert found["past_gradient"] == found["past_projection"] == found["shorter_with_more"] == 0
        assert max(float(found["small_push"]), float(found["large_push"])) < 1e-9
