"""Rows come back from a file as they went into it."""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper import typed_csv
from paper.study import Row

CELLS = st.text(st.characters(exclude_categories=["Cs"])) | st.integers() | st.floats() | st.booleans()
ROWS = st.lists(st.dictionaries(st.text("abc\n,\"' ", min_size=1), CELLS))


def same(one: object, other: object) -> bool:
    """NaN is itself here, and 1 is neither 1.0 nor True; −0.0 is not 0.0."""
    return type(one) is type(other) and repr(one) == repr(other)


@given(ROWS)
def test_rows_come_back(rows: list[Row]) -> None:
    text, kinds = typed_csv.format_rows(rows)
    back = typed_csv.parse_rows(text, kinds)
    assert len(back) == len(rows)
    for one, other in zip(rows, back, strict=True):
        assert one.keys() == other.keys()
        assert all(same(one[name], other[name]) for name in one)


def test_what_looks_like_something_else() -> None:
    rows: list[Row] = [
        {"x": "1", "y": ""},
        {"x": 1, "y": math.nan},
        {"x": 1.0, "z": "nan"},
        {"x": True, "z": "True"},
        {"x": -math.inf, "z": "\r\n"},
    ]
    text, kinds = typed_csv.format_rows(rows)
    assert kinds == {"x": "tifbf", "y": "tf---", "z": "--ttt"}
    assert repr(typed_csv.parse_rows(text, kinds)) == repr(rows)
    assert [row["x"] for row in csv.DictReader(io.StringIO(text, newline=""))] == [
        "1",
        "1",
        "1.0",
        "True",
        "-inf",
    ]


def test_numbers_of_numpy_are_pythons() -> None:
    text, kinds = typed_csv.format_rows([{"a": np.float32(0.1), "b": np.int64(3), "c": np.bool_(True)}])  # type: ignore[dict-item]
    assert typed_csv.parse_rows(text, kinds) == [{"a": float(np.float32(0.1)), "b": 3, "c": True}]
    assert kinds == {"a": "f", "b": "i", "c": "b"}


@pytest.mark.parametrize("cell", [None, [1], 1j])
def test_anything_else_is_refused(cell: object) -> None:
    with pytest.raises(TypeError, match="column 'odd'"):
        typed_csv.format_rows([{"odd": cell}])  # type: ignore[dict-item]


def test_letters_that_do_not_fit() -> None:
    text, kinds = typed_csv.format_rows([{"a": 1}, {"a": 2}])
    with pytest.raises(ValueError, match="the columns are"):
        typed_csv.parse_rows(text, {"b": "i"})
    with pytest.raises(ValueError, match="zip"):
        typed_csv.parse_rows(text, {"a": "iii"})
    with pytest.raises(ValueError, match="invalid literal"):
        typed_csv.parse_rows("a\nx\n2\n", kinds)
