"""Tables written again, with columns added: CSV, TSV, JSON lines, Parquet, Arrow and Excel, by the suffix.

Records whose format stays are copied: text byte for byte, in the encoding it had; a workbook with its formats
and other sheets. Otherwise cells of text stay text; JSON and Excel get numbers where a cell is one.
"""

import bz2
import codecs
import gzip
import json
import lzma
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from steelyard import _atomic_files
from steelyard.io import formats
from steelyard.io.arrow_arrays import import_pyarrow
from steelyard.io.blocks import Block
from steelyard.io.column_inference import is_written_number
from steelyard.io.csv_text import csv_line
from steelyard.io.errors import InputError
from steelyard.io.sources import once_only
from steelyard.io.table_records import ArrowRecords, DelimitedRecords, JsonRecords, Records
from steelyard.io.transcoding import cell_text, import_openpyxl

Column = list[str | float | None]
_COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_FIRST = tuple("-.0123456789")  # of a number as people write it
_MOST_ROWS = 1 << 20  # of a sheet
_MOST_CHARACTERS = 32_767  # of a cell


class TableWriter(Protocol):
    """Takes the records of one block after another, each with a value in every added column."""

    def write(self, block: Block, added: Sequence[Column]) -> None: ...


def writes_tables(path: Path) -> bool:
    """Whether the suffix is one of a format that holds tables."""
    found = formats.by_suffix(str(path))
    return found is not None and found.table


@contextmanager
def open_writer(
    path: Path, records: Records, names: Sequence[str], numeric: Sequence[bool]
) -> Iterator[TableWriter]:
    """A writer for the records with columns of these names added; `numeric` tells which are numbers.

    The file appears once it is complete.
    """
    found = formats.by_suffix(str(path))
    assert found is not None
    with _atomic_files.replacing(path) as temporary:
        if not (found.binary or found.name == "excel"):
            with _open_text(temporary, path) as file:
                out = TextOutput(file.write, records.encoding or "utf-8")
                yield text_writer(out, found.name, records, names)
            return
        if found.name == "excel":
            import_openpyxl(str(path))
        else:
            import_pyarrow(str(path))  # errors name this file, not the temporary one
        with closing(
            _excel_writer(temporary, records, names)
            if found.name == "excel"
            else _ArrowWriter(temporary, found.name, records, names, numeric)
        ) as writer:
            yield writer


def text_writer(out: "TextOutput", kind: str, records: Records, names: Sequence[str]) -> TableWriter:
    """A writer of "csv", "tsv" or "jsonl"."""
    if kind == "jsonl":
        return _JsonWriter(out, records, names)
    return _DelimitedWriter(out, records, names, "\t" if kind == "tsv" else ",")


def _open_text(temporary: Path, path: Path) -> BinaryIO:
    suffix = path.suffix.lower()
    if suffix == ".zst":
        raise InputError(f"{path}: cannot be compressed with zstd; use .gz, .xz or .bz2")
    opened: BinaryIO = _COMPRESSED.get(suffix, open)(temporary, "wb")
    return opened


class TextOutput:
    """Text is given as UTF-8, and written in the encoding of the original."""

    def __init__(self, write: Callable[[bytes], Any], encoding: str = "utf-8") -> None:
        self._write = write
        self._encode = None if encoding == "utf-8" else codecs.getincrementalencoder(encoding)()

    def write(self, lines: Sequence[bytes]) -> None:
        text = b"".join(lines)
        self._write(text if self._encode is None else self._encode.encode(text.decode()))


class _DelimitedWriter:
    def __init__(self, out: TextOutput, records: Records, names: Sequence[str], separator: str) -> None:
        self._out, self._records, self._separator = out, records, separator
        self._copied: DelimitedRecords | None = None
        self._classes: dict[str, bytes] = {}
        self._newline, header = b"\n", True
        if isinstance(records, DelimitedRecords):
            own = records.dialect.separator
            if own == separator or "\t" not in (own, separator):  # semicolons stay in a .csv
                self._copied, self._separator = records, own
            self._newline, header = records.newline, records.dialect.header
        if header and self._copied is not None:
            out.write([self._copied.header, self._separator.encode(), self._line(names), self._newline])
        elif header:
            out.write([self._line([*records.names, *names]), self._newline])

    def write(self, block: Block, added: Sequence[Column]) -> None:
        separator, newline = self._separator.encode(), self._newline
        columns = [[self._quoted(value) for value in column] for column in added]
        new = [separator.join(cells) + newline for cells in zip(*columns, strict=True)]
        if self._copied is not None:
            old = self._copied.raw(block)
        else:
            old = [self._line(row) for row in self._records.rows(block)]
        self._out.write(
            [part for line, cells in zip(old, new, strict=True) for part in (line, separator, cells)]
        )

    def _line(self, cells: Sequence[Any]) -> bytes:
        return csv_line(map(_as_cell, cells), self._separator).encode()

    def _quoted(self, value: str | float | None) -> bytes:
        """A cell as it is written; classes are few, so that they are quoted once."""
        if not isinstance(value, str):
            return b"" if value is None else repr(value).encode()
        if value not in self._classes:
            self._classes[value] = self._line([value])
        return self._classes[value]


class _JsonWriter:
    def __init__(self, out: TextOutput, records: Records, names: Sequence[str]) -> None:
        self._out, self._records, self._names = out, records, names
        self._keys = [json.dumps(name, ensure_ascii=False).encode() for name in names]

    def write(self, block: Block, added: Sequence[Column]) -> None:
        new = [dict(zip(self._names, values, strict=True)) for values in zip(*added, strict=True)]
        if isinstance(self._records, JsonRecords):
            pairs = zip(self._records.raw(block), new, strict=True)
            self._out.write([self._extended(line, values, block.path) + b"\n" for line, values in pairs])
            return
        names = self._records.names
        rows = zip(self._records.rows(block), new, strict=True)
        self._out.write(
            [
                _dump({k: _number(v) for k, v in zip(names, row, strict=True)} | values) + b"\n"
                for row, values in rows
            ]
        )

    def _extended(self, line: bytes, values: dict[str, Any], path: str) -> bytes:
        """The object as it is written, with more keys at its end; a line that is none stays."""
        if not (line.startswith(b"{") and line.endswith(b"}")):
            return line
        if any(key in line for key in self._keys) and set(self._names) & json.loads(line).keys():
            raise InputError(f"{path}: some later row has a key {', '.join(self._names)} already; rename it")
        inner = line[1:-1].strip()
        return b"{" + inner + (b", " if inner else b"") + _dump(values)[1:]


class _ArrowWriter:
    """Parquet or Arrow. Columns of text files are strings."""

    def __init__(
        self, temporary: Path, kind: str, records: Records, names: Sequence[str], numeric: Sequence[bool]
    ) -> None:
        self._arrow: Any = import_pyarrow()
        self._records = records
        types = [self._arrow.float64() if number else self._arrow.string() for number in numeric]
        self._new = [self._arrow.field(name, each) for name, each in zip(names, types, strict=True)]
        text = [self._arrow.field(name, self._arrow.string()) for name in records.names]
        own = list(records.schema) if isinstance(records, ArrowRecords) else text
        self._schema = self._arrow.schema([*own, *self._new])
        if kind == "parquet":
            self._writer = self._arrow.parquet.ParquetWriter(temporary, self._schema)
        else:
            self._writer = self._arrow.ipc.new_file(str(temporary), self._schema)

    def write(self, block: Block, added: Sequence[Column]) -> None:
        if isinstance(self._records, ArrowRecords):
            own = self._records.batch(block).columns
        else:
            columns = zip(*self._records.rows(block), strict=True)
            texts = ([None if cell is None else _as_cell(cell) for cell in column] for column in columns)
            own = [self._arrow.array(column, self._arrow.string()) for column in texts]
        new = [self._arrow.array(values, field.type) for values, field in zip(added, self._new, strict=True)]
        self._writer.write_batch(self._arrow.RecordBatch.from_arrays([*own, *new], schema=self._schema))

    def close(self) -> None:
        self._writer.close()


def _excel_writer(temporary: Path, records: Records, names: Sequence[str]) -> "_SameWorkbook | _NewWorkbook":
    if (
        isinstance(records, DelimitedRecords)
        and records.sheet
        and [*map(once_only, records.paths)] == [False]
    ):
        return _SameWorkbook(temporary, records, names)
    return _NewWorkbook(temporary, records, names)


class _NewWorkbook:
    """A workbook of one sheet."""

    def __init__(self, temporary: Path, records: Records, names: Sequence[str]) -> None:
        self._path, self._records = temporary, records
        self._book = import_openpyxl(str(temporary)).Workbook(write_only=True)
        self._sheet = self._book.create_sheet("predictions")
        self._sheet.append([*records.names, *names])
        self._rows = 1

    def write(self, block: Block, added: Sequence[Column]) -> None:
        for row, values in zip(self._records.rows(block), zip(*added, strict=True), strict=True):
            self._rows += 1
            if self._rows > _MOST_ROWS:
                raise InputError(
                    f"a sheet of Excel has {_MOST_ROWS:,} rows, and there are more; write .csv or .parquet"
                )
            self._sheet.append([self._cell(value) for value in (*map(_number, row), *values)])

    def _cell(self, value: Any) -> Any:
        from openpyxl.cell import WriteOnlyCell

        return _put(WriteOnlyCell(self._sheet), value)

    def close(self) -> None:
        self._book.save(self._path)


class _SameWorkbook:
    """The workbook itself, with cells added to its first sheet."""

    def __init__(self, temporary: Path, records: DelimitedRecords, names: Sequence[str]) -> None:
        self._path = temporary
        original = records.paths[0]
        self._book = import_openpyxl(original).load_workbook(
            original, keep_vba=original.lower().endswith("m")
        )
        self._sheet = self._book.worksheets[0]
        filled = self._sheet.iter_rows()
        self._rows = (row for row in filled if any(cell_text(cell.value).strip() for cell in row))
        self._column = len(records.names) + 1
        if records.dialect.header:
            self._add(names)

    def write(self, block: Block, added: Sequence[Column]) -> None:
        for values in zip(*added, strict=True):
            self._add(values)

    def _add(self, values: Sequence[Any]) -> None:
        number = next(self._rows)[0].row
        for place, value in enumerate(values):
            _put(self._sheet.cell(number, self._column + place), value)

    def close(self) -> None:
        self._book.save(self._path)


def _dump(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, default=str).encode()


def _as_cell(value: Any) -> str:
    if isinstance(value, float) and value != value:
        return ""
    return (
        json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, dict | list)
        else cell_text(value)
    )


def _number(value: Any) -> Any:
    """A cell that is written as a number, as people write numbers, is one: 1.5, but not 007 or 1e5."""
    if isinstance(value, float) and value != value:
        return None
    if (
        not isinstance(value, str)
        or len(value) > 15
        or value[:1] not in _FIRST
        or not is_written_number(value)
    ):
        return value
    number = float(value) if "." in value else int(value) if value.lstrip("+-").isdigit() else value
    return number if str(number) == value else value


def _put(cell: Any, value: Any) -> Any:
    """Fill a cell of a sheet. Text stays text, also where it looks like a formula."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    simple = value is None or isinstance(value, int | float | str) or hasattr(value, "isoformat")
    value = value if simple else _as_cell(value)
    cell.value = ILLEGAL_CHARACTERS_RE.sub("", value) if isinstance(value, str) else value
    if isinstance(value, str):
        if len(value) > _MOST_CHARACTERS:
            raise InputError(
                f"a cell of Excel has at most {_MOST_CHARACTERS:,} characters, and a text has "
                f"{len(value):,}; write .csv or .parquet"
            )
        cell.data_type = "s"
    return cell
