"""The rows of a block as they are written: JSON lines and delimited text as bytes, Arrow as a record batch.

Rows are copied as they stand in their file, with cells for the scores behind them. A block becomes one member
of a compressed file (gzip, xz, bzip2 and zstd files are members one after another), so that threads compress
side by side, and a file that was cut off can go on behind its last whole block.
"""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard._buffer_pool import BufferPool
from steelyard.io import sound_json
from steelyard.io.arrow_arrays import import_pyarrow
from steelyard.io.blocks import Block
from steelyard.io.csv_text import csv_line
from steelyard.io.errors import InputError
from steelyard.io.table_records import ArrowRecords, DelimitedRecords, JsonRecords, Records
from steelyard.text import json_text, lines, nine_digits

Rows = NDArray[np.int64]
Column = NDArray[Any]
Compress = Callable[[bytes], bytes]
_pool = BufferPool()
_LEVEL = 6  # of gzip: 9, Python's default, takes twice as long for 1 % less


def _zstd(text: bytes) -> bytes:
    return bytes(import_pyarrow("zstd").Codec("zstd").compress(text, asbytes=True))


_COMPRESSORS: dict[bytes, Compress] = {
    b"\x1f\x8b": lambda text: gzip.compress(text, _LEVEL, mtime=0),
    b"\xfd7zXZ": lzma.compress,
    b"BZh": bz2.compress,
    b"\x28\xb5\x2f\xfd": _zstd,
}


def compressor(path: str) -> Compress:
    """What compresses as this file is compressed, by its first bytes."""
    with Path(path).open("rb") as file:
        head = file.read(6)
    found = (compress for mark, compress in _COMPRESSORS.items() if head.startswith(mark))
    return next(found, lambda text: text)


class Renderer(Protocol):
    """Makes what is written of some rows of a block."""

    header: bytes
    schema: Any
    """Of Arrow and Parquet; None for text."""

    def render(self, block: Block, rows: Rows, columns: Sequence[Column]) -> Any: ...

    def document(self, block: Block, row: int) -> dict[str, Any]:
        """One row, by the names of its columns."""
        ...


def renderer(records: Records, names: Sequence[str], numeric: Sequence[bool]) -> Renderer:
    """For files of this kind, with columns of these names added; `numeric` tells which are numbers."""
    if isinstance(records, JsonRecords):  # whose rows have names of their own, and are looked at one by one
        return _JsonRenderer(records, names)
    taken = [name for name in names if name in records.names]
    if taken:
        raise InputError(
            f"{records.paths[0]}: has a column {taken[0]!r} already; rename the model's file, "
            "after which scores are named"
        )
    if isinstance(records, ArrowRecords):
        return _ArrowRenderer(records, names, numeric)
    assert isinstance(records, DelimitedRecords)
    return _DelimitedRenderer(records, names)


class _Splicer:
    """Copies records, each followed by a tail: `keys`, each with a cell of its column, and an end.

    Numbers are written with nine digits, as `predict` writes them, and names as `text` makes them.
    """

    def __init__(self, keys: Sequence[bytes], end: bytes, text: Callable[[str], bytes]) -> None:
        self._keys = np.frombuffer(b"".join([*keys, end]), np.uint8)
        self._key_ends = np.cumsum([len(key) for key in (*keys, end)], dtype=np.int64)
        self._text = text

    def render(self, block: Block, spans: Rows, skipped: Rows, columns: Sequence[Column]) -> bytes:
        """Of each tail so many bytes are `skipped`, of its first key."""
        starts, stops = (np.empty((len(spans), len(columns)), np.int64) for _ in range(2))
        texts, size = [], 0
        for place, column in enumerate(columns):
            text, start, stop = self._named(column) if column.dtype == object else nine_digits.write(column)
            starts[:, place], stops[:, place] = start + size, stop + size
            texts.append(text)
            size += len(text)
        copied = (spans[:, 1] - spans[:, 0]).sum() + (stops - starts).sum() + len(spans) * len(self._keys)
        out = _pool.empty(int(copied), np.uint8)
        size = lines.splice(
            block.text, spans, skipped, self._keys, self._key_ends, np.concatenate(texts), starts, stops, out
        )
        return out[:size].tobytes()

    def _named(self, column: Column) -> tuple[NDArray[np.uint8], Rows, Rows]:
        """A text that contains all names, and where that of each row begins and ends."""
        given = column.tolist()
        known = {name: self._text(name) for name in dict.fromkeys(given)}
        ends = np.cumsum([len(each) for each in known.values()], dtype=np.int64)
        numbers = {name: number for number, name in enumerate(known)}
        chosen = np.fromiter(map(numbers.__getitem__, given), np.int64, len(given))
        begins = np.concatenate([[0], ends[:-1]])
        return np.frombuffer(b"".join(known.values()), np.uint8), begins[chosen], ends[chosen]


class _JsonRenderer:
    header = b""
    schema = None

    def __init__(self, records: JsonRecords, names: Sequence[str]) -> None:
        self._records = records
        self._names = list(names)
        self._keys = list(map(_json_text, names))
        self._splicer = _Splicer([b", " + key + b": " for key in self._keys], b"}\n", _json_text)

    def render(self, block: Block, rows: Rows, columns: Sequence[Column]) -> bytes:
        spans = self._records.spans(block)[rows] - (0, 1)  # without the }
        rendered = self._splicer.render(block, spans, 2 * _empty(block.text, spans).astype(np.int64), columns)
        for key in self._keys:
            written = json_text.contains(block.text, len(block.text), np.frombuffer(key, np.uint8))
            if written and rendered.count(key) > len(rows):
                self._check_free(block, rows)
        return rendered

    def _check_free(self, block: Block, rows: Rows) -> None:
        lines = self._records.raw(block)
        for line in (lines[row] for row in rows.tolist()):
            for name in json.loads(line).keys() & set(self._names):
                raise InputError(f"{block.path}: a row has a key {name!r} already; rename the model's file")

    def document(self, block: Block, row: int) -> dict[str, Any]:
        found: dict[str, Any] = sound_json.loads(self._records.raw(block)[row])
        return found


def _empty(text: NDArray[np.uint8], spans: Rows) -> NDArray[np.bool_]:
    """Which objects have no key, after which there would be a comma; the spans are without their }."""
    last = text[spans[:, 1] - 1]
    found: NDArray[np.bool_] = last == ord("{")
    for row in np.flatnonzero(last <= ord(" ")).tolist():  # blanks: nothing else can stand before a }
        found[row] = text[slice(*spans[row])].tobytes().rstrip() == b"{"
    return found


def _json_text(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode()


class _DelimitedRenderer:
    schema = None

    def __init__(self, records: DelimitedRecords, names: Sequence[str]) -> None:
        self._records = records
        separator = records.dialect.separator.encode()
        self._splicer = _Splicer([separator] * len(names), records.newline, self._quoted)
        self.header = b""
        if records.dialect.header:
            added = separator.join(map(self._quoted, names))
            self.header = records.header + separator + added + records.newline

    def render(self, block: Block, rows: Rows, columns: Sequence[Column]) -> bytes:
        nothing = np.zeros(len(rows), np.int64)
        return self._splicer.render(block, self._records.spans(block)[rows], nothing, columns)

    def document(self, block: Block, row: int) -> dict[str, Any]:
        (cells,) = self._records.rows(self._records.part(block, row, row + 1))
        return dict(zip(self._records.names, cells, strict=True))

    def _quoted(self, name: str) -> bytes:
        return csv_line([name], self._records.dialect.separator).encode()


class _ArrowRenderer:
    header = b""

    def __init__(self, records: ArrowRecords, names: Sequence[str], numeric: Sequence[bool]) -> None:
        arrow: Any = import_pyarrow(records.paths[0])
        self._arrow, self._records = arrow, records
        self._types = [arrow.float64() if number else arrow.string() for number in numeric]
        added = [arrow.field(name, each) for name, each in zip(names, self._types, strict=True)]
        self.schema = arrow.schema([*records.schema, *added], metadata=records.schema.metadata)

    def render(self, block: Block, rows: Rows, columns: Sequence[Column]) -> Any:
        own = self._records.batch(block).take(self._arrow.array(rows))
        new = [self._arrow.array(column, each) for column, each in zip(columns, self._types, strict=True)]
        return self._arrow.RecordBatch.from_arrays([*own.columns, *new], schema=self.schema)

    def document(self, block: Block, row: int) -> dict[str, Any]:
        found: dict[str, Any] = self._records.batch(block).slice(row, 1).to_pylist()[0]
        return found


class Nothing:
    """Of a file without a byte."""

    header = b""
    schema = None

    def render(self, block: Block, rows: Rows, columns: Sequence[Column]) -> bytes:
        raise NotImplementedError

    def document(self, block: Block, row: int) -> dict[str, Any]:
        raise NotImplementedError
