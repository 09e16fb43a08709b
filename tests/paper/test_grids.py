"""Reading the rows of sweeps, and judging by counts."""

import numpy as np
import pytest

from paper import verdicts
from paper.grids import Grid, format_spread, group_by_update, make_grids
from paper.study import Verdict
from tests.paper.fakes import swept_rows


def _grid(*accuracy: list[float]) -> Grid:
    numbers = np.array(accuracy)
    return Grid(numbers, 1.0 - numbers, 1.0 - numbers, numbers == 0.0, 100)


def test_the_best_and_its_company_are_counted_by_shuffle() -> None:
    grid = _grid([0.90, 0.899, 0.894, 0.0], [0.80, 0.80, 0.80, 0.70])
    assert grid.best().tolist() == [0.90, 0.80]
    assert grid.share(0.001).tolist() == [0.5, 0.75]
    assert grid.by_schedule()[3] == pytest.approx(0.35)


def test_the_standard_error_is_that_of_a_share_of_the_test_rows() -> None:
    assert _grid([0.9, 0.5]).standard_error() == pytest.approx(np.sqrt(0.9 * 0.1 / 100))


def test_rows_become_grids_in_their_order() -> None:
    found = make_grids(swept_rows(lambda loss, update, number: 0.5 + 0.01 * number, shuffles=3, schedules=4))
    assert list(found)[:3] == [("one", "squared", update) for update in ("explicit", "implicit", "invariant")]
    grid = found["two", "hinge", "invariant"]
    assert grid.accuracy.shape == (3, 4)
    assert grid.accuracy[1].tolist() == pytest.approx([0.50, 0.51, 0.52, 0.53])
    assert list(group_by_update(found)["one", "squared"]) == ["explicit", "implicit", "invariant"]


def test_a_spread_is_shown_where_there_are_several() -> None:
    assert format_spread(np.array([0.5])) == "0.5000"
    assert format_spread(np.array([0.1, 0.3]), 1, 100.0) == "20.0 (10.0–30.0)"


@pytest.mark.parametrize(
    ("so", "verdict"), [(4, Verdict.HOLDS), (3, Verdict.PARTLY), (1, Verdict.PARTLY), (0, Verdict.FAILS)]
)
def test_a_verdict_follows_from_the_cases(so: int, verdict: Verdict) -> None:
    assert verdicts.judge_cases(so, 4) is verdict
