"""The scripts behind the pages on active learning, at tiny sizes. No figure is judged here."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.active import certificates, coverage, paper_active
from benchmarks.active import defaults as active_defaults
from benchmarks.active import drift as active_drift
from benchmarks.active import speed as active_speed
from benchmarks.active import ways as active_ways
from benchmarks.speed.sweeps import SCHEDULES
from benchmarks.support import labelled
from benchmarks.support.labelled import Problem


@pytest.mark.no_cover
def test_page_on_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"POOL": 150, "RELEVANT": 15, "_ERRORS": ((0.1, 0.02), (0.03, 0.02))}.items():
        monkeypatch.setattr(certificates, name, value)
    page = tmp_path / "page.md"
    arguments = ["--runs", "2", "--few", "1", "--output", str(page)]
    CliRunner().invoke(certificates.main, arguments, catch_exceptions=False)
    assert "| error below 0.1, 200 rows |" in page.read_text()
    assert "| 0.95, classes 4.0 apart |" in page.read_text()
    assert "| below 10% | 2.0% |" in page.read_text()


@pytest.mark.no_cover
def test_page_on_estimates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem) -> None:
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    monkeypatch.setattr(coverage, "_WIDE_ROWS", 100)
    page = tmp_path / "page.md"
    arguments = ["--runs", "2", "--rows", "50", "--models", "2", "--seeds", "1", "--output", str(page)]
    CliRunner().invoke(coverage.main, arguments, catch_exceptions=False)
    assert page.read_text().count("| P by margin, floor 1 % |") == 2
    assert "| rcv1-ccat, 0 |" in page.read_text()
    assert "</svg>" in (tmp_path / coverage.PICTURE).read_text()


def test_page_on_the_labels_of_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem
) -> None:
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    monkeypatch.setattr(paper_active, "ROWS", 200)
    monkeypatch.setattr(paper_active, "SCHEDULES", SCHEDULES[::40])
    page = tmp_path / "page.md"
    arguments = ["--shuffles", "2", "--set", "rcv1-ccat", "--output", str(page)]
    CliRunner().invoke(paper_active.main, arguments, catch_exceptions=False)
    assert page.read_text().count("| rcv1-ccat, ≤ ") == 4
    assert "- rcv1-ccat: in " in page.read_text()


def test_where_multiplication_needs_less_than_three_times_the_labels() -> None:
    never = float("inf")
    fractions = {"explicit": [0.9, never, never], "implicit": [0.1, 0.2, 0.3], "invariant": [0.5, 0.5, 0.5]}
    figures = paper_active.Figures("a", 0.08, "theory", fractions)
    assert figures.cells[2:] == ["never (0.900 – never)", "0.200 (0.100 – 0.300)", "0.500", "5.0", "2.0"]
    assert paper_active.verdict([figures]).splitlines()[-1] == (
        "- a: in 1 of 2 cases; not with ≤ 8 %, theory, invariant (2.0 times)"
    )


def test_page_on_the_speed_of_asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem
) -> None:
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    monkeypatch.setattr(active_speed, "BUDGET", 20)
    monkeypatch.setattr(active_speed, "SCHEDULES", SCHEDULES[::40])
    page = tmp_path / "page.md"
    CliRunner().invoke(
        active_speed.main, ["--repeats", "1", "--rows", "200", "--output", str(page)], catch_exceptions=False
    )
    text = page.read_text()
    assert text.count("learners, ") == 3
    assert text.count("answer → next question, a pool of 1,000 rows") == 2


def test_page_on_labels_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem
) -> None:
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    monkeypatch.setattr(active_defaults, "SHARES", (0.1,))
    page = tmp_path / "page.md"
    arguments = ["--seeds", "1", "--only", "toy", "--workers", "1", "--output", str(page)]
    CliRunner().invoke(active_defaults.main, arguments, catch_exceptions=False)
    text = page.read_text()
    assert text.count("| toy | 24 |") == text.count("| toy, 20% of labels wrong | 24 |") == 1
    assert text.count("| LinearSVC |") == 5
    assert text.count("| iwal | refit, 1/P |") == 1


def test_what_is_said_of_the_defaults() -> None:
    """From the figures: the worst row, and the distance from margin sampling."""
    cells = [active_defaults.Cell("a", 0.0, 10), active_defaults.Cell("b", 0.2, 1000)]
    random, margin = ("random", "refit"), ("margin", "refit")
    errors = {
        cells[0]: {random: 10.0, margin: 4.0, active_ways.DEFAULT: 4.5},
        cells[1]: {random: 20.0, margin: 23.0, active_ways.DEFAULT: 22.0},
    }
    said = active_defaults.claim(errors)
    assert "**missed**, at worst it has 1.10 times as many (b, 20% of labels wrong, 1,000 labels)" in said
    assert "reached, it is 0.25 points ahead; with right labels 0.50 points behind" in said
    assert said.endswith("with a fifth of them wrong 1.00 points ahead.")


def test_page_on_a_stream_that_drifts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem
) -> None:
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    page = tmp_path / "page.md"
    CliRunner().invoke(active_drift.main, ["--seeds", "1", "--output", str(page)], catch_exceptions=False)
    table = [line.split("|")[1].strip() for line in page.read_text().splitlines() if line.startswith("|")]
    assert table[2:] == ["2", "12", "24"]
