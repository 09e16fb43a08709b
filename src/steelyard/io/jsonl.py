"""JSON lines: an object a line, its keys the columns.

Strings, numbers, true and false are cells as in any table; null and NaN are missing, while a key
that is not there says nothing: no feature, no label, weight 1. One level deeper, an object of
numbers gives features `column^key`, a list of strings features `column^string` (each string whole),
a list of numbers features `column^0`, `column^1` and so on.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from steelyard.features import hashing
from steelyard.features.folding import Folding
from steelyard.features.interactions import Interactions
from steelyard.features.tokens import TextOptions
from steelyard.io import blocks as cutting
from steelyard.io import columns as roles
from steelyard.io.blocks import Block
from steelyard.io.column_roles import ColumnOverrides, guess
from steelyard.io.columns import Column, Columns
from steelyard.io.errors import InputError
from steelyard.io.formats import check_no_document
from steelyard.io.labels import LabelRule
from steelyard.io.parsed_block import ParsedBlock
from steelyard.io.sources import Source
from steelyard.io.tables import HEAD_BYTES, HEAD_RECORDS, Table
from steelyard.text import jsonl
from steelyard.text.json_text import BACKSLASH

UNKNOWN = "keys that the first records do not have are ignored"


class JsonLines:
    """The order of keys does not matter; blank lines are skipped."""

    numeric_labels = False

    def __init__(
        self,
        folding: Folding,
        columns: Columns,
        text_options: TextOptions | None = None,
        interactions: Interactions | None = None,
        label_rule: LabelRule | None = None,
        dtype: str = "float32",
    ) -> None:
        self._table = Table(
            folding, columns, text_options or TextOptions(), interactions or Interactions(), label_rule, dtype
        )
        self._slots = np.full(1 << (2 * len(columns.names)).bit_length(), -1, np.int64)
        for column, name in enumerate(columns.names):
            slot = hashing.column_key(name) & (len(self._slots) - 1)
            while self._slots[slot] >= 0:
                slot = (slot + 1) & (len(self._slots) - 1)
            self._slots[slot] = column

    def blocks(self, source: Source, size: int) -> Iterator[Block]:
        return cutting.blocks(source, size)

    def nothing(self) -> Block:
        return cutting.empty_block()

    def parse(self, block: Block) -> ParsedBlock:
        table = self._table
        batch, valid = table.batch(block, BACKSLASH, elements=True)
        rows, features, lines, wrong, unknown = jsonl.parse(
            batch.text, len(block.text), valid, table.names, table.name_ends, self._slots, *table.arguments,
            batch.table, batch.room, batch.heads, batch.features, batch.problems,
        )  # fmt: skip
        remarks = frozenset([UNKNOWN] if unknown else [])
        return table.finished(block, batch, rows, features, lines, wrong, remarks)


class Written(str):
    """A number as it stands in the file, where labels are compared byte for byte."""


def head_objects(source: Source) -> list[dict[str, Any]]:
    """The objects in the first lines of a file, which is not read on; lines that are none are left out.

    Numbers are left as they are written.
    """
    peeked = source.peek(HEAD_BYTES)
    if len(peeked) == HEAD_BYTES:
        peeked = peeked[: peeked.rfind(b"\n") + 1]
    found = []
    for line in peeked.decode("utf-8-sig", "replace").split("\n")[:HEAD_RECORDS]:
        try:
            value = json.loads(line, parse_int=Written, parse_float=Written)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def guess_columns(source: Source, told: ColumnOverrides | None = None) -> Columns:
    """From the first objects: a column for each key, in the order in which they come."""
    check_no_document(source)
    objects = head_objects(source)
    names = list(dict.fromkeys(name for found in objects for name in found))
    if not names:
        raise InputError(f"{source.path}: there is no JSON object in the first {HEAD_RECORDS} lines")
    records = [[_cell(found.get(name)) for name in names] for found in objects]
    guessed = guess(names, records, told)
    nested = {name: kind for found in objects for name, value in found.items() if (kind := _nested(value))}
    return Columns(
        tuple(
            Column(column.name, *nested[column.name])
            if column.name in nested and column.why != "as told"
            else column
            for column in guessed.columns
        ),
        guessed.missing,
    )


def head_labels(source: Source, columns: Columns) -> list[str]:
    """The different labels in the first objects, as they stand there, sorted."""
    found = {_cell(value.get(name)) for name in columns.of(roles.LABEL) for value in head_objects(source)}
    return columns.present({label.strip() for label in found if label is not None})


def _cell(value: Any) -> str | None:
    """A value as the text of a cell."""
    if isinstance(value, str):
        return value
    if value is None or value != value or isinstance(value, dict | list):
        return None
    return json.dumps(value)


def _nested(value: Any) -> tuple[str, str] | None:
    """Role and reason of a column of nested values; an empty one says nothing."""
    if not value or not isinstance(value, dict | list):
        return None
    if isinstance(value, dict):
        return roles.NUMBER, "objects of numbers"
    if any(type(part) is str for part in value):  # not Written
        return roles.CATEGORY, "lists of strings"
    return roles.NUMBER, "lists of numbers"
