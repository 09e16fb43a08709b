"""Rows that stand for several examples: `--count` and `--positives`, and the same in Python."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest

from steelyard import OnlineClassifier, OnlineRegressor, Sweep, model_file
from steelyard.engine import shuffled_rows
from tests.cli.running import blocks_of, refused, run, trained, without_record

SMALL = ("--bits", 8, "--category", "item")
COUNTED = (*SMALL, "--count", "shown", "--positives", "clicked")
HEADS = ["item", "place", "clicked", "shown"]


def grouped(largest: int) -> list[list[Any]]:
    draw = random.Random(largest)
    rows = []
    for item in range(12):
        for place in (1, 2, 3):
            shown = draw.randrange(largest)
            rows.append([item, place, sum(draw.random() < item * place / 36 for _ in range(shown)), shown])
    return rows


def write(path: Path, rows: list[list[Any]], heads: list[str] = HEADS) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([heads, *rows])
    return path


def write_raw(path: Path, rows: list[list[Any]]) -> Path:
    """Each example a row."""
    raw = [
        [item, place, label]
        for item, place, clicked, shown in rows
        for label, copies in ((0, shown - clicked), (1, clicked))
        for _ in range(copies)
    ]
    return write(path, raw, HEADS[:3])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path / "counts.csv", grouped(300))


def test_counts_up_to_64_are_the_shuffled_log(tmp_path: Path) -> None:
    rows = grouped(65)
    table, raw = write(tmp_path / "counts.csv", rows), write_raw(tmp_path / "raw.csv", rows)
    model, twin = tmp_path / "model", tmp_path / "twin"
    options = ("--seed", 3, "--passes", 2)
    run("train", table, *COUNTED, *options, "-o", model)
    run("train", raw, *SMALL, "--label", "clicked", "--shuffle", *options, "-o", twin)
    assert without_record(model)[1] == without_record(twin)[1]
    one, other = (
        json.loads(run("evaluate", *pair, "--json").stdout) for pair in ((model, table), (model, raw))
    )
    assert (one["examples"], one["weight"]) == (36, other["weight"])
    assert one["loss"] == pytest.approx(other["loss"])
    assert one["confusion"] == other["confusion"]
    assert len(run("predict", model, table).stdout.splitlines()) == 36


def test_large_counts_are_nearly_the_log(table: Path) -> None:
    counted = trained(table, *COUNTED)
    raw = trained(
        write_raw(table.with_name("raw.csv"), grouped(300)), *SMALL, "--label", "clicked", "--shuffle"
    )
    assert counted["examples"] == 36 < counted["learned"] < raw["learned"]
    assert counted["weight"] == counted["effective_sample_size"] == raw["weight"]
    assert counted["progressive_loss"] == pytest.approx(raw["progressive_loss"], rel=0.03)
    assert counted["remarks"] == []


def test_blocks_threads_and_memory_decide_nothing(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def learned(*options: Any) -> bytes:
        run("train", table, *COUNTED, "--holdout", 5, *options, "-o", table.with_name("m"))
        return table.with_name("m").read_bytes()

    reference = learned()
    assert learned("--seed", 1) != reference
    blocks_of(100, monkeypatch)
    monkeypatch.setattr(shuffled_rows, "MEMORY", 0)
    assert learned("--threads", 2) == reference


def test_rows_of_the_file_are_held_out_whole(table: Path) -> None:
    rows = grouped(300)
    held = [row for k, row in enumerate(rows, 1) if k % 2 == 0]
    model, rest = table.with_name("m"), table.with_name("n")
    found = trained(table, *COUNTED, "--holdout", 2, "--calibrate", "-o", model)
    assert found["weight"] == pytest.approx(sum(row[3] for row in rows) - sum(row[3] for row in held))
    assert 0.1 < found["held_out_error"] < 0.6
    write(table, held)
    said = trained(table, "--resume", model, "-o", rest)
    assert said["weight"] == pytest.approx(sum(row[3] for row in rows)), "a model knows what its files are"


def test_weights_are_not_divided_but_may_be_multiplied(table: Path) -> None:
    assert trained(table, *COUNTED, "--weight-factor", 0.5)["weight"] == pytest.approx(
        trained(table, *COUNTED)["weight"] / 2
    )


def test_class_weights_balance_examples(table: Path) -> None:
    weight = trained(table, *COUNTED)["weight"]
    assert trained(table, *COUNTED, "--class-weight", "balanced")["weight"] == pytest.approx(weight)


def test_the_columns_are_announced(table: Path) -> None:
    said = run("train", table, *COUNTED, "--labels", "no,yes").stdout
    assert "counts: a row is shown examples, clicked of them positive; in random order\n" in said
    assert "labels: no is -1, yes is 1\n" in said


def test_sweeps_have_counts(table: Path) -> None:
    result = json.loads(
        run("sweep", table, *COUNTED, "--learning-rate", "0.1,1", "--holdout", 5, "--json",
            "--save", table.with_name("best")).stdout
    )  # fmt: skip
    best = result["best"]
    assert 0.0 < best["held_out_loss"] < 1.0
    spec = model_file.load(table.with_name("best")).spec
    assert spec is not None
    assert spec["counted"]


def test_in_python(table: Path) -> None:
    options: dict[str, Any] = {"bits": 8, "category": "item", "count": "shown", "positives": "clicked"}
    fitted = OnlineClassifier().fit_files(table, **options)
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.predict_files(table).shape == (36,)
    sweep = Sweep(OnlineClassifier(), {"learning_rate": [0.1, 1.0]}).fit_files(table, **options)
    assert sweep.best_params_
    with pytest.raises(ValueError, match="rows with counts are of two classes"):
        OnlineRegressor().fit_files(table, **options)


def test_a_report_names_the_rows_of_the_file(table: Path) -> None:
    run("train", table, *COUNTED, "-o", table.with_name("m"))
    run("report", table.with_name("m"), table, "-o", table.with_name("page.html"))
    assert "item" in table.with_name("page.html").read_text()


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ([1, 1, 3, 2], "3 positives of 2: both must be whole numbers, and positives no more than there are"),
        ([1, 1, 0.5, 2], "0.5 positives of 2: both must be whole numbers"),
        ([1, 1, -1, 2], "-1 positives of 2: both must be whole numbers"),
        ([1, 1, "", 2], "the number of positives is missing"),
    ],
)
def test_impossible_counts_are_refused_or_skipped(table: Path, row: list[Any], problem: str) -> None:
    write(table, [*grouped(300), row])
    assert f"line 38: {problem}" in refused("train", table, *COUNTED)
    assert trained(table, *COUNTED, "--on-error", "skip")["skipped"] == 1


def test_options_that_contradict_each_other(table: Path) -> None:
    assert refused("train", table, "--count", "shown").startswith("--count and --positives belong together")
    assert "leave out --label" in refused("train", table, *COUNTED, "--label", "place")
    assert "not of numbers" in refused("train", table, *COUNTED, "--numbers")
    vw = table.with_suffix(".vw")
    vw.write_text("1 | a\n")
    assert (
        refused("train", vw, "--count", "a", "--positives", "b")
        == "--count is for tables, and the files are vw"
    )
