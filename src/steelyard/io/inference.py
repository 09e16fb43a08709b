"""A look at the beginning of the files before anything is learned: format, columns, and the labels there.

It takes the same first bytes whatever the size of the blocks later on, so guesses do not depend on that.
"""

from collections.abc import Iterator, Sequence
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
    label_inference,
    sources,
)
from steelyard.io import columns as roles
from steelyard.io import input_spec as readings
from steelyard.io.batches import Batch
from steelyard.io.blocks import MARK, Block
from steelyard.io.column_roles import ColumnOverrides
from steelyard.io.columns import Column, Columns
from steelyard.io.errors import InputError
from steelyard.io.input_spec import ARROW, InputSpec
from steelyard.io.labels import LabelRule, plain
from steelyard.io.parsed_block import ParsedBlock
from steelyard.io.sources import Source
from steelyard.io.stream import Stream

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
        if reading.format in ARROW:
            reading = _typed(path, reading, layout or Layout())
        elif reading.format not in ("vw", "svmlight"):
            reading = _with_columns(source, reading, layout or Layout())
        return reading, head_labels(path, source, reading)


def head_labels(path: str, source: Source, reading: InputSpec) -> list[str]:
    """The different labels of the first rows, as they are written, sorted."""
    if reading.format in ARROW:
        head = arrow.head(path)
        if reading.columns is not None:
            return arrow_roles.head_labels(head, _with_label(path, reading.columns))
        rows = Batch(path, batches.NO_TEXT, 0, rows=head)
        return _written(arrow_csr.parse(rows, reading.features).examples.labels[:HEAD_ROWS])
    if reading.columns is None:
        return _written(head_parsed(source, reading).examples.labels[:HEAD_ROWS])
    columns = _with_label(path, reading.columns)
    if reading.dialect is None:
        return jsonl.head_labels(source, columns)
    return delimited.head_labels(source, reading.dialect, columns)


def distinct_labels(paths: Sequence[str], spec: InputSpec, limit: int) -> list[str]:
    """The different labels of whole files, as they are written, sorted: no rare class is missed.

    Of a pipe, which can be read once only, they are those of its first rows. More than `limit` are
    an InputError.
    """
    found: set[str] = set()
    for path in paths:
        for labels in _label_sets(path, spec):
            found |= labels
            if len(found) > limit:
                column = None if spec.columns is None else spec.columns.of(roles.LABEL)[0]
                raise label_inference.too_many(path, limit, found, column)
    return sorted(found)


def _label_sets(path: str, spec: InputSpec) -> Iterator[set[str]]:
    """The different labels of each part of a file. Of a table only the label column is looked at."""
    if sources.once_only(path):
        with sources.opened(path) as source:
            yield set(head_labels(path, source, spec))
    elif spec.columns is None and spec.format not in ARROW:
        for parsed in Stream([path], spec.reader(), skip=True):
            yield set(_written(parsed.examples.labels))
    else:
        columns = Columns((Column(arrow_csr.LABEL, roles.LABEL),)) if spec.columns is None else spec.columns
        name = _with_label(path, columns).of(roles.LABEL)[0]
        found = _arrow_labels(path, name) if spec.format in ARROW else _label_cells(path, spec)
        for labels in found:
            yield set(columns.present(labels))


def _arrow_labels(path: str, name: str) -> Iterator[set[str]]:
    with sources.opened(path) as source:
        for batch in batches.batches(source, HEAD_BYTES, [name]):
            if batch.rows is not None and name in batch.rows.schema.names:
                yield set(arrow_roles.distinct(batch.rows.column(name)))


def _label_cells(path: str, spec: InputSpec) -> Iterator[set[str]]:
    """Read with the label as the tag, which is kept as it is written, and no features."""
    assert spec.columns is not None
    roles_ = {roles.LABEL: roles.TAG}
    columns = [Column(one.name, roles_.get(one.role, roles.IGNORE)) for one in spec.columns.columns]
    only = replace(spec, columns=Columns(tuple(columns)), interactions=(), label_rule=None)
    for parsed in Stream([path], only.reader(), skip=True):
        assert parsed.tags is not None
        text = (parsed.block.text if parsed.text is None else parsed.text).tobytes()
        cells = {text[start:stop] for start, stop in parsed.tags.tolist()}
        yield {cell.decode("utf-8", "replace") for cell in cells}


def _with_label(path: str, columns: Columns | None) -> Columns:
    """The columns, one of which must be the label."""
    assert columns is not None
    if not columns.of(roles.LABEL):
        names = ", ".join(columns.names)
        raise InputError(f"{path}: which column is the label? Say --label NAME; there are {names}")
    return columns


def _typed(path: str, reading: InputSpec, layout: Layout) -> InputSpec:
    """Arrow and Parquet: ordinary columns, or ready-made rows, which say how wide a model they are for."""
    head = arrow.head(path)
    if not arrow_csr.is_ready(head.schema):
        return replace(reading, columns=arrow_roles.guess_columns(head, layout.told))
    found = header.header(head.schema.metadata, path)
    if found is not None and found.bits is not None:
        original = readings.from_json(dict(found.reading)) if found.reading else None
        reading = replace(reading, bits=found.bits, original=original)
        if original is not None and original.label_rule is not None and len(original.label_rule.names) > 2:
            codes = original.label_rule.values  # which stand in the file, and are classes, not numbers
            reading = replace(reading, label_rule=LabelRule(tuple(map(plain, codes)), codes))
    return reading


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
    return [plain(label) for label in np.unique(labels[~np.isnan(labels)]).tolist()]
