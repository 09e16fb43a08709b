"""Tables through the commands: roles told or guessed, labels called anything."""

import json
from pathlib import Path

import pytest

from tests.cli.running import refused, run, stored, trained, without_record

ROWS = [
    ("ham", 1.5, "hello there"),
    ("spam", 2.5, "buy now"),
    ("ham", 3.5, "see you"),
    ("spam", 0.5, "buy it"),
]
TABLE = "y,x,t\n" + "".join(f"{y},{x},{t}\n" for y, x, t in ROWS * 10)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mail.csv"
    path.write_text(TABLE)
    return path


def test_train_and_predict(table: Path, tmp_path: Path) -> None:
    model = tmp_path / "m"
    said = run("train", table, "--text", "t", "--characters", "3-4", "-o", model).stdout
    assert (
        "columns (change with --label, --weight, --text, --category, --number, --ignore):\n  y  label" in said
    )
    assert "labels: ham is -1, spam is 1 (detected; change with --labels)" in said
    assert stored(model).spec.text.characters == (3, 4)
    assert run("predict", model, table, "--as", "label").stdout.split() == [y for y, *_ in ROWS * 10]
    assert json.loads(run("evaluate", model, table, "--json").stdout)["accuracy"] == 1.0
    assert "t^buy" in run("inspect", model).stdout


def test_one_number_of_characters(table: Path, tmp_path: Path) -> None:
    run("train", table, "--text", "t", "--words", 0, "--characters", "3", "-o", tmp_path / "m")
    assert stored(tmp_path / "m").spec.text.characters == (3, 3)
    assert "is not of the form 3 or 3-5" in run("train", table, "--characters", "a-b", code=2).stderr


@pytest.mark.parametrize("text", ["x,t\n1.5,buy now\n", "y,x,t\n,1.5,buy now\n", "y,x,t\neggs,1.5,buy now\n"])
def test_to_predict_a_row_its_label_need_make_no_sense(table: Path, tmp_path: Path, text: str) -> None:
    run("train", table, "-o", tmp_path / "m", "--text", "t")
    new = tmp_path / "new.csv"
    new.write_text(text)
    assert run("predict", tmp_path / "m", new, "--as", "label").stdout == "spam\n"
    if "eggs" in text:
        assert "the label 'eggs' is neither" in refused("evaluate", tmp_path / "m", new)


def test_numbers_as_labels(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("y,x\n2.5,2\n7,3\n3.25,5.5\n")
    run("train", path, "--loss", "squared", "-o", tmp_path / "m")
    path.write_text("y,x\nunknown yet,2\n")
    assert float(run("predict", tmp_path / "m", path).stdout) > 0.0


def test_classes_spelt_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("y,x\n" + "1.0,2\n0.0,-3\n" * 9)
    run("train", path, "-o", tmp_path / "m")
    assert set(run("predict", tmp_path / "m", path, "--as", "label").stdout.split()) == {"1.0", "0.0"}


def test_a_table_on_standard_input(table: Path, tmp_path: Path) -> None:
    models = tmp_path / "a", tmp_path / "b"
    trained(table, "-o", models[0])
    assert trained("-", "-o", models[1], stdin=table.read_bytes())["examples"] == 40
    assert without_record(models[0]) == without_record(models[1])


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"label": y, "x": x}) + "\n" for y, x, _ in ROWS))
    found = trained(path, "--label", "label", "-o", tmp_path / "m")
    assert found["examples"] == 4


def test_propensities(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("y,p,x\n1,0.5,2\n0,0.25,3\n1,1,4\n")
    assert trained(path, "--propensity", "p")["weight"] == 7.0
    path.write_text("y,p,x\n1,0.5,2\n0,0,3\n1,1,4\n")
    assert "line 3: a propensity of 0" in refused("train", path, "--propensity", "p")
