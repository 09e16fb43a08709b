"""Decimal commas in tables, and JSON that is not an object a line."""

from pathlib import Path

import pytest

from steelyard.io import delimited, formats, sources
from steelyard.io.columns import infer_roles
from steelyard.io.errors import InputError, has_decimal_comma
from steelyard.io.input_spec import InputSpec
from tests.cli.running import refused, run, trained
from tests.io.inferring import look

PRICES = [f"{k % 9},{k:02}" for k in range(40)]


@pytest.mark.parametrize("text", ["3,14", "-3,1", "+0,5 ", ",5", "1234,5"])
def test_decimal_commas(text: str) -> None:
    assert has_decimal_comma(text)


@pytest.mark.parametrize("text", ["3.14", "1,2,3", "a,5", "3,", ",", "1,234.5", ""])
def test_other_commas(text: str) -> None:
    assert not has_decimal_comma(text)


def test_the_guess_says_what_is_wrong_with_the_numbers() -> None:
    columns = infer_roles(["price", "y"], [[price, "ab"[k % 2]] for k, price in enumerate(PRICES)])
    assert columns.role("price") == "category"
    assert columns.columns[0].why == "'0,00' is no number here, 0.00 would be"


@pytest.fixture
def semicolons(tmp_path: Path) -> Path:
    path = tmp_path / "prices.csv"
    path.write_text("n;price;y\n" + "".join(f"{k % 5};{price};{k % 2}\n" for k, price in enumerate(PRICES)))
    return path


def test_commas_of_decimals_do_not_separate(semicolons: Path) -> None:
    with sources.open_source(str(semicolons)) as source:
        assert delimited.infer_dialect(source).separator == ";"
    assert trained(semicolons)["examples"] == 40
    assert "'0,00' is no number here, 0.00 would be" in run("train", semicolons).stdout


def test_a_column_told_to_be_numbers_or_the_label(semicolons: Path) -> None:
    said = refused("train", semicolons, "--number", "price")
    assert "column price: '0,00' is not a number: numbers have a decimal point here, as in 3.14" in said
    said = refused("train", semicolons, "--label", "price", "--loss", "squared")
    assert "the label '0,00' is not a number: numbers have a decimal point here, as in 3.14" in said
    said = refused("train", semicolons, "--label", "price")
    assert "the label '0,00' is not a number: numbers have a decimal point here, as in 3.14" in said


def test_commas_that_are_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,2\n3,1\n3,14,1\n")
    assert "is there no number with a decimal comma?" in refused("train", path)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            '[{"y": 1}, {"y": 2}]\n',
            r"is one JSON array, .*: jq -c '\.\[\]' .*rows\.json > rows\.lines\.jsonl",
        ),
        ('\n[\n  {"y": 1},\n  {"y": 2}\n]\n', "is one JSON array"),
        ("[", "is one JSON array"),
        ('{\n  "y": 1\n}\n', r"is one JSON object over many lines, .*: jq -c '\.' "),
        ("\ufeff{", "is one JSON object over many lines"),
    ],
)
def test_one_document(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text)
    with pytest.raises(InputError, match=what):
        formats.identify(str(path))
    named = tmp_path / "rows.jsonl"
    named.write_text(text)
    with pytest.raises(InputError, match=what.replace("json >", "jsonl >")):
        look(str(named), InputSpec("jsonl"))


@pytest.mark.parametrize("text", ['{"y": [1, 2]}\n', "[a,b\n1,2\n", "{x |a b\n"])
def test_no_document(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_text(text)
    formats.identify(str(path))
