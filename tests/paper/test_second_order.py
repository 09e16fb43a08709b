"""The second-order update: steps on small data, verdicts on made-up rows."""

import pytest

from paper.studies.second_order import GRID, SMOOTH, STEPS, UPDATES, SecondOrder
from paper.study import Claim, ReportFigure, ReportTable, Row, Scope, Verdict
from tests.paper.fakes import small_data, swept_rows


def _single(overshoots: int) -> list[Row]:
    return [
        {
            "loss": loss,
            "update": update,
            "pushes": 100,
            "overshoots": overshoots,
            "makes_worse": 0,
            "times_the_flow": 1.5,
        }
        for loss in SMOOTH
        for update in UPDATES
    ]


def _rows(good: dict[str, int]) -> list[Row]:
    return swept_rows(
        lambda loss, update, number: 0.95 if number < good[update] else 0.8, losses=SMOOTH, updates=UPDATES
    )


def _claims(good: dict[str, int], overshoots: int) -> list[Claim]:
    return list(SecondOrder().part({GRID: _rows(good), STEPS: _single(overshoots)}, Scope()).claims)


def test_the_steps_measure_all_four_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    first, *_, last = SecondOrder().steps(Scope(quick=True))
    assert list(dict.fromkeys(row["update"] for row in first.compute())) == list(UPDATES)
    found = {(row["loss"], row["update"]): row for row in last.compute()}
    assert found["squared", "second_order"]["overshoots"] == 0
    assert int(found["modified_huber", "second_order"]["overshoots"]) > 0
    assert ("hinge", "explicit") not in found


def test_the_claims_hold_where_it_does_as_well_as_implicit_and_never_overshoots() -> None:
    good = {"explicit": 1, "implicit": 5, "second_order": 5, "invariant": 5}
    assert [claim.verdict for claim in _claims(good, 0)] == [Verdict.HOLDS] * 3


def test_the_claims_fail_where_it_is_worse_than_explicit_and_overshoots() -> None:
    good = {"explicit": 5, "implicit": 5, "second_order": 1, "invariant": 5}
    assert [claim.verdict for claim in _claims(good, 3)] == [Verdict.FAILS] * 3


def test_the_part_has_tables_and_a_figure() -> None:
    part = SecondOrder().part({GRID: _rows(dict.fromkeys(UPDATES, 3)), STEPS: _single(0)}, Scope())
    tables = [block for block in part.blocks if isinstance(block, ReportTable)]
    assert [len(table.rows) for table in tables] == [4, 8]
    assert all(len(row) == len(table.heads) for table in tables for row in table.rows)
    assert [block.name for block in part.blocks if isinstance(block, ReportFigure)] == [
        "second_order-logistic"
    ]
