"""Files of another format than the model's: read where features have the same names, else refused."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import refused, run, trained, without_record

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
ROWS = [
    ("spam" if k % 3 else "ham", k % 7 + (k % 3) / 2, "abc"[k % 3], f"word{k % 5} here") for k in range(60)
]
NAMES = ("y", "x", "c", "t")
TABLES = (
    "rows.csv",
    "semicolons.csv",
    "rows.tsv",
    "rows.jsonl",
    "rows.parquet",
    "rows.arrow",
    "stream.arrow",
)
OPTIONS = ("--text", "t", "--bits", 12)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same rows in all kinds of files."""
    for name, separator in (("rows.csv", ","), ("semicolons.csv", ";"), ("rows.tsv", "\t")):
        lines = [separator.join(map(str, row)) for row in [NAMES, *ROWS]]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    objects = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in objects))
    table = pa.Table.from_pylist(objects)
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    with pa.ipc.new_file(tmp_path / "rows.arrow", table.schema) as writer:
        writer.write_table(table)
    with pa.ipc.new_stream(tmp_path / "stream.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=25)
    sides = [1 if y == "spam" else 0 for y, *_ in ROWS]
    rows = list(zip(sides, ROWS, strict=True))
    (tmp_path / "rows.vw").write_text("".join(f"{y} |c {c} |t {t}\n" for y, (_, _, c, t) in rows))
    (tmp_path / "rows.vw.gz").write_bytes(gzip.compress((tmp_path / "rows.vw").read_bytes()))
    (tmp_path / "rows.svm").write_text("".join(f"{y} 1:{x} 2:1\n" for y, (_, x, *_) in rows))
    return tmp_path


def losses(model: Path, *files: Path, **rest: Any) -> float:
    found: float = json.loads(run("evaluate", model, *files, "--json", **rest).stdout)["loss"]
    return found


@pytest.mark.parametrize("trained_on", ["rows.csv", "rows.tsv", "rows.jsonl", "rows.parquet"])
def test_tables_with_the_same_columns(folder: Path, trained_on: str) -> None:
    model = folder / "m"
    trained(folder / trained_on, *OPTIONS, "-o", model)
    expected = losses(model, folder / trained_on)
    for name in TABLES:
        assert losses(model, folder / name) == pytest.approx(expected), name
        predicted = run("predict", model, folder / name, "--as", "label").stdout
        assert predicted == run("predict", model, folder / trained_on, "--as", "label").stdout
    assert losses(model, Path("-"), stdin=(folder / "rows.tsv").read_bytes()) == pytest.approx(expected)
    assert losses(model, Path("-"), stdin=(folder / "stream.arrow").read_bytes()) == pytest.approx(expected)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("original", "options"),
    [("rows.csv", OPTIONS), ("rows.vw", ("--bits", 12)), ("rows.svm", ("--bits", 12))],
)
def test_converted_rows_and_their_originals(folder: Path, original: str, options: tuple[object, ...]) -> None:
    path, ready, piped = folder / original, folder / "ready.arrow", folder / "ready.parquet"
    run("convert", path, *options, "-o", ready)
    run("convert", path, *options, "-o", piped)
    for loss in ("logistic", "tanh_logarithmic"):
        trained(path, *options, "--loss", loss, "-o", folder / "m")
        trained(ready, "--loss", loss, "-o", folder / "m2")
        expected = losses(folder / "m", path)
        for model in (folder / "m", folder / "m2"):
            for file in (path, ready, piped):
                assert losses(model, file) == pytest.approx(expected), (model, file)


def test_going_on_with_another_kind(folder: Path) -> None:
    run("convert", folder / "rows.csv", *OPTIONS, "-o", folder / "ready.arrow")
    trained(folder / "rows.csv", *OPTIONS, "-o", folder / "m")
    models = []
    for name in ("rows.csv", "rows.tsv", "ready.arrow"):
        trained(folder / name, "--resume", folder / "m", "-o", folder / "on")
        models.append(without_record(folder / "on"))
    assert models[0] == models[1] == models[2]
    assert "ham" in run("predict", folder / "on", folder / "rows.csv", "--as", "label").stdout


@pytest.mark.parametrize(
    ("trained_on", "given", "said"),
    [
        ("rows.csv", "rows.svm", "is svmlight, and {m} was trained on csv, where features have other names; "
         "give it a table with the same columns (csv, tsv, excel, jsonl, arrow or parquet)"),
        ("rows.csv", "rows.vw.gz", "is vw, and {m} was trained on csv"),
        ("rows.jsonl", "rows.vw", "is vw, and {m} was trained on jsonl"),
        ("rows.vw", "rows.svm", "is svmlight, and {m} was trained on vw, where features have other names; "
         "give it vw files, plain or compressed, or what steelyard convert makes of them"),
        ("rows.vw", "rows.csv", "is csv, and {m} was trained on vw"),
        ("rows.svm", "rows.vw", "is vw, and {m} was trained on svmlight"),
        ("rows.svm", "rows.parquet", "is parquet, and {m} was trained on svmlight"),
    ],
)  # fmt: skip
def test_features_of_other_names(folder: Path, trained_on: str, given: str, said: str) -> None:
    model, file = folder / "m", folder / given
    trained(folder / trained_on, "-o", model)
    expected = f"{file}: {said.format(m=model)}"
    for command in ("predict", "evaluate", "explain"):
        assert refused(command, model, file).startswith(expected)
    assert refused("train", file, "--resume", model).startswith(expected)
    assert refused("predict", model, folder / trained_on, file).startswith(expected)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--bits", 13), "other --bits than those of {m} (13, not 12)"),
        (("--words", 2), "other options of texts than those of {m} (words 2"),
        (("--interactions", "x*c"), "other --interactions than those of {m} (x*c, not none)"),
        (
            ("--category", "x"),
            "other columns than those of {m} (x category, c category, t text, not x number",
        ),
        (("--labels", "spam,ham"), "other --labels than those of {m} (spam, ham, not ham, spam)"),
    ],
)
def test_rows_that_were_converted_otherwise(folder: Path, options: tuple[object, ...], said: str) -> None:
    model, ready, same = folder / "m", folder / "ready.arrow", folder / "same.arrow"
    run("convert", folder / "rows.csv", *OPTIONS, "-o", same)
    run("convert", folder / "rows.csv", *OPTIONS, *options, "-o", ready)
    for path in (folder / "rows.csv", same):
        trained(path, *(OPTIONS if path != same else ()), "-o", model)
        assert f"{ready}: was converted with {said.format(m=model)}" in refused("predict", model, ready)


def test_rows_that_were_converted_from_another_format(folder: Path) -> None:
    run("convert", folder / "rows.vw", "-o", folder / "ready.arrow")
    trained(folder / "rows.csv", "-o", folder / "m")
    said = refused("predict", folder / "m", folder / "ready.arrow")
    assert "ready.arrow: is converted vw, and " in said


def test_rows_of_which_nobody_knows_how_they_were_made(folder: Path) -> None:
    """Those of another program."""
    foreign = folder / "foreign.arrow"
    table = pa.table({"label": [1.0, 0.0], "indices": [[1], [2]], "values": [[1.0], [1.0]]})
    with pa.ipc.new_file(foreign, table.schema) as writer:
        writer.write_table(table)
    trained(foreign, "-o", folder / "m")
    assert losses(folder / "m", foreign) < 1.0
    said = refused("predict", folder / "m", folder / "rows.csv")
    assert "is csv, and " in said
    assert said.endswith("was trained on sparse rows, where features have other names; give it such rows")
    trained(folder / "rows.svm", "-o", folder / "m")
    assert "is arrow, and " in refused("predict", folder / "m", foreign)


def test_a_damaged_header(folder: Path) -> None:
    run("convert", folder / "rows.svm", "-o", folder / "ready.arrow")
    trained(folder / "rows.svm", "-o", folder / "m")
    whole = (folder / "ready.arrow").read_bytes()
    (folder / "ready.arrow").write_bytes(whole.replace(b'"interactions"', b'"interactioms"'))
    assert "damaged: how rows are to be read" in refused("predict", folder / "m", folder / "ready.arrow")


def test_what_is_wrong_with_the_right_format_is_said_in_detail(folder: Path) -> None:
    trained(folder / "rows.csv", *OPTIONS, "-o", folder / "m")
    other = folder / "other.csv"
    other.write_text("y,c,t\nham,a,hello\n")
    assert "there is no column 'x'" in refused("predict", folder / "m", other)
    other = folder / "other.jsonl"
    other.write_text('{"y": "ham", "c": "a", "t": "hello"}\n')
    assert "there is no column 'x'" in refused("predict", folder / "m", other)
    trained(folder / "rows.jsonl", "-o", folder / "m")
    other.write_text("nonsense\n")
    assert "other.jsonl, line 1: 'nonsense': not a JSON object" in refused("predict", folder / "m", other)
    trained(folder / "rows.vw", "-o", folder / "m")
    other = folder / "other.vw"
    other.write_text("1 a b\n")
    assert "other.vw, line 1: the weight 'a' is not a number" in refused("predict", folder / "m", other)


def test_an_empty_file_has_no_format(folder: Path) -> None:
    trained(folder / "rows.csv", "-o", folder / "m")
    (folder / "empty.vw").write_text("")
    assert run("predict", folder / "m", folder / "empty.vw").stdout == ""
    both = run("predict", folder / "m", folder / "empty.vw", folder / "rows.tsv").stdout
    assert both == run("predict", folder / "m", folder / "rows.csv").stdout


def test_a_table_without_rows(folder: Path) -> None:
    trained(folder / "rows.csv", "-o", folder / "m")
    table = pa.ipc.open_file(folder / "rows.arrow").read_all().slice(0, 0)
    pa.parquet.write_table(table, folder / "none.parquet")
    with pa.ipc.new_file(folder / "none.arrow", table.schema) as writer:
        writer.write_table(table)
    for name in ("none.parquet", "none.arrow"):
        assert run("predict", folder / "m", folder / name).stdout == ""


def test_one_json_document(folder: Path) -> None:
    trained(folder / "rows.jsonl", "-o", folder / "m")
    path = folder / "array.jsonl"
    path.write_text('[\n{"y": "ham", "x": 1}\n]\n')
    assert "is one JSON array" in refused("predict", folder / "m", path)


def test_files_of_a_table_without_a_header(folder: Path) -> None:
    paths = folder / "bare.csv", folder / "bare.tsv"
    for path, separator in zip(paths, ",\t", strict=True):
        path.write_text("".join(f"{k % 5}{separator}{k % 2}\n" for k in range(40)))
    trained(paths[0], "--no-header", "-o", folder / "m")
    assert losses(folder / "m", paths[0]) == losses(folder / "m", paths[1])
    said = refused("predict", folder / "m", *paths)
    assert said == f"{paths[0]} and {paths[1]} differ in format: give them to {folder / 'm'} one at a time"
