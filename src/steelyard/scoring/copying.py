"""Rows copied as they stand in their file, with cells for the columns that are added."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._buffer_pool import BufferPool
from steelyard.io.arrow_arrays import import_pyarrow
from steelyard.io.blocks import Block
from steelyard.io.csv_text import csv_line
from steelyard.io.errors import InputError
from steelyard.scoring.records import ArrowRecords, ColumnValues, DelimitedRecords, JsonRecords, RowNumbers
from steelyard.text import json_text, lines, nine_digits

_pool = BufferPool()


class _Splicer:
    """Copies records, each followed by a tail: `keys`, each with a cell of its column, and an end.

    Numbers are written with nine digits, names as `text` makes them, and `missing` stands for neither.
    """

    def __init__(
        self, keys: Sequence[bytes], end: bytes, missing: bytes, text: Callable[[str], bytes]
    ) -> None:
        self._keys = np.frombuffer(b"".join([*keys, end]), np.uint8)
        self._key_ends = np.cumsum([len(key) for key in (*keys, end)], dtype=np.int64)
        self._missing, self._text = missing, text

    def render(
        self, block: Block, spans: RowNumbers, skipped: RowNumbers, columns: Sequence[ColumnValues]
    ) -> bytes:
        """Copy the spans with their tails; of each tail so many bytes are `skipped`, of its first key."""
        starts, stops = (np.empty((len(spans), len(columns)), np.int64) for _ in range(2))
        texts, size = [], 0
        for place, column in enumerate(columns):
            text, start, stop = self._names(column) if column.dtype == object else self._numbers(column)
            starts[:, place], stops[:, place] = start + size, stop + size
            texts.append(text)
            size += len(text)
        copied = (spans[:, 1] - spans[:, 0]).sum() + (stops - starts).sum() + len(spans) * len(self._keys)
        out = _pool.empty(int(copied), np.uint8)
        size = lines.splice(
            block.text, spans, skipped, self._keys, self._key_ends, np.concatenate(texts), starts, stops, out
        )
        return out[:size].tobytes()

    def _numbers(self, column: ColumnValues) -> tuple[NDArray[np.uint8], RowNumbers, RowNumbers]:
        text, starts, stops = nine_digits.write(column)
        for row in np.flatnonzero(np.isnan(column)).tolist():
            stops[row] = starts[row] + len(self._missing)
            text[starts[row] : stops[row]] = np.frombuffer(self._missing, np.uint8)
        return text, starts, stops

    def _names(self, column: ColumnValues) -> tuple[NDArray[np.uint8], RowNumbers, RowNumbers]:
        """A text that contains all names, and where that of each row begins and ends."""
        given = column.tolist()
        known = {name: self._missing if name is None else self._text(name) for name in dict.fromkeys(given)}
        ends = np.cumsum([len(text) for text in known.values()], dtype=np.int64)
        numbers = {name: number for number, name in enumerate(known)}
        chosen = np.fromiter(map(numbers.__getitem__, given), np.int64, len(given))
        begins = np.concatenate([[0], ends[:-1]])
        return np.frombuffer(b"".join(known.values()), np.uint8), begins[chosen], ends[chosen]


class JsonCopy:
    """JSON lines; a line that is no object stays as it is."""

    header = b""
    schema = None

    def __init__(self, records: JsonRecords, names: Sequence[str], remedy: str = "rename it") -> None:
        self._records, self._remedy = records, remedy
        self._names = list(names)
        self._keys = list(map(_json_text, names))
        self._splicer = _Splicer([b", " + key + b": " for key in self._keys], b"}\n", b"null", _json_text)

    def render(self, block: Block, rows: RowNumbers, columns: Sequence[ColumnValues]) -> bytes:
        spans = self._records.spans(block)[rows]
        objects = (block.text[spans[:, 0]] == ord("{")) & (block.text[spans[:, 1] - 1] == ord("}"))
        if objects.all():
            return self._extend(block, spans, columns)
        extended = iter(
            self._extend(block, spans[objects], [column[objects] for column in columns]).split(b"\n")
        )
        return b"".join(
            (next(extended) if object_ else block.text[slice(*span)].tobytes()) + b"\n"
            for object_, span in zip(objects.tolist(), spans.tolist(), strict=True)
        )

    def _extend(self, block: Block, spans: RowNumbers, columns: Sequence[ColumnValues]) -> bytes:
        """Objects with more keys at their end."""
        spans = spans - (0, 1)  # without the }
        rendered = self._splicer.render(block, spans, 2 * _empty(block.text, spans).astype(np.int64), columns)
        for key in self._keys:
            written = json_text.contains(block.text, len(block.text), np.frombuffer(key, np.uint8))
            if written and rendered.count(key) > len(spans):
                self._check_free(block, spans)
        return rendered

    def _check_free(self, block: Block, spans: RowNumbers) -> None:
        for start, stop in spans.tolist():
            row: Any = {}
            with suppress(ValueError, RecursionError):  # a line that cannot be read has no keys
                row = json.loads(block.text[start : stop + 1].tobytes())
            for name in row.keys() & set(self._names):
                raise InputError(f"{block.path}: a row has a key {name!r} already; {self._remedy}")


def _empty(text: NDArray[np.uint8], spans: RowNumbers) -> NDArray[np.bool_]:
    """Which objects have no key, after which there would be a comma; the spans are without their }."""
    last = text[spans[:, 1] - 1]
    found: NDArray[np.bool_] = last == ord("{")
    for row in np.flatnonzero(last <= ord(" ")).tolist():  # blanks: nothing else can stand before a }
        found[row] = text[slice(*spans[row])].tobytes().rstrip() == b"{"
    return found


def _json_text(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode()


class DelimitedCopy:
    """CSV and TSV."""

    schema = None

    def __init__(self, records: DelimitedRecords, names: Sequence[str]) -> None:
        self._records = records
        separator = records.dialect.separator.encode()
        self._splicer = _Splicer([separator] * len(names), records.newline, b"", self._quoted)
        self.header = b""
        if records.dialect.header:
            added = separator.join(map(self._quoted, names))
            self.header = records.header + separator + added + records.newline

    def render(self, block: Block, rows: RowNumbers, columns: Sequence[ColumnValues]) -> bytes:
        nothing = np.zeros(len(rows), np.int64)
        return self._splicer.render(block, self._records.spans(block)[rows], nothing, columns)

    def _quoted(self, name: str) -> bytes:
        return csv_line([name], self._records.dialect.separator).encode()


class ArrowCopy:
    """Arrow and Parquet."""

    header = b""

    def __init__(self, records: ArrowRecords, names: Sequence[str], numeric: Sequence[bool]) -> None:
        self._arrow: Any = import_pyarrow(records.paths[0])
        self._records = records
        self._types = [self._arrow.float64() if number else self._arrow.string() for number in numeric]
        added = [self._arrow.field(name, kind) for name, kind in zip(names, self._types, strict=True)]
        self.schema = self._arrow.schema([*records.schema, *added], metadata=records.schema.metadata)

    def render(self, block: Block, rows: RowNumbers, columns: Sequence[ColumnValues]) -> Any:
        own = self._records.batch(block)
        if len(rows) < own.num_rows:
            own = own.take(self._arrow.array(rows))
        new = [
            self._arrow.array(column, kind, from_pandas=True)  # what is not a number is missing
            for column, kind in zip(columns, self._types, strict=True)
        ]
        return self._arrow.RecordBatch.from_arrays([*own.columns, *new], schema=self.schema)
