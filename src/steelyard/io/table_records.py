"""The rows of tables as they stand in their files, so that a table can be written again with columns added.

For each parsed block there are its records: those that became rows, and those that could not be read. Text is
kept as it is written, byte for byte, as long as the format stays the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.io import csv_reader, formats, jsonl_reader, sound_json
from steelyard.io.arrow_csr import ArrowBlock
from steelyard.io.blocks import Block, ParsedBlock, find_bad_lines
from steelyard.io.csv_reader import DelimitedBlock
from steelyard.io.errors import InputError
from steelyard.io.formats import MARK
from steelyard.io.input_spec import InputSpec
from steelyard.text import delimited, lines

Row = list[Any]
_BLANKS = tuple(b" \r\n")
_LINE_END = tuple(b"\r\n")
_SPARE = 8  # of the lines of a block, the share by which another may have more


class Records:
    """The records of some files. `names` are the columns; `encoding` that of the first file's text."""

    names: tuple[str, ...]
    encoding: str | None = None

    def __init__(self, spec: InputSpec, paths: Sequence[str]) -> None:
        self.spec, self.paths = spec, list(paths)

    def count(self, block: Block) -> int:
        raise NotImplementedError

    def rows(self, block: Block) -> list[Row]:
        """The values of each record, in the order of the columns."""
        raise NotImplementedError

    def part(self, block: Block, first: int, last: int) -> Block:
        """The block of some of the records."""
        raise NotImplementedError

    def starts(self, block: Block) -> NDArray[np.int64]:
        """Where in the text each record begins."""
        raise NotImplementedError

    def lines(self, block: Block) -> NDArray[np.integer[Any]]:
        """The line of the block at which each record begins."""
        return np.searchsorted(np.flatnonzero(block.text == lines.NEWLINE), self.starts(block))

    def read(self, parsed: ParsedBlock) -> NDArray[np.bool_]:
        """Which of the records have become rows."""
        good = np.ones(self.count(parsed.block), bool)
        if parsed.skipped:
            wrong = list(find_bad_lines(self.spec.reader().parse, parsed))
            good = np.isin(self.lines(parsed.block), wrong, invert=True)
        return good


class DelimitedRecords(Records):
    """CSV, TSV and sheets. `header` is the first record as it stands in the file, without its line end."""

    def __init__(self, spec: InputSpec, paths: Sequence[str]) -> None:
        super().__init__(spec, paths)
        assert spec.dialect is not None
        self.dialect = spec.dialect
        self.header, self.newline, self.sheet = b"", b"\n", False
        self._latest: tuple[Block, NDArray[np.int64]] | None = None
        heads: list[tuple[str, ...]] = []
        for path in self.paths:
            with formats.open_head(path, spec.encoding) as head:
                found = csv_reader.read_head(head.source, self.dialect)
                if not heads:
                    self.encoding, self.sheet = head.source.encoding, head.source.sheet
                    start = head.source.peek(formats.SNIFFED + found.header_end).removeprefix(MARK)
                    self.header = start[: found.header_end].strip(b"\r\n")
                    self.newline = b"\r\n" if start.partition(b"\n")[0].endswith(b"\r") else b"\n"
                heads.append(found.names)
        self.names = heads[0]
        _check_same(self.paths, heads)

    def count(self, block: Block) -> int:
        return len(self._spans(block))

    def raw(self, block: Block) -> list[bytes]:
        """The records as they are written, without the ends of their lines."""
        text = block.text.tobytes()
        return [text[start:stop] for start, stop in self.spans(block).tolist()]

    def spans(self, block: Block) -> NDArray[np.int64]:
        """Where each record begins and ends, without its line end."""
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
        return [row[: len(self.names)] + [""] * (len(self.names) - len(row)) for row in found]

    def part(self, block: Block, first: int, last: int) -> Block:
        spans = self._spans(block)
        return replace(
            cast(DelimitedBlock, block), text=block.text[spans[first, 0] : spans[last - 1, 1]], start=0
        )

    def starts(self, block: Block) -> NDArray[np.int64]:
        return self._spans(block)[:, 0]

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
                    take(view, cells[:count])
            i = following
        return np.array(spans, np.int64).reshape(-1, 2)


class JsonRecords(Records):
    """JSON lines. The columns are the keys of the first objects of all files."""

    def __init__(self, spec: InputSpec, paths: Sequence[str]) -> None:
        super().__init__(spec, paths)
        self._latest: tuple[Block, NDArray[np.int64]] | None = None
        self._most = 0
        with formats.open_head(self.paths[0], spec.encoding) as head:
            self.encoding = head.source.encoding

    @cached_property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        keys: dict[str, None] = {}
        for path in self.paths:
            with formats.open_head(path, self.spec.encoding) as head:
                keys |= dict.fromkeys(
                    key for found in jsonl_reader.head_objects(head.source) for key in found
                )
        return tuple(keys)

    def count(self, block: Block) -> int:
        return len(self.raw(block))

    def raw(self, block: Block) -> list[bytes]:
        """The records as they are written, without the ends of lines."""
        text = block.text.tobytes()
        return [text[start:end] for start, end in self.spans(block).tolist()]

    def spans(self, block: Block) -> NDArray[np.int64]:
        """Where each record begins and ends, without blanks."""
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

    def part(self, block: Block, first: int, last: int) -> Block:
        spans = self.spans(block)
        text = block.text[spans[first, 0] : spans[last - 1, 1]].tobytes() + b"\n"
        return replace(block, text=np.frombuffer(text, np.uint8))

    def starts(self, block: Block) -> NDArray[np.int64]:
        return self.spans(block)[:, 0]


class ArrowRecords(Records):
    """Arrow and Parquet with ordinary columns."""

    def __init__(self, spec: InputSpec, paths: Sequence[str]) -> None:
        super().__init__(spec, paths)
        from steelyard.io import arrow_reader

        schemas = []
        for path in self.paths:
            with formats.open_head(path) as head:
                schemas.append(arrow_reader.read_schema(head.source))
        self.schema = schemas[0]
        self.names = tuple(self.schema.names)
        _check_same(self.paths, [[(each.name, str(each.type)) for each in schema] for schema in schemas])

    def batch(self, block: Block) -> Any:
        rows = cast(ArrowBlock, block).rows
        assert rows is not None
        return rows

    def count(self, block: Block) -> int:
        return 0 if cast(ArrowBlock, block).rows is None else self.batch(block).num_rows

    def rows(self, block: Block) -> list[Row]:
        columns = [column.to_pylist() for column in self.batch(block).columns]
        return [list(row) for row in zip(*columns, strict=True)]

    def part(self, block: Block, first: int, last: int) -> Block:
        return replace(cast(ArrowBlock, block), rows=self.batch(block).slice(first, last - first))

    def lines(self, block: Block) -> NDArray[np.integer[Any]]:
        return np.arange(self.count(block))


def _check_same(paths: Sequence[str], found: Sequence[Any]) -> None:
    for path, columns in zip(paths, found, strict=True):
        if columns != found[0]:
            raise InputError(
                f"{path}: has other columns than {paths[0]}, or in another order, so they make no one table; "
                "predict them one at a time"
            )


def records_of(spec: InputSpec, paths: Sequence[str]) -> Records | None:
    """The records of files that are read so; None for files without columns."""
    kind = formats.by_name(spec.format)
    if spec.columns is None or not kind.table:
        return None
    if spec.dialect is not None:
        return DelimitedRecords(spec, paths)
    return (ArrowRecords if kind.binary else JsonRecords)(spec, paths)
