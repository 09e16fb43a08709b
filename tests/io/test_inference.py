"""A first look: the labels of the first rows, and that it takes nothing away."""

import csv
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from steelyard.io import convert, inference, input_spec
from steelyard.io.columns import Column, ColumnOverrides, Columns
from steelyard.io.errors import InputError
from steelyard.io.formats import TableOverrides, vw_svmlight
from steelyard.io.input_spec import Dialect, InputSpec
from steelyard.io.labels import classes, two_classes
from steelyard.io.stream import Stream
from steelyard.text.tokens import TextOptions
from tests.io.inferring import format_of, look

CSV = InputSpec(
    "csv", bits=8, columns=Columns((Column("y", "label"), Column("t", "text"))), dialect=Dialect()
)
VW, SVMLIGHT = InputSpec("vw", bits=8), InputSpec("svmlight", bits=8)


def labels(folder: Path, text: bytes, how: InputSpec = VW) -> list[str]:
    path = folder / "text"
    path.write_bytes(text)
    found, labels = look(str(path), how)
    assert found == how
    return labels


def test_labels_of_the_first_rows(tmp_path: Path) -> None:
    assert labels(tmp_path, b"2 |a\n-1 |a\n|a\n2.0 |b\n0.5 |a") == ["-1", "0.5", "2"]
    assert labels(tmp_path, b"1 1:1\n# no\n7 2:2", SVMLIGHT) == ["1", "7"]
    assert labels(tmp_path, b"1234567 |a\n1234568 |a\n") == ["1234567", "1234568"]
    assert labels(tmp_path, b"\xef\xbb\xbf3 |a\n") == ["3"]
    assert labels(tmp_path, b"\xef\xbb\xbf3 |a") == ["3"]


def test_no_further_than_a_thousand_rows_and_a_megabyte(tmp_path: Path) -> None:
    assert labels(tmp_path, b"1 |a\n" * vw_svmlight.HEAD_ROWS + b"5 |a\n") == ["1"]
    long = b"1 |a " + b"b" * 1500 + b"\n"
    assert labels(tmp_path, long * 700 + b"5 |a\n") == ["1"]
    assert labels(tmp_path, b"1 |" + b"a" * (vw_svmlight.HEAD_BYTES + 9) + b"\n5 |a\n") == []


@pytest.mark.parametrize("text", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_nothing_there(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(InputError, match="text: is empty"):
        labels(tmp_path, text)


def test_standard_input_is_looked_at_and_then_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"1 |a b\n-1 |a c\n" * 60_000
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert format_of(["-"]) == "vw"
    assert look("-", VW) == (VW, ["-1", "1"])
    stream = Stream(["-"], VW.reader(), block_size=1 << 16)
    assert sum(len(parsed.examples) for parsed in stream) == 120_000


def test_an_empty_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InputError, match=r"^standard input: is empty"):
        look("-", VW)


def test_a_table_on_standard_input_loses_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"label,x\n" + b"1,2\n0,3\n" * 100
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert format_of(["-"]) == "csv"
    found, labels = look("-", InputSpec("csv", bits=8))
    assert labels == ["0", "1"]
    stream = Stream(["-"], found.reader())
    assert sum(len(parsed.examples) for parsed in stream) == 200


def test_a_table_without_a_label(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text('{"x": 1.5, "z": 2.5}\n{"x": 2.25, "z": 3.75}\n{"x": 3.5, "z": 1.25}\n')
    with pytest.raises(InputError, match=r"Which column should be predicted\? Use label='NAME'; .*are x, z"):
        look(str(path), InputSpec("jsonl"), TableOverrides(ColumnOverrides(number=("x", "z"))))


READINGS = [
    VW,
    InputSpec("vw", 12, ("a*b", "a*a"), two_classes("0", "1"), "float64"),
    InputSpec("vw", label_rule=classes(["1", "2", "3"])),
    InputSpec("svmlight", label_rule=two_classes("*", "2", 0.0, 1.0), propensities=True),
    InputSpec(
        "csv",
        columns=Columns((Column("y", "label"), Column("x", "number"))),
        dialect=Dialect(),
        text=TextOptions(0, (3, 5), "binary"),
    ),
    InputSpec("jsonl", columns=Columns((Column("y", "label"), Column("x", "text")))),
]


@pytest.mark.parametrize("how", READINGS, ids=[how.format for how in READINGS])
def test_a_reading_survives_json(how: InputSpec) -> None:
    again = input_spec.from_json(json.loads(json.dumps(how.as_json())))
    assert again == how
    assert type(again.reader()) is type(how.reader())
    assert again.features == 1 << how.bits


MANY = [*"aaab" * 700, "c", "", "NA", 'q"d', "b"]  # c is rare, and behind the first thousand rows


def table_of(folder: Path, suffix: str, column: Sequence[object]) -> Path:
    path = folder / f"table.{suffix}"
    if suffix == "csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([("y", "t"), *((cell, "some text") for cell in column)])
    elif suffix == "jsonl":
        path.write_text("".join(json.dumps({"y": cell, "t": "some text"}) + "\n" for cell in column))
    else:
        table = pa.table({"y": pa.array(column), "t": ["some text"] * len(column)})
        if suffix == "parquet":
            pa.parquet.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
    return path


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "arrow", "parquet"])
def test_labels_of_the_whole_table(tmp_path: Path, suffix: str) -> None:
    path = str(table_of(tmp_path, suffix, MANY))
    spec, head = look(path, InputSpec(suffix, bits=8), label("y"))
    assert head == ["a", "b"]
    assert inference.distinct_labels([path], spec, 4) == ["a", "b", "c", 'q"d']
    with pytest.raises(InputError, match=r"more than 3 different labels in the column 'y' \(a, b, c, q"):
        inference.distinct_labels([path], spec, 3)


@pytest.mark.parametrize("suffix", ["jsonl", "arrow", "parquet"])
def test_labels_that_are_typed(tmp_path: Path, suffix: str) -> None:
    path = str(table_of(tmp_path, suffix, [3, 1, 2, None, 3]))
    spec, head = look(path, InputSpec(suffix, bits=8), label("y"))
    assert inference.distinct_labels([path], spec, 3) == head == ["1", "2", "3"]
    path = str(table_of(tmp_path, suffix, [True, False, True, None]))
    assert inference.distinct_labels([path], spec, 3) == ["false", "true"]


def test_labels_of_whole_files_of_lines(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("a", "b")]
    for path, last in zip(paths, (b"2.50 |a\n", b"-7 |a\nwrong\n|a"), strict=True):
        Path(path).write_bytes(b"1 |a\n" * 3 * vw_svmlight.HEAD_ROWS + last)
    assert inference.distinct_labels(paths, VW, 3) == ["-7", "1", "2.5"]
    with pytest.raises(InputError, match=r"b: there are more than 2 different labels \(-7, 1, 2.5, …\)"):
        inference.distinct_labels(paths, VW, 2)
    Path(paths[0]).write_bytes(b"1 1:1\n" * 3 * vw_svmlight.HEAD_ROWS + b"3 1:1\n")
    assert inference.distinct_labels(paths[:1], SVMLIGHT, 3) == ["1", "3"]


def test_labels_of_converted_rows(tmp_path: Path) -> None:
    source, path = tmp_path / "rows.vw", tmp_path / "rows.arrow"
    source.write_bytes(b"1 |a b\n" * 2000 + b"3 |a\n|a\n")
    convert.convert(list(Stream([source], VW.reader())), path, features=VW.features)
    spec, head = look(str(path), InputSpec("arrow"))
    assert (spec.columns, spec.bits, head) == (None, 8, ["1"])
    assert inference.distinct_labels([str(path)], spec, 3) == ["1", "3"]


def test_sparse_rows_of_another_program_have_no_header(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    columns = {"label": [1.0, -1.0], "indices": [[1, 2], [3]], "values": [[0.5, 1.0], [2.0]]}
    pa.parquet.write_table(pa.table(columns), path)
    assert look(str(path), InputSpec("parquet", 12)) == (InputSpec("parquet", 12), ["-1", "1"])


def test_converted_classes_stay_classes(tmp_path: Path) -> None:
    path = tmp_path / "rows.arrow"
    rows = list(Stream([table_of(tmp_path, "csv", "abc")], replace(CSV, label_rule=classes("abc")).reader()))
    original = replace(CSV, label_rule=classes("abc")).as_json()
    convert.convert(rows, path, features=CSV.features, reading=original)
    spec, head = look(str(path), InputSpec("arrow"))
    assert (spec.label_rule, head) == (classes("012"), ["0", "1", "2"])


def test_labels_of_a_pipe_are_those_of_its_head(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"1 |a\n0 |a\n" * vw_svmlight.HEAD_ROWS + b"5 |a\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert inference.distinct_labels(["-"], VW, 3) == ["0", "1"]
    assert sum(len(parsed.examples) for parsed in Stream(["-"], VW.reader())) == 2 * vw_svmlight.HEAD_ROWS + 1


def test_labels_of_several_files_where_one_has_no_label_column(tmp_path: Path) -> None:
    """Files may lack the label, as those to be predicted do."""
    first = str(table_of(tmp_path, "parquet", ["a", "b"]))
    spec, _ = look(first, InputSpec("parquet", bits=8), label("y"))
    second = tmp_path / "second.arrow"
    with pa.ipc.new_file(second, pa.schema({"t": pa.string()})) as writer:
        writer.write_table(pa.table({"t": ["text"]}))
    assert inference.distinct_labels([first, str(second)], spec, 3) == ["a", "b"]


def label(name: str) -> TableOverrides:
    return TableOverrides(ColumnOverrides(label=name))
