"""AdaBoost over our classifier: errors by round, verdicts by rules."""

import pytest

from paper.studies import boosting
from paper.studies.boosting import Boosting
from paper.studies.weighted import rounds
from paper.studies.weighted.rounds import ROUNDS
from paper.study import ReportFigure, Row, Scope, Verdict
from tests.paper.weighted_rows import QUICK, put_in_place, tables


def rows(name: str, explicit: float, invariant: float) -> list[Row]:
    return [
        {"data": name, "seed": 0, "approach": update, "rate": rate, "round": ROUNDS, "error": error * rate}
        for update, error in (("explicit", explicit), ("invariant", invariant))
        for rate in (1.0, 2.0)
    ]


def test_rows_and_part(monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_place(monkeypatch)
    monkeypatch.setattr(boosting, "PLACES", ())
    found = tables(Boosting())
    made = found["boosting"]
    assert len(made) == 2 * 3 * ROUNDS
    one = [row for row in made if row["approach"] == "invariant" and row["rate"] == 0.3]
    assert [row["round"] for row in one] == list(range(1, ROUNDS + 1))
    stopped = int(one[0]["stopped"])
    assert len({row["error"] for row in one[stopped - 1 :]}) == 1  # once it has stopped, nothing changes
    assert float(one[0]["largest_weight"]) > 1.0
    assert float(one[-1]["error"]) < 0.3
    part = Boosting().part(found, QUICK)
    assert [block.name for block in part.blocks if isinstance(block, ReportFigure)] == ["boosting-rounds"]


def test_scopes(monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_place(monkeypatch)
    assert len(Boosting().steps(Scope())) == 5 * len(Boosting().steps(QUICK)) == 5 * (1 + len(rounds.PLACES))


def test_verdicts() -> None:
    better, same, worse = rows("a", 0.2, 0.1), rows("b", 0.1, 0.1), rows("c", 0.1, 0.2)
    assert boosting.claim(better).verdict is Verdict.HOLDS
    assert boosting.claim(better + same).verdict is Verdict.PARTLY
    assert boosting.claim(same + worse).verdict is Verdict.FAILS
    assert "+100.0%" in boosting.claim(better).ours
