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
    assert [claim.number for claim in part.claims] == [6, 0]


def test_whole_numbers() -> None:
    weights = approaches.round_weights(np.array([0.01, 1.0, 2.4, 6.0]), None)
    assert weights.tolist() == [1.0, 1.0, 2.0, 6.0]
    assert approaches.round_weights(weights, 10.0).tolist() == [4.0, 4.0, 8.0, 24.0]


def test_verdicts() -> None:
    assert verdicts(rows()) == [Verdict.HOLDS, Verdict.NOTED]


@pytest.mark.parametrize("changed", [{"rejection": 0.4}, {"explicit": 0.01}])
def test_a_case_against_it_makes_it_mixed(changed: dict[str, float]) -> None:
    assert verdicts(rows(**changed))[0] is Verdict.PARTLY


def test_what_is_about_equal_counts_neither_way() -> None:
    claim = section2.claims(rows(rejection=0.5, costing=0.5))[0]
    assert claim.verdict is Verdict.HOLDS
    assert claim.cases is not None
    assert (claim.cases.agree, claim.cases.ties, claim.cases.against) == (2, 2, 0)
