"""Rows as CSV text, and back to the same values: "1" stays a string, 1.0 a float, and "" is not missing.

A CSV file does not record types. So each column has a string of letters, one a row, stored beside the file:
t for a string, i for an int, f for a float, b for a bool, - if the row has no such column. A single letter
stands for all rows if they are the same.

>>> rows = [{"name": "1", "share": 0.5}, {"name": "", "share": float("inf")}]
>>> text, kinds = format_rows(rows)
>>> kinds
{'name': 't', 'share': 'f'}
>>> parse_rows(text, kinds) == rows
True
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from paper.study import Cell, Row

_LETTERS = {str: "t", int: "i", float: "f", bool: "b"}
_ABSENT = "-"
_VALUES: dict[str, Callable[[str], Cell]] = {"t": str, "i": int, "f": float, "b": lambda text: text == "True"}


def format_rows(rows: Sequence[Row]) -> tuple[str, dict[str, str]]:
    """The text of a CSV file, and the type letters of its columns."""
    plain = [{name: _plain(name, cell) for name, cell in row.items()} for row in rows]
    heads = list(dict.fromkeys(name for row in plain for name in row))
    lines: list[list[Cell]] = [[*heads], *([row.get(name, "") for name in heads] for row in plain)]
    return join_csv(lines), {name: _letters([row.get(name) for row in plain]) for name in heads}


def join_csv(lines: Sequence[Sequence[Cell]]) -> str:
    """Lines of comma-separated cells, with plain line ends."""
    # The writer quotes a line feed in a cell, but not a carriage return, which readers take for a line end.
    odd = any(isinstance(cell, str) and "\r" in cell for line in lines for cell in line)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL).writerows(
        lines
    )
    return stream.getvalue()


def parse_rows(text: str, kinds: Mapping[str, str]) -> list[Row]:
    """The rows. A ValueError if text and letters do not match."""
    heads, *lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    if heads != list(kinds):
        raise ValueError(f"the columns are {heads}, not {list(kinds)}")
    rows: list[Row] = [{} for _ in lines]
    for column, (name, letters) in enumerate(kinds.items()):
        each = letters * len(lines) if len(letters) == 1 else letters
        for row, line, letter in zip(rows, lines, each, strict=True):
            if letter != _ABSENT:
                row[name] = _VALUES[letter](line[column])
    return rows


def _plain(name: str, cell: object) -> Cell:
    """NumPy's numbers become Python's, which are written with all digits."""
    cell = cell.item() if isinstance(cell, np.generic) else cell
    if not isinstance(cell, (str, int, float)):
        raise TypeError(f"column {name!r}: {cell!r} is a {type(cell).__name__}, not a text, number or bool")
    return cell


def _letters(cells: Sequence[Cell | None]) -> str:
    letters = "".join(_ABSENT if cell is None else _LETTERS[type(cell)] for cell in cells)
    return letters[0] if len(set(letters)) == 1 else letters
