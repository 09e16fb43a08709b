"""The study of passive learning: its steps on small data, its verdicts on made-up rows."""

from dataclasses import replace

import numpy as np
import pytest

from paper import printed
from paper.feature_values import AS_PAPER, OTHER
from paper.grids import Grid
from paper.studies.passive import Passive, best, progressive, steps
from paper.study import Claim, ReportFigure, ReportTable, Row, Scope, Verdict
from paper.sweeping import LOSSES, UPDATES
from tests.paper.fakes import small_data, swept_rows

PLACES = dict(zip(("rcv1", "astro", "spam", "webspam"), ("one", "two", "three", "four"), strict=True))


def _rows(*, robust: bool, ahead: int = 0) -> list[Row]:
    """Where `robust`, all schedules of the aware updates are good, one of the explicit one; or reversed."""

    def accuracy(loss: str, update: str, number: int) -> float:
        good = number == 0 or (update != "explicit") == robust
        return 0.95 - 0.0001 * number if good else 0.92 - 0.03 * (loss == "logistic")

    rows = swept_rows(accuracy, places=tuple(PLACES.values()))
    where = {name: place for place, name in PLACES.items()}
    found: list[Row] = [{**row, "place": where[str(row["data"])]} for row in rows]
    for row in found:
        if row["accuracy"] == 0.95 and row["update"] != "explicit":
            row |= {"only_this": 10 + ahead, "only_explicit": 10}
    link = [row for row in found if row["loss"] == "squared"]
    return [
        {**row, "variant": variant}
        for variant, own in ((AS_PAPER, found), (steps.BIAS, found), (steps.LINK, link), (OTHER, found))
        for row in own
    ]


def _claims(rows: list[Row]) -> dict[int, Claim]:
    claims = Passive().part({"passive": rows}, Scope()).claims
    return {claim.number or -number: claim for number, claim in enumerate(claims)}


def test_a_step_has_a_row_for_every_update_and_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    step = Passive().steps(Scope(quick=True))[0]
    rows = step.compute()
    assert step.table == "passive"
    assert [row["update"] for row in rows] == [update for update in UPDATES for _ in range(2)]
    assert {row["variant"] for row in rows} == {AS_PAPER}
    paired = [row for row in rows if "only_this" in row]
    assert [row["update"] for row in paired] == ["implicit", "invariant"]
    explicit = max(float(row["accuracy"]) for row in rows if row["update"] == "explicit")
    for row in paired:
        gap = (int(row["only_this"]) - int(row["only_explicit"])) / int(row["tested"])
        assert gap == pytest.approx(float(row["accuracy"]) - explicit)


def test_the_steps_are_four_sets_four_losses_shuffles_and_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    small_data(monkeypatch)
    whole, quick = (Passive().steps(Scope(each)) for each in (False, True))
    assert len(whole) == 16 * 4 + 4 + 3 * 4
    assert len(quick) == 16 * 2 + 4 + 3 * 4
    assert len({step.key for step in whole}) == len(whole)
    link = next(step for step in quick if step.key.startswith(steps.LINK)).compute()
    assert {(row["loss"], row["variant"]) for row in link} == {("squared", steps.LINK)}


def test_everything_holds_where_the_aware_updates_are_robust() -> None:
    claims = _claims(_rows(robust=True))
    assert claims[9].verdict is Verdict.HOLDS  # alike everywhere is nowhere against it
    assert claims[10].verdict is Verdict.HOLDS
    assert claims[11].verdict is Verdict.PARTLY  # logistic gains as much as the others
    assert "× 10.0, 10.0, 10.0; × 10.0" in claims[11].ours


def test_robustness_fails_where_the_explicit_update_has_it() -> None:
    claims = _claims(_rows(robust=False))
    assert claims[10].verdict is Verdict.PARTLY  # no lead is above 0.1
    assert claims[11].verdict is Verdict.FAILS


def test_differences_are_told_apart_by_the_rows() -> None:
    far, near = (best.differences(_rows(robust=True, ahead=ahead)) for ahead in (40, 0))
    one = far["one", "hinge", "invariant"]
    assert one.mean == pytest.approx(0.04)
    assert 0.02 < one.low < one.high < 0.06
    assert (one.sign, near["one", "hinge", "invariant"].sign) == (1, 0)
    claim = _claims(_rows(robust=True, ahead=40))[9]
    assert claim.verdict is Verdict.PARTLY  # spam is ahead, and the others too
    assert "spam ahead in 8, behind in 0 of 8" in claim.ours


def test_tables_3_and_4_have_every_number_of_the_paper() -> None:
    blocks = Passive().part({"passive": _rows(robust=True)}, Scope()).blocks
    tables = {block.title: block for block in blocks if isinstance(block, ReportTable)}
    third = tables["Table 3"]
    assert len(third.rows) == 16
    for row, cells in zip(third.rows, printed.TABLE_3.values(), strict=True):
        assert row[2:8:2] == [f"{each:.5f}" for each in cells]
    fourth = tables["Table 4"]
    assert [row[1:5:2] for row in fourth.rows[:4]] == [
        ["0.337", "0.039"], ["0.109", "0.050"], ["0.361", "0.053"], ["0.306", "0.031"],
    ]  # fmt: skip
    assert fourth.rows[4][1:7:2] == ["0.278", "0.043", "6.4"]
    every = [block for block in blocks if isinstance(block, ReportTable)]
    assert all(len(row) == len(table.heads) for table in every for row in table.rows)


def test_the_part_is_in_the_order_of_the_paper() -> None:
    blocks = Passive().part({"passive": _rows(robust=True)}, Scope()).blocks
    titles = [block.title for block in blocks if isinstance(block, ReportTable | ReportFigure) if block.title]
    assert titles == ["Table 3", "Figure 2", "Table 4", "Figure 3"]
    second, third = (block for block in blocks if isinstance(block, ReportFigure))
    assert [len(each.drawing.axes) for each in (second, third)] == [1, 3]
    assert second.drawing.axes[0].get_xlabel() == "accuracy, invariant"
    assert second.drawing.axes[0].get_ylabel() == "accuracy, standard"


def test_a_panel_without_points_is_on_no_side() -> None:
    rows = [{**row, "accuracy": 0.5} for row in _rows(robust=True)]
    claim = _claims(rows)[10]
    assert claim.cases is not None
    assert (claim.cases.agree, claim.cases.ties) == (1, 4)
    assert "0 of 0 points" in claim.ours


def test_choosing_by_a_progressive_figure_costs_what_the_chosen_one_lacks() -> None:
    accuracy, error = np.array([[0.9, 0.8, 0.7]]), np.array([[0.2, 0.1, 0.3]])
    grid = Grid(accuracy, error, error, np.zeros((1, 3), bool), 100)
    assert progressive.lost(grid, "error").tolist() == pytest.approx([0.1])
    assert progressive.lost(replace(grid, diverged=np.array([[0, 1, 0]]) > 0), "loss").tolist() == [0.0]
    assert len(LOSSES) == 4
