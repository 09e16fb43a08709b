"""`predict -o table`: every column, row and cell comes back, with predictions beside them."""

import csv
import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from steelyard.cli import main
from tests.cli.running import blocks_of, refused, rows, run

openpyxl = pytest.importorskip("openpyxl")
NAMES = ["id", "label", "note", "x"]
ROWS = [
    [f"{k:03}", "yes" if k % 3 else "no", f'a "q", ü\n{k}' if k % 4 == 0 else f"n{k}", f"{k % 3}.5"]
    for k in range(30)
]


def written(path: Path, *, separator: str = ",", encoding: str = "utf-8", newline: str = "\n") -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=newline).writerows([NAMES, *ROWS])
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def cells(path: Path, separator: str = ",", encoding: str = "utf-8") -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_bytes().decode(encoding), newline=""), delimiter=separator))


@pytest.fixture(scope="module")
def churn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("churn")
    run("train", written(folder / "t.csv"), "--ignore", "note", "-o", folder / "m", "--bits", "10")
    return folder / "m"


@pytest.fixture
def labels(churn: Path, tmp_path: Path) -> list[str]:
    return [line.split()[0] for line in run("predict", churn, written(tmp_path / "l.csv"), "--as", "label")
            .stdout.splitlines()]  # fmt: skip


@pytest.mark.parametrize(
    ("separator", "encoding", "newline"),
    [(",", "utf-8", "\n"), (";", "utf-8-sig", "\r\n"), (",", "latin-1", "\n"), ("\t", "utf-16", "\n")],
)
@pytest.mark.parametrize("size", [60, 1 << 21])
def test_text_comes_back_byte_for_byte(
    churn: Path, tmp_path: Path, separator: str, encoding: str, newline: str, size: int,
    labels: list[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    suffix = "tsv" if separator == "\t" else "csv"
    new = written(tmp_path / f"new.{suffix}", separator=separator, encoding=encoding, newline=newline)
    out = tmp_path / f"out.{suffix}"
    blocks_of(size, monkeypatch)
    run("predict", churn, new, "-o", out, "--encoding", encoding)
    before, after = new.read_bytes().decode(encoding), out.read_bytes().decode(encoding)
    found = cells(out, separator, encoding)
    assert found[0] == [*NAMES, "prediction", "probability_yes"]
    assert [row[:4] for row in found[1:]] == ROWS
    assert [row[4] for row in found[1:]] == labels
    said = run("predict", churn, new, "--as", "probability", "--encoding", encoding).stdout
    chances = [line.split()[0] for line in said.splitlines()]
    assert [float(row[5]) for row in found[1:]] == [float(chance) for chance in chances]
    for row in found:  # what is taken away again leaves the file as it was
        after = after.replace(separator + separator.join(row[4:]) + newline, newline, 1)
    assert after == before


@pytest.mark.parametrize("source", ["new.csv", "new.jsonl", "new.parquet", "new.arrow", "new.xlsx"])
@pytest.mark.parametrize(
    "target", ["o.csv", "o.tsv", "o.jsonl", "o.parquet", "o.feather", "o.xlsx", "o.csv.gz"]
)
def test_every_format_into_every_other(
    churn: Path, tmp_path: Path, source: str, target: str, labels: list[str]
) -> None:
    new, out = tmp_path / source, tmp_path / target
    table = [dict(zip(NAMES, row, strict=True)) | {"x": float(row[3])} for row in ROWS]
    if source.endswith("csv"):
        written(new)
    elif source.endswith("jsonl"):
        new.write_text("\n".join(json.dumps(row) for row in table) + "\n\n")
    elif source.endswith("xlsx"):
        book = openpyxl.Workbook()
        for row in [NAMES, *(list(row.values()) for row in table)]:
            book.active.append(row)
        book.active["A1"].font = openpyxl.styles.Font(bold=True)
        book.create_sheet("notes")
        book.save(new)
    elif source.endswith("parquet"):
        pa.parquet.write_table(pa.Table.from_pylist(table), new)
    else:
        with pa.ipc.new_file(str(new), pa.Table.from_pylist(table).schema) as writer:
            writer.write_table(pa.Table.from_pylist(table))
    run("predict", churn, new, "-o", out)
    found = read(out)
    assert [row["prediction"] for row in found] == labels
    assert [[str(row[name]) for name in NAMES] for row in found] == ROWS
    assert all(0.0 < float(row["probability_yes"]) < 1.0 for row in found)
    if source.endswith("xlsx") and target.endswith("xlsx"):
        book = openpyxl.load_workbook(out)
        assert book.sheetnames == ["Sheet", "notes"]
        assert book.worksheets[0]["A1"].font.bold


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".parquet":
        return list(pa.parquet.read_table(path).to_pylist())
    if path.suffix == ".feather":
        return list(pa.ipc.open_file(str(path)).read_all().to_pylist())
    if path.suffix == ".xlsx":
        first, *others = openpyxl.load_workbook(path).worksheets[0].values
        return [dict(zip(first, row, strict=True)) for row in others]
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    separator = "\t" if path.suffix == ".tsv" else ","
    return list(csv.DictReader(io.StringIO(content.decode(), newline=""), delimiter=separator))


def test_columns_by_kind(churn: Path, tmp_path: Path) -> None:
    new, out = written(tmp_path / "new.csv"), tmp_path / "out.csv"
    for kind, expected in {
        "raw": ["raw"],
        "label": ["prediction"],
        "probability": ["probability_yes"],
    }.items():
        run("predict", churn, new, "-o", out, "--as", kind, "--force")
        assert cells(out)[0] == [*NAMES, *expected]


def test_several_classes(tmp_path: Path) -> None:
    new, out = tmp_path / "new.csv", tmp_path / "out.csv"
    new.write_text("label,x\n" + "a,1\nb,2\nc,3\n" * 9)
    run("train", new, "-o", tmp_path / "m", "--bits", "8")
    kinds = {
        None: ["prediction", "probability"],
        "raw": ["raw_a", "raw_b", "raw_c"],
        "probability": ["probability_a", "probability_b", "probability_c"],
    }
    for kind, expected in kinds.items():
        run("predict", tmp_path / "m", new, "-o", out, "--force", *(("--as", kind) if kind else ()))
        assert cells(out)[0][2:] == expected
    assert sum(float(chance) for chance in cells(out)[1][2:]) == pytest.approx(1.0)


def test_numbers_and_losses_without_probabilities(tmp_path: Path) -> None:
    new, out = tmp_path / "new.csv", tmp_path / "out.csv"
    new.write_text("y,x\n" + "0.5,1\n1.5,2\n4,3\n" * 9)
    run("train", new, "-o", tmp_path / "m", "--bits", "8")
    run("predict", tmp_path / "m", new, "-o", out)
    assert cells(out)[0] == ["y", "x", "prediction"]
    float(cells(out)[1][2])
    assert "no classes to name" in refused(
        "predict", tmp_path / "m", new, "-o", tmp_path / "n.csv", "--as", "label"
    )
    new.write_text("y,x\n" + "0,1\n1,2\n" * 9)
    run("train", new, "-o", tmp_path / "h", "--bits", "8", "--loss", "hinge", "--no-calibrate")
    run("predict", tmp_path / "h", new, "-o", out, "--force")
    assert cells(out)[0] == ["y", "x", "prediction"]


def test_a_table_that_has_predictions_already(churn: Path, tmp_path: Path) -> None:
    new, out, again = written(tmp_path / "new.csv"), tmp_path / "1.csv", tmp_path / "2.csv"
    run("predict", churn, new, "-o", out)
    said = run("predict", churn, out, "-o", again).stderr
    assert "columns of that name; the new ones are prediction_2, probability_yes_2" in said
    run("predict", churn, again, "-o", tmp_path / "3.csv")
    assert cells(tmp_path / "3.csv")[0][-2:] == ["prediction_3", "probability_yes_3"]
    later = tmp_path / "later.jsonl"
    later.write_text('{"x": 1}\n' * 1100 + '{"x": 1, "prediction": 3}\n{}\n')
    assert (
        "a row has a key 'prediction' already"
        in run("predict", churn, later, "-o", tmp_path / "later.out.jsonl", code=1).stderr
    )


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_rows_that_cannot_be_read_stay_without_a_prediction(churn: Path, tmp_path: Path, kind: str) -> None:
    new, out = tmp_path / f"new.{kind}", tmp_path / f"out.{kind}"
    bad = {3, 50, 51, 199}
    if kind == "csv":
        lines = ["1.5,z,w" if k in bad else f"{k},no,1.5" for k in range(200)]
        lines[50] = "50,no"
        new.write_text("id,label,x\n" + "".join(
            f"{line}\n" if k != 3 else f"{line},more\n" for k, line in enumerate(lines)))  # fmt: skip
    elif kind == "jsonl":
        lines = ["[1]" if k in (3, 51) else "{no" if k in bad else '{"x": 1.5}' for k in range(200)]
        new.write_text("\n".join(lines))
    else:
        values = [float("inf") if k in bad else 1.5 for k in range(200)]
        pa.parquet.write_table(pa.table({"x": values, "id": [str(k) for k in range(200)]}), new)
    said = run("predict", churn, new, "-o", out, "--on-error", "skip").stderr
    assert "no prediction for 4 lines that could not be read" in said
    if kind == "jsonl":
        assert [k for k, line in enumerate(out.read_text().splitlines()) if line in ("[1]", "{no")] == sorted(
            bad
        )
    elif kind == "csv":
        assert [k for k, row in enumerate(cells(out)[1:]) if row[-1] == ""] == sorted(bad)
        run("predict", churn, new, "-o", tmp_path / "out.tsv", "--on-error", "skip")
        assert len(cells(tmp_path / "out.tsv", "\t")) == 201
    else:
        assert [k for k, row in enumerate(read(out)) if row["prediction"] is None] == sorted(bad)
    if kind == "jsonl":
        run("predict", churn, new, "-o", tmp_path / "out.csv", "--on-error", "skip")
        assert len(cells(tmp_path / "out.csv")) == 201


def test_several_files_and_none_without_a_header(churn: Path, tmp_path: Path) -> None:
    one, two, out = written(tmp_path / "1.csv"), written(tmp_path / "2.csv"), tmp_path / "out.csv"
    run("predict", churn, one, two, "-o", out)
    assert len(cells(out)) == 61
    two.write_text("x,id,label\n1.5,1,no\n")
    assert "has other columns than" in refused("predict", churn, one, two, "-o", tmp_path / "o.csv")
    bare = tmp_path / "bare.csv"
    bare.write_text("1,no\n2,yes\n" * 20)
    run("train", bare, "-o", tmp_path / "m", "--bits", "8")
    run("predict", tmp_path / "m", bare, "-o", out, "--force")
    assert len(cells(out)) == 40
    assert cells(out)[0][:2] == ["1", "no"]
    book = openpyxl.Workbook()
    for row in cells(bare):
        book.active.append([float(row[0]), row[1]])
    book.save(tmp_path / "bare.xlsx")
    run("predict", tmp_path / "m", tmp_path / "bare.xlsx", "-o", tmp_path / "o.xlsx")
    assert openpyxl.load_workbook(tmp_path / "o.xlsx").worksheets[0].max_column == 4


def test_blank_lines_are_passed_over(churn: Path, tmp_path: Path) -> None:
    new, out = tmp_path / "new.csv", tmp_path / "out.csv"
    for cell in ("b", '"b"'):
        new.write_text(f"id,label,x\n1,{cell},2\n   \n\n2,{cell},3\n")
        run("predict", churn, new, "-o", out, "--force")
        assert [row[:3] for row in cells(out)[1:]] == [["1", "b", "2"], ["2", "b", "3"]]
    (tmp_path / "1.jsonl").write_text('{"x": 1}\n \t\n{"x": 2}\n')
    (tmp_path / "2.jsonl").write_text('{"x": 3, "z": 1}\n')
    run("predict", churn, tmp_path / "1.jsonl", tmp_path / "2.jsonl", "-o", out, "--force")
    assert [row[:2] for row in cells(out)] == [["x", "z"], ["1", ""], ["2", ""], ["3", "1"]]


def test_an_empty_table(churn: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("id,label,x\n\n    \r\n")
    run("predict", churn, tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert cells(tmp_path / "out.csv") == [["id", "label", "x", "prediction", "probability_yes"]]


def test_files_without_columns_become_a_table_of_tags(model: Path, tmp_path: Path) -> None:
    new, out = tmp_path / "new.vw", tmp_path / "out.csv"
    new.write_text(rows(20))
    run("predict", model, new, "-o", out)
    assert cells(out)[0] == ["tag", "prediction", "probability_1"]
    assert cells(out)[1][0] == "row0"
    assert len(cells(out)) == 21


def test_what_cannot_be_written(churn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = written(tmp_path / "new.csv")
    assert "use .gz, .xz or .bz2" in refused("predict", churn, new, "-o", tmp_path / "out.csv.zst")
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text('{"x": 1}\n' * 1100 + '{"x": 1, "more": 2}\n')
    assert "the key 'more' is in none of the first objects" in refused(
        "predict", churn, mixed, "-o", tmp_path / "out.csv"
    )
    monkeypatch.setattr("steelyard.scoring.excel._MOST_ROWS", 10)
    assert "and there are more; write .csv or .parquet" in refused(
        "predict", churn, new, "-o", tmp_path / "out.xlsx"
    )
    assert not list(tmp_path.glob("*out*"))


def test_cells_that_are_no_simple_ones(churn: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.jsonl"
    objects = [{"id": "=1+1", "x": 1.0, "tags": ["a", "b"], "n": {"k": 1}}, {"id": "\x01007", "x": None}]
    new.write_text("".join(json.dumps(each) + "\n" for each in objects))
    run("predict", churn, new, "-o", tmp_path / "out.xlsx")
    first, second = read(tmp_path / "out.xlsx")
    assert (first["id"], first["tags"], first["n"]) == ("=1+1", '["a", "b"]', '{"k": 1}')
    assert openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets[0]["A2"].data_type == "s"
    assert (second["id"], second["tags"]) == ("007", None)
    table = pa.table({"x": [1.5, float("nan")], "id": ["1", "2"], "when": [b"a", b"b"]})
    pa.parquet.write_table(table, tmp_path / "new.parquet")
    for suffix in ("csv", "jsonl", "xlsx"):
        run("predict", churn, tmp_path / "new.parquet", "-o", tmp_path / f"p.{suffix}")
    assert [row["x"] for row in read(tmp_path / "p.csv")] == ["1.5", ""]
    assert [row["x"] for row in read(tmp_path / "p.jsonl")] == [1.5, None]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_tables_on_standard_output(churn: Path, tmp_path: Path, kind: str) -> None:
    new, out = written(tmp_path / "new.csv", encoding="latin-1"), tmp_path / f"out.{kind}"
    run("predict", churn, new, "--encoding", "latin-1", "-o", out)
    shown = run("predict", churn, new, "--encoding", "latin-1", "--output-format", kind).stdout_bytes
    assert shown.decode() == out.read_bytes().decode("latin-1")  # for people and pipes, UTF-8
    piped = run(
        "predict", churn, "-", "--output-format", kind, stdin=written(tmp_path / "u.csv").read_bytes()
    )
    assert piped.stdout_bytes == shown
    for further in (("-o", tmp_path / "x.csv"), ("--stream",)):
        assert "leave out -o" in refused("predict", churn, new, "--output-format", kind, *further)


def test_the_best_classes(churn: Path, tmp_path: Path) -> None:
    new, out = written(tmp_path / "new.csv"), tmp_path / "out.csv"
    run("predict", churn, new, "--top", 5, "-o", out)  # there are two
    found = cells(out)
    assert found[0] == [*NAMES, "prediction", "probability", "prediction_2", "probability_2"]
    lines = run("predict", churn, new, "--top", 2).stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [
        [f"{best}:{chance}", f"{next_best}:{other}"] for *_, best, chance, next_best, other in found[1:]
    ]
    assert all(float(row[5]) >= float(row[7]) for row in found[1:])
    assert {row[4] for row in found[1:]} == {"yes", "no"}
    assert "leave out --as" in refused("predict", churn, new, "--top", 2, "--as", "label")


def test_old_excel_is_refused(tmp_path: Path) -> None:
    """Lines of numbers in a file of that name would look damaged to Excel."""
    table = tmp_path / "rows.csv"
    table.write_text("a,y\n1,yes\n2,no\n" * 9)
    run("train", table, "--bits", 8, "-o", tmp_path / "m")
    said = run("predict", tmp_path / "m", table, "-o", tmp_path / "out.XLS", code=1).stderr
    assert said.endswith("out.XLS: the format of old Excel files is not written; name it .xlsx\n")
    assert not (tmp_path / "out.XLS").exists()


@pytest.mark.parametrize("name", ["scored.parquet", "scored.arrow"])
def test_without_pyarrow(churn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    table, out = written(tmp_path / "t.csv"), tmp_path / name
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = refused("predict", churn, table, "-o", out)
    assert said == f'{out}: Arrow and Parquet need pyarrow: pip install "steelyard[arrow]"'
    assert [*tmp_path.iterdir()] == [table]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "xlsx"])
@pytest.mark.parametrize("first", [True, False])
def test_an_empty_file_is_no_part_of_a_table(churn: Path, tmp_path: Path, kind: str, first: bool) -> None:
    """An empty first file decided how the rows of the others were written: some lost their columns."""
    new, empty = written(tmp_path / "new.csv"), tmp_path / f"empty.{'csv' if kind == 'xlsx' else kind}"
    empty.touch()
    files = (empty, new) if first else (new, empty)
    assert run("predict", churn, *files).stdout.count("\n") == len(ROWS)
    assert f"{empty.name}: there is no record at its beginning" in refused(
        "predict", churn, *files, "-o", tmp_path / f"out.{kind}"
    )


def test_empty_lines_of_json_are_no_rows(churn: Path, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text('{"x": 1}\n')
    (tmp_path / "empty.jsonl").touch()
    for files in (["empty.jsonl", "new.jsonl"], ["new.jsonl", "empty.jsonl"]):
        out = tmp_path / "out.jsonl"
        run("predict", churn, *(tmp_path / name for name in files), "-o", out, "--force")
        assert len(out.read_text().splitlines()) == 1


def test_lines_that_cannot_be_read_have_no_keys(churn: Path, tmp_path: Path) -> None:
    """The name of a new column, written somewhere, had every line searched for it, broken ones too."""
    new, out = tmp_path / "new.jsonl", tmp_path / "out.jsonl"
    new.write_text('{"x": 1, "note": {"prediction": 3}}\n' + "{'x': 1}\n")
    run("predict", churn, new, "-o", out, "--on-error", "skip")
    first, second = out.read_text().splitlines()
    assert json.loads(first)["prediction"] in ("no", "yes")
    assert second.endswith('"prediction": null, "probability_yes": null}')


def test_a_file_of_blank_lines_has_no_rows(churn: Path, tmp_path: Path) -> None:
    for kind in ("csv", "tsv", "jsonl", "txt"):
        (tmp_path / f"blank.{kind}").write_text("\n \n")
        result = CliRunner().invoke(main, ["predict", str(churn), str(tmp_path / f"blank.{kind}")])
        assert result.exception is None or isinstance(result.exception, SystemExit)


def test_two_tables_of_arrow_become_one(churn: Path, tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{name}.parquet" for name in "abc")
    pa.parquet.write_table(pa.table({"x": [1.0, 2.0], "id": ["a", "b"]}), first)
    pa.parquet.write_table(pa.table({"x": [3.0], "id": ["c"]}), second)
    pa.parquet.write_table(pa.table({"id": ["c"], "x": [3.0]}), third)
    out = tmp_path / "out.parquet"
    run("predict", churn, first, second, "-o", out)
    assert pa.parquet.read_table(out).column("id").to_pylist() == ["a", "b", "c"]
    said = refused("predict", churn, first, third, "-o", tmp_path / "other.parquet")
    assert "has other columns than" in said


def test_further_fields_of_a_broken_row_are_kept(churn: Path, tmp_path: Path) -> None:
    """A cell with a separator in it makes a row that cannot be read; it was written without its last words."""
    new = tmp_path / "new.tsv"
    new.write_text("x\tid\n1.5\tfine\n2.5\tfree\tprize\tnow\n")
    run("predict", churn, new, "-o", tmp_path / "out.csv", "--on-error", "skip")
    assert cells(tmp_path / "out.csv")[2][:2] == ["2.5", "free\tprize\tnow"]


def test_the_encoding_holds_for_models_of_converted_files(tmp_path: Path) -> None:
    table, model, new = tmp_path / "rows.csv", tmp_path / "m.model", tmp_path / "new.csv"
    table.write_text("text,y\n" + "grün,yes\nblau,no\n" * 10)
    run("convert", table, "-o", tmp_path / "rows.arrow")
    run("train", tmp_path / "rows.arrow", "-o", model)
    new.write_bytes("text\ngrün\nblau\n".encode("latin-1"))
    found = run("predict", model, new, "--as", "label", "--encoding", "latin-1").stdout.split()
    piped = run("predict", model, "-", "--as", "label", "--encoding", "latin-1", stdin=new.read_bytes())
    assert found == piped.stdout.split() == ["yes", "no"]
