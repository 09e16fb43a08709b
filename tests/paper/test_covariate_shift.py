"""Covariate shift: weights from odds, verdicts by rules."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from paper.studies import covariate_shift
from paper.studies.covariate_shift import CovariateShift
from paper.studies.weighted import domains
from paper.studies.weighted.domains import DOMAINS, LIMIT, TRIED
from paper.study import ReportFigure, Row, Scope, Verdict
from tests.paper.weighted_rows import QUICK, separable, tables


def points(shift: float, seed: int, rows: int = 400) -> sparse.csr_matrix:
    matrix = np.random.default_rng(seed).normal(size=(rows, 3))
    return sparse.csr_matrix(matrix + np.array([shift, 0.0, 0.0]))


def test_ratios() -> None:
    old = points(0.0, 0)
    weights = domains.ratios(old, points(1.0, 1))
    assert 0.999 / LIMIT < weights.min() < 1.0 < weights.max() < 1.001 * LIMIT
    assert np.corrcoef(np.log(weights), old.toarray()[:, 0])[0, 1] > 0.8  # what looks new weighs more
    apart = domains.ratios(points(-9.0, 0), points(9.0, 1))
    assert apart.max() < 0.1


def test_a_larger_new_domain_is_no_reason_for_larger_weights() -> None:
    weights = domains.ratios(points(0.0, 0), points(0.0, 1, rows=4000))
    assert np.median(weights) == pytest.approx(1.0, rel=0.7)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    domains.load.cache_clear()
    (tmp_path / "amazon-reviews").mkdir()
    for seed, name in enumerate(DOMAINS):
        for kind in ("train", "test"):
            found = separable(120, seed)
            path = tmp_path / "amazon-reviews" / f"{name}_{kind}.svmlight"
            dump_svmlight_file(found.matrix, found.labels, str(path), zero_based=True)
            Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
    return tmp_path


def test_rows_and_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covariate_shift, "QUICK", (("books", "dvd"),))
    monkeypatch.setattr(domains, "RATES", (0.1, 1.0))
    found = tables(CovariateShift())
    made = found["covariate_shift"]
    assert len(made) == len(TRIED) * 2 * 2
    effective = {row["power"]: float(row["effective"]) for row in made}
    assert effective[1.0] < effective[0.5] < effective[0.0] == pytest.approx(120.0)
    part = CovariateShift().part(found, QUICK)
    assert [block.name for block in part.blocks if isinstance(block, ReportFigure)] == ["covariate-shift"]


def test_all_pairs(folder: Path) -> None:
    keys = [step.key for step in CovariateShift().steps(Scope())]
    assert len(set(keys)) == 12
    assert "kitchen to books" in keys


def rows(target: str, explicit: float, invariant: float) -> list[Row]:
    errors = {"unweighted": 0.2, "explicit": explicit, "implicit": invariant, "invariant": invariant}
    return [
        {"source": "books", "target": target, "approach": approach, "power": power, "rate": 1.0,
         "error": errors[approach]}
        for approach, power in TRIED
    ]  # fmt: skip


def test_verdicts() -> None:
    helps, harms = rows("dvd", 0.3, 0.1), rows("kitchen", 0.3, 0.3)
    for found, expected in (
        (helps, (Verdict.HOLDS, Verdict.HOLDS)),
        (harms, (Verdict.FAILS, Verdict.FAILS)),
        (helps + harms, (Verdict.PARTLY, Verdict.PARTLY)),
    ):
        assert tuple(claim.verdict for claim in covariate_shift.claims(found)) == expected
