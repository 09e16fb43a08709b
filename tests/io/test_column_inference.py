"""The guess of columns: rule by rule, and on every table of the data folder."""

import pytest

from steelyard.io import column_inference, csv_reader
from steelyard.io.column_inference import infer_roles
from steelyard.io.columns import ColumnOverrides
from steelyard.io.csv_reader import infer_dialect
from steelyard.io.errors import InputError
from steelyard.io.sources import open_source
from tests.support.vw_text import data_file

N = 40
PLAIN = [str(0.5 * (k % 7)) for k in range(N)]


def role(name: str, values: list[str | None], **others: list[str | None]) -> str:
    """The role of a column in a table with a label of its own."""
    columns: dict[str, list[str | None]] = {"label": [str(k % 3) for k in range(N)], name: values, **others}
    return infer_roles(list(columns), list(zip(*columns.values(), strict=True))).role(name)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("weight", PLAIN, "weight"),
        ("Sample Weight", PLAIN, "weight"),
        ("weight", [str(k - 5) for k in range(N)], "number"),  # some are negative
        ("base", PLAIN, "base"),
        ("id", [str(7 * k) for k in range(N)], "tag"),
        ("id", [str(k % 5) for k in range(N)], "category"),  # codes
        ("zip_code", [str(k % 5) for k in range(N)], "category"),
        ("itemId", [str(k % 5) for k in range(N)], "category"),
        ("user_id", [str(7 * k) for k in range(N)], "ignore"),
        ("humid", [str(k % 5) for k in range(N)], "number"),
        ("price", PLAIN, "number"),
        ("price", [*PLAIN[:-3], "NA", "", None], "number"),
        ("price", ["1"] * N, "number"),  # constant so far
        ("anything", [str(k) for k in range(N)], "ignore"),  # counts the rows
        ("anything", [str(k + 2) for k in range(N)], "number"),
        ("empty", [""] * N, "ignore"),
        ("empty", [None] * N, "ignore"),
        ("when", [f"2024-01-{k % 28 + 1:02}" for k in range(N)], "ignore"),
        ("when", [f"{k % 28 + 1}/12/2024" for k in range(N)], "ignore"),
        ("timestamp", [str(1700000000 + 60 * k) for k in range(N)], "ignore"),
        ("propensity_score", PLAIN, "ignore"),
        ("key of it", [f"a{k:031x}" for k in range(N)], "ignore"),
        ("key of it", [f"a{k % 4:031x}" for k in range(N)], "category"),
        ("colour", ["red", "green", "blue", "red"] * 10, "category"),
        ("remarks", [f"this is remark number {k}" for k in range(N)], "text"),
        ("kind", ["one of a few long values", "another of them"] * 20, "category"),
        ("title", ["so", "few", "of", "them"] * 10, "text"),
        ("address", [f"https://example.org/{k}/page" for k in range(N)], "text"),
        ("surname", [f"name{k}" for k in range(N)], "category"),
    ],
)
def test_a_column_gets_its_role(name: str, values: list[str | None], expected: str) -> None:
    assert role(name, values) == expected


def test_only_one_column_is_the_tag() -> None:
    assert role("uuid", [f"a{k:031x}" for k in range(N)], id=[str(3 * k) for k in range(N)]) == "ignore"


@pytest.mark.parametrize(
    ("columns", "label"),
    [
        ({"x": PLAIN, "target": PLAIN, "z": ["0", "1"] * 20}, "target"),
        ({"class": ["a", "b"] * 20, "y": PLAIN}, "y"),  # in the order of names
        ({"a": ["0", "1"] * 20, "x": PLAIN, "b": ["2", "3"] * 20}, "b"),
        ({"a": ["0", "1"] * 20, "b": ["2", "3"] * 20, "x": PLAIN}, "a"),
        ({"id": ["0", "1"] * 20, "b": ["2", "3"] * 20, "x": PLAIN}, "b"),
        ({"x": PLAIN, "b": ["2", "3"] * 20, "z": PLAIN}, None),  # a guess would be as good as any other
        ({"x": PLAIN, "title": ["some text or other"] * N}, "x"),
        ({"x": PLAIN, "z": PLAIN, "title": ["some text or other"] * N}, None),
        ({"title": ["some text or other"] * N}, None),
    ],
)
def test_the_label_is_found(columns: dict[str, list[str]], label: str | None) -> None:
    found = infer_roles(list(columns), list(zip(*columns.values(), strict=True)))
    assert found.with_role("label") == (() if label is None else (label,))


def test_what_is_told_goes_first() -> None:
    told = ColumnOverrides(
        label="b", weight="x", base="c", tag="d", text=("t",), category=("k",), number=("n",), ignore=("i",)
    )
    names = ["label", "x", "b", "c", "d", "t", "k", "n", "i"]
    found = infer_roles(names, [["1"] * len(names)] * 3, told)
    assert [column.role for column in found.columns] == [
        "number", "weight", "label", "base", "tag", "text", "category", "number", "ignore",
    ]  # fmt: skip
    assert found.columns[2].why == "as given"


def test_a_column_cannot_be_two_things() -> None:
    with pytest.raises(InputError, match="column 'a' cannot be both label and text"):
        infer_roles(["a"], [], ColumnOverrides(label="a", text=("a",)))


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(InputError, match="category: there is no column 'colour'; did you mean 'color'"):
        infer_roles(["color"], [], ColumnOverrides(category=("colour",)))


def test_long_values_are_shortened() -> None:
    assert column_inference.shorten("a" * 31) == "a" * 29 + "…"


TABLES = {
    "enron-spam.tsv.xz": {"label": "label", "date": "ignore", "text": "text"},
    "arxiv-astro.tsv.xz": {"label": "label", "title": "text", "abstract": "text"},
    "url-spam.tsv.xz": {"label": "label", "kind": "category", "url": "text"},
    "sms-spam.tsv.xz": {"label": "label", "text": "text"},
    "newsgroups.tsv.xz": {"split": "category", "group": "label", "text": "text"},
    "adult.data.gz": {"1": "number", "3": "weight", "4": "category", "11": "number", "15": "label"},
    "census-income.gz": {"1": "number", "2": "category", "25": "weight", "42": "label"},
    "credit-costs.csv.gz": {"id": "tag", "SeriousDlqin2yrs": "label", "MonthlyIncome": "number"},
    "open-bandit/random_men.csv.gz": {
        "1": "ignore", "timestamp": "ignore", "item_id": "category", "position": "number", "click": "label",
        "propensity_score": "ignore", "user_feature_0": "category", "user-item_affinity_0": "number",
    },
}  # fmt: skip
TOLD = {"newsgroups.tsv.xz": ColumnOverrides(label="group")} | {
    "adult.data.gz": ColumnOverrides(weight="3"),
    "census-income.gz": ColumnOverrides(weight="25"),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_guess_on_real_tables(name: str) -> None:
    with open_source(str(data_file(name))) as source:
        columns = csv_reader.infer_columns(source, infer_dialect(source), TOLD.get(name))
    assert {column: columns.role(column) for column in TABLES[name]} == TABLES[name]
    assert len(columns.describe().splitlines()) == len(columns.names)


def test_a_typing_error_among_numbers() -> None:
    values = [str(k) for k in range(100)]
    values[50] = "5o"
    found = infer_roles(["label", "x"], [[str(k % 2), value] for k, value in enumerate(values)])
    assert found.role("x") == "number"
    assert found.columns[1].why == "numbers, but for '5o'"
