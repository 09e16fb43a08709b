"""`steelyard active simulate`: its table, its figures, its pictures, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.active.learner import ActiveLearner
from tests.cli.running import refused, rows, run

QUICK = ("--fractions", "0.1,0.3", "--seeds", 2)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.vw"
    path.write_text(rows(400))
    return path


def simulated(*arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("active", "simulate", *arguments, "--json").stdout)
    return found


@pytest.mark.no_cover
def test_the_figures(file: Path) -> None:
    found = simulated(file, *QUICK, "--update", "invariant,explicit")
    assert (found["rows"], found["held_out"], found["shuffles"]) == (320, 80, 2)
    assert found["classes"] == ["-1", "1"]
    assert [(entry["fraction"], entry["strategy"], entry["update"]) for entry in found["results"]] == [
        *((fraction, strategy, update) for fraction in (0.1, 0.3)
          for strategy in ("iwal", "margin", "random") for update in ("invariant", "explicit")),
        (1.0, "all labels", "invariant"), (1.0, "all labels", "explicit"),
    ]  # fmt: skip
    for entry in found["results"]:
        assert entry["low"] <= entry["error"] <= entry["high"]
        assert entry["labels"] <= round(entry["fraction"] * 320)
        assert entry["error"] == pytest.approx(np.mean([trial["error"] for trial in entry["trials"]]))
        if entry["strategy"] in ("iwal", "random"):
            assert entry["estimate"]["low"] <= entry["estimate"]["value"] <= entry["estimate"]["high"]
            assert entry["inside"] == 2
        else:
            assert entry["estimate"] is entry["inside"] is None
    again = simulated(file, *QUICK, "--strategy", "iwal", "--update", "invariant")
    assert again["results"][0] == found["results"][0]  # whatever else is tried


def test_the_table(file: Path) -> None:
    said = run("active", "simulate", file, *QUICK, "--learner", "once", "--fractions", "0.05,0.3").stdout
    assert "format: vw\nclasses: -1 and 1\n320 rows to learn from, 80 held out, 2 shuffles\n" in said
    assert "learner: once\n" in said
    assert "fraction  strategy" in said
    lines = [line for line in said.splitlines() if " iwal " in line]
    assert lines[0].endswith("–")  # of 16 labels nothing can be said yet
    assert lines[1].endswith("2 of 2")


def test_what_diverged_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> None:
        raise FloatingPointError

    monkeypatch.setattr(ActiveLearner, "answer", failing)
    said = run("active", "simulate", file, *QUICK, "--strategy", "iwal", "--update", "explicit").stdout
    assert "100.00 % (2 diverged)" in said


def test_the_pictures(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    said = run("active", "simulate", file, *QUICK, "--seeds", 1, "--pictures", tmp_path / "a").stdout
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "active-errors.png", "active-errors.svg",
        "active-estimates-iwal.png", "active-estimates-iwal.svg",
        "active-estimates-random.png", "active-estimates-random.svg",
    ]  # fmt: skip
    assert "pictures: " in said
    drawn = (tmp_path / "a/active-errors.svg").read_text(encoding="utf-8")
    for words in ("iwal", "margin", "random", "all labels", "labels asked for, of 320 rows", "one shuffle"):
        assert words in drawn


def test_rows_without_labels_and_lines_that_cannot_be_read(file: Path) -> None:
    file.write_text(file.read_text() + "|a x y\n" + "nonsense nonsense nonsense |a x\n")
    said = run("active", "simulate", file, *QUICK, "--strategy", "random", "--on-error", "skip").stdout
    assert "note: 1 row without a label left out" in said
    assert "skipped 1 line that could not be read:" in said
    assert "320 rows to learn from, 80 held out" in said


def test_names_of_classes_come_from_tables(tmp_path: Path) -> None:
    path = tmp_path / "mail.tsv"
    lines = [
        f"{'spam' if n % 3 == 0 else 'ham'}\t{'cheap' if n % 3 == 0 else 'lunch'} {n}" for n in range(90)
    ]
    path.write_text("label\ttext\n" + "\n".join(lines) + "\n")
    found = simulated(path, *QUICK, "--strategy", "random", "--holdout", 3)
    assert found["classes"] == ["ham", "spam"]
    assert found["held_out"] == 30


def test_three_classes(tmp_path: Path) -> None:
    path = tmp_path / "mail.tsv"
    kinds = {"spam": "cheap", "ham": "lunch", "work": "meeting"}
    lines = [f"{kind}\t{word} {n % 5}" for n in range(40) for kind, word in kinds.items()]
    path.write_text("label\ttext\n" + "\n".join(lines) + "\n")
    found = simulated(path, "--fractions", "0.3", "--seeds", 1)
    assert found["classes"] == ["ham", "spam", "work"]
    errors = {entry["strategy"]: entry["error"] for entry in found["results"]}
    assert max(errors.values()) < 0.3
    said = run("active", "simulate", path, "--fractions", "0.3", "--seeds", 1, "--strategy", "random").stdout
    assert "classes: ham, spam and work" in said


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1 |a x\n2 |a y\n3 |a z\n" * 9, ("--strategy", "relevance", "--fractions", 0.5), "and 3 are named"),
        ("1 |a x\n1 |a y\n" * 5, (), "all 10 rows are of one class, 1: there is nothing to learn"),
        ("-1 |a x\n-1 |a y\n" * 5, (), "of one class, -1"),
        ("|a x\n|a y\n", ("--labels", "-1,1"), "no row has a label"),
        ("1 2.5 |a x\n-1 |a y\n" * 5, (), "rows have weights, but"),
        ("1 1 0.5 |a x\n-1 |a y\n" * 5, (), "rows have offsets, but"),
        ("1 |a x\n-1 |a y\n", (), "2 rows are too few to hold out one in 5"),
        ("1 |a x\n-1 |a y\n" * 20, ("--fractions", "0.01"), "0.01 of 32 rows to learn from is less than one"),
        ("1 |a x\n-1 |a y\n" * 20, ("--fractions", "2"), "the fraction 2 must be above 0 and at most 1"),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, options: tuple[str, ...], message: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text(text)
    assert message in refused("active", "simulate", path, *options)


def test_unknown_strategies_are_a_matter_of_usage(file: Path) -> None:
    said = run("active", "simulate", file, "--strategy", "margins", code=2).stderr
    assert "'margins' is not one of iwal, margin, random" in said
    assert "did you mean 'margin'" in said


def test_the_grid_is_gone(file: Path) -> None:
    said = run("active", "simulate", file, "--grid", code=2).stderr
    assert "No such option '--grid': it is gone: it was the paper's experiment" in said
    assert "python -m paper --only active" in said


def test_pictures_of_several_updates(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run("active", "simulate", file, "--fractions", "0.3", "--seeds", 1, "--strategy", "random",
        "--update", "implicit,invariant", "--pictures", tmp_path / "c")  # fmt: skip
    drawn = (tmp_path / "c/active-errors.svg").read_text(encoding="utf-8")
    assert "random, invariant" in drawn
    assert "all labels, implicit" in drawn
    assert (tmp_path / "c/active-estimates-random-implicit.svg").exists()
