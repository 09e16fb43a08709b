"""Files for a model that has learned others: which can be read, how, and what is said of the rest."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from steelyard.io import compatibility
from steelyard.io.columns import Column, Columns
from steelyard.io.convert import convert
from steelyard.io.errors import InputError
from steelyard.io.input_spec import Dialect, InputSpec
from steelyard.io.labels import LabelRule, classes, two_classes
from steelyard.io.stream import Stream
from steelyard.text.tokens import TextOptions

CSV = InputSpec("csv", columns=Columns((Column("y", "label"), Column("x", "number"))), dialect=Dialect())


@pytest.mark.parametrize(
    ("made", "then", "expected"),
    [
        (two_classes("ham", "spam"), two_classes("-1", "1", 0.0, 1.0), two_classes("ham", "spam", 0.0, 1.0)),
        (two_classes("ham", "spam"), two_classes("1.0", "-1"), two_classes("spam", "ham")),
        (two_classes("*", "spam"), two_classes("1", "-1"), two_classes("*", "spam", 1.0, -1.0)),
        (classes("abc"), classes("012"), classes("abc")),
        (classes("abc"), two_classes("*", "2"), two_classes("*", "c")),
        (classes("abc"), None, classes("abc")),
        (None, two_classes("0", "1"), two_classes("0", "1")),
    ],
)
def test_names_of_classes_behind_converted_rows(
    tmp_path: Path, made: LabelRule | None, then: LabelRule | None, expected: LabelRule
) -> None:
    """A model of converted rows reads the original too: its labels are the numbers made of the names."""
    path = tmp_path / "table.csv"
    path.write_text("y,x\na,1\n")
    spec = InputSpec("arrow", label_rule=then, original=replace(CSV, label_rule=made))
    assert compatibility.spec_for(spec, [str(path)], "m").label_rule == expected


TABLE = {"y": [0, 1, 1], "x": [0.5, 1.0, 2.0]}
VW, SVMLIGHT = InputSpec("vw", 8), InputSpec("svmlight", 8)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """The same table in every format, rows of other kinds, and conversions."""
    rows = list(zip(*TABLE.values(), strict=True))
    texts = {
        "table.csv": "y,x\n" + "".join(f"{y},{x}\n" for y, x in rows),
        "table.tsv": "y\tx\n" + "".join(f"{y}\t{x}\n" for y, x in rows),
        "table.jsonl": "".join(f'{{"y": {y}, "x": {x}}}\n' for y, x in rows),
        "other.jsonl": '{"y": 1, "z": 2}\n',
        "rows.vw": "1 |a b\n-1 |a c\n",
        "bare": "1 |a b\n-1 |a c\n",
        "rows.svm": "1 1:1\n-1 2:1\n",
        "empty.csv": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    pa.parquet.write_table(pa.table(TABLE), tmp_path / "table.parquet")
    with pa.ipc.new_file(tmp_path / "table.arrow", pa.schema(pa.table(TABLE).schema)) as writer:
        writer.write_table(pa.table(TABLE))
    for name, spec in {"rows.arrow": VW, "wide.arrow": InputSpec("vw", 9), "svm.arrow": SVMLIGHT}.items():
        source = tmp_path / ("rows.svm" if spec is SVMLIGHT else "rows.vw")
        chunks = list(Stream([source], spec.reader()))
        convert(chunks, tmp_path / name, features=spec.features, reading=spec.as_json())
    ruled = replace(CSV, bits=8, label_rule=two_classes("0", "1"))
    chunks = list(Stream([tmp_path / "table.csv"], ruled.reader()))
    convert(chunks, tmp_path / "table8.arrow", features=ruled.features, reading=ruled.as_json())
    convert(chunks, tmp_path / "silent.arrow", features=ruled.features)
    convert(chunks, tmp_path / "damaged.arrow", features=ruled.features, reading={"format": "vw"})
    return {path.name: str(path) for path in tmp_path.iterdir()}


@pytest.mark.parametrize("learned", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("name", ["table.csv", "table.tsv", "table.jsonl", "table.arrow", "table.parquet"])
def test_tables_with_the_same_columns(files: dict[str, str], learned: str, name: str) -> None:
    spec = replace(CSV, format=learned, dialect=Dialect() if learned == "csv" else None)
    found = compatibility.spec_for(spec, [files["empty.csv"], files[name]], "m")
    assert found.columns == CSV.columns
    assert sum(len(part.examples) for part in Stream([files[name]], found.reader())) == 3
    assert compatibility.spec_for(spec, [files["empty.csv"]], "m") is spec


def test_another_dialect_of_json_lines_does_not_exist(files: dict[str, str]) -> None:
    """A file of the model's own format which does not fit is left to the reader to complain of."""
    spec = replace(CSV, format="jsonl", dialect=None)
    Path(files["other.jsonl"]).write_text("no object\n")
    assert compatibility.spec_for(spec, [files["other.jsonl"]], "m") == spec


def test_a_key_that_is_missing(files: dict[str, str]) -> None:
    with pytest.raises(InputError, match=r"other\.jsonl: there is no column 'x' \(there are y, z\)"):
        compatibility.spec_for(CSV, [files["other.jsonl"]], "m")
    spec = replace(CSV, format="jsonl", dialect=None)
    assert compatibility.spec_for(spec, [files["other.jsonl"]], "m") is spec


def test_a_table_without_a_header(files: dict[str, str], tmp_path: Path) -> None:
    """It has as many columns; if not, the reader says which line is wrong."""
    columns = Columns((Column("1", "label"), Column("2", "number")))
    spec = InputSpec("csv", columns=columns, dialect=Dialect(header=False))
    path = tmp_path / "bare.csv"
    path.write_text("1,2\n3,4\n")
    assert compatibility.spec_for(spec, [str(path)], "m") is spec
    path.write_text("1\t2\n3\t4\n")
    assert compatibility.spec_for(spec, [str(path)], "m").dialect == Dialect(
        "\t", header=False, quoting=False
    )


def test_files_of_lines(files: dict[str, str]) -> None:
    for name in ("rows.vw", "bare"):
        assert compatibility.spec_for(VW, [files[name]], "m") is VW
    for name, found in {"table.csv": "csv", "rows.svm": "svmlight", "table.jsonl": "jsonl"}.items():
        with pytest.raises(InputError, match=f"is {found}, and m was trained on vw, .* give it vw files"):
            compatibility.spec_for(VW, [files[name]], "m")
    with pytest.raises(InputError, match=r"table\.arrow: is arrow, and m was trained on vw"):
        compatibility.spec_for(VW, [files["table.arrow"]], "m")
    with pytest.raises(InputError, match=r"is vw, and m was trained on csv.*a table with the same columns"):
        compatibility.spec_for(CSV, [files["rows.vw"]], "m")


def test_converted_files(files: dict[str, str]) -> None:
    converted = compatibility.spec_for(VW, [files["rows.arrow"]], "m")
    assert converted == InputSpec("arrow", 8, original=VW)
    assert compatibility.spec_for(converted, [files["rows.arrow"]], "m") is converted
    assert compatibility.spec_for(converted, [files["rows.vw"]], "m") == VW
    with pytest.raises(InputError, match=r"wide\.arrow: was converted with other `bits` .* \(9, not 8\)"):
        compatibility.spec_for(VW, [files["wide.arrow"]], "m")
    with pytest.raises(InputError, match=r"svm\.arrow: is converted svmlight, and m was trained on vw"):
        compatibility.spec_for(VW, [files["svm.arrow"]], "m")
    with pytest.raises(InputError, match=r"silent\.arrow: is arrow, and m was trained on vw"):
        compatibility.spec_for(VW, [files["silent.arrow"]], "m")
    with pytest.raises(InputError, match=r"damaged\.arrow: damaged: how rows are to be read makes"):
        compatibility.spec_for(VW, [files["damaged.arrow"]], "m")
    with pytest.raises(InputError, match=r"rows\.vw and .*rows\.arrow differ in format: give them to m one"):
        compatibility.spec_for(VW, [files["rows.vw"], files["rows.arrow"]], "m")
    sparse = InputSpec("arrow", 8)
    assert compatibility.spec_for(sparse, [files["silent.arrow"]], "m") is sparse
    with pytest.raises(InputError, match=r"is vw, and m was trained on sparse rows, .* give it such rows"):
        compatibility.spec_for(sparse, [files["rows.vw"]], "m")


def test_converted_tables(files: dict[str, str]) -> None:
    """Labels in the file are the numbers that were made of names."""
    spec = replace(CSV, bits=8, label_rule=two_classes("0", "1", 0.0, 1.0))
    found = compatibility.spec_for(spec, [files["table8.arrow"]], "m")
    assert found.label_rule == two_classes("-1", "1", 0.0, 1.0)
    other = replace(spec, label_rule=two_classes("1", "0"))
    with pytest.raises(InputError, match=r"was converted with other `labels` .* \(0, 1, not 1, 0\)"):
        compatibility.spec_for(other, [files["table8.arrow"]], "m")
    texts = Columns((Column("y", "label"), Column("x", "text")))
    texts_spec = replace(spec, columns=texts)
    with pytest.raises(InputError, match=r"with other columns .* \(x number, not x text\)"):
        compatibility.spec_for(texts_spec, [files["table8.arrow"]], "m")
    path = str(Path(files["table.csv"]).with_name("texts.arrow"))
    rows = list(Stream([files["table.csv"]], texts_spec.reader()))
    convert(rows, path, features=spec.features, reading=texts_spec.as_json())
    assert compatibility.spec_for(texts_spec, [path], "m").original == texts_spec
    with pytest.raises(InputError, match="was converted with other options of texts"):
        compatibility.spec_for(replace(texts_spec, text=TextOptions(2)), [path], "m")


def test_compact_json_lines_are_no_header(tmp_path: Path) -> None:
    """Read as CSV, their first line has fields that look like names: one line was then no row at all."""
    path = tmp_path / "rows.jsonl"
    for rows in (1, 2):
        path.write_text('{"id":1,"x":1}\n' * rows)
        found = compatibility.spec_for(CSV, [str(path)], "m")
        assert found.format == "jsonl"
        assert sum(len(part.examples) for part in Stream([path], found.reader())) == rows
