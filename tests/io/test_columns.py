"""Columns: roles, what is refused, and the table that is printed."""

import json

import pytest

from steelyard.io.columns import Column, Columns, require
from steelyard.io.errors import InputError

COLUMNS = Columns((Column("y", "label", "by its name"), Column("title", "text"), Column("age", "number")))


def test_roles_and_names() -> None:
    assert COLUMNS.names == ("y", "title", "age")
    assert COLUMNS.with_role("text") == ("title",)
    assert COLUMNS.role("age") == "number"


def test_description_is_a_table() -> None:
    assert COLUMNS.describe().splitlines() == ["y      label     by its name", "title  text", "age    number"]
    assert Columns(()).describe() == ""


def test_columns_survive_json() -> None:
    assert Columns.from_json(json.loads(json.dumps(COLUMNS.as_json()))) == COLUMNS


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ((Column("a", "text"), Column("a", "number")), "2 columns are called 'a'"),
        ((Column("a", "label"), Column("b", "label")), "label: one column at most, not a, b"),
    ],
)
def test_what_cannot_be(columns: tuple[Column, ...], what: str) -> None:
    with pytest.raises(InputError, match=what):
        Columns(columns)


def test_a_role_that_is_none() -> None:
    with pytest.raises(ValueError, match="'txt' is none of label, weight"):
        Columns((Column("a", "txt"),))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("titel", r"there is no column 'titel'; did you mean 'title'\? \(there are y, title, age\)"),
        ("AGE", r"there is no column 'AGE'; did you mean 'age'\?"),
        ("zzz", r"there is no column 'zzz' \(there are"),
    ],
)
def test_an_unknown_name_is_refused_with_help(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        COLUMNS.role(name)


def test_where_a_name_was_wanted_is_said() -> None:
    with pytest.raises(InputError, match=r"^label: there is no column 'a'"):
        require(["a"], ["b"], "label")
