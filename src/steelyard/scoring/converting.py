"""Rows whose values are written anew, as their file had another format.

Cells of text stay text, but JSON and Excel get numbers where a cell is one.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.io.arrow_arrays import import_pyarrow
from steelyard.io.blocks import Block
from steelyard.io.column_inference import is_written_number
from steelyard.io.csv_text import csv_line
from steelyard.io.transcoding import cell_text
from steelyard.scoring.records import ColumnValues, DelimitedRecords, Row, RowNumbers, TableRows

_FIRST = tuple("-.0123456789")  # of a number as people write it


class DelimitedConversion:
    """CSV or TSV. A file that had no header gets none."""

    schema = None

    def __init__(self, records: TableRows, names: Sequence[str], separator: str) -> None:
        self._records, self._separator = records, separator
        headless = isinstance(records, DelimitedRecords) and not records.dialect.header
        self._newline = records.newline if isinstance(records, DelimitedRecords) else b"\n"
        self.header = b"" if headless else self._line([*records.names, *names])

    def render(self, block: Block, rows: RowNumbers, columns: Sequence[ColumnValues]) -> bytes:
        return b"".join(
            self._line([*row, *(f"{value:.9g}" if isinstance(value, float) else value for value in added)])
            for row, added in rows_with(self._records, block, rows, columns)
        )

    def _line(self, cells: Sequence[Any]) -> bytes:
        return csv_line(map(as_cell, cells), self._separator).encode() + self._newline


class JsonConversion:
    """JSON lines."""

    header = b""
    schema = None

    def __init__(self, records: TableRows, names: Sequence[str]) -> None:
        self._records, self._names = records, [*records.names, *names]

    def render(self, block: Block, rows: RowNumbers, columns: Sequence[ColumnValues]) -> bytes:
        objects = (
            dict(zip(self._names, [*map(as_number, row), *added], strict=True))
            for row, added in rows_with(self._records, block, rows, columns)
        )
        return b"".join(
            json.dumps(each, ensure_ascii=False, default=str).encode() + b"\n" for each in objects
        )


class ArrowConversion:
    """Parquet or Arrow. Columns of text files are strings."""

    header = b""

    def __init__(self, records: TableRows, names: Sequence[str], numeric: Sequence[bool]) -> None:
        self._arrow: Any = import_pyarrow()
        self._records = records
        self._types = [self._arrow.float64() if number else self._arrow.string() for number in numeric]
        own = [self._arrow.field(name, self._arrow.string()) for name in records.names]
        added = [self._arrow.field(name, kind) for name, kind in zip(names, self._types, strict=True)]
        self.schema = self._arrow.schema([*own, *added])

    def render(self, block: Block, rows: RowNumbers, columns: Sequence[ColumnValues]) -> Any:
        found = self._records.rows(block)
        texts = (
            [None if found[row][place] is None else as_cell(found[row][place]) for row in rows.tolist()]
            for place in range(len(self._records.names))
        )
        own = [self._arrow.array(column, self._arrow.string()) for column in texts]
        new = [
            self._arrow.array(column, kind, from_pandas=True)
            for column, kind in zip(columns, self._types, strict=True)
        ]
        return self._arrow.RecordBatch.from_arrays([*own, *new], schema=self.schema)


def rows_with(
    records: TableRows, block: Block, rows: RowNumbers, columns: Sequence[ColumnValues]
) -> Iterator[tuple[Row, list[Any]]]:
    """Each of these rows, and the cells that are added to it."""
    found = records.rows(block)
    for number, cells in zip(rows.tolist(), added_cells(columns), strict=True):
        yield found[number], cells


def added_cells(columns: Sequence[ColumnValues]) -> list[list[Any]]:
    """The values of each row: names, numbers of nine digits as text has them, or None."""
    return [
        [value if isinstance(value, str) or value is None else _rounded(value) for value in row]
        for row in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _rounded(value: float) -> float | None:
    return None if value != value else float(f"{value:.9g}")


def as_cell(value: Any) -> str:
    """A value as a cell of text."""
    if value is None or value != value:
        return ""
    return (
        json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, dict | list)
        else cell_text(value)
    )


def as_number(value: Any) -> Any:
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
