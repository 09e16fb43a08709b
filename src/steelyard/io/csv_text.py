"""CSV and TSV as text: lines that every reader splits as they were meant, and records of any length."""

import csv
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

_LONGEST = (1 << 31) - 1  # characters of a cell; by itself Python's reader ends with an error at 131,072


@cache
def _needs_quotes(separator: str) -> re.Pattern[str]:
    """What is in a text that would be taken apart otherwise."""
    return re.compile(rf'[{re.escape(separator)}"\r\n]')


def csv_line(cells: Iterable[Any], separator: str = ",") -> str:
    """One record, without the end of its line."""
    special = _needs_quotes(separator)
    texts = ["" if cell is None else str(cell) for cell in cells]
    if texts == [""]:
        return '""'  # else it would be a blank line
    return separator.join(
        '"' + text.replace('"', '""') + '"' if special.search(text) else text for text in texts
    )


def csv_records(lines: Iterable[str]) -> Iterator[list[str]]:
    """The records of a file that was opened with `newline=""`."""
    csv.field_size_limit(_LONGEST)
    return csv.reader(lines)
