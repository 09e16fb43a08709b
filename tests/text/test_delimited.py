"""Delimited text beside Python's csv, and beside the plain twin of a row."""

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.features import Names
from steelyard.io.csv_reader import DelimitedReader
from steelyard.io.input_spec import Dialect, InputSpec
from steelyard.io.labels import LabelRule, classes, two_classes
from steelyard.native.declare import PLAIN
from steelyard.text.tokens import TextOptions
from tests.support import tables

few = settings(deadline=None, max_examples=30 if PLAIN else 100)
BITS = 20
COLUMNS = tables.columns(
    y="label", w="weight", b="base", id="tag", t="text", c="category", x="number", i="ignore"
)
NAMES = list(COLUMNS.names)

words = st.text(st.sampled_from("aB1 é\",;'\n\t"), max_size=12)
cells = {
    "y": st.sampled_from(["1", "-1", " 2.5", "", "NA", "spam"]),
    "w": st.sampled_from(["1", "0", "2.5 ", "-1", "", "x"]),
    "b": st.sampled_from(["", "0.5", "?", "z"]),
    "id": words,
    "t": words,
    "c": words | st.integers(0, 99).map(str),
    "x": st.sampled_from(["", "1", " 1e3", "-0.25", "nan", "NA", "inf", "1e30", "abc", "1 2"]),
    "i": words,
}
records = st.lists(st.fixed_dictionaries(cells), max_size=6)


def cell_text(cell: str, separator: str, always: bool) -> str:
    if always or any(c in cell for c in f'"\r\n{separator}'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def table_text(rows: list[dict[str, str]], separator: str, end: str, always: bool) -> str:
    lines = [separator.join(NAMES)]
    lines += [separator.join(cell_text(row[name], separator, always) for name in NAMES) for row in rows]
    return "".join(line + end for line in lines)


def reader(
    rule: LabelRule | None, options: TextOptions, separator: str, names: Names | None = None
) -> DelimitedReader:
    dialect = Dialect(separator)
    spec = InputSpec("csv", BITS, columns=COLUMNS, dialect=dialect, text=options, label_rule=rule)
    return DelimitedReader(spec, names)


EVERY_KIND = [
    {
        "y": "1",
        "w": "2.5",
        "b": "0.5",
        "id": 'a "quoted" tag',
        "t": 'É "a"\n7 7',
        "c": "é",
        "x": "1",
        "i": "",
    },
    {"y": "", "w": "0", "b": "?", "id": "", "t": "", "c": "", "x": "NA", "i": ","},
    {"y": "spam", "w": "1", "b": "", "id": "b", "t": "a b a b", "c": "7", "x": "", "i": ""},
    {"y": "na", "w": "1", "b": "", "id": "b", "t": "a b a b", "c": "7", "x": "-inf", "i": ""},
]


@few
@given(
    records,
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from(
        [None, two_classes("-1", "1"), two_classes("*", "spam", 0.0, 1.0), classes(["spam", "-1", "1", "NA"])]
    ),
    st.sampled_from(
        [
            TextOptions(),
            TextOptions(2, None, "binary"),
            TextOptions(0, (2, 3)),
            TextOptions(3, (1, 2), "sublinear"),
        ]
    ),
    st.integers(1, 60),
)
@example(EVERY_KIND, ",", "\r\n", False, two_classes("-1", "1"), TextOptions(3, (1, 2), "sublinear"), 20)
@example(EVERY_KIND, ",", "\n", True, two_classes("*", "spam"), TextOptions(2, None, "binary"), 20)
@example(EVERY_KIND, "\t", "\n", False, None, TextOptions(), 20)
@example(EVERY_KIND, ",", "\n", False, classes(["*", "1", "na"]), TextOptions(), 20)
def test_records_become_what_their_twin_says(
    rows: list[dict[str, str]],
    separator: str,
    end: str,
    always: bool,
    rule: LabelRule | None,
    options: TextOptions,
    size: int,
) -> None:
    text = table_text(rows, separator, end, always)
    assert list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))[1:] == [
        [row[name] for name in NAMES] for row in rows
    ]
    expected, good = [], []
    for row in rows:
        try:
            expected.append(tables.row(row, COLUMNS, options, rule))
            good.append(row)
        except tables.RefusedError:
            pass
    names = Names(1 << BITS)
    found = tables.read(reader(rule, options, separator, names), text.encode(), names=names)
    tables.agree(found, expected, BITS)
    assert found.skipped == len(rows) - len(good)
    other_names = Names(1 << BITS)
    cut = tables.read(
        reader(rule, options, separator, other_names), text.encode(), size=size, names=other_names
    )
    assert (cut.bits, cut.problems, cut.names) == (found.bits, found.problems, found.names)


GOOD = "1,1,,a,some text,red,2.5,\n"
HEADER = ",".join(NAMES) + "\n"


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ("1,1,,a,text,red", "there are fewer fields than columns"),
        ("1,1,,a,text,red,2,,", "there are more fields than columns"),
        ('1,1,,a,"text"s,red,2,', "'\"text\"s,red,2,': after the closing quote the field must end"),
        ('1,1,,a,"text"s,"red"s,2,', '\'"text"s,"red"s,2,\': after the closing quote'),
        ("spam,1,,a,text,red,2,", "column y: the label 'spam' is not a number"),
        ("1,,,a,text,red,2,", "column w: the weight '' is not a number"),
        ("1,-1,,a,text,red,2,", "column w: the weight '-1' is negative"),
        ("1,1,x,a,text,red,2,", "column b: the offset 'x' is not a number"),
        ("1,1,,a,text,red,two,", "column x: 'two' is not a number; is it a category or text?"),
        ("1,1,,a,text,red,inf,", "column x: 'inf': NaN and infinite values"),
        ("1,1,,a,text,red,1e99,", "column x: '1e99': the value is so large"),
        ("1,1,,a,text,\xff,2,", "not UTF-8 text"),
    ],
)
@pytest.mark.parametrize("size", [1, 50, 1000])
def test_what_is_wrong_is_said_with_its_line(record: str, what: str, size: int) -> None:
    """Lines are counted as an editor does: a quoted newline and a blank line count."""
    quoted = '1,1,,a,"text\nof ""three""\nlines",red,2.5,\n'
    text = HEADER + GOOD + quoted + "\n" + record + "\n" + GOOD
    read = tables.read(reader(None, TextOptions(), ","), text.encode("latin-1"), size=size)
    assert len(read.labels) == 3
    (problem,) = read.problems
    assert problem[0] == 7
    assert what in problem[1]


def test_a_quote_that_is_never_closed_takes_the_rest() -> None:
    read = tables.read(
        reader(None, TextOptions(), ","), (HEADER + GOOD + '1,1,,a,"text,red,2,\n' + GOOD).encode()
    )
    assert read.problems == [(3, "a quoted field has no closing quote")]
    assert len(read.labels) == 1


def test_a_record_that_is_wrong_in_its_quotes_ends_where_it_would_have_ended() -> None:
    text = HEADER + '1,1,,a,"te"xt" ,red,2,\n' + '1,1,,a,"text" \t,"red",2, \r\n' + GOOD
    read = tables.read(reader(None, TextOptions(), ","), text.encode())
    assert [line for line, _ in read.problems] == [2]
    assert len(read.labels) == 2


def test_without_quoting_a_quote_is_a_quote() -> None:
    columns = tables.columns(t="text", c="category")
    spec = InputSpec("tsv", BITS, columns=columns, dialect=Dialect("\t", quoting=False))
    text = '"ends\t"a"\n"a b\tc\n'
    read = tables.read(DelimitedReader(spec), ("t\tc\n" + text).encode())
    rows = [tables.row(dict(zip("tc", line.split("\t"), strict=True)), columns) for line in text.splitlines()]
    tables.agree(read, rows, BITS)


def test_names_of_crosses() -> None:
    names = Names(1 << BITS)
    columns = tables.columns(t="text", c="category", x="number")
    spec = InputSpec("csv", BITS, ("t*c", "c*x"), columns=columns, dialect=Dialect())
    read = tables.read(
        DelimitedReader(spec, names),
        b't,c,x\nA b,red,\n"a"" b",,5\n',
        names=names,
    )
    expected = {"t^a", "t^b", "c=red", "x=missing", "t^a*c=red", "t^b*c=red", "c=red*x=missing"}
    expected |= {"c=missing", "x", "t^a*c=missing", "t^b*c=missing", "c=missing*x"}
    assert set(read.names.values()) == expected
    assert len(read.rows[1]) == 7


@few
@given(
    st.lists(
        st.binary(max_size=30) | st.sampled_from([b'"', b",", b"\n", GOOD.encode(), b'""', b"\r\n"]),
        max_size=12,
    ),
    st.booleans(),
    st.integers(1, 50),
)
def test_no_bytes_do_harm(parts: list[bytes], quoting: bool, size: int) -> None:
    text = HEADER.encode() + b"".join(parts)
    options = TextOptions(2, (1, 3), "sublinear")
    spec = InputSpec("csv", BITS, columns=COLUMNS, dialect=Dialect(quoting=quoting), text=options)
    found = [tables.read(DelimitedReader(spec), text, size=cut) for cut in (1 << 21, size)]
    assert found[0].bits == found[1].bits
    assert found[0].problems == found[1].problems
