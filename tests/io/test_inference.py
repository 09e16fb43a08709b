"""A first look: the labels of the first rows, and that it takes nothing away."""

import io
import json
import sys
from pathlib import Path

import pytest

from steelyard.features.tokens import TextOptions
from steelyard.io import inference, input_spec
from steelyard.io.column_roles import ColumnOverrides
from steelyard.io.columns import Column, Columns
from steelyard.io.dialects import Dialect
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import LabelRule
from steelyard.io.stream import Stream

VW, SVMLIGHT = InputSpec("vw", bits=8), InputSpec("svmlight", bits=8)


def labels(folder: Path, text: bytes, how: InputSpec = VW) -> list[str]:
    path = folder / "text"
    path.write_bytes(text)
    found, labels = inference.look(str(path), how)
    assert found is how
    return labels


def test_labels_of_the_first_rows(tmp_path: Path) -> None:
    assert labels(tmp_path, b"2 |a\n-1 |a\n|a\n2.0 |b\n0.5 |a") == ["-1", "0.5", "2"]
    assert labels(tmp_path, b"1 1:1\n# no\n7 2:2", SVMLIGHT) == ["1", "7"]
    assert labels(tmp_path, b"1234567 |a\n1234568 |a\n") == ["1234567", "1234568"]
    assert labels(tmp_path, b"\xef\xbb\xbf3 |a\n") == ["3"]
    assert labels(tmp_path, b"\xef\xbb\xbf3 |a") == ["3"]


def test_no_further_than_a_thousand_rows_and_a_megabyte(tmp_path: Path) -> None:
    assert labels(tmp_path, b"1 |a\n" * inference.HEAD_ROWS + b"5 |a\n") == ["1"]
    long = b"1 |a " + b"b" * 1500 + b"\n"
    assert labels(tmp_path, long * 700 + b"5 |a\n") == ["1"]
    assert labels(tmp_path, b"1 |" + b"a" * (inference.HEAD_BYTES + 9) + b"\n5 |a\n") == []


@pytest.mark.parametrize("text", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_nothing_there(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(InputError, match="text: is empty"):
        labels(tmp_path, text)


def test_standard_input_is_looked_at_and_then_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"1 |a b\n-1 |a c\n" * 60_000
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert inference.format_of(["-"]) == "vw"
    assert inference.look("-", VW) == (VW, ["-1", "1"])
    stream = Stream(["-"], VW.reader(), block_size=1 << 16)
    assert sum(len(parsed.examples) for parsed in stream) == 120_000


def test_an_empty_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InputError, match=r"^standard input: is empty"):
        inference.look("-", VW)


def test_a_table_on_standard_input_loses_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"label,x\n" + b"1,2\n0,3\n" * 100
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert inference.format_of(["-"]) == "csv"
    found, labels = inference.look("-", InputSpec("csv", bits=8))
    assert labels == ["0", "1"]
    stream = Stream(["-"], found.reader())
    assert sum(len(parsed.examples) for parsed in stream) == 200


def test_a_table_without_a_label(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text('{"x": 1.5, "z": 2.5}\n{"x": 2.25, "z": 3.75}\n{"x": 3.5, "z": 1.25}\n')
    with pytest.raises(InputError, match=r"which column is the label\? Say --label NAME; there are x, z"):
        inference.look(str(path), InputSpec("jsonl"), inference.Layout(ColumnOverrides(number=("x", "z"))))


READINGS = [
    VW,
    InputSpec("vw", 12, ("a*b", "a*a"), LabelRule("0", "1"), "float64"),
    InputSpec("svmlight", label_rule=LabelRule("*", "2", 0.0, 1.0), propensities=True),
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
