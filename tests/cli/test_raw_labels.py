"""`explain` shows labels as they stand in the file."""

import json
from pathlib import Path

import pytest

from tests.cli.running import run

ROWS = [("ham", 1.5, "r1"), ("spam", 2.5, "r2"), ("ham", 3.5, "r3"), ("spam", 0.5, "r4")]


def labels(model: Path, *files: Path) -> list[object]:
    said = run("explain", model, *files, "--json").stdout
    return [json.loads(line)["label"] for line in said.splitlines()]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mail.csv"
    path.write_text("y,x,id\n" + "".join(f"{y},{x},{tag}\n" for y, x, tag in ROWS))
    return path


@pytest.fixture
def mail(table: Path, tmp_path: Path) -> Path:
    run("train", table, "-o", tmp_path / "m")
    return tmp_path / "m"


def test_names(table: Path, mail: Path) -> None:
    assert labels(mail, table) == [y for y, *_ in ROWS]
    said = run("explain", mail, table).stdout
    assert "row 2 r2: " in said
    assert ", label spam (bias" in said


def test_whatever_they_are(mail: Path, tmp_path: Path) -> None:
    """Also one that the model does not know, none, and no column for it."""
    new = tmp_path / "new.csv"
    new.write_text('id,y,x\na,eggs,1\nb,,2\nc,"ham",3\nd,7.5,4\n')
    assert labels(mail, new) == ["eggs", None, "ham", 7.5]
    new.write_text("id,x\na,1\n")
    assert labels(mail, new) == [None]


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    values = ["ham", "spam", None, "h\u00e4m"]
    path.write_text("".join(json.dumps({"y": y, "x": k}) + "\n" for k, y in enumerate(values)))
    run("train", path, "--labels", "*,spam", "-o", tmp_path / "m")
    assert labels(tmp_path / "m", path) == values


def test_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("y,x\n2.5,2\n7,3\n3.25,5.5\n")
    run("train", path, "--loss", "squared", "-o", tmp_path / "m")
    assert labels(tmp_path / "m", path) == [2.5, 7.0, 3.25]
    assert "row 1: prediction " in run("explain", tmp_path / "m", path).stdout
    text = tmp_path / "rows.vw"
    text.write_text("0 |a b\n1 |a c\n|a d\n")
    run("train", text, "-o", tmp_path / "m")
    assert labels(tmp_path / "m", text) == [0.0, 1.0, None]
    assert ", label 1 (bias" in run("explain", tmp_path / "m", text).stdout


def test_converted_files(table: Path, mail: Path, tmp_path: Path) -> None:
    """Where names have become numbers, they are named again."""
    pytest.importorskip("pyarrow")
    converted = tmp_path / "mail.arrow"
    run("convert", table, "-o", converted)
    assert labels(mail, converted) == [y for y, *_ in ROWS]
    run("convert", table, "-o", converted, "--labels", "*,spam", "--force")
    run("train", converted, "-o", tmp_path / "m2")
    assert labels(tmp_path / "m2", converted) == ["not spam", "spam", "not spam", "spam"]


def test_a_model_without_a_label_column_to_read(tmp_path: Path) -> None:
    text = tmp_path / "rows.svm"
    text.write_text("1 1:2\n2 1:3\n")
    run("train", text, "-o", tmp_path / "m")
    assert labels(tmp_path / "m", text) == [1.0, 2.0]
