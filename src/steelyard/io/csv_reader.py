"""The reader of CSV and TSV: delimited text after RFC 4180, with a header or without.

How a file is written, its `Dialect`, is given or inferred from its suffix and its first records.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._buffer_pool import BufferPool
from steelyard._parameters import Parameter
from steelyard.features import Names
from steelyard.io import blocks as cutting
from steelyard.io import columns as roles
from steelyard.io.blocks import Block, ParsedBlock
from steelyard.io.column_inference import (
    HEAD_BYTES,
    HEAD_RECORDS,
    LABEL_NAMES,
    SURE,
    TEXT_NAMES,
    WEIGHT_NAMES,
    infer_roles,
    is_written_number,
)
from steelyard.io.columns import ColumnOverrides, Columns
from steelyard.io.errors import InputError
from steelyard.io.formats import MARK
from steelyard.io.input_spec import Dialect, InputSpec
from steelyard.io.sources import COMPRESSED_SUFFIXES, Source
from steelyard.io.tables import TableParser
from steelyard.text import cells, delimited, lines

SEPARATORS = (",", "\t", ";", "|")
_BY_SUFFIX = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


@dataclass(frozen=True)
class DelimitedBlock(Block):
    """Whole records; those before `start` belong to the header. And where the columns stand in the file."""

    start: int
    width: int
    places: NDArray[np.int64]
    """The place of each known column; −1: none."""
    remarks: frozenset[str]


class DelimitedReader:
    """A file may have its columns in another order, and further columns; it may lack the label."""

    numeric_labels = False

    def __init__(self, spec: InputSpec, names: Names | None = None) -> None:
        assert spec.dialect is not None
        self._dialect = spec.dialect
        self._table = TableParser(spec, names)
        self._texts = BufferPool()

    def blocks(self, source: Source, size: int) -> Iterator[DelimitedBlock]:
        dialect = self._dialect
        if not source.peek(1):
            return
        head = read_head(source, dialect)
        width, found, remarks = self.find_places(source.path, head.names)
        places = width, found, remarks | ({source.note} if source.note else set())
        line = 1  # at which the next block begins

        def last_end(text: NDArray[np.uint8], _start: int) -> int:
            end = _last_end(text, dialect)
            if end == 0 and len(text) > cutting.LONGEST_LINE and _has_quotes(text, dialect):
                raise InputError(
                    f"{source.path}, line {line}: a record is longer than {cutting.LONGEST_LINE >> 20} MB; "
                    "is the closing quote of a field missing?"
                )
            return end

        header = head.header_end
        for block in cutting.cut(source, size, self._texts, last_end):
            start = min(header, len(block.text))
            header -= start
            line += int(np.count_nonzero(block.text == 10))
            yield DelimitedBlock(block.path, block.text, block.position, start, *places)

    def nothing(self) -> DelimitedBlock:
        places = self.find_places("", self._table.columns.names)
        return DelimitedBlock("", cutting.EMPTY.text, 0, 0, *places)

    def parse(self, block: Block) -> ParsedBlock:
        assert isinstance(block, DelimitedBlock)
        dialect = self._dialect
        escape = delimited.QUOTE if dialect.quoting else -1
        buffers, valid = self._table.allocate(block, escape, elements=False)
        counts = delimited.parse(
            buffers.text, block.start, len(block.text), valid, dialect.byte, dialect.quoting,
            cells.new_spans(block.width), block.places, *self._table.arguments, *buffers.arguments,
        )  # fmt: skip
        return self._table.finish(block, buffers, counts, block.remarks)

    def find_places(self, path: str, names: tuple[str, ...]) -> tuple[int, NDArray[np.int64], frozenset[str]]:
        """How many columns the file has, the places of the known ones, and a remark on the others."""
        columns = self._table.columns
        places = {name: place for place, name in enumerate(names)}
        roles.require(columns.features, places, path)
        if not self._dialect.header and len(names) != len(columns.names):
            raise InputError(f"{path}: has {len(names)} columns where {len(columns.names)} are expected")
        unknown = sorted(set(names) - set(columns.names))
        remarks = {f"{path}: unknown columns are ignored: {', '.join(unknown)}"} if unknown else set()
        found = np.array([places.get(name, -1) for name in columns.names], np.int64)
        return len(names), found, frozenset(remarks)


def infer_columns(source: Source, dialect: Dialect, told: ColumnOverrides | None = None) -> Columns:
    """The roles of columns, from the first records of a file, which is only peeked at."""
    head = read_head(source, dialect)
    if dialect.header and not head.records:
        raise InputError(f"{source.path}: has a header ({', '.join(head.names)}) and no rows of that width")
    if len(head.names) == 1:
        raise InputError(
            f"{source.path}: has a single column with {dialect.separator!r} as separator; a table has a "
            "label and more: ", Parameter("separator"), " gives another one",
        )  # fmt: skip
    return infer_roles(head.names, head.records, told)


def head_labels(source: Source, dialect: Dialect, columns: Columns) -> list[str]:
    """The different labels in the first records, sorted; none where there is no label column."""
    head = read_head(source, dialect)
    places = [head.names.index(name) for name in columns.with_role(roles.LABEL) if name in head.names]
    return columns.present(record[place] for place in places for record in head.records)


class FirstRecords(NamedTuple):
    """The names of the columns, some whole records, and where the header ends."""

    names: tuple[str, ...]
    records: list[list[str]]
    header_end: int


def first_records(source: Source, dialect: Dialect, most: int = HEAD_RECORDS) -> list[tuple[list[str], int]]:
    """The first whole records, each with its end; they are only peeked at."""
    peeked = source.peek(HEAD_BYTES).removeprefix(MARK)
    whole = len(peeked) < HEAD_BYTES - len(MARK)
    if whole and not peeked.endswith(b"\n"):
        peeked += b"\n"
    text = np.frombuffer(peeked, np.uint8)
    end = len(text) if whole else _last_end(text, dialect)
    buffer = np.empty(2 * len(text), np.uint8)
    buffer[: len(text)] = text
    spans = np.zeros((peeked.count(dialect.separator.encode()) + 1, 3), np.int64)
    view = buffer.view()
    view.flags.writeable = False
    found: list[tuple[list[str], int]] = []
    i = 0
    while i < end and len(found) < most:
        count, following, _, _, code, _ = delimited.split(
            view, i, end, dialect.byte, dialect.quoting, len(text), buffer, spans
        )
        if not delimited.is_blank(text, i, following) and code != lines.OPEN_QUOTE:
            cells = [
                view[start:stop].tobytes().decode("utf-8", "replace")
                for _, start, stop in spans[:count].tolist()
            ]
            found.append((cells, following))
        i = following
    return found


def _last_end(text: NDArray[np.uint8], dialect: Dialect) -> int:
    """The end of the last whole record; 0 if there is none."""
    if _has_quotes(text, dialect):
        return int(delimited.last_record_end(text, len(text), dialect.byte))
    return cutting.last_line_end(text, 0)


def _has_quotes(text: NDArray[np.uint8], dialect: Dialect) -> bool:
    return dialect.quoting and bool(np.any(text == delimited.QUOTE))


def read_head(source: Source, dialect: Dialect) -> FirstRecords:
    """The names of the columns, and the records after them that have as many fields."""
    found = first_records(source, dialect)
    if not found:
        raise InputError(f"{source.path}: there is no record at its beginning")
    first, header_end = found[0]
    if not dialect.header:
        width = _usual_width([cells for cells, _ in found])
        names = [str(place + 1) for place in range(width)]
        header_end = 0
    else:
        names = [name.strip() or str(place + 1) for place, name in enumerate(first)]
        found = found[1:]
    records = [cells for cells, _ in found if len(cells) == len(names)]
    return FirstRecords(tuple(names), records, header_end)


def infer_dialect(source: Source, *, separator: str | None = None, header: bool | None = None) -> Dialect:
    """The dialect of a file, apart from what is given."""
    path = Path(source.path)
    suffix = Path(path.stem).suffix if path.suffix in COMPRESSED_SUFFIXES else path.suffix
    if separator is None:
        separator = _separator(source, _BY_SUFFIX.get(suffix.lower()))
    quoting = separator != "\t" or _needs_quoting(source)
    dialect = Dialect(separator, True, quoting)
    if header is None:
        header = looks_like_header([cells for cells, _ in first_records(source, dialect)])
    return Dialect(separator, header, quoting)


def _widths(source: Source, dialect: Dialect) -> list[int]:
    return [len(cells) for cells, _ in first_records(source, dialect, 100)]


def _separator(source: Source, usual: str | None) -> str:
    """The separator of the suffix if it is used; else that with the most fields, equally many in every record.

    It must be used in the header too: otherwise commas may be decimal commas, between semicolons.
    """
    widths = {each: _widths(source, Dialect(each, True, each != "\t")) for each in SEPARATORS}
    even = {each: found[0] for each, found in widths.items() if len(set(found)) == 1 and found[0] > 1}
    if usual is not None and max(widths[usual], default=2) > 1 and (widths[usual][:1] != [1] or not even):
        return usual
    return max(even, key=lambda separator: even[separator]) if even else usual or ","


def _needs_quoting(source: Source) -> bool:
    """Tab-separated text has no quotes, unless all records have equally many fields only with them."""
    plain, quoted = (_widths(source, Dialect("\t", True, quoting)) for quoting in (False, True))
    return len(set(plain)) > 1 and len(set(quoted)) == 1


def _usual_width(records: Sequence[Sequence[str]]) -> int:
    """How many fields most records have; the first may be a comment."""
    return Counter(map(len, records)).most_common(1)[0][0]


def looks_like_header(records: Sequence[Sequence[str]]) -> bool:
    """Names are as many as values, no numbers, and do not occur again in their column."""
    if not records:
        return True
    names = [name.strip() for name in records[0]]
    if len(records) > SURE and len(names) != _usual_width(records):
        return False
    if any(is_written_number(name) or len(name) > 100 for name in names):
        return False
    if any(name.lower() in (*LABEL_NAMES, *WEIGHT_NAMES, *TEXT_NAMES) for name in names):
        return True
    return all(
        not name or all(len(record) <= place or record[place].strip() != name for record in records[1:])
        for place, name in enumerate(names)
    )
