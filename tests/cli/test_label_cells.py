"""Labels as people type them: in several spellings, missing in some rows, or in no column at all."""

from pathlib import Path

import pytest

from tests.cli.running import refused, run, trained

ROWS = "Yes,1\nno,2\nyes,1\nNo,2\n YES ,1\nno,3\n" * 10


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_spellings_are_joined(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows.{suffix}"
    cells = [line.split(",") for line in ROWS.splitlines()]
    if suffix == "csv":
        path.write_text("label,x\n" + ROWS)
    elif suffix == "jsonl":
        path.write_text("".join(f'{{"label": "{label}", "x": {x}}}\n' for label, x in cells))
    else:
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({"label": [c[0] for c in cells], "x": [float(c[1]) for c in cells]}), path)
    said = run("train", path, "-o", tmp_path / "m", "--bits", "8").stdout
    assert "labels: No is -1, YES is 1 (detected; change with --labels)" in said
    assert (
        "note: some labels differ in letter case or blanks only, and are read as one: "
        "Yes as YES, no as No, yes as YES" in said
    )
    labels = run("predict", tmp_path / "m", path, "--as", "label").stdout.split()
    assert labels == ["YES" if label.strip().lower() == "yes" else "No" for label, _ in cells]
    assert "accuracy               1\n" in run("evaluate", tmp_path / "m", path).stdout


def test_spellings_of_named_labels_are_joined_too(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("label,x\n" + "no,1\nYes,2\nNO,1\nyes,2\nn,1\n" * 5)
    found = trained(path, "--labels", "no,yes", "--bits", 8)
    assert (found["classes"], found["learned"]) == (["no", "yes"], 25)
    assert trained(path, "--labels", "*,yes", "--bits", 8)["classes"] == ["*", "yes"]


def test_spellings_in_converted_files_and_sweeps(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path, converted = tmp_path / "rows.csv", tmp_path / "rows.arrow"
    path.write_text("label,x\n" + ROWS)
    run("convert", path, "-o", converted, "--bits", "8")
    run("train", converted, "-o", tmp_path / "m")
    assert "accuracy               1\n" in run("evaluate", tmp_path / "m", path).stdout
    run("sweep", path, "--bits", "8", "--learning-rate", "0.5,1", "--save", tmp_path / "best")
    assert "accuracy               1\n" in run("evaluate", tmp_path / "best", path).stdout


def test_missing_labels_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,x\n" + "a,1\nb,2\n,3\nNA,4\n" * 10)
    assert trained(path, "--bits", "8")["unlabelled"] == 20
    assert "without a label        20, not learned\n" in run("train", path, "--bits", "8").stdout


def test_no_column_is_guessed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "Name,Sex,Age,Fare\n" + "".join(f"n{k},{'mf'[k % 2]},{k},{k * 7 % 31}\n" for k in range(40))
    )
    assert refused("train", path) == (
        f"{path}: Which column should be predicted? Use --label NAME; there are Name, Sex, Age, Fare"
    )


def test_ragged_lines_are_blamed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('label,x,t\na,1,"two\nlines"\nb,2\nb,1,c\n')
    assert refused("train", path, "--text", "t").startswith(
        f"{path}, line 4: there are fewer fields than columns: 'b,2'"
    )
