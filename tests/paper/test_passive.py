"""The study of passive learning: its steps on small data, its verdicts on made-up rows."""

import numpy as np
import pytest

from paper.grids import Grid
from paper.studies.passive import Passive, progressive, steps
from paper.studies.passive.scatter import Counts
from paper.study import Claim, ReportFigure, ReportTable, Row, Scope, Verdict
from paper.sweeping import LOSSES, UPDATES
from tests.paper.fakes import small_data, swept_rows


def _rows(*, robust: bool) -> list[Row]:
    """Where `robust`, all schedules of the aware updates are good, one of the explicit one; or reversed."""

    def accuracy(loss: str, update: str, number: int) -> float:
        good = number == 0 or (update != "explicit") == robust
        return 0.95 - 0.0001 * number if good else 0.0 if loss == "squared" else 0.91

    rows = swept_rows(accuracy)
    return [{**row, "variant": variant} for variant in (steps.AS_IS, steps.BIAS, steps.UNIT) for row in rows]


def _claims(rows: list[Row]) -> list[Claim]:
    return list(Passive().part({"passive": rows}, Scope()).claims)


def test_a_step_has_a_row_for_every_update_and_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    step = Passive().steps(Scope(quick=True))[0]
    rows = step.compute()
    assert step.table == "passive"
    assert [row["update"] for row in rows] == [update for update in UPDATES for _ in range(2)]
    assert {row["variant"] for row in rows} == {steps.AS_IS}


def test_the_steps_are_four_sets_four_losses_and_shuffles(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    whole, quick = (Passive().steps(Scope(each)) for each in (False, True))
    assert len(whole) == 16 * 5
    assert len(quick) == 16 * 3
    assert len({step.key for step in whole}) == len(whole)


def test_everything_holds_where_the_aware_updates_are_robust() -> None:
    claims = _claims(_rows(robust=True))
    assert {claim.verdict for claim in claims} == {Verdict.HOLDS, Verdict.NOTED}
    assert "of all runs explicit 22.5%" in next(claim.ours for claim in claims if "ruin" in claim.says)


def test_robustness_fails_where_the_explicit_update_has_it() -> None:
    verdicts = {claim.where: claim.verdict for claim in _claims(_rows(robust=False))}
    assert verdicts["Table 4"] is Verdict.FAILS
    assert verdicts["Figure 2"] is Verdict.FAILS
    assert verdicts["Table 3"] is Verdict.HOLDS  # the best are equal all the same


def test_a_gap_between_the_best_is_told_with_what_rows_of_length_1_change() -> None:
    rows = _rows(robust=True)
    for row in rows:
        if row["variant"] == steps.AS_IS and row["update"] == "explicit" and row["loss"] == "hinge":
            row["accuracy"] = 0.97
    claim = next(claim for claim in _claims(rows) if claim.where == "Table 3")
    assert claim.verdict is Verdict.PARTLY
    assert "one, hinge: -0.0200, with unit rows +0.0000" in claim.why


def test_the_part_has_the_tables_and_figures_of_the_paper() -> None:
    blocks = Passive().part({"passive": _rows(robust=True)}, Scope()).blocks
    tables = [block for block in blocks if isinstance(block, ReportTable)]
    figures = [block for block in blocks if isinstance(block, ReportFigure)]
    assert [figure.name for figure in figures] == [
        "passive-explicit-against-invariant",
        "passive-implicit-against-invariant",
        "passive-progressive",
    ]
    assert all(len(table.rows) == 2 * len(LOSSES) for table in tables)
    assert all(len(row) == len(table.heads) for table in tables for row in table.rows)
    assert tables[2].rows[0][2:5] == ["10.0 (10.0–10.0)", "100.0 (100.0–100.0)", "100.0 (100.0–100.0)"]


def test_schedules_are_counted_better_and_worse() -> None:
    counts = Counts.compare(np.array([0.95, 0.95, 0.95, 0.5]), np.array([0.96, 0.94, 0.9505, 0.97]))
    assert (counts.better, counts.worse, counts.hidden) == (2, 1, 1)


def test_choosing_by_a_progressive_figure_costs_what_the_chosen_one_lacks() -> None:
    accuracy, error = np.array([[0.9, 0.8, 0.7]]), np.array([[0.2, 0.1, 0.3]])
    grid = Grid(accuracy, error, error, np.zeros((1, 3), bool), 100)
    assert progressive.lost(grid, "error").tolist() == pytest.approx([0.1])
    assert progressive.correlation(grid, "error").tolist() == pytest.approx([0.5])
    assert np.isnan(progressive.correlation(Grid(error * 0.0, error, error, error > 1.0, 100), "loss")).all()
