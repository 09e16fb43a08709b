"""Ordinary columns of Arrow tables: numbers and labels of every type, bad rows, tables that do not fit."""

import datetime
import decimal
import math
from typing import Any

import numpy as np
import pytest

from steelyard.io.errors import InputError
from steelyard.io.labels import LabelRule, classes, two_classes
from steelyard.io.stream import Stream
from tests.io.arrow_tables import BITS, ipc, pa, read, reader
from tests.support import tables

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
        "the label 'eggs' is neither ham nor spam; labels='a,b,c' names",
    ),
    ("y", pa.array([0, 2]), two_classes("0", "1"), "the label '2' is neither"),
    (
        "y",
        pa.array(["a", "eggs"]),
        classes(["a", "b", "c"]),
        "the label 'eggs' is none of the 3 classes a, b, c;",
    ),
    ("y", pa.array(["1", "eggs"]), None, "the label 'eggs' is not a number; labels='a,b,c'"),
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


def test_strings_that_are_not_utf8() -> None:
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
    )
    with pytest.raises(InputError, match=r"table: .*UTF8"):
        read(pa.table({"c": bad}), tables.columns(c="category"))
