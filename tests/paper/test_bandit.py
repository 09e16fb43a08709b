"""Inverse propensities, from tiny logs; verdicts from intervals."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from paper.studies import bandit
from paper.studies.bandit import Bandit
from paper.studies.weighted import propensities
from paper.studies.weighted.propensities import APPROACHES
from paper.study import Row, Verdict
from tests.paper.weighted_rows import QUICK, tables

ITEMS = 3


def log(propensities: list[float], seed: int, rows: int = 600) -> str:
    """Item 0 is clicked often, item 2 never."""
    random = np.random.default_rng(seed)
    lines = ["row,timestamp,item_id,position,click,propensity,f0,f1,f2,f3,a0,a1,a2"]
    for number, item in enumerate(random.choice(ITEMS, size=rows, p=propensities)):
        click = int(random.uniform() < (0.5, 0.2, 0.0)[item])
        lines.append(f"{number},now,{item},1,{click},{propensities[item]},a,b,c,d,0.0,1.0,0.0")
    return "\n".join(lines)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    propensities.logs.cache_clear()
    (tmp_path / "open-bandit").mkdir()
    for kind, chances in (("logged", [0.8, 0.15, 0.05]), ("even", [1.0 / ITEMS] * ITEMS)):
        text = log(chances, seed=len(kind))
        (tmp_path / propensities.FILES[kind]).write_bytes(gzip.compress(text.encode()))
    return tmp_path


def test_logs(folder: Path) -> None:
    found = propensities.logs()
    assert found.items == ITEMS
    assert found.logged.shape == (600, found.even.shape[1])
    assert sorted(set(found.weights)) == pytest.approx([1 / 2.4, 1 / 0.45, 1 / 0.15])
    assert found.weights.mean() == pytest.approx(1.0, abs=0.2)


def test_rows_and_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(propensities, "RATES", (0.1, 1.0))
    found = tables(Bandit())
    assert len(found["bandit"]) == len(APPROACHES) * 2 * 2
    naive, plain, normalised, truth = (float(row["mean"]) for row in found["bandit_evaluation"])
    assert naive > 0.38
    assert plain == pytest.approx(truth, abs=0.06)
    assert normalised == pytest.approx(truth, abs=0.06)
    told = {row["approach"]: row for row in found["bandit_comparison"]}
    assert set(told) == {"constant", *APPROACHES}
    assert told["invariant"]["beyond_invariant_mean"] == 0.0
    assert float(told["constant"]["beyond_invariant_low"]) > 0.0  # items differ, a constant does not
    part = Bandit().part(found, QUICK)
    assert [claim.verdict for claim in part.claims][2:] == [Verdict.HOLDS, Verdict.HOLDS]


def compared(mean: float, low: float, high: float) -> list[Row]:
    about: Row = {"beyond_invariant_mean": mean, "beyond_invariant_low": low, "beyond_invariant_high": high}
    return [{"approach": name, "mean": 1.0, **about} for name in ("constant", *APPROACHES)]


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((0.1, -0.1, 0.3), Verdict.NOTED),
        ((0.1, 0.05, 0.2), Verdict.HOLDS),
        ((0.005, 0.001, 0.009), Verdict.PARTLY),
        ((-0.1, -0.2, -0.01), Verdict.FAILS),
    ],
)
def test_verdicts(interval: tuple[float, float, float], expected: Verdict) -> None:
    assert {claim.verdict for claim in bandit.claims(compared(*interval))} == {expected}


def estimate(mean: float, half: float = 0.1) -> Row:
    return {"mean": mean, "low": mean - half, "high": mean + half}


@pytest.mark.parametrize(
    ("naive", "weighted", "expected"),
    [(0.9, 0.45, Verdict.HOLDS), (0.5, 0.45, Verdict.PARTLY), (0.9, 0.8, Verdict.FAILS)],
)
def test_verdict_of_the_evaluation(naive: float, weighted: float, expected: Verdict) -> None:
    rows = [estimate(naive), estimate(weighted), estimate(weighted), estimate(0.4)]
    assert bandit.evaluation_claim(rows).verdict is expected
