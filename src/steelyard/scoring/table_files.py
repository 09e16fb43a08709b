"""A table written with columns added: CSV, TSV, JSON lines, Parquet, Arrow and Excel, by the suffix.

Text that stays in its format is written in the encoding that it had.
"""

import bz2
import codecs
import gzip
import lzma
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from steelyard import _atomic_files
from steelyard.io import formats
from steelyard.io.arrow_arrays import import_pyarrow
from steelyard.io.blocks import Block
from steelyard.io.errors import InputError
from steelyard.io.transcoding import import_openpyxl
from steelyard.scoring.records import ColumnValues, TableRows
from steelyard.scoring.rendering import Renderer, renderer

_COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_ROW_GROUP = 1 << 24  # bytes of rows that make a row group of Parquet


class TableFile(Protocol):
    """Takes all rows of one block after another, with the columns that are added."""

    def write(self, block: Block, count: int, columns: Sequence[ColumnValues]) -> None: ...


def holds_tables(path: Path) -> bool:
    """Whether the suffix is one of a format that holds tables."""
    found = formats.by_suffix(str(path))
    return found is not None and found.table


@contextmanager
def open_table(
    path: Path, records: TableRows, names: Sequence[str], numeric: Sequence[bool]
) -> Iterator[TableFile]:
    """A file for the rows with columns of these names added; `numeric` tells which are numbers.

    It appears once it is complete.
    """
    found = formats.by_suffix(str(path))
    assert found is not None
    with _atomic_files.replacing(path) as temporary:
        if found.name == "excel":
            from steelyard.scoring import excel

            import_openpyxl(str(path))  # errors name this file, not the temporary one
            with closing(excel.open_workbook(temporary, records, names)) as book:
                yield book
        elif found.binary:
            import_pyarrow(str(path))
            made = renderer(found.name, records, names, numeric)
            with temporary.open("wb") as rows, closing(ArrowFile(rows, made.schema, found.name)) as arrow:
                yield _RenderedTable(made, arrow.write)
        else:
            with _open_text(temporary, path) as file:
                yield text_table(file.write, found.name, records, names, records.encoding or "utf-8")


def text_table(
    write: Callable[[bytes], Any],
    kind: str,
    records: TableRows,
    names: Sequence[str],
    encoding: str = "utf-8",
) -> TableFile:
    """Rows as "csv", "tsv" or "jsonl", to an output that stays open."""
    if encoding != "utf-8":
        write = _encoded(write, encoding)
    made = renderer(kind, records, names, ())
    if made.header:
        write(made.header)
    return _RenderedTable(made, write)


class _RenderedTable:
    def __init__(self, made: Renderer, write: Callable[[Any], Any]) -> None:
        self._renderer, self._write = made, write

    def write(self, block: Block, count: int, columns: Sequence[ColumnValues]) -> None:
        self._write(self._renderer.render(block, np.arange(count), columns))


def _encoded(write: Callable[[bytes], Any], encoding: str) -> Callable[[bytes], Any]:
    """The same for text in UTF-8, which is written in another encoding."""
    encoder = codecs.getincrementalencoder(encoding)()
    return lambda text: write(encoder.encode(text.decode()))


def _open_text(temporary: Path, path: Path) -> BinaryIO:
    suffix = path.suffix.lower()
    if suffix == ".zst":
        raise InputError(f"{path}: cannot be compressed with zstd; use .gz, .xz or .bz2")
    opened: BinaryIO = _COMPRESSED.get(suffix, open)(temporary, "wb")
    return opened


class ArrowFile:
    """Record batches in a file of Parquet or Arrow; many small ones make one row group."""

    def __init__(self, file: BinaryIO, schema: Any, kind: str) -> None:
        self._arrow: Any = import_pyarrow()
        self._schema = schema
        if kind == "parquet":
            self._writer = self._arrow.parquet.ParquetWriter(file, schema)
        else:
            self._writer = self._arrow.ipc.new_file(file, schema)
        self._waiting: list[Any] = []
        self._size = 0

    def write(self, batch: Any) -> None:
        self._waiting.append(batch)
        self._size += batch.nbytes
        if self._size >= _ROW_GROUP:
            self._flush()

    def close(self) -> None:
        """Write the end, which says what is in the file."""
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Let go of the file, which is worth nothing without its end."""
        self._writer.close()

    def _flush(self) -> None:
        rows = self._arrow.Table.from_batches(self._waiting, self._schema)
        self._writer.write_table(rows.combine_chunks())
        self._waiting, self._size = [], 0
