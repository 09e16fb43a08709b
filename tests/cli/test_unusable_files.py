"""What strangers do: nothing in the file, the wrong file, the arguments the wrong way round."""

from pathlib import Path

import pytest

from tests.cli.running import refused, run, trained


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"x,y\n", "has a header (x, y) and no rows of that width"),
        (b"x\n1\n2\n", "has a single column with ',' as separator"),
        (b"PK\x03\x04...", "is a zip archive and no Excel workbook; unpack it, or save it as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "is an Excel file of the old kind; save it as .xlsx or CSV"),
        (
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            "is not text, as its first bytes show, and neither Parquet nor Arrow",
        ),
        (b"\x08\1\0\0\0\0\0\0{...", "is a model, and has no rows"),
    ],
)
@pytest.mark.parametrize("name", ["rows.csv", "rows"])
def test_files_that_are_no_tables(text: bytes, said: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text)
    given = () if name == "rows.csv" or not text.startswith(b"x") else ("--format", "csv")
    assert refused("train", tmp_path / name, *given).startswith(f"{tmp_path / name}: {said}")


def test_the_model_and_the_files_the_wrong_way_round(file: Path, model: Path) -> None:
    for command in ("predict", "evaluate", "explain"):
        assert refused(command, file, model).endswith("; the model comes before the files")
    other = file.with_name("noise")
    other.write_bytes(b"noise")
    assert "the model comes before" not in refused("predict", other, file)


def test_a_model_in_place_of_rows(file: Path, model: Path) -> None:
    for command in (("train",), ("predict", model), ("evaluate", model), ("convert", "-o", "rows.arrow")):
        assert refused(*command, model) == f"{model}: is a model, and has no rows"


def test_one_label_only(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,1\n2,1\n3,1\n")
    assert trained(path)["remarks"] == ["all labels are 1: there is nothing to tell apart"]
    (tmp_path / "one.csv").write_text("x,y\n1,1\n")
    assert trained(tmp_path / "one.csv")["remarks"] == []


def test_no_column_to_learn_from(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,1\n2,0\n3,1\n")
    (remark,) = trained(path, "--ignore", "x")["remarks"]
    assert remark == "no column is a feature, so only a constant is learned"


def test_all_that_was_skipped_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,1\n2\n3,0\n")
    said = run("train", path, "--on-error", "skip").stdout
    assert "skipped 1 line that could not be read:\n  " in said


def test_the_second_reason_is_said_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("1,no\n2,yes\n" * 20)
    trained(path, "-o", tmp_path / "m")
    path.write_text("a remark\n" + "1,nein\n2,ja\n" * 20)
    said = refused("evaluate", tmp_path / "m", path, "--on-error", "skip")
    assert "line 1: there are fewer fields than columns" in said
    assert "line 2: column 2: the label 'nein' is neither" in said


def test_a_name_that_is_like_none(file: Path) -> None:
    assert refused("train", file.with_name("else.vw")).endswith(": there is no such file")
