"""Workbooks of Excel: the original with cells added to its first sheet, or a new one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.io.blocks import Block
from steelyard.io.errors import InputError
from steelyard.io.sources import once_only
from steelyard.io.transcoding import cell_text, import_openpyxl
from steelyard.scoring.converting import added_cells, as_cell, as_number, rows_with
from steelyard.scoring.records import ColumnValues, DelimitedRecords, TableRows

_MOST_ROWS = 1 << 20  # of a sheet
_MOST_CHARACTERS = 32_767  # of a cell


def open_workbook(path: Path, records: TableRows, names: Sequence[str]) -> "_SameWorkbook | _NewWorkbook":
    """The original, with its formats and other sheets, if the rows come from one workbook; else a new one."""
    if (
        isinstance(records, DelimitedRecords)
        and records.sheet
        and [*map(once_only, records.paths)] == [False]
    ):
        return _SameWorkbook(path, records, names)
    return _NewWorkbook(path, records, names)


class _NewWorkbook:
    """A workbook of one sheet."""

    def __init__(self, path: Path, records: TableRows, names: Sequence[str]) -> None:
        self._path, self._records = path, records
        self._book = import_openpyxl(str(path)).Workbook(write_only=True)
        self._sheet = self._book.create_sheet("predictions")
        self._sheet.append([*records.names, *names])
        self._rows = 1

    def write(self, block: Block, count: int, columns: Sequence[ColumnValues]) -> None:
        for row, added in rows_with(self._records, block, np.arange(count), columns):
            self._rows += 1
            if self._rows > _MOST_ROWS:
                raise InputError(
                    f"a sheet of Excel has {_MOST_ROWS:,} rows, and there are more; write .csv or .parquet"
                )
            self._sheet.append([self._cell(value) for value in (*map(as_number, row), *added)])

    def _cell(self, value: Any) -> Any:
        from openpyxl.cell import WriteOnlyCell

        return _fill(WriteOnlyCell(self._sheet), value)

    def close(self) -> None:
        self._book.save(self._path)


class _SameWorkbook:
    """The workbook itself, with cells added to its first sheet."""

    def __init__(self, path: Path, records: DelimitedRecords, names: Sequence[str]) -> None:
        self._path = path
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

    def write(self, block: Block, count: int, columns: Sequence[ColumnValues]) -> None:
        for cells in added_cells(columns):
            self._add(cells)

    def _add(self, values: Sequence[Any]) -> None:
        number = next(self._rows)[0].row
        for place, value in enumerate(values):
            _fill(self._sheet.cell(number, self._column + place), value)

    def close(self) -> None:
        self._book.save(self._path)


def _fill(cell: Any, value: Any) -> Any:
    """Fill a cell of a sheet. Text stays text, also where it looks like a formula."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    simple = value is None or isinstance(value, int | float | str) or hasattr(value, "isoformat")
    value = value if simple else as_cell(value)
    cell.value = ILLEGAL_CHARACTERS_RE.sub("", value) if isinstance(value, str) else value
    if isinstance(value, str):
        if len(value) > _MOST_CHARACTERS:
            raise InputError(
                f"a cell of Excel has at most {_MOST_CHARACTERS:,} characters, and a text has "
                f"{len(value):,}; write .csv or .parquet"
            )
        cell.data_type = "s"
    return cell
