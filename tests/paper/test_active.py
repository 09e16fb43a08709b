"""The study of active learning: rows of tiny data, and what is told of rows whose outcome is known."""

from itertools import product

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import sparse

from paper import data
from paper.data import Data
from paper.studies.active import Active, claims, hulls, table, trials
from paper.studies.active.hulls import NEVER, Needed, Points
from paper.studies.active.trials import BUDGETS, CONSTANTS, PASSIVE, TRIALS, UPDATES, TrialStream
from paper.study import ReportFigure, ReportTable, Row, Scope, Verdict

QUICK = Scope(quick=True)
STREAM = TrialStream("rcv1", 0, 300, 100)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four small sets, and a grid of few settings."""
    matrix = np.random.default_rng(0).normal(size=(500, 6)).astype(np.float32)
    labels = np.where(matrix @ np.arange(6.0) > 0.0, 1.0, -1.0)
    monkeypatch.setattr(data, "load", lambda place: Data(place, False, sparse.csr_matrix(matrix), labels))
    monkeypatch.setattr(data, "name", lambda place: f"{place}-tiny")
    monkeypatch.setattr(data, "digest", lambda _: "0")
    monkeypatch.setattr(trials, "SCHEDULES", [(1.0, 10.0, 0.5), (4.0, 1.0, 0.5)])
    monkeypatch.setattr(trials, "C0", [1e-4, 1e-1])
    monkeypatch.setattr(trials, "LOOKS", np.array([0.1, 0.5, 1.0]))


def test_every_step_has_a_name_of_its_own() -> None:
    whole = Active().steps(Scope())
    names = [(step.table, step.key) for step in whole]
    assert len(set(names)) == len(names) == 4 * 3 * (2 * 3 + 3 + 1)
    assert len(Active().steps(QUICK)) == len(names) // 3


def test_a_row_for_every_setting() -> None:
    rows = trials.active_rows(STREAM, "practice", "invariant")
    settings = {(row["c0"], row["rate"]) for row in rows}
    assert settings == set(product([1e-4, 1e-1], [1.0, 4.0]))
    asked = {c0: np.mean([float(row["fraction"]) for row in rows if row["c0"] == c0]) for c0 in (1e-4, 1e-1)}
    assert 0.0 < asked[1e-4] < asked[1e-1] <= 1.0
    assert all(0.0 <= float(row["error"]) < 0.5 for row in rows)


def test_passive_learners_learn_all_and_get_better() -> None:
    rows = trials.passive_rows(STREAM, "implicit")
    assert [row["fraction"] for row in rows] == [0.1, 0.5, 1.0]
    assert float(rows[-1]["error"]) < float(rows[0]["error"])


def test_budgets_are_kept_and_random_labels_are_as_many() -> None:
    rows = trials.budget_rows(STREAM)
    assert [row["way"] for row in rows] == ["budget", "random"] * len(trials.SHARES)
    for row in rows:
        share = float(row["budget"]) / STREAM.shown
        assert float(row["fraction"]) <= share + 1e-6
        if row["way"] == "random":
            assert float(row["fraction"]) == pytest.approx(share, abs=1e-6)


def test_where_passive_learning_comes_to_an_error() -> None:
    passive = Points(np.array([0.1, 0.2, 1.0]), np.array([0.3, 0.1, 0.05]))
    ways = {way: Points(np.array([0.5]), np.array([0.06])) for way in product(CONSTANTS, UPDATES)}
    shuffle = hulls.Shuffle(passive, ways)
    assert shuffle.stated(1.1) == pytest.approx(0.055)
    assert shuffle.needed("theory", "passive", 4.0) == pytest.approx(0.15)  # half way from 0.3 to 0.1
    assert shuffle.needed("theory", "passive", 10.0) == 0.1
    assert shuffle.needed("theory", "implicit", 1.3) == 0.5
    assert shuffle.needed("theory", "implicit", 1.1) == NEVER


def test_a_hull_is_nothing_before_it_begins_and_level_after_its_end() -> None:
    points = Points(np.array([0.1, 0.2, 0.3, 0.9]), np.array([0.4, 0.35, 0.2, 0.5]))
    np.testing.assert_allclose(points.hull(np.array([0.05, 0.2, 0.3, 1.0])), [np.nan, 0.3, 0.2, 0.2])


def test_who_never_gets_there_needs_all_labels_at_least() -> None:
    some, never = Needed([0.2, 0.1, NEVER]), Needed([NEVER, 0.9, NEVER])
    assert some.middle == 0.2
    assert never.times(some) == 5.0
    assert some.times(never) == 0.0
    assert [table.share(x) for x in (0.0523, NEVER)] == ["5.23 %", "never"]


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [([True, True], Verdict.HOLDS), ([True, False], Verdict.PARTLY), ([False], Verdict.FAILS)],
)
def test_verdicts(outcomes: list[bool], expected: Verdict) -> None:
    assert claims.verdict(outcomes) is expected


def made_up(needs: dict[str, float], asked_error: float) -> dict[str, list[Row]]:
    """Every update comes to no error at all with its own fraction of labels, passive learning with all."""
    tables: dict[str, list[Row]] = {TRIALS: [], PASSIVE: [], BUDGETS: []}
    for name in ("a", "b", "c", "d"):
        common: Row = {"data": name, "shuffle": 0}
        for constants, (update, fraction) in product(CONSTANTS, needs.items()):
            way: Row = {**common, "constants": constants, "update": update}
            tables[TRIALS] += [
                {**way, "fraction": 0.001, "error": 0.5},
                {**way, "fraction": fraction, "error": 0.1},
            ]
        tables[PASSIVE] += [
            {**common, "update": "implicit", "fraction": x, "error": 0.1 / x} for x in (0.5, 1.0)
        ]
        for share, (how, error) in product(trials.SHARES, {"budget": asked_error, "random": 0.2}.items()):
            tables[BUDGETS].append({**common, "way": how, "budget": share, "fraction": share, "error": error})
    return tables


@pytest.mark.parametrize(
    ("needs", "asked_error", "expected"),
    [
        ({"explicit": 0.9, "implicit": 0.1, "invariant": 0.2}, 0.15, [Verdict.HOLDS] * 5),
        (
            {"explicit": 0.9, "implicit": 0.1, "invariant": 0.5},
            0.15,
            [Verdict.PARTLY] * 3 + [Verdict.HOLDS] * 2,
        ),
        ({"explicit": 0.1, "implicit": 0.95, "invariant": 0.95}, 0.25, [Verdict.FAILS] * 5),
    ],
)
def test_claims_are_judged_by_the_rows(
    needs: dict[str, float], asked_error: float, expected: list[Verdict]
) -> None:
    part = Active().part(made_up(needs, asked_error), QUICK)
    *judged, hindsight, random = (claim.verdict for claim in part.claims)
    assert judged == expected
    assert hindsight is Verdict.NOTED
    assert random is (Verdict.HOLDS if asked_error < 0.2 else Verdict.FAILS)
    assert all(claim.paper == "–" for claim in part.claims)


def test_the_part_has_its_figures_and_its_table() -> None:
    needs = {"explicit": 0.9, "implicit": 0.1, "invariant": 0.2}
    part = Active().part(made_up(needs, 0.15), QUICK)
    figures = [block for block in part.blocks if isinstance(block, ReportFigure)]
    assert [figure.name for figure in figures] == ["active_figure_1_theory", "active_figure_1_practice"]
    for figure in figures:
        assert isinstance(figure.drawing, Figure)
        assert [axes.get_title(loc="left") for axes in figure.drawing.axes] == ["a", "b", "c", "d"]
    (numbers,) = (block for block in part.blocks if isinstance(block, ReportTable))
    assert len(numbers.rows) == 4 * len(hulls.LEVELS) * len(CONSTANTS)
    assert all(len(row) == len(numbers.heads) for row in numbers.rows)
