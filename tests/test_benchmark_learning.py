"""Benchmarks of the learner itself: several passes, tf-idf, and what the default scaling costs."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

from benchmarks.quality import passes, tf_idf
from benchmarks.speed import scaling_cost
from benchmarks.support import labelled
from benchmarks.support.labelled import Problem


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every set is 300 rows of counts, of which the first one makes the class."""
    counts = np.random.default_rng(0).poisson(0.5, size=(300, 20)).astype(np.float32)
    problem = Problem("toy", sparse.csr_matrix(counts), np.where(counts[:, 0] > 0.0, 1.0, -1.0), text=True)
    monkeypatch.setattr(labelled, "load", lambda name: problem)


@pytest.mark.usefixtures("counted")
def test_page_on_passes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    chosen = [f"--only={name}" for name in ("enron-spam", "arxiv-astro, tf-idf", "diabetes")]
    arguments = [*chosen, "--seeds", "1", "--output", str(page)]
    result = CliRunner().invoke(passes.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert page.read_text().count("| arxiv-astro, tf-idf |") == 2
    assert page.read_text().count("| diabetes |") == 1
    assert page.read_text().count("| 1,000 |") == 1  # the sets cut to so many rows


@pytest.mark.usefixtures("counted")
def test_page_on_tf_idf(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    arguments = ["--only", "enron-spam", "--seeds", "1", "--output", str(page)]
    assert CliRunner().invoke(tf_idf.main, arguments, catch_exceptions=False).exit_code == 0
    assert page.read_text().count("| the texts above (1) |") == 2


def test_steepness() -> None:
    random = np.random.default_rng(0)
    odds = random.normal(size=20_000)
    positive = random.random(20_000) < 1.0 / (1.0 + np.exp(-odds))
    assert passes.steepness(1.0 / (1.0 + np.exp(-1.5 * odds)), positive) == pytest.approx(1.5, rel=0.05)


@pytest.mark.usefixtures("counted")
def test_what_the_default_scaling_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling_cost, "SETS", ("toy",))
    page = tmp_path / "page.md"
    result = CliRunner().invoke(
        scaling_cost.main, ["--rounds", "1", "--output", str(page)], catch_exceptions=False
    )
    assert result.exit_code == 0
    row = next(line for line in page.read_text().splitlines() if line.startswith("| toy |"))
    assert row.count(" = ") == 4
