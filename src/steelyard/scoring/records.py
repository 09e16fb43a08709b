"""`Records`: the rows of tables as they stand in their files, so that a table can be written again.

Each parsed block has its records: those that became rows, and those that could not be read. Text is kept as it
is written, byte for byte, as long as the format stays the same.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.io import csv_reader, formats, jsonl_reader, sound_json
from steelyard.io.arrow_csr import ArrowBlock
from steelyard.io.blocks import Block, ParsedBlock, find_bad_lines
from steelyard.io.csv_reader import DelimitedBlock
from steelyard.io.errors import InputError
from steelyard.io.formats import MARK, Head
from steelyard.io.input_spec import InputSpec
from steelyard.text import delimited, lines

Row = list[Any]
RowNumbers = NDArray[np.int64]
ColumnValues = NDArray[Any]
"""A number for each row, NaN where it is missing; or a name, None where it is missing."""

_BLANKS = tuple(b" \r\n")
_LINE_END = tuple(b"\r\n")
_SPARE = 8  # of the lines of a block, the share by which another may have more


class TableRows(Protocol):
    """Rows that can be written as a table, whatever they come from."""

    names: tuple[str, ...]
    encoding: str | None

    def rows(self, block: Block) -> list[Row]:
        """The values of each row of a block, in the order of the columns."""
        ...


class GivenRows:
    """Rows that are not the text of a file: they are set before each block is written."""

    encoding: str | None = None

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.values: list[Row] = []

    def rows(self, block: Block) -> list[Row]:
        return self.values


class Records(ABC):
    """The records of files that are read by one spec, each of which is looked at once, by `look`."""

    names: tuple[str, ...] = ()
    """The columns of the first file."""
    latest_names: tuple[str, ...] = ()
    """The columns of the file that was looked at last."""
    encoding: str | None = None
    """The encoding of the first file's text."""

    def __init__(self, spec: InputSpec) -> None:
        self.spec = spec
        self.paths: list[str] = []
        self._columns: list[Any] = []

    def look(self, head: Head) -> None:
        """Note the columns of a file, and how it is written."""
        self._columns.append(self._columns_of(head))
        self.paths.append(head.path)

    def check_one_table(self) -> None:
        """Refuse files with different columns: they make no one table."""
        for path, columns in zip(self.paths, self._columns, strict=True):
            if columns != self._columns[0]:
                raise InputError(
                    f"{path}: has other columns than {self.paths[0]}, or in another order, so they make no "
                    "one table; predict them one at a time"
                )

    def look_at_names(self, head: Head) -> None:  # noqa: B027 - only some have anything to do
        """Note the names of columns, where `look` does not see them."""

    @abstractmethod
    def _columns_of(self, head: Head) -> Any: ...

    @abstractmethod
    def count(self, block: Block) -> int:
        """How many records a block has."""

    @abstractmethod
    def rows(self, block: Block) -> list[Row]:
        """The values of each record, in the order of the columns."""

    @abstractmethod
    def row(self, block: Block, number: int) -> dict[str, Any]:
        """One record, by the names of its columns."""

    @abstractmethod
    def lines(self, block: Block) -> NDArray[np.integer[Any]]:
        """The line of the block at which each record begins."""

    def read(self, parsed: ParsedBlock) -> NDArray[np.bool_]:
        """Which of the records have become rows."""
        good = np.ones(self.count(parsed.block), bool)
        if parsed.skipped:
            wrong = list(find_bad_lines(self.spec.reader().parse, parsed))
            good = np.isin(self.lines(parsed.block), wrong, invert=True)
        return good


class TextRecords(Records):
    """Records of text: each is a span of its block."""

    def __init__(self, spec: InputSpec) -> None:
        super().__init__(spec)
        self._latest: tuple[Block, NDArray[np.int64]] | None = None

    @abstractmethod
    def spans(self, block: Block) -> NDArray[np.int64]:
        """Where each record begins and ends, without its line end."""

    def raw(self, block: Block) -> list[bytes]:
        """The records as they are written, without the ends of their lines."""
        text = block.text.tobytes()
        return [text[start:stop] for start, stop in self.spans(block).tolist()]

    def lines(self, block: Block) -> NDArray[np.integer[Any]]:
        return np.searchsorted(np.flatnonzero(block.text == lines.NEWLINE), self.spans(block)[:, 0])


class DelimitedRecords(TextRecords):
    """CSV, TSV and sheets. `header` is the first record as it stands in the file, without its line end."""

    header, newline, sheet = b"", b"\n", False

    def __init__(self, spec: InputSpec) -> None:
        super().__init__(spec)
        assert spec.dialect is not None
        self.dialect = spec.dialect

    def _columns_of(self, head: Head) -> tuple[str, ...]:
        found = csv_reader.read_head(head.source, self.dialect)
        self.latest_names = found.names
        if not self.paths:
            self.names = found.names
            self.encoding, self.sheet = head.source.encoding, head.source.sheet
            start = head.source.peek(formats.SNIFFED + found.header_end).removeprefix(MARK)
            self.header = start[: found.header_end].strip(b"\r\n")
            self.newline = b"\r\n" if start.partition(b"\n")[0].endswith(b"\r") else b"\n"
        return found.names

    def count(self, block: Block) -> int:
        return len(self._spans(block))

    def spans(self, block: Block) -> NDArray[np.int64]:
        found = self._spans(block).copy()
        while (longer := np.isin(block.text[found[:, 1] - 1], _LINE_END)).any():
            found[:, 1] -= longer
        return found

    def rows(self, block: Block) -> list[Row]:
        found: list[Row] = []

        def take(view: NDArray[np.uint8], spans: NDArray[np.int64]) -> None:
            cells = (
                view[start:stop].tobytes().decode("utf-8", "replace") for _, start, stop in spans.tolist()
            )
            found.append(list(cells))

        self._split(block, take)
        return [row + [""] * (len(self.names) - len(row)) for row in found]

    def row(self, block: Block, number: int) -> dict[str, Any]:
        start, stop = self._spans(block)[number]
        (values,) = self.rows(replace(cast(DelimitedBlock, block), text=block.text[start:stop], start=0))
        return dict(zip(self.names, values, strict=True))

    def _spans(self, block: Block) -> NDArray[np.int64]:
        """Where each record begins and ends, its line end included; blank ones are left out."""
        latest = self._latest  # another thread may replace it
        if latest is None or latest[0] is not block:
            self._latest = latest = block, self._find_spans(block)
        return latest[1]

    def _find_spans(self, block: Block) -> NDArray[np.int64]:
        start = cast(DelimitedBlock, block).start
        text = block.text[start:]
        if self.dialect.quoting and np.any(text == delimited.QUOTE):
            return self._split(block, None)
        ends = np.flatnonzero(text == ord("\n")) + 1 + start
        spans = np.column_stack((np.concatenate([[start], ends[:-1]]) if len(ends) else ends, ends))
        may_be = np.flatnonzero(np.isin(block.text[spans[:, 0]], _BLANKS)).tolist()
        blank = [k for k in may_be if delimited.is_blank(block.text, *spans[k].tolist())]
        return np.delete(spans, blank, axis=0)

    def _split(self, block: Block, take: Callable[[Any, Any], None] | None) -> NDArray[np.int64]:
        """Split one record after another, as the parser does."""
        size = len(block.text)
        room = np.empty(2 * size, np.uint8)
        room[:size] = block.text
        view = room.view()
        view.flags.writeable = False
        cells = np.zeros((len(self.names), 3), np.int64)
        spans, i = [], cast(DelimitedBlock, block).start
        while i < size:
            count, following, _, _, _, _ = delimited.split(
                view, i, size, self.dialect.byte, self.dialect.quoting, size, room, cells
            )
            if not (count == 1 and delimited.is_blank(view, i, following)):
                spans.append((i, following))
                if take is not None:
                    if count > len(cells) and i <= cells[-1, 1] < following:
                        cells[-1, 2] = following - 1  # the last column has all further fields, as they stand
                    take(view, cells[:count])
            i = following
        return np.array(spans, np.int64).reshape(-1, 2)


class JsonRecords(TextRecords):
    """JSON lines. The columns are the keys of the first objects of all files, once `look_at_names` has seen them."""

    def __init__(self, spec: InputSpec) -> None:
        super().__init__(spec)
        self._most = 0

    def _columns_of(self, head: Head) -> None:
        """Nothing: each row has its own keys."""
        self.encoding = self.encoding if self.paths else head.source.encoding

    def look_at_names(self, head: Head) -> None:
        keys = (key for found in jsonl_reader.head_objects(head.source) for key in found)
        self.names = tuple(dict.fromkeys((*self.names, *keys)))

    def count(self, block: Block) -> int:
        return len(self.spans(block))

    def spans(self, block: Block) -> NDArray[np.int64]:
        latest = self._latest  # another thread may replace it
        if latest is None or latest[0] is not block:
            found = np.empty((self._most, 2), np.int64)  # as many as blocks had so far, and mostly have
            count = lines.line_spans(block.text, found)
            if count > len(found):
                self._most = count + count // _SPARE
                found = np.empty((count, 2), np.int64)
                lines.line_spans(block.text, found)
            self._latest = latest = block, found[:count]
        return latest[1]

    def rows(self, block: Block) -> list[Row]:
        found = []
        for line in self.raw(block):
            try:
                value = sound_json.loads(line)
            except ValueError:
                value = {}
            if not isinstance(value, dict):
                value = {}
            for key in value:
                if key not in self.names:
                    raise InputError(
                        f"{block.path}: the key {key!r} is in none of the first objects, so that it has no "
                        "column; write .jsonl, where every row has its own keys"
                    )
            found.append([value.get(name) for name in self.names])
        return found

    def row(self, block: Block, number: int) -> dict[str, Any]:
        found: dict[str, Any] = sound_json.loads(self.raw(block)[number])
        return found


class ArrowRecords(Records):
    """Arrow and Parquet with ordinary columns."""

    schema: Any = None

    def _columns_of(self, head: Head) -> list[tuple[str, str]]:
        from steelyard.io import arrow_reader

        schema = arrow_reader.read_schema(head.source)
        self.latest_names = tuple(schema.names)
        if not self.paths:
            self.schema, self.names = schema, tuple(schema.names)
        return [(column.name, str(column.type)) for column in schema]

    def batch(self, block: Block) -> Any:
        rows = cast(ArrowBlock, block).rows
        assert rows is not None
        return rows

    def count(self, block: Block) -> int:
        return 0 if cast(ArrowBlock, block).rows is None else self.batch(block).num_rows

    def rows(self, block: Block) -> list[Row]:
        columns = [column.to_pylist() for column in self.batch(block).columns]
        return [list(row) for row in zip(*columns, strict=True)]

    def row(self, block: Block, number: int) -> dict[str, Any]:
        found: dict[str, Any] = self.batch(block).slice(number, 1).to_pylist()[0]
        return found

    def lines(self, block: Block) -> NDArray[np.integer[Any]]:
        return np.arange(self.count(block))


def new_records(spec: InputSpec) -> Records | None:
    """Records for files that are read so, none of which was looked at; None for files without columns."""
    kind = formats.by_name(spec.format)
    if spec.columns is None or not kind.table:
        return None
    if spec.dialect is not None:
        return DelimitedRecords(spec)
    return (ArrowRecords if kind.binary else JsonRecords)(spec)


def records_of(spec: InputSpec, path: str) -> Records:
    """The records of a file with columns."""
    records = new_records(spec)
    assert records is not None
    with formats.open_head(path, spec.encoding) as head:
        records.look(head)
        records.look_at_names(head)
    return records
