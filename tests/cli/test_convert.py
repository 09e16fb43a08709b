"""`steelyard convert`: what is learned from ready-made rows is what is learned from the original."""

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.cli.running import refused, rows, run, stored, trained, without_record


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "rows.vw"
    path.write_text(rows(300, weights=True))
    return path


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_the_model_is_the_same(text: Path, tmp_path: Path, suffix: str) -> None:
    converted, first, second = (tmp_path / name for name in (f"rows.{suffix}", "first", "second"))
    said = run("convert", text, "-o", converted, "--bits", 12, "--interactions", "a*b").stdout
    assert said.startswith(f"300 rows in {converted}, ")
    original = trained(text, "--bits", 12, "--interactions", "a*b", "-o", first, "--passes", 2)
    again = trained(converted, "-o", second, "--passes", 2)
    for key in ("examples", "weight", "progressive_loss", "names", "best_constant"):
        assert again[key] == original[key]
    one, two = stored(first), stored(second)
    assert one.model.raw_coefficients.tobytes() == two.model.raw_coefficients.tobytes()
    assert one.content.names is not None
    assert two.content.names is not None
    assert one.content.names.by_index() == two.content.names.by_index()
    # a model of ready-made rows knows how the original is read
    for file in (text, converted):
        assert run("predict", second, file).stdout == run("predict", first, text).stdout
        both = run("evaluate", second, file).stdout, run("evaluate", first, text).stdout
        assert both[0].partition("note: ")[0] == both[1].partition("note: ")[0]


def test_names_of_classes_become_numbers(tmp_path: Path) -> None:
    table, converted = tmp_path / "mail.csv", tmp_path / "mail.arrow"
    table.write_text("label,text\n" + "ham,see you there\nspam,buy now\n" * 20)
    run("convert", table, "-o", converted)
    assert trained(converted, "-o", tmp_path / "m")["progressive_loss"] == trained(table)["progressive_loss"]
    run("convert", table, "-o", converted, "--labels", "spam,ham", "--no-names", "--force")
    assert (
        trained(converted, "--no-names")["best_constant"]
        == trained(table, "--labels", "spam,ham")["best_constant"]
    )
    assert set(run("predict", tmp_path / "m", table, "--as", "label").stdout.split()) == {"ham", "spam"}


def test_ordinary_columns(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    table = pa.table(
        {"y": [1.5, 2.5, 3.0] * 30, "x": [0.0, 1.0, 2.0] * 30, "colour": ["red", "blue", "red"] * 30}
    )
    pyarrow.parquet.write_table(table, path)
    said = run("train", path, "--label", "y", "-o", tmp_path / "m").stdout
    assert "colour  category" in said
    assert "loss: squared" in said
    assert len(run("predict", tmp_path / "m", path).stdout.split()) == 90
    pyarrow.parquet.write_table(table.drop_columns(["y"]), tmp_path / "x.parquet")
    assert (
        run("predict", tmp_path / "m", tmp_path / "x.parquet").stdout
        == run("predict", tmp_path / "m", path).stdout
    )


def test_what_cannot_be(text: Path, tmp_path: Path) -> None:
    converted = tmp_path / "rows.arrow"
    run("convert", text, "-o", converted, "--bits", 12)
    assert "was converted for --bits 12; leave --bits out" in refused("train", converted, "--bits", 14)
    assert "the suffix says neither Arrow nor Parquet" in refused(
        "convert", text, "-o", tmp_path / "rows.txt"
    )
    assert "there is no such file" in refused("convert", tmp_path / "nothing", "-o", converted)


@pytest.mark.parametrize("options", [(), ("--interactions", "a*b", "--bits", 12)])
def test_arrow_may_be_piped_in(text: Path, tmp_path: Path, options: tuple[object, ...]) -> None:
    converted, models = tmp_path / "rows.arrow", (tmp_path / "a", tmp_path / "b")
    run("convert", text, "-o", converted, *options)
    run("train", converted, "-o", models[0])
    run("train", "-", "-o", models[1], stdin=converted.read_bytes())
    assert without_record(models[0]) == without_record(models[1])
    predicted = [
        run("predict", models[0], converted).stdout,
        run("predict", models[0], "-", stdin=converted.read_bytes()).stdout,
    ]
    assert predicted[0] == predicted[1] != ""


def test_parquet_may_not_be_piped_in(text: Path, tmp_path: Path) -> None:
    converted = tmp_path / "rows.parquet"
    run("convert", text, "-o", converted)
    said = refused("train", "-", stdin=converted.read_bytes())
    assert said.startswith("standard input: Parquet is read from its end")


def test_without_pyarrow(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert 'pip install "steelyard[arrow]"' in refused("convert", text, "-o", tmp_path / "rows.arrow")


def test_lines_that_cannot_be_read(text: Path, tmp_path: Path) -> None:
    text.write_text("1 |a b\nnonsense\n-1 |a c\n")
    converted = tmp_path / "rows.arrow"
    assert "rows.vw, line 2" in refused("convert", text, "-o", converted)
    assert not converted.exists()
    result = run("convert", text, "-o", converted, "--on-error", "skip")
    assert result.stdout.startswith("2 rows")
    assert "skipped: " in result.stderr
    assert "skipped 1 line that could not be read" in result.stderr


def test_remarks_are_said(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 qid:1 2:1\n0 qid:1 3:1\n")
    assert "qid is ignored" in run("convert", path, "-o", tmp_path / "rows.parquet").stderr


def test_ready_made_rows_of_another_program(tmp_path: Path) -> None:
    """Without metadata they are for a model of the usual size."""
    rows: dict[str, Any] = {"label": [1.0, -1.0], "importance": [1.0, 2.0]}
    rows |= {"indices": [[3, 1], [2]], "values": [[1.0, 2.0], [0.5]]}
    pyarrow.parquet.write_table(pa.table(rows), tmp_path / "rows.parquet")
    found = trained(tmp_path / "rows.parquet", "-o", tmp_path / "m")
    assert (found["examples"], found["weight"], found["nonzero_weights"]) == (2, 3.0, 3)
