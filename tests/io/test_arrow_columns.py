"""Ordinary columns of Arrow tables against a plain twin: random tables, roles and options."""

import datetime
import decimal
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.features import Names
from steelyard.io.arrow_columns import ArrowColumns, head_labels, infer_columns
from steelyard.io.arrow_reader import ArrowReader, read_head
from steelyard.io.columns import ColumnOverrides, Columns
from steelyard.io.convert import convert
from steelyard.io.csv_reader import DelimitedReader
from steelyard.io.errors import InputError
from steelyard.io.input_spec import Dialect, InputSpec
from steelyard.io.labels import LabelRule, classes, two_classes
from steelyard.io.sources import open_source
from steelyard.io.stream import Stream
from steelyard.text.tokens import TextOptions
from tests import tables
from tests.io.chunks import rows_of, stream

pa = pytest.importorskip("pyarrow")
BITS = 12


def ipc(table: Any, rows_a_batch: int = 1 << 20) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows_a_batch)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def reader(
    columns: Columns, names: Names | None = None, crosses: tuple[str, ...] = (), **options: Any
) -> ArrowReader:
    spec = InputSpec("arrow", BITS, crosses, columns=columns, **options)
    return ArrowReader(1 << BITS, ArrowColumns(spec, names))


def read(
    table: Any,
    columns: Columns,
    *,
    names: bool = False,
    size: int = 1 << 21,
    threads: int = 1,
    **options: Any,
) -> tables.Read:
    kept = Names(1 << BITS) if names else None
    return tables.read(reader(columns, kept, **options), ipc(table), names=kept, size=size, threads=threads)


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


NUMBERS = [
    *(
        pa.array([1, None, 3], kind)
        for kind in (pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(9, 2))
    ),
    pa.array([1, None, 3]).dictionary_encode(),
    pa.array([" 1", "na", "3.0\t"]),
    pa.array(["1", None, "3"], pa.large_string()),
]


@pytest.mark.parametrize("array", NUMBERS, ids=lambda array: str(array.type))
@pytest.mark.parametrize("role", ["number", "base", "label"])
def test_numbers_of_every_type(array: Any, role: str) -> None:
    found = read(pa.table({"x": array}), tables.columns(x=role))
    seed = tables.murmur(b"x")
    if role == "number":
        missing = tables.murmur(b"missing", seed) % (1 << BITS)
        index = seed % (1 << BITS)
        assert found.rows == [{index: 1.0}, {missing: 1.0}, {index: 3.0}]
    elif role == "base":
        assert found.offsets == [1.0, 0.0, 3.0]
    else:
        assert str(found.labels) == "[1.0, nan, 3.0]"


def test_booleans_are_0_and_1() -> None:
    found = read(
        pa.table({"y": [True, False, None], "x": [True, False, True]}), tables.columns(y="label", x="number")
    )
    assert str(found.labels) == "[1.0, 0.0, nan]"
    assert [list(row.values()) for row in found.rows] == [[1.0], [0.0], [1.0]]
    assert found.sample_weight == [1.0, 1.0, 0.0]


def test_what_is_no_string_is_a_category_as_it_is_written() -> None:
    day, price = datetime.date(2024, 5, 1), decimal.Decimal("1.50")
    table = pa.table({"i": [7], "d": [day], "p": [price], "b": [True], "t": [3]})
    columns = tables.columns(i="category", d="category", p="category", b="category", t="tag")
    found = read(table, columns, names=True)
    assert set(found.names.values()) == {"i=7", "d=2024-05-01", "p=1.50", "b=true"}
    assert found.tags == ["3"]


LABELS = [
    (["ham", "spam", None, " spam "], two_classes("ham", "spam"), "[-1.0, 1.0, nan, 1.0]"),
    (["ham", "spam", "?", "eggs"], two_classes("*", "spam"), "[-1.0, 1.0, nan, -1.0]"),
    (["1", "", "NA", "-2.5e1"], None, "[1.0, nan, nan, -25.0]"),
    ([0, 1, None, 1], two_classes("0", "1"), "[-1.0, 1.0, nan, 1.0]"),
    ([True, False, None, True], two_classes("false", "true", 0.0, 1.0), "[1.0, 0.0, nan, 1.0]"),
    (["b", "c", "a", "NA"], classes(["a", "b", "c"]), "[1.0, 2.0, 0.0, nan]"),
    (["b", "x", "a", "NA"], classes(["*", "b", "a"]), "[1.0, 0.0, 2.0, nan]"),
    ([3, 1, 2, None], classes(["1", "2", "3"]), "[2.0, 0.0, 1.0, nan]"),
]


@pytest.mark.parametrize(("given_labels", "rule", "expected"), LABELS)
def test_labels(given_labels: list[Any], rule: LabelRule | None, expected: str) -> None:
    for array in (pa.array(given_labels), pa.array(given_labels).dictionary_encode()):
        found = read(pa.table({"y": array}), tables.columns(y="label"), label_rule=rule)
        assert str(found.labels) == expected
        assert found.skipped == 0


FAULTS = [
    (
        "y",
        pa.array(["ham", "eggs"]),
        two_classes("ham", "spam"),
        "the label 'eggs' is neither ham nor spam; --labels a,b,c names",
    ),
    ("y", pa.array([0, 2]), two_classes("0", "1"), "the label '2' is neither"),
    (
        "y",
        pa.array(["a", "eggs"]),
        classes(["a", "b", "c"]),
        "the label 'eggs' is none of the 3 classes a, b, c;",
    ),
    ("y", pa.array(["1", "eggs"]), None, "the label 'eggs' is not a number; --labels a,b,c"),
    ("y", pa.array(["1", "1e999"]), None, "the label '1e999' is not a number"),
    ("y", pa.array([1.0, math.inf]), None, "the label inf is not finite"),
    ("w", pa.array([1.0, None]), None, "the weight null or NaN: weights must be finite"),
    ("w", pa.array([1, -1]), None, "the weight -1.0: weights must be finite, 0 or more"),
    ("w", pa.array(["1", ""]), None, "the weight null or NaN"),
    ("b", pa.array([1.0, math.inf]), None, "the offset inf must be finite"),
    ("x", pa.array([1.0, -math.inf]), None, "column 'x': -inf is infinite, or so large"),
    ("x", pa.array([1.0, 1e30]), None, r"column 'x': 1e\+30 is infinite, or so large that its square"),
    ("x", pa.array(["1", "many"]), None, "column 'x': 'many' is not a number; is it a category or text?"),
]


@pytest.mark.parametrize(("name", "array", "rule", "message"), FAULTS)
def test_a_bad_row_is_named_and_can_be_skipped(
    name: str, array: Any, rule: LabelRule | None, message: str
) -> None:
    columns = tables.columns(y="label", w="weight", b="base", x="number", k="category")
    table = pa.table({"y": [0, 0], "w": [1, 1], "b": [0, 0], "x": [1, 2], "k": ["first", "second"]})
    table = table.set_column(table.schema.names.index(name), name, array)
    rows = pa.concat_tables([table.slice(0, 1), table])
    with pytest.raises(InputError, match=rf"table, row 3: {message}"):
        list(Stream([tables.written(ipc(rows))], reader(columns, label_rule=rule)))
    found = read(rows, columns, label_rule=rule)
    assert [line for line, _ in found.problems] == [3]
    assert found.skipped == 1
    assert found.rows == read(rows.slice(0, 2), columns, label_rule=rule).rows


def test_all_rows_may_be_bad() -> None:
    found = read(pa.table({"x": [math.inf], "c": ["red"]}), tables.columns(x="number", c="category"))
    assert (found.rows, found.skipped) == ([], 1)


REFUSED = [
    (pa.table({"y": [1.0]}), "there is no column 'x'"),
    (pa.table([[1.0], [1.0]], ["x", "x"]), "two columns are called 'x'"),
    (
        pa.table({"x": [datetime.date(2024, 5, 1)]}),
        "'x' holds date32.* make a number of it first, or a category",
    ),
    (pa.table({"x": [[1.0]]}), "column 'x' holds list<.*>, which is not a number; ignore it"),
    (pa.table({"x": [1.0], "y": [[1.0]]}), "the labels are list<.*>; they must be numbers or the names"),
]


@pytest.mark.parametrize(("table", "message"), REFUSED)
def test_tables_that_do_not_fit(table: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"table: .*{message}"):
        read(table, tables.columns(x="number", y="label"))


def test_ready_made_and_ordinary_tables_are_told_apart(tmp_path: Path) -> None:
    columns = tables.columns(x="number")
    with pytest.raises(InputError, match="has no lists 'indices' and 'values' but ordinary columns"):
        list(stream(tables.written(ipc(pa.table({"x": [1.0]})))))
    table = pa.table({"indices": [[5]], "values": [[2.0]]})
    assert read(table, columns).rows == [{5: 2.0}]
    with pytest.raises(InputError, match="interactions: there is no column 'u'"):
        reader(columns, crosses=("u*x",))


def test_strings_that_are_not_utf8() -> None:
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
    )
    with pytest.raises(InputError, match=r"table: .*UTF8"):
        read(pa.table({"c": bad}), tables.columns(c="category"))


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
