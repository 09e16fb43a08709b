"""Budgets: as many random labels as chosen ones, and who is better."""

import numpy as np
import pytest
from scipy import sparse

from paper import data, feature_values
from paper.data import Data
from paper.studies import budget_steps
from paper.studies.active.trials import TrialStream
from paper.studies.budget import Budget
from paper.study import ReportFigure, Row, Scope, Verdict

STREAM = TrialStream("rcv1", 0, 300, 100)


def test_budgets_are_kept_and_random_labels_are_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(0).normal(size=(500, 6)).astype(np.float32)
    labels = np.where(matrix @ np.arange(6.0) > 0.0, 1.0, -1.0)
    monkeypatch.setattr(data, "load", lambda place: Data(place, False, sparse.csr_matrix(matrix), labels))
    monkeypatch.setattr(data, "name", lambda place: f"{place}-tiny")
    feature_values.matrix.cache_clear()
    rows = budget_steps.budget_rows(STREAM)
    assert [row["way"] for row in rows] == ["budget", "random"] * len(budget_steps.SHARES)
    for row in rows:
        share = float(row["budget"]) / STREAM.shown
        assert float(row["fraction"]) <= share + 1e-6
        if row["way"] == "random":
            assert float(row["fraction"]) == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize(("error", "verdict"), [(0.1, Verdict.HOLDS), (0.3, Verdict.FAILS)])
def test_chosen_labels_are_compared_with_random_ones(error: float, verdict: Verdict) -> None:
    rows: list[Row] = [
        {"data": name, "way": way, "budget": share, "fraction": share, "error": wrong}
        for name in ("a", "b")
        for share in budget_steps.SHARES
        for way, wrong in (("budget", error), ("random", 0.2))
    ]
    part = Budget().part({"budget": rows}, Scope())
    (claim,) = part.claims
    assert (claim.number, claim.verdict) == (0, verdict)
    (figure,) = (block for block in part.blocks if isinstance(block, ReportFigure))
    assert len(figure.drawing.axes) == 2
