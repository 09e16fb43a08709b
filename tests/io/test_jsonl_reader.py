"""JSON lines through the stream: the guess, labels, threads."""

import json

import pytest

from steelyard.io import jsonl_reader
from steelyard.io.column_inference import HEAD_BYTES
from steelyard.io.columns import ColumnOverrides
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.jsonl_reader import JsonReader
from steelyard.io.sources import open_source
from tests.support import tables

OBJECTS = [
    {
        "label": ["ham", "spam"][k % 2],
        "text": f"this is message number {k}",
        "price": 0.5 * k,
        "late": k % 3 == 0,
        "words": {"a": k},
        "tags": ["new"] if k % 2 else [],
        "vector": [1, k],
        **({"note": "yes"} if k == 7 else {}),
    }
    for k in range(31)
]
TEXT = "".join(json.dumps(one) + "\n" for one in OBJECTS).encode()


def test_the_guess() -> None:
    with open_source(str(tables.written(b"\xef\xbb\xbf" + TEXT + b"no object\n7\n"))) as source:
        assert jsonl_reader.infer_columns(source).role("vector") == "number"
        columns = jsonl_reader.infer_columns(source, ColumnOverrides(ignore=("vector",)))
        assert jsonl_reader.head_labels(source, columns) == ["ham", "spam"]
    assert {column.name: column.role for column in columns.columns} == {
        "label": "label",
        "text": "text",
        "price": "number",
        "late": "category",
        "words": "number",
        "tags": "category",
        "vector": "ignore",
        "note": "category",
    }
    assert "lists of strings" in columns.describe()


def test_labels_as_they_stand() -> None:
    values = ["1.0", "1e-5", "0.00001", "true", '" a "', "null", "NaN", '""', "[1]"]
    text = "".join(f'{{"y": {value}}}\n' for value in values).encode() + b"{}"
    with open_source(str(tables.written(text))) as source:
        assert jsonl_reader.head_labels(source, tables.columns(y="label")) == [
            "0.00001",
            "1.0",
            "1e-5",
            "a",
            "true",
        ]


def test_no_object_no_table() -> None:
    with (
        open_source(str(tables.written(b"[1]\n"))) as source,
        pytest.raises(InputError, match="no JSON object"),
    ):
        jsonl_reader.infer_columns(source)


def test_a_long_file_is_looked_at_in_whole_lines() -> None:
    line = json.dumps({"x": "a" * (HEAD_BYTES // 3)}).encode() + b"\n"
    with open_source(str(tables.written(line * 4))) as source:
        assert len(list(jsonl_reader.head_objects(source))) == 2


def test_what_nests_without_end_is_a_problem_and_no_crash() -> None:
    text = b'{"x": ' + b"[" * 100_000 + b"\n" + TEXT
    with open_source(str(tables.written(text))) as source:
        columns = jsonl_reader.infer_columns(source)
    read = tables.read(JsonReader(InputSpec("jsonl", columns=columns)), text)
    assert read.problems[0][0] == 1


@pytest.mark.parametrize("size", [1, 20, 50])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_blocks_and_threads_change_nothing(size: int, threads: int) -> None:
    columns = tables.columns(text="text", price="label", words="number", tags="category", vector="number")
    reader = JsonReader(InputSpec("jsonl", columns=columns))
    found = tables.read(reader, TEXT)
    assert tables.read(reader, TEXT, size=size, threads=threads) == found
    assert len(found.rows) == len(OBJECTS)


def test_nothing_is_read_as_no_rows() -> None:
    reader = JsonReader(InputSpec("jsonl", columns=tables.columns(x="number")))
    assert len(reader.parse(reader.nothing()).examples) == 0


def test_objects_without_columns_become_rows() -> None:
    row = jsonl_reader.hash_object({"text": "a b a", "n": -2, "no": False, "none": None}, 18)
    assert sorted(row.values.tolist()) == [-2.0, 1.0, 2.0]
    assert row.features == 1 << 18
    assert jsonl_reader.hash_object({"x": 1, "y": 2}, 1).values.sum() == 3.0  # colliding features are added
    for value in (float("nan"), 1e18, {"a": 1}):
        with pytest.raises(InputError, match="a value is a number"):
            jsonl_reader.hash_object({"a": value}, 18)
    with pytest.raises(InputError, match=r"an example is an object of names and values, not \[1\]"):
        jsonl_reader.hash_object([1], 18)


def test_the_first_thousand_lines_are_looked_at_however_they_are_peeked() -> None:
    lines = [json.dumps({"n": n, "x": "a" * 90}).encode() for n in range(1100)]
    with open_source(str(tables.written(b"\xef\xbb\xbf" + b"\n".join(lines)))) as source:
        assert [int(found["n"]) for found in jsonl_reader.head_objects(source)] == list(range(1000))
