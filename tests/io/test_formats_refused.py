"""Decimal commas in tables, and JSON that is not an object a line."""

from pathlib import Path

import pytest

from steelyard import losses
from steelyard.io import formats, inference
from steelyard.io.column_inference import infer_roles
from steelyard.io.errors import InputError, has_decimal_comma
from steelyard.io.input_spec import InputSpec
from steelyard.io.read_options import ReadOptions
from steelyard.io.stream import Stream
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
    assert columns.columns[0].why == "'0,00' is not a number; 0.00 would be"


@pytest.fixture
def semicolons(tmp_path: Path) -> Path:
    path = tmp_path / "prices.csv"
    path.write_text("n;price;y\n" + "".join(f"{k % 5};{price};{k % 2}\n" for k, price in enumerate(PRICES)))
    return path


def test_commas_of_decimals_do_not_separate(semicolons: Path) -> None:
    spec, _ = ReadOptions().infer([str(semicolons)], "float32")
    assert spec.dialect is not None
    assert spec.dialect.separator == ";"
    assert sum(len(part.examples) for part in Stream([semicolons], spec.reader())) == 40
    assert spec.columns is not None
    assert "'0,00' is not a number; 0.00 would be" in spec.columns.describe()


def test_a_column_told_to_be_numbers_or_the_label(semicolons: Path) -> None:
    points = "numbers have a decimal point here, as in 3.14"
    spec, _ = ReadOptions(number=("price",)).infer([str(semicolons)], "float32")
    with pytest.raises(InputError, match=f"column price: '0,00' is not a number: {points}"):
        list(Stream([semicolons], spec.reader()))
    spec, labels = ReadOptions(label="price").infer([str(semicolons)], "float32")
    with pytest.raises(InputError, match=f"the label '0,00' is not a number: {points}"):
        list(Stream([semicolons], spec.reader()))
    with pytest.raises(InputError, match=f"the label '0,00' is not a number: {points}"):
        inference.rule_for(labels, losses.by_name("hinge"), "f")


def test_commas_that_are_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,2\n3,1\n3,14,1\n")
    spec, _ = ReadOptions().infer([str(path)], "float32")
    with pytest.raises(InputError, match="is there no number with a decimal comma"):
        list(Stream([path], spec.reader()))


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"PK\x03\x04", "is a zip archive and no Excel workbook"),
        (b"\x10\1\0\0\0\0\0\0{}", "is a model, and has no rows"),
        (b"\0\0\0", "is not text, as its first bytes show"),
    ],
)
def test_what_is_not_text(tmp_path: Path, start: bytes, what: str) -> None:
    path = tmp_path / "rows"
    path.write_bytes(start)
    with pytest.raises(InputError, match=what):
        formats.identify(str(path))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("y,x\n", r"has a header \(y, x\) and no rows of that width"),
        ("y\na\nb\n", r"has a single column with ',' as separator; .* `separator` gives another"),
    ],
)
def test_what_is_no_table(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=what):
        ReadOptions(header=True).infer([str(path)], "float32")


def test_no_such_format() -> None:
    with pytest.raises(ValueError, match="there is no format 'xml' or no type 'float32'"):
        InputSpec("xml")


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
