"""Section 2's approaches: rows for each at each rate, verdicts by rules."""

import numpy as np
import pytest

from paper.studies import section2
from paper.studies.section2 import Section2
from paper.studies.weighted import approaches, learning
from paper.studies.weighted.learning import MEMBERS
from paper.study import ReportFigure, ReportTable, Row, Scope, Verdict
from tests.paper.weighted_rows import QUICK, put_in_place, tables

LOSSES = {"copies": 0.5, "explicit": 0.6, "rejection": 0.7, "costing": 0.6, "implicit": 0.5, "invariant": 0.5}
SECONDS = {"copies": 50.0, "rejection": 0.5, "costing": 5.0}


def rows(**changed: float) -> list[Row]:
    """As Section 2 has it, on one set; the log loss of some changed. Multiplication is bad at high rates."""
    return [
        {"data": "made up", "seed": 0, "approach": approach, "rate": rate,
         "log_loss": loss * (10.0 if approach == "explicit" and rate == 1.0 else 1.0),
         "seconds": SECONDS.get(approach, 1.0), "updates": 20 if approach == "rejection" else 100}
        for approach, loss in {**LOSSES, **changed}.items()
        for rate in (0.1, 1.0)
    ]  # fmt: skip


def verdicts(found: list[Row]) -> list[Verdict]:
    return [claim.verdict for claim in section2.claims(found)]


def test_steps() -> None:
    for scope, count in ((Scope(), 12), (QUICK, 4)):
        with pytest.MonkeyPatch.context() as patch:
            put_in_place(patch)
            steps = Section2().steps(scope)
        assert len({step.key for step in steps}) == count


def test_rows_and_part(monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_place(monkeypatch)
    monkeypatch.setattr(learning, "RATES", (0.1, 1.0))
    monkeypatch.setattr(section2, "SURVEYS", ("adult",))
    found = tables(Section2())
    made = found["section2"]
    assert len(made) == 2 * len(approaches.APPROACHES) * 2
    updates = {(row["data"], row["approach"]): row["updates"] for row in made}
    assert updates["adult", "invariant"] == 200
    assert updates["adult", "copies"] == pytest.approx(200 * approaches.MEAN, rel=0.1)
    assert float(updates["adult", "rejection"]) < 200 < float(updates["adult", "costing"])
    assert float(updates["adult", "costing"]) < 200 * MEMBERS
    part = Section2().part(found, QUICK)
    assert sum(isinstance(block, ReportTable) for block in part.blocks) == 2
    assert [block.name for block in part.blocks if isinstance(block, ReportFigure)] == ["section2-rates"]
    assert len(part.claims) == 5


def test_whole_numbers() -> None:
    weights = approaches.round_weights(np.array([0.01, 1.0, 2.4, 6.0]), None)
    assert weights.tolist() == [1.0, 1.0, 2.0, 6.0]
    assert approaches.round_weights(weights, 10.0).tolist() == [4.0, 4.0, 8.0, 24.0]


def test_verdicts() -> None:
    assert verdicts(rows()) == [Verdict.HOLDS] * 4 + [Verdict.NOTED]


def test_copies_must_do_the_same() -> None:
    assert verdicts(rows(copies=0.4))[0] is Verdict.FAILS


def test_multiplication_may_be_good_at_its_best_rate() -> None:
    assert verdicts(rows(explicit=0.5))[1] is Verdict.PARTLY
    assert verdicts([row for row in rows(explicit=0.5) if row["rate"] == 0.1])[1] is Verdict.FAILS


def test_rejection_may_be_as_good() -> None:
    held = section2.claims(rows(rejection=0.5))
    assert held[2].verdict is Verdict.FAILS
    assert held[2].why == "The reason is not known."
    assert held[3].verdict is Verdict.FAILS  # and costing no better


def test_some_sets_only() -> None:
    others = [{**row, "data": "other"} for row in rows(rejection=0.5)]
    assert verdicts(rows() + others)[2] is Verdict.PARTLY
