"""Delimited text beside Python's csv, and beside the plain twin of a row."""

import csv
import io

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.features.folding import Folding
from steelyard.features.interactions import Interactions
from steelyard.features.names import Names
from steelyard.features.tokens import TextOptions
from steelyard.io.delimited import DelimitedText
from steelyard.io.dialects import Dialect
from steelyard.io.labels import LabelRule
from tests import tables

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
) -> DelimitedText:
    folding = Folding(BITS, Interactions(), names)
    return DelimitedText(folding, COLUMNS, Dialect(separator), options, None, rule)


@settings(deadline=None)
@given(
    records,
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from([None, LabelRule("-1", "1"), LabelRule("*", "spam", 0.0, 1.0)]),
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
        except tables.Refused:
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
