"""CSV and TSV: delimited text after RFC 4180, with a header or without."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.features.folding import Folding
from steelyard.features.interactions import Interactions
from steelyard.features.tokens import TextOptions
from steelyard.io import blocks as cutting
from steelyard.io import columns as roles
from steelyard.io.blocks import Block
from steelyard.io.column_roles import ColumnOverrides, guess
from steelyard.io.columns import Columns
from steelyard.io.dialects import Dialect, read_head
from steelyard.io.errors import InputError
from steelyard.io.labels import LabelRule
from steelyard.io.parsed_block import ParsedBlock
from steelyard.io.sources import Source
from steelyard.io.tables import Table
from steelyard.text import delimited


@dataclass(frozen=True)
class Layout:
    """How the columns lie in one file: how many there are, and where each that is known (−1: nowhere)."""

    width: int
    places: NDArray[np.int64]
    remarks: frozenset[str]


@dataclass(frozen=True)
class DelimitedBlock(Block):
    """Whole records, those before `start` belonging to the header."""

    layout: Layout
    start: int


class DelimitedText:
    """A file may have its columns in another order, and others besides; its label may be missing."""

    numeric_labels = False

    def __init__(
        self,
        folding: Folding,
        columns: Columns,
        dialect: Dialect,
        text_options: TextOptions | None = None,
        interactions: Interactions | None = None,
        label_rule: LabelRule | None = None,
        dtype: str = "float32",
    ) -> None:
        self._dialect = dialect
        self._table = Table(
            folding, columns, text_options or TextOptions(), interactions or Interactions(), label_rule, dtype
        )

    def blocks(self, source: Source, size: int) -> Iterator[DelimitedBlock]:
        dialect = self._dialect
        if not source.peek(1):
            return
        head = read_head(source, dialect)
        layout = self._layout(source.path, head.names)
        line = 1

        def last_end(text: NDArray[np.uint8], _start: int) -> int:
            if not dialect.quoting or not np.any(text == delimited.QUOTE):
                return cutting.last_line_end(text, 0)
            end = int(delimited.last_record_end(text, len(text), dialect.byte))
            if end == 0 and len(text) > cutting.LONGEST_LINE:
                raise InputError(
                    f"{source.path}, line {line}: a record is longer than {cutting.LONGEST_LINE >> 20} MB; "
                    "is the closing quote of a field missing?"
                )
            return end

        header = head.header_end
        for block in cutting.blocks(source, size, last_end):
            start = min(header, len(block.text))
            header -= start
            line += int(np.count_nonzero(block.text == 10))
            yield DelimitedBlock(block.path, block.text, block.position, layout, start)

    def nothing(self) -> DelimitedBlock:
        names = self._table.columns.names
        return DelimitedBlock("", cutting.empty_block().text, 0, self._layout("", names), 0)

    def parse(self, block: Block) -> ParsedBlock:
        assert isinstance(block, DelimitedBlock)
        dialect, layout = self._dialect, block.layout
        batch, valid = self._table.batch(block, delimited.QUOTE if dialect.quoting else -1, elements=False)
        rows, features, lines, wrong = delimited.parse(
            batch.text, block.start, len(block.text), valid, dialect.byte, dialect.quoting, layout.width,
            layout.places, *self._table.arguments,
            batch.table, batch.room, batch.heads, batch.features, batch.problems,
        )  # fmt: skip
        return self._table.finished(block, batch, rows, features, lines, wrong, layout.remarks)

    def _layout(self, path: str, names: tuple[str, ...]) -> Layout:
        columns = self._table.columns
        places = {name: place for place, name in enumerate(names)}
        roles.require([name for name in columns.names if columns.role(name) in roles.FEATURES], places, path)
        if not self._dialect.header and len(names) != len(columns.names):
            raise InputError(f"{path}: has {len(names)} columns where {len(columns.names)} are expected")
        unknown = sorted(set(names) - set(columns.names))
        remarks = (
            {f"{path}: columns that are not known are ignored: {', '.join(unknown)}"} if unknown else set()
        )
        found = np.array([places.get(name, -1) for name in columns.names], np.int64)
        return Layout(len(names), found, frozenset(remarks))


def guess_columns(source: Source, dialect: Dialect, told: ColumnOverrides | None = None) -> Columns:
    """From the first records of a file, which is not read on."""
    head = read_head(source, dialect)
    if dialect.header and not head.records:
        raise InputError(f"{source.path}: has a header ({', '.join(head.names)}) and no rows of that width")
    if len(head.names) == 1:
        raise InputError(
            f"{source.path}: has a single column with {dialect.separator!r} as separator, where a table has "
            "a label and more; --separator says what else it is"
        )
    return guess(head.names, head.records, told)


def head_labels(source: Source, dialect: Dialect, columns: Columns) -> list[str]:
    """The different labels in the first records, sorted; none where there is no label column."""
    head = read_head(source, dialect)
    places = [head.names.index(name) for name in columns.of(roles.LABEL) if name in head.names]
    found = {record[place].strip() for place in places for record in head.records}
    return columns.present(found)
