"""A look at the beginning of the files before anything is learned: format, columns, and the labels there.

It takes the same first bytes whatever the size of the blocks later on, so guesses do not depend on that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.io import (
    arrow,
    arrow_csr,
    arrow_roles,
    batches,
    delimited,
    dialects,
    formats,
    header,
    jsonl,
    sources,
)
from steelyard.io import columns as roles
from steelyard.io import input_spec as readings
from steelyard.io.batches import Batch
from steelyard.io.blocks import MARK, Block
from steelyard.io.column_roles import ColumnOverrides
from steelyard.io.columns import Columns
from steelyard.io.errors import InputError
from steelyard.io.input_spec import ARROW, InputSpec
from steelyard.io.labels import plain
from steelyard.io.parsed_block import ParsedBlock
from steelyard.io.sources import Source

HEAD_BYTES = 1 << 20
HEAD_ROWS = 1000


@dataclass(frozen=True)
class Layout:
    """What the user says about tables: the roles of columns, and how a delimited file is written."""

    told: ColumnOverrides = field(default_factory=ColumnOverrides)
    separator: str | None = None
    header: bool | None = None


def format_of(paths: Sequence[str]) -> str:
    """The format of all the files."""
    found = formats.common_format(list(paths))
    if found is None:
        with sources.opened(paths[0]) as source:
            return formats.sniffed(source)
    return found


def look(path: str, reading: InputSpec, layout: Layout | None = None) -> tuple[InputSpec, list[str]]:
    """The reading, completed by the columns of a table, and the different labels of the first rows."""
    with sources.opened(path) as source:
        if not source.peek(HEAD_BYTES).removeprefix(MARK).strip():
            raise InputError(f"{source.path}: is empty")
        if reading.format not in ARROW:
            formats.check_text(source)
        if reading.format in ("vw", "svmlight"):
            return reading, _written(head_parsed(source, reading).examples.labels)
        if reading.format in ARROW:
            return _typed(path, reading, layout or Layout())
        reading = _with_columns(source, reading, layout or Layout())
        columns = _with_label(path, reading.columns)
        if reading.dialect is None:
            return reading, jsonl.head_labels(source, columns)
        return reading, delimited.head_labels(source, reading.dialect, columns)


def _with_label(path: str, columns: Columns | None) -> Columns:
    """The columns, one of which must be the label."""
    assert columns is not None
    if not columns.of(roles.LABEL):
        names = ", ".join(columns.names)
        raise InputError(f"{path}: which column is the label? Say --label NAME; there are {names}")
    return columns


def _typed(path: str, reading: InputSpec, layout: Layout) -> tuple[InputSpec, list[str]]:
    """Arrow and Parquet: ordinary columns, or ready-made rows, which say how wide a model they are for."""
    head = arrow.head(path)
    if not arrow_csr.is_ready(head.schema):
        reading = replace(reading, columns=arrow_roles.guess_columns(head, layout.told))
        return reading, arrow_roles.head_labels(head, _with_label(path, reading.columns))
    found = header.header(head.schema.metadata, path)
    if found is not None and found.bits is not None:
        original = readings.from_json(dict(found.reading)) if found.reading else None
        reading = replace(reading, bits=found.bits, original=original)
    labels = arrow_csr.parse(Batch(path, batches.NO_TEXT, 0, rows=head), reading.features).examples.labels
    return reading, _written(labels)


def _with_columns(source: Source, reading: InputSpec, layout: Layout) -> InputSpec:
    if reading.format == "jsonl":
        return replace(reading, columns=jsonl.guess_columns(source, layout.told))
    dialect = dialects.sniff(source, separator=layout.separator, header=layout.header)
    return replace(reading, dialect=dialect, columns=delimited.guess_columns(source, dialect, layout.told))


def head_parsed(source: Source, reading: InputSpec) -> ParsedBlock:
    """The first lines of a file of lines, which stay to be read."""
    head = source.peek(HEAD_BYTES)
    text = head if len(head) < HEAD_BYTES else head[: head.rfind(b"\n") + 1]
    text = text.removeprefix(MARK) if text.endswith(b"\n") else text.removeprefix(MARK) + b"\n"
    return reading.reader().parse(Block(source.path, np.frombuffer(text, np.uint8), source.position))


def _written(labels: NDArray[np.float64]) -> list[str]:
    first = labels[:HEAD_ROWS]
    return [plain(label) for label in np.unique(first[~np.isnan(first)]).tolist()]
