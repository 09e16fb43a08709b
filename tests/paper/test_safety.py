"""Safety and regret: steps on small data, verdicts on made-up rows."""

import math

import pytest

from paper.studies.safety import Regret, Safety, bounds, regret, steps, theorem
from paper.studies.safety.steps import LOSSES, RATES, REGRET, SINGLE, WEIGHTS
from paper.study import Claim, ReportFigure, ReportTable, Row, Scope, Verdict
from tests.paper.fakes import small_data

UPDATES = ("explicit", "implicit", "invariant")


def _single(unsafe: tuple[str, ...]) -> list[Row]:
    return [
        {
            "loss": loss,
            "update": update,
            "pushes": 100,
            "overshoots": 50 if update in unsafe else 0,
            "makes_worse": 25 if update in unsafe else 0,
            "times_the_flow": 3.0,
        }
        for loss in LOSSES
        for update in UPDATES
    ]


def _passes(exploding: tuple[str, ...]) -> list[Row]:
    return [
        {
            "data": "one",
            "loss": loss,
            "largest_weight": largest,
            "update": update,
            "learning_rate": rate,
            "progressive_loss": 0.6 + rate * largest if update in exploding else 0.5,
            "fixed_loss": 0.1,
            "diverged": update in exploding and rate * largest > 1e4,
        }
        for loss in LOSSES
        for largest in WEIGHTS
        for update in UPDATES
        for rate in RATES
    ]


def _bounded(grows: float) -> list[Row]:
    """Regret as T to this power."""
    return [
        {"stream": stream, "seed": 0, "rate": rate, "length": length, "regret": float(length) ** grows}
        for stream in theorem.STREAMS
        for rate in theorem.RATES
        for length in theorem.LENGTHS
    ]


def _claims(unsafe: tuple[str, ...], grows: float = 0.05) -> list[Claim]:
    single = {SINGLE: _single(unsafe), theorem.TABLE: _bounded(grows)}
    return [
        *Safety().part(single, Scope()).claims,
        *Regret().part({REGRET: _passes(unsafe)}, Scope()).claims,
    ]


def test_every_loss_and_update_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    hinge = next(step for step in Safety().steps(Scope(quick=True)) if step.key == "hinge")
    found = {row["update"]: row for row in hinge.compute()}
    assert list(found) == ["explicit", "implicit", "invariant"]
    assert int(found["explicit"]["overshoots"]) > 0
    assert found["invariant"]["overshoots"] == found["invariant"]["makes_worse"] == 0


def test_large_weights_ruin_the_explicit_update_only(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    monkeypatch.setattr(steps, "WEIGHTS", (1.0, 1e5))
    monkeypatch.setattr(steps, "RATES", [2.0**-16, 0.25])
    step = next(step for step in Regret().steps(Scope(quick=True)) if step.table == REGRET)
    found = regret.regrets(step.compute())
    assert found["rcv1-ccat", "squared", 1e5, "explicit"][0.25] == math.inf
    assert 0.0 < found["rcv1-ccat", "squared", 1e5, "invariant"][0.25] < 1.0


def test_the_claims_hold_where_the_explicit_update_alone_explodes() -> None:
    claims = _claims(("explicit",))
    assert [claim.verdict for claim in claims] == [Verdict.HOLDS] * 4
    assert "without end (explicit), 1-fold (implicit), 1-fold (invariant)" in claims[2].ours


def test_the_claims_fail_where_the_aware_updates_explode_instead() -> None:
    claims = _claims(("implicit", "invariant"), grows=1.0)
    assert [claim.verdict for claim in claims] == [Verdict.FAILS] * 4


def test_the_parts_have_tables_and_figures() -> None:
    first = Safety().part({SINGLE: _single(()), theorem.TABLE: _bounded(0.5)}, Scope())
    second = Regret().part({REGRET: _passes(("explicit",))}, Scope())
    blocks = [*first.blocks, *second.blocks]
    tables = [block for block in blocks if isinstance(block, ReportTable)]
    assert all(len(row) == len(table.heads) for table in tables for row in table.rows)
    assert [row[-1] for row in tables[1].rows] == ["yes"] * 3 + ["**no**"] * 3
    assert "∞" in tables[2].rows[-1]
    assert [block.name for block in blocks if isinstance(block, ReportFigure)] == [
        "safety-theorem",
        "safety-rates",
        "safety-weights",
    ]


def test_the_second_half_of_theorem_3_fails_beyond_one_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theorem, "LENGTHS", (500, 2_000))
    monkeypatch.setattr(bounds, "LENGTHS", (500, 2_000))
    rows = [row for step in theorem.steps(Scope(quick=True)) for row in step.compute()]
    regrets = {(row["stream"], row["rate"], row["length"]): float(row["regret"]) for row in rows}
    halves = [regrets["two halves", "1/t", length] for length in (500, 2_000)]
    assert halves[1] == pytest.approx(4.0 * halves[0], rel=0.02)
    roots = [regrets["two halves", "1/√t", length] for length in (500, 2_000)]
    assert roots[1] < 2.1 * roots[0]
    assert regrets["one dimension", "1/t", 2_000] < 10.0
    assert bounds.claim(rows).verdict is Verdict.PARTLY
