"""How delimited files are written: sniffed, told, refused."""

import pytest

from steelyard.io.column_inference import HEAD_BYTES
from steelyard.io.csv_reader import infer_dialect, looks_like_header, read_head
from steelyard.io.errors import InputError
from steelyard.io.input_spec import Dialect
from steelyard.io.sources import open_source
from tests.support import tables
from tests.support.vw_text import data_file


def sniffed(text: str, name: str = "table", **told: object) -> Dialect:
    with open_source(str(tables.written(text.encode(), name))) as source:
        return infer_dialect(source, **told)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "text", "separator"),
    [
        ("t.csv", "a,b;c\n1,2;3\n", ","),
        ("t.csv", "a;b\n1;2\n", ";"),  # as some spreadsheets write
        ("t.CSV", "a\n1\n", ","),
        ("t.tsv", "a,b\tc\n", "\t"),
        ("t.tsv.gz", "a,b\tc\n", "\t"),
        ("t.tab", "a\n", "\t"),
        ("t", "a|b|c\n1|2|3\n", "|"),
        ("t.txt", "a,b\tc\n1,2\t3,4\n", "\t"),
        ("t.txt", '"a,b";c\n"1";"2"\n', ";"),
        ("t", "alone\n", ","),
        ("t", "", ","),
    ],
)
def test_the_separator(name: str, text: str, separator: str) -> None:
    assert sniffed(text, name).separator == separator


@pytest.mark.parametrize(
    ("records", "header"),
    [
        ([], True),
        ([["age", "sex"], ["1", "m"]], True),
        ([["", "age"], ["0", "7"]], True),
        ([["39", "m"], ["1", "m"]], False),
        ([["a", "a"], ["1", "2"]], True),
        ([["ham", "hello"], ["spam", "win"], ["ham", "hi"]], False),
        ([["label", "text"], ["label", "x"]], True),
        ([["x" * 101, "b"]], False),
        ([["name", "city"], ["bob"]], True),
    ],
)
def test_the_header(records: list[list[str]], header: bool) -> None:
    assert looks_like_header(records) == header


def test_what_is_told_is_taken() -> None:
    assert sniffed("a,b\n1,2\n", separator=";", header=False) == Dialect(";", False, True)


@pytest.mark.parametrize("name", ["arxiv-astro", "enron-spam", "newsgroups", "sms-spam", "url-spam"])
def test_tab_separated_text_has_no_quotes(name: str) -> None:
    with open_source(str(data_file(f"{name}.tsv.xz"))) as source:
        assert infer_dialect(source) == Dialect("\t", True, False)


def test_tab_separated_text_has_quotes_where_only_they_make_sense() -> None:
    assert sniffed('a\tb\n"one\ttwo"\tb\n').quoting
    assert not sniffed('a\tb\n"one" two\tb\n').quoting


@pytest.mark.parametrize("separator", ["", ",,", '"', "\n", "a", "7", "é"])
def test_a_separator_that_is_none(separator: str) -> None:
    with pytest.raises(ValueError, match="must be a single ASCII character"):
        Dialect(separator)


def test_dialects_survive_json() -> None:
    assert Dialect(**Dialect("|", False).as_json()) == Dialect("|", False)


def test_the_head() -> None:
    text = b'\xef\xbb\xbf\r\n"a b", ,c\n1,2,3\n\n4,5\n"6,""",7,8'
    with open_source(str(tables.written(text))) as source:
        head = read_head(source, Dialect())
        assert source.read(100) == text
    assert head.names == ("a b", "2", "c")
    assert head.records == [["1", "2", "3"], ['6,"', "7", "8"]]
    assert text.removeprefix(b"\xef\xbb\xbf")[: head.header_end].endswith(b",c\n")


@pytest.mark.parametrize("quoting", [True, False])
def test_a_long_file_is_looked_at_in_whole_records(quoting: bool) -> None:
    record = ("x" * (HEAD_BYTES // 3)).encode() + b",1\n"
    with open_source(str(tables.written(b"a,b\n" + 4 * record))) as source:
        assert len(read_head(source, Dialect(quoting=quoting)).records) == 2


def test_an_open_quote_ends_the_head() -> None:
    with open_source(str(tables.written(b'a,b\n1,2\n"3,4\n5,6\n'))) as source:
        assert read_head(source, Dialect()).records == [["1", "2"]]


def test_nothing_is_no_table() -> None:
    with (
        open_source(str(tables.written(b"\n\n"))) as source,
        pytest.raises(InputError, match="there is no record at its beginning"),
    ):
        read_head(source, Dialect())


def test_a_comment_before_the_records_is_no_header() -> None:
    assert not looks_like_header([["a comment"], *([["a", "b"]] * 20)])
