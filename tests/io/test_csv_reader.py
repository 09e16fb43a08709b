"""CSV and TSV through the stream: headers, files that differ, threads, real tables."""

import csv
import gzip
import io
import itertools
from dataclasses import replace

import pytest

from steelyard.io import blocks, csv_reader
from steelyard.io.columns import ColumnOverrides, Columns
from steelyard.io.csv_reader import DelimitedReader, infer_dialect
from steelyard.io.errors import InputError
from steelyard.io.input_spec import Dialect, InputSpec
from steelyard.io.labels import LabelRule, two_classes
from steelyard.io.sources import open_source
from steelyard.io.stream import Stream
from tests.support import tables
from tests.support.vw_text import data_file

BITS = 18
COLUMNS = tables.columns(y="label", t="text", x="number")


def reader(columns: Columns = COLUMNS, dialect: Dialect | None = None) -> DelimitedReader:
    return DelimitedReader(InputSpec("csv", BITS, columns=columns, dialect=dialect or Dialect()))


def test_columns_may_come_in_another_order_with_others_and_without_label() -> None:
    usual = tables.read(reader(), b"y,t,x\n1,a b,5\n-1,c,\n")
    other = tables.read(reader(), b"new,x,t,other\n0,5,a b,0\n0,,c,0\n")
    assert other.rows == usual.rows
    assert usual.sample_weight == [1.0, 1.0]
    assert other.sample_weight == [0.0, 0.0]
    (remark,) = other.remarks
    assert "unknown columns are ignored: new, other" in remark


def test_a_column_that_is_needed_and_not_there() -> None:
    with pytest.raises(
        InputError, match=r"table: there is no column 'x'; did you mean 'X2'\? \(there are y, t, X2"
    ):
        tables.read(reader(), b"y,t,X2\n1,a,5\n")


def test_without_a_header_columns_are_numbers() -> None:
    columns = tables.columns(**{"1": "label", "2": "category", "3": "number"})
    read = tables.read(reader(columns, Dialect(header=False)), b"1, 4, 5\n-1, 4,7\n")
    expected = [{"1": "1", "2": "4", "3": "5"}, {"1": "-1", "2": "4", "3": "7"}]
    tables.agree(read, [tables.row(cells, columns) for cells in expected], BITS)
    with pytest.raises(InputError, match="has 4 columns where 3 are expected"):
        tables.read(reader(columns, Dialect(header=False)), b"1,2,3,4\n")


def test_an_empty_file_has_no_rows() -> None:
    assert tables.read(reader(), b"").labels == []
    assert tables.read(reader(), b"y,t,x").labels == []
    assert tables.read(reader(Columns(())), b"y\n1\n").rows == [{}]


@pytest.mark.parametrize("size", [1, 2, 7, 50])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_blocks_and_threads_change_nothing(size: int, threads: int) -> None:
    text = (
        b'\xef\xbb\xbf\n"y",t,"x\nof"\r\n1,"a\r\n""b""\n",5\r\n\r\n-1,c,\r\n2,bad,bad\r\n'
        + b"1,d d d,7\n" * 40
    )
    columns = tables.columns(**{"y": "label", "t": "text", "x\nof": "number"})
    found = tables.read(reader(columns), text)
    assert tables.read(reader(columns), text, size=size, threads=threads) == found
    assert [line for line, _ in found.problems] == [9]
    assert len(found.labels) == 42


def test_an_open_quote_in_a_large_file_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LONGEST_LINE", 1 << 10)
    text = b"y,t,x\n1,a,5\n" + b'1,"a,5\n' + b"1,a,5\n" * 1000
    with pytest.raises(InputError, match=r"line 3: a record is longer .*is the closing quote"):
        tables.read(reader(), text, size=100)


def test_interactions_are_of_columns_that_are_features() -> None:
    spec = InputSpec("csv", BITS, ("t*y",), columns=COLUMNS, dialect=Dialect())
    with pytest.raises(InputError, match="interactions: 'y' is not a feature but label"):
        DelimitedReader(spec)
    with pytest.raises(InputError, match="interactions: there is no column 'z'"):
        DelimitedReader(replace(spec, interactions=("t*z",)))


def test_labels_of_the_head() -> None:
    with open_source(str(tables.written(b"y,t\n b,1\na,2\n,3\nb,4\n"))) as source:
        assert csv_reader.head_labels(source, Dialect(), tables.columns(y="label", t="text")) == ["a", "b"]
        assert csv_reader.head_labels(source, Dialect(), tables.columns(z="label", t="text")) == []


@pytest.mark.parametrize(
    ("name", "told", "rule", "rows"),
    [
        ("adult.data.gz", ColumnOverrides(weight="3"), two_classes("<=50K", ">50K"), 32561),
        ("sms-spam.tsv.xz", ColumnOverrides(), None, 5574),
        ("credit-costs.csv.gz", ColumnOverrides(), two_classes("0", "1"), 150000),
        ("open-bandit/random_men.csv.gz", ColumnOverrides(), two_classes("0", "1"), 10000),
    ],
)
def test_real_tables_are_read_to_their_end(
    name: str, told: ColumnOverrides, rule: LabelRule | None, rows: int
) -> None:
    path = str(data_file(name))
    with open_source(path) as source:
        dialect = infer_dialect(source)
        columns = csv_reader.infer_columns(source, dialect, told)
    spec = InputSpec("csv", BITS, columns=columns, dialect=dialect, label_rule=rule)
    stream = Stream([path], DelimitedReader(spec))
    labels = [label for chunk in stream for label in chunk.examples.labels.tolist()]
    assert len(labels) == rows
    assert set(labels) == {-1.0, 1.0}


def test_a_real_table_beside_the_plain_twin() -> None:
    with gzip.open(data_file("census-income.gz"), "rt") as lines:
        text = "".join(itertools.islice(lines, 200))
    with open_source(str(tables.written(text.encode()))) as source:
        dialect = infer_dialect(source)
        columns = csv_reader.infer_columns(source, dialect, ColumnOverrides(weight="25"))
    rule = two_classes("- 50000.", "50000+.")
    records = csv.reader(io.StringIO(text))
    expected = [
        tables.row(dict(zip(columns.names, record, strict=True)), columns, None, rule) for record in records
    ]
    spec = InputSpec("csv", BITS, columns=columns, dialect=dialect, label_rule=rule)
    tables.agree(tables.read(DelimitedReader(spec), text.encode()), expected, BITS)


def test_nothing_is_read_as_no_rows() -> None:
    assert len(reader().parse(reader().nothing()).examples) == 0
