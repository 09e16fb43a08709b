"""A look at the beginning of the files before anything is learned: format, columns, and the labels there.

It takes the same first bytes whatever the size of the blocks later on, so guesses do not depend on that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from steelyard.io import columns as roles
from steelyard.io import delimited, dialects, formats, jsonl, sources
from steelyard.io.blocks import MARK, Block
from steelyard.io.errors import InputError
from steelyard.io.guessing import Told
from steelyard.io.labels import plain
from steelyard.io.reading import TABLES, Reading
from steelyard.io.sources import Source

HEAD_BYTES = 1 << 20
HEAD_ROWS = 1000


@dataclass(frozen=True)
class Layout:
    """What the user says about tables: the roles of columns, and how a delimited file is written."""

    told: Told = field(default_factory=Told)
    separator: str | None = None
    header: bool | None = None


def format_of(paths: Sequence[str]) -> str:
    """The format of all the files."""
    found = formats.common_format(list(paths))
    if found is None:
        with sources.opened(paths[0]) as source:
            return formats.sniffed(source)
    return found


def look(path: str, reading: Reading, layout: Layout | None = None) -> tuple[Reading, list[str]]:
    """The reading, completed by the columns of a table, and the different labels of the first rows."""
    with sources.opened(path) as source:
        if not source.peek(HEAD_BYTES).removeprefix(MARK).strip():
            raise InputError(f"{source.path}: is empty")
        if reading.format not in TABLES:
            return reading, _numeric_labels(source, reading)
        reading = _with_columns(source, reading, layout or Layout())
        assert reading.columns is not None
        if not reading.columns.of(roles.LABEL):
            names = ", ".join(reading.columns.names)
            raise InputError(f"{path}: which column is the label? Say --label NAME; there are {names}")
        if reading.dialect is None:
            return reading, jsonl.head_labels(source, reading.columns)
        return reading, delimited.head_labels(source, reading.dialect, reading.columns)


def _with_columns(source: Source, reading: Reading, layout: Layout) -> Reading:
    if reading.format == "jsonl":
        return replace(reading, columns=jsonl.guess_columns(source, layout.told))
    dialect = dialects.sniff(source, separator=layout.separator, header=layout.header)
    return replace(reading, dialect=dialect, columns=delimited.guess_columns(source, dialect, layout.told))


def _numeric_labels(source: Source, reading: Reading) -> list[str]:
    head = source.peek(HEAD_BYTES)
    text = head if len(head) < HEAD_BYTES else head[: head.rfind(b"\n") + 1]
    text = text.removeprefix(MARK) if text.endswith(b"\n") else text.removeprefix(MARK) + b"\n"
    block = Block(source.path, np.frombuffer(text, np.uint8), source.position)
    labels = reading.reader().parse(block).examples.labels[:HEAD_ROWS]
    return [plain(label) for label in np.unique(labels[~np.isnan(labels)]).tolist()]
