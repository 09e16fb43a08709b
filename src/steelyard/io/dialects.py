"""`Dialect`: how a delimited file is written. Given, or sniffed from its suffix and its first records."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.io.column_roles import LABEL_NAMES, SURE, TEXT_NAMES, WEIGHT_NAMES, is_number
from steelyard.io.errors import InputError
from steelyard.io.sources import COMPRESSED_SUFFIXES, Source
from steelyard.io.tables import HEAD_BYTES, HEAD_RECORDS
from steelyard.text import delimited, lines

SUFFIXES = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
SEPARATORS = (",", "\t", ";", "|")
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Dialect:
    """Without a header the columns are called 1, 2, 3, …"""

    separator: str = ","
    header: bool = True
    quoting: bool = True

    def __post_init__(self) -> None:
        if len(self.separator.encode()) != 1 or self.separator in '"\r\n' or self.separator.isalnum():
            raise ValueError(
                f"the separator {self.separator!r} must be a single ASCII character, no letter or digit"
            )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def byte(self) -> int:
        return ord(self.separator)


@dataclass(frozen=True)
class Head:
    """The first records of a file: the names of the columns, and the values of some whole records."""

    names: tuple[str, ...]
    records: list[list[str]]
    header_end: int
    """Bytes of the header, and of blank lines before it."""


def first_records(source: Source, dialect: Dialect, most: int = HEAD_RECORDS) -> list[tuple[list[str], int]]:
    """Up to so many whole records at the beginning, each with where it ends. The source is not read on."""
    peeked = source.peek(HEAD_BYTES).removeprefix(_MARK)
    whole = len(peeked) < HEAD_BYTES - len(_MARK)
    if whole and not peeked.endswith(b"\n"):
        peeked += b"\n"
    text = np.frombuffer(peeked, np.uint8)
    end = len(text) if whole else _last_end(text, dialect)
    room = np.empty(2 * len(text), np.uint8)
    room[: len(text)] = text
    spans = np.zeros((peeked.count(dialect.separator.encode()) + 1, 3), np.int64)
    view = room.view()
    view.flags.writeable = False
    found: list[tuple[list[str], int]] = []
    i = 0
    while i < end and len(found) < most:
        count, following, _, _, code, _ = delimited.split(
            view, i, end, dialect.byte, dialect.quoting, len(text), room, spans
        )
        if not delimited.is_blank(text, i, following) and code != lines.OPEN_QUOTE:
            cells = [
                view[start:stop].tobytes().decode("utf-8", "replace")
                for _, start, stop in spans[:count].tolist()
            ]
            found.append((cells, following))
        i = following
    return found


def _last_end(text: Any, dialect: Dialect) -> int:
    if dialect.quoting:
        return int(delimited.last_record_end(text, len(text), dialect.byte))
    return int(text.tobytes().rfind(b"\n") + 1)


def read_head(source: Source, dialect: Dialect) -> Head:
    """The names of the columns, and the records behind them that are as long."""
    found = first_records(source, dialect)
    if not found:
        raise InputError(f"{source.path}: there is no record at its beginning")
    first, header_end = found[0]
    if not dialect.header:
        width = _usual_width([cells for cells, _ in found])
        names = [str(place + 1) for place in range(width)]
        header_end = 0
    else:
        names = [name.strip() or str(place + 1) for place, name in enumerate(first)]
        found = found[1:]
    records = [cells for cells, _ in found if len(cells) == len(names)]
    return Head(tuple(names), records, header_end)


def sniff(
    source: Source, *, separator: str | None = None, header: bool | None = None, quoting: bool | None = None
) -> Dialect:
    """The dialect of a file; what is given is taken as it is."""
    path = Path(source.path)
    suffix = Path(path.stem).suffix if path.suffix in COMPRESSED_SUFFIXES else path.suffix
    if separator is None:
        separator = _separator(source, SUFFIXES.get(suffix.lower()))
    if quoting is None:
        quoting = separator != "\t" or _needs_quoting(source)
    dialect = Dialect(separator, True, quoting)
    if header is None:
        header = looks_like_header([cells for cells, _ in first_records(source, dialect)])
    return Dialect(separator, header, quoting)


def _widths(source: Source, dialect: Dialect) -> list[int]:
    return [len(cells) for cells, _ in first_records(source, dialect, 100)]


def _separator(source: Source, usual: str | None) -> str:
    """That of the suffix if it is used; else the one that makes the most cells, as many in every record.

    Used means in the header too: else its commas may be those of decimals, between semicolons.
    """
    widths = {each: _widths(source, Dialect(each, True, each != "\t")) for each in SEPARATORS}
    even = {each: found[0] for each, found in widths.items() if len(set(found)) == 1 and found[0] > 1}
    if usual is not None and max(widths[usual], default=2) > 1 and (widths[usual][:1] != [1] or not even):
        return usual
    return max(even, key=lambda separator: even[separator]) if even else usual or ","


def _needs_quoting(source: Source) -> bool:
    """Tab-separated text has no quotes; unless all its records are even with them and only with them."""
    plain, quoted = (_widths(source, Dialect("\t", True, quoting)) for quoting in (False, True))
    return len(set(plain)) > 1 and len(set(quoted)) == 1


def _usual_width(records: Sequence[Sequence[str]]) -> int:
    """How many cells most records have; the first may be a remark."""
    return Counter(map(len, records)).most_common(1)[0][0]


def looks_like_header(records: Sequence[Sequence[str]]) -> bool:
    """Names are as many as values, no numbers, not the same, and do not come again in their column."""
    if not records:
        return True
    names = [name.strip() for name in records[0]]
    if len(records) > SURE and len(names) != _usual_width(records):
        return False
    if any(is_number(name) or len(name) > 100 for name in names):
        return False
    if any(name.lower() in (*LABEL_NAMES, *WEIGHT_NAMES, *TEXT_NAMES) for name in names):
        return True
    return all(
        not name or all(len(record) <= place or record[place].strip() != name for record in records[1:])
        for place, name in enumerate(names)
    )
