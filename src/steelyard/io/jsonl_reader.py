"""The reader of JSON lines: one object per line, whose keys are the columns.

Strings, numbers, true and false are cells as in any table; null and NaN are missing, while an absent
key means nothing: no feature, no label, weight 1. One level deeper, an object of numbers becomes
features `column^key`, a list of strings features `column^string` (each string whole), a list of numbers
features `column^0`, `column^1` and so on.

`hash_object` makes a row of one object without any columns, for programs that exchange lines.
"""

import json
import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from steelyard.examples import Examples
from steelyard.features import Names
from steelyard.io import columns as roles
from steelyard.io.blocks import Block, LineReader, ParsedBlock
from steelyard.io.column_inference import HEAD_BYTES, HEAD_RECORDS, infer_roles
from steelyard.io.columns import ColumnOverrides, Columns
from steelyard.io.errors import InputError
from steelyard.io.formats import MARK
from steelyard.io.input_spec import InputSpec
from steelyard.io.sources import Source
from steelyard.io.tables import TableParser
from steelyard.text import hashing, jsonl
from steelyard.text.json_text import BACKSLASH

UNKNOWN = "keys that the first records do not have are ignored"
_FEW_BYTES = 1 << 16
_WORD = re.compile(r"\w+")


class JsonReader(LineReader):
    """The order of keys does not matter; blank lines are skipped."""

    numeric_labels = False

    def __init__(self, spec: InputSpec, names: Names | None = None) -> None:
        self._table = TableParser(spec, names)
        columns = self._table.columns
        self._slots = np.full(1 << (2 * len(columns.names)).bit_length(), -1, np.int64)
        for column, name in enumerate(columns.names):
            slot = hashing.column_key(name) & (len(self._slots) - 1)
            while self._slots[slot] >= 0:
                slot = (slot + 1) & (len(self._slots) - 1)
            self._slots[slot] = column

    def parse(self, block: Block) -> ParsedBlock:
        table = self._table
        buffers, valid = table.allocate(block, BACKSLASH, elements=True)
        *counts, unknown = jsonl.parse(
            buffers.text, len(block.text), valid, table.names, table.name_ends, self._slots,
            *table.arguments, *buffers.arguments, jsonl.scratch_for_width(len(table.name_ends)),
        )  # fmt: skip
        return table.finish(block, buffers, counts, frozenset([UNKNOWN] if unknown else []))


class WrittenNumber(str):
    """A number as it stands in the file, where labels are compared byte for byte."""


_DECODER = json.JSONDecoder(
    parse_int=WrittenNumber, parse_float=WrittenNumber
)  # made once: it costs as much as a line


def head_objects(source: Source) -> Iterator[dict[str, Any]]:
    """The objects in the first lines of a file, which is only peeked at; other lines are left out.

    Numbers are left as they are written.
    """
    for line in islice(_head_lines(source), HEAD_RECORDS):
        try:
            value = _DECODER.decode(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _head_lines(source: Source) -> Iterator[bytes]:
    """The first lines; few bytes are read for those who need but one."""
    start = 0
    for size in (_FEW_BYTES, HEAD_BYTES):
        peeked = source.peek(size)
        whole = len(peeked) < size
        end = len(peeked) if whole else peeked.rfind(b"\n")
        if end >= start:
            yield from peeked[start:end].removeprefix(b"" if start else MARK).split(b"\n")
            start = end + 1
        if whole:
            return


def infer_columns(source: Source, told: ColumnOverrides | None = None) -> Columns:
    """A column for each key of the first objects, in the order in which they come."""
    objects = list(head_objects(source))
    names = list(dict.fromkeys(name for found in objects for name in found))
    if not names:
        raise InputError(f"{source.path}: there is no JSON object in the first {HEAD_RECORDS} lines")
    records = [[_cell(found.get(name)) for name in names] for found in objects]
    nested = {name: kind for found in objects for name, value in found.items() if (kind := _nested(value))}
    return infer_roles(names, records, told, nested)


def head_labels(source: Source, columns: Columns) -> list[str]:
    """The different labels in the first objects, as they stand there, sorted."""
    return columns.present(
        _cell(value.get(name)) for name in columns.with_role(roles.LABEL) for value in head_objects(source)
    )


def _cell(value: Any) -> str | None:
    """A value as the text of a cell."""
    if isinstance(value, str):
        return value
    if value is None or value != value or isinstance(value, dict | list):
        return None
    return json.dumps(value)


def _nested(value: Any) -> tuple[str, str] | None:
    """Role and reason of a column of nested values; an empty value means nothing."""
    if not value or not isinstance(value, dict | list):
        return None
    if isinstance(value, dict):
        return roles.NUMBER, "objects of numbers"
    if any(type(part) is str for part in value):  # not WrittenNumber
        return roles.CATEGORY, "lists of strings"
    return roles.NUMBER, "lists of numbers"


def hash_object(found: Any, bits: int) -> Examples:
    """The object as an example without a label, for a model of 2^bits features.

    A number is the feature `name`, true one of value 1; a text is its words, `name^word`, each as often
    as it occurs. Null and false mean nothing. Names are hashed, so none has to be known beforehand.

    >>> row = hash_object({"price": 2.5, "title": "Free, free beer"}, bits=18)
    >>> sorted(row.values.tolist())
    [1.0, 2.0, 2.5]
    """
    if not isinstance(found, dict):
        raise InputError(f"an example is an object of names and values, not {found!r}")
    entries: dict[int, float] = {}
    for name, value in found.items():
        for key, amount in _hash_value(name, value):
            index = key & ((1 << bits) - 1)
            entries[index] = entries.get(index, 0.0) + amount
    indices = sorted(entries)
    ends = np.array([0, len(indices)], np.int64)
    values = np.array([entries[index] for index in indices], np.float32)
    return Examples(ends, np.array(indices, np.int32), values, False, 1 << bits, np.zeros(1), np.ones(1))


def _hash_value(name: str, value: Any) -> list[tuple[int, float]]:
    if value is None or value is False:
        return []
    if isinstance(value, str):
        return [(hashing.name_key(f"{name}^{word}"), 1.0) for word in _WORD.findall(value.lower())]
    if not isinstance(value, int | float) or not math.isfinite(value) or abs(value) > 1e17:
        raise InputError(f"{name!r} is {value!r}: a value is a number, a text, true, false or null")
    return [(hashing.name_key(name), float(value))]
