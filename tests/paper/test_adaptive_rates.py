"""Adaptive and normalized rates: the step on small data, the verdicts on made-up rows."""

import numpy as np
import pytest

from paper.grids import Grid
from paper.studies import adaptive_rates, adaptive_steps
from paper.studies.adaptive_rates import AdaptiveRates
from paper.studies.adaptive_steps import RATES, SCALINGS
from paper.study import Claim, ReportFigure, ReportTable, Row, Scope, Verdict
from tests.paper.fakes import small_data, swept_rows


def _rows(good: dict[str, int]) -> list[Row]:
    """So many rates in a row are good with each update."""
    rows = swept_rows(
        lambda loss, update, number: 0.95 if number < good[update] else 0.8, schedules=2 * len(RATES)
    )
    return [{**row, "scaling": scaling} for scaling in SCALINGS for row in rows]


def _claims(good: dict[str, int]) -> list[Claim]:
    return list(AdaptiveRates().part({"adaptive_rates": _rows(good)}, Scope()).claims)


def test_a_step_has_a_row_for_each_scaling_update_and_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    monkeypatch.setattr(adaptive_steps, "RATES", [0.5, 2.0])
    rows = AdaptiveRates().steps(Scope(quick=True))[0].compute()
    assert len(rows) == 2 * 3 * 2 * 2
    assert [row["scaling"] for row in rows[::12]] == list(SCALINGS)
    assert max(float(row["accuracy"]) for row in rows) > 0.7


def test_a_wider_range_of_rates_holds_and_a_narrower_one_fails() -> None:
    wider = _claims({"explicit": 2, "implicit": 5, "invariant": 5})
    assert [claim.verdict for claim in wider] == [Verdict.HOLDS] * 2
    assert "doubled 1.0 times (standard), 4.0 (invariant)" in wider[0].ours
    narrower = _claims({"explicit": 5, "implicit": 2, "invariant": 2})
    assert narrower[0].verdict is Verdict.FAILS
    assert "+0.0000 to +0.0000 higher" in narrower[0].why


def test_the_part_has_tables_and_a_figure() -> None:
    rows = _rows(dict.fromkeys(("explicit", "implicit", "invariant"), 3))
    blocks = AdaptiveRates().part({"adaptive_rates": rows}, Scope()).blocks
    tables = [block for block in blocks if isinstance(block, ReportTable)]
    assert all(len(row) == len(table.heads) for table in tables for row in table.rows)
    assert [block.name for block in blocks if isinstance(block, ReportFigure)] == ["adaptive_rates-range"]


def test_doublings_are_those_of_the_longest_run_of_good_constant_rates() -> None:
    accuracy = np.full((1, 2 * len(RATES)), 0.5)
    accuracy[0, [0, 3, 4, 5]] = 0.9
    accuracy[0, len(RATES) :] = 0.9  # those that decay do not count
    grid = Grid(accuracy, accuracy, accuracy, accuracy < 0.0, 100)
    assert adaptive_rates.doublings(grid).tolist() == [2.0]
