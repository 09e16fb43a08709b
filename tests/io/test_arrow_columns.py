"""Ordinary columns of Arrow tables against a plain twin: random tables, roles and options."""

import datetime
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.features import Names
from steelyard.io.arrow_columns import head_labels, infer_columns
from steelyard.io.arrow_reader import read_head
from steelyard.io.columns import ColumnOverrides
from steelyard.io.convert import convert
from steelyard.io.csv_reader import DelimitedReader
from steelyard.io.errors import InputError
from steelyard.io.input_spec import Dialect, InputSpec
from steelyard.io.labels import two_classes
from steelyard.io.sources import open_source
from steelyard.io.stream import Stream
from steelyard.text.tokens import TextOptions
from tests.io.arrow_tables import BITS, ipc, pa, read, reader
from tests.io.chunks import rows_of, stream
from tests.support import tables


def written(cell: Any) -> Any:
    """As the twin takes it: what is missing is None; numbers as Python writes them are exact."""
    return None if cell is None or cell != cell else cell


ROLES = tables.columns(
    y="label", w="weight", b="base", t="tag", s="text", c="category", d="category", x="number", z="number",
    o="ignore",
)  # fmt: skip
words = st.text(st.sampled_from("ab 1É\t=^"), max_size=8)
cells = st.fixed_dictionaries(
    {
        "y": st.none() | st.sampled_from([1.0, -1.0, 0.25]),
        "w": st.floats(0.0, 100.0),
        "b": st.none() | st.floats(-5.0, 5.0),
        "t": st.none() | st.text(st.sampled_from("abÉ"), max_size=3),
        "s": st.none() | words,
        "c": st.none() | words,
        "d": st.none() | st.booleans(),
        "x": st.none() | st.floats(-1e6, 1e6, width=32) | st.just(math.nan),
        "z": st.none() | st.integers(-1000, 1000),
        "o": st.none() | words,
    }
)


@settings(deadline=None, max_examples=60)
@given(
    records=st.lists(cells, min_size=1, max_size=12),
    options=st.sampled_from(
        [
            TextOptions(),
            TextOptions(2, (2, 3), "binary"),
            TextOptions(1, None, "sublinear"),
            TextOptions(2, None, "counts"),
        ]
    ),
    size=st.sampled_from([1, 100, 1 << 20]),
    threads=st.sampled_from([1, 2, 4]),
    large=st.booleans(),
)
def test_random_tables(
    records: list[dict[str, Any]], options: TextOptions, size: int, threads: int, large: bool
) -> None:
    string = pa.large_string() if large else pa.string()
    types = {
        "y": pa.float64(), "w": pa.float64(), "b": pa.float64(), "t": string, "s": string,
        "c": pa.dictionary(pa.int32(), pa.string()) if large else string, "d": pa.bool_(), "x": pa.float32(),
        "z": pa.int16(), "o": string,
    }  # fmt: skip
    arrays = [
        pa.array([row[name] for row in records], kind, from_pandas=False) for name, kind in types.items()
    ]
    table = pa.table(arrays, list(types))
    found = read(table, ROLES, names=True, size=size, threads=threads, text=options)
    expected = [
        tables.row({name: written(cell) for name, cell in row.items()}, ROLES, options) for row in records
    ]
    tables.agree(found, expected, BITS)


def test_threads_and_block_sizes_change_nothing() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["red", "green", "blue", "7"], 4)) for _ in range(500)]
    table = pa.table({"y": rng.choice([0.0, 1.0], 500), "s": texts, "c": texts, "x": rng.normal(size=500)})
    columns = tables.columns(y="label", s="text", c="category", x="number")
    crosses = ("s*x", "c*s")
    bits = {
        read(table, columns, names=True, size=size, threads=threads, crosses=crosses).bits
        for size in (1, 1000, 1 << 21)
        for threads in (1, 2, 4)
    }
    assert len(bits) == 1


def test_a_table_is_the_same_from_text_and_from_arrow() -> None:
    table = pa.table(
        {"y": [1, 0, 1], "x": [0.1, None, 1e10], "c": ["red", "", "17"], "s": ["a b", "b b", ""]}
    )
    text = b"y,x,c,s\n1,0.1,red,a b\n0,,,b b\n1,1e10,17,\n"
    columns = tables.columns(y="label", x="number", c="category", s="text")
    spec = InputSpec("csv", BITS, ("x*c",), columns=columns, dialect=Dialect())
    theirs = tables.read(DelimitedReader(spec), text)
    assert read(table, columns, crosses=("x*c",)).bits == theirs.bits


def test_ready_made_and_ordinary_tables_are_told_apart(tmp_path: Path) -> None:
    columns = tables.columns(x="number")
    with pytest.raises(InputError, match="has no lists 'indices' and 'values' but ordinary columns"):
        list(stream(tables.written(ipc(pa.table({"x": [1.0]})))))
    table = pa.table({"indices": [[5]], "values": [[2.0]]})
    assert read(table, columns).rows == [{5: 2.0}]
    with pytest.raises(InputError, match="interactions: there is no column 'u'"):
        reader(columns, crosses=("u*x",))


def test_unknown_columns_are_mentioned() -> None:
    found = read(pa.table({"x": [1.0], "new": [1]}), tables.columns(x="number"))
    assert found.remarks == {"unknown columns are ignored: new"}


def test_no_text_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    class Narrow:
        max = 10

    monkeypatch.setattr(np, "iinfo", lambda _: Narrow)
    for table in ({"c": ["x" * 11]}, {"c": ["x" * 6], "d": ["x" * 6]}):
        with pytest.raises(InputError, match="one chunk has more than 2 GB of text"):
            read(pa.table(table), tables.columns(**dict.fromkeys(table, "category")))


def test_guessing(tmp_path: Path) -> None:
    count = 40
    table = pa.table(
        {
            "id": [f"row-{k}" for k in range(count)],
            "when": [datetime.datetime(2024, 5, 1)] * count,
            "price": [1.5, math.nan] * (count // 2),
            "colour": pa.array(["red", "blue", "green", None] * (count // 4)).dictionary_encode(),
            "review": ["some words, " + "different ones " * (k % 7) for k in range(count)],
            "list": [[1]] * count,
            "bytes": [b"\xff"] * count,
            "sold": [True, False] * (count // 2),
            "told": [datetime.date(2024, 5, 1)] * count,
        }
    )
    path = tmp_path / "table.parquet"
    pa.parquet.write_table(table, path, row_group_size=7)
    rows = first_rows(path)
    assert rows.num_rows == count
    columns = infer_columns(rows, ColumnOverrides(category=("told",)))
    found = {column.name: column.role for column in columns.columns}
    assert found == {
        "id": "tag", "when": "ignore", "price": "number", "colour": "category", "review": "text",
        "list": "ignore", "bytes": "ignore", "sold": "label", "told": "category",
    }  # fmt: skip
    assert [column.why for column in columns.columns if column.name in ("when", "bytes")] == [
        "a date or time",
        "holds binary",
    ]
    assert head_labels(rows, columns) == ["false", "true"]
    rule = two_classes("false", "true")
    assert sum(len(part.examples) for part in Stream([path], reader(columns, label_rule=rule))) == count
    pa.parquet.write_table(table.slice(0, 0), path)
    with pytest.raises(InputError, match="has no rows"):
        first_rows(path)
    pa.parquet.write_table(pa.concat_tables([table] * 30), path)
    assert first_rows(path).num_rows == 1000


def test_ordinary_columns_converted(tmp_path: Path) -> None:
    table = pa.table({"y": [1.0, -1.0], "c": ["red", "blue"], "t": ["first", None]})
    columns = tables.columns(y="label", c="category", t="tag")
    names = Names(1 << BITS)
    path = tmp_path / "rows.arrow"
    chunks = Stream([tables.written(ipc(table))], reader(columns, names), names=names)
    convert(chunks, path, features=1 << BITS, names=names, reading=columns.as_json())
    again = Names(1 << BITS)
    (rows, _) = stream(path, features=1 << BITS, names=again)
    assert again.arrays()["names_text"].tobytes() == b"c=redc=blue"
    assert [row.tag for row in rows_of([rows])] == [b"first", b""]


def first_rows(path: Path) -> Any:
    with open_source(str(path)) as source:
        return read_head(source)
