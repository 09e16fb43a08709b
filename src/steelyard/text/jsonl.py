"""JSON lines: one object a line, whose keys are the columns. It accepts exactly what Python's json accepts.

Values nested one level deep are features too: the entries of `{"key": number}` and `["token", …]` by name
within the column, the entries of a list of numbers by position. Deeper values are allowed in ignored columns
only.
"""

from typing import NamedTuple

import numpy as np

from steelyard.native.declare import helper, kernel
from steelyard.native.kinds import Bytes, Count, Counts, Number, Places, Switch
from steelyard.text import cells, decimals, hashing, lines, tokens
from steelyard.text import json_text as json
from steelyard.text.json_text import after_blanks, decode, string_end, value_end
from steelyard.text.lines import COLON, NEWLINE
from steelyard.text.structs import CellPlan, Features, Heads, LabelTable, Scratch, TokenOptions

DEEPEST = 500


class LineScratch(NamedTuple):
    """The cells of a line, the cell of each column, and the brackets that are open."""

    spans: Places
    places: Counts
    stack: Bytes


def scratch_for_width(width: int) -> LineScratch:
    """Scratch memory for lines with so many columns."""
    return LineScratch(cells.new_spans(width), np.arange(width, dtype=np.int64), np.empty(DEEPEST, np.uint8))


@kernel
def parse(
    text: Bytes, end: Count, valid: Switch, names: Bytes, name_ends: Counts, slots: Counts, plan: CellPlan,
    rule: LabelTable, options: TokenOptions, largest: Number, scratch: Scratch, buffer: Bytes, heads: Heads,
    features: Features, problems: Places, line_scratch: LineScratch,
):  # fmt: skip
    """Read the whole lines text[:end], with the scratch memory of a line.

    Returns (rows, features, lines, problems, unknown keys).
    """
    spans, places, stack = line_scratch
    free = end
    row = count = i = np.int64(0)  # typed: a literal 0 would compile every helper twice
    wrong = np.int64(0)
    line = 0
    unknown = 0
    while i < end:
        i = begin = after_blanks(text, i)
        before = count
        code, where, stop, column = -1, i, np.int64(-1), -1
        if not valid and not lines.valid_utf8(text, i, lines.line_end(text, i, end) + 1):
            code = lines.NOT_UTF8
        elif text[i] != NEWLINE:
            count, code, where, stop, column, free, missed = _object(
                text, i, names, name_ends, slots, plan, largest, count, stack, free, buffer, spans, features
            )
            unknown += missed
            i = stop  # where an object ends, the line does
            if code < 0:
                count, code, column, where, stop = cells.row(
                    text, spans, places, plan, rule, options, largest, row, count, scratch, heads, features
                )
            row += code < 0
        if code >= 0:
            i = lines.line_end(text, begin, end)
            count = before
            wrong = lines.note(problems, wrong, line, code, where, stop if stop >= 0 else i, column)
        line += 1
        i += 1
    return row, count, line, wrong, unknown


@helper
def _object(text, i, names, name_ends, slots, plan, largest, count, stack, free, buffer, spans, features):
    """Read the object at i into spans by column.

    Returns (features, code or −1, where, stop, column, free, unknown keys). Without an error, `stop` is the
    newline behind the object; with one, −1 is the end of the line. Nested values become features at once.
    """
    line_end = np.int64(-1)
    roles, seeds, column_fields, _missing, _sizes = plan
    unknown = 0
    column = -1
    spans[:] = 0
    if text[i] != json.OPEN_OBJECT:
        return count, lines.BAD_JSON, i, line_end, -1, free, unknown
    i = after_blanks(text, i + 1)
    more = text[i] != json.CLOSE_OBJECT
    while more:
        begin = i
        i, escaped = string_end(text, i)
        colon = after_blanks(text, i) if i >= 0 else -1
        if colon < 0 or text[colon] != COLON:
            return count, lines.BAD_JSON, begin, line_end, -1, free, unknown
        start, stop = begin + 1, i - 1
        if escaped:
            start, stop, free = decode(text, start, stop, buffer, free)
        column = find(text, start, stop, names, name_ends, slots, column + 1)
        i = after_blanks(text, colon + 1)
        begin = i
        i, escaped = value_end(text, i, stack)
        if i < 0:
            return count, lines.BAD_JSON, begin, line_end, -1, free, unknown
        if column < 0:
            unknown += 1
        elif spans[column, 0] != cells.ABSENT:
            return count, lines.REPEATED_KEY, start, stop, column, free, unknown
        else:
            start, stop = begin, i
            kind = kind_of(text, begin)
            if text[begin] == json.QUOTE:
                start, stop = begin + 1, i - 1
                if escaped:
                    start, stop, free = decode(text, start, stop, buffer, free)
            spans[column, 0], spans[column, 1], spans[column, 2] = kind, start, stop
            if kind == cells.INNER and cells.TEXT <= roles[column] < cells.IGNORE:
                count, code, where, stop, free = _inner(
                    text, begin, seeds[column], column_fields[column], column, largest,
                    count, stack, free, buffer, features,
                )  # fmt: skip
                if code >= 0:
                    return count, code, where, stop, column, free, unknown
        i = after_blanks(text, i)
        more = text[i] == json.COMMA
        if more:
            i = after_blanks(text, i + 1)
    stop = after_blanks(text, i + 1) if text[i] == json.CLOSE_OBJECT else i
    if text[i] != json.CLOSE_OBJECT or text[stop] != NEWLINE:
        return count, lines.BAD_JSON, i, line_end, -1, free, unknown
    return count, -1, i, stop, -1, free, unknown


@helper
def _inner(text, i, seed, field, column, largest, count, stack, free, buffer, features):
    """The features of the valid object or list at i: (features, code or −1, where, stop, free)."""
    is_object = text[i] == json.OPEN_OBJECT
    i = after_blanks(text, i + 1)
    position = 0
    while text[i] != json.CLOSE_OBJECT and text[i] != json.CLOSE_LIST:
        start, stop = position, position
        origin = tokens.POSITION
        key = (seed + position) & hashing.BITS_32
        if text[i] == json.QUOTE:  # a key of the object, or a string of the list
            stop, escaped = string_end(text, i)
            start, i = i + 1, stop
            stop -= 1
            if escaped:
                start, stop, free = decode(text, start, stop, buffer, free)
            origin = tokens.KEY
            key = hashing.key(text, start, stop, seed)
        x = 1.0
        given = True
        if is_object or origin == tokens.POSITION:
            if is_object:
                i = after_blanks(text, after_blanks(text, i) + 1)
            begin = i
            i, _escaped = value_end(text, begin, stack)
            kind = kind_of(text, begin)
            if text[begin] == json.QUOTE or kind == cells.INNER:
                return count, lines.NESTED, begin, i, free
            given = kind != cells.NULL
            if kind == cells.WRITTEN:
                x, _stop, status = decimals.number(text, begin, i)
                if status != decimals.OK:
                    return count, lines.NOT_FINITE, begin, i, free
                if abs(x) > largest:
                    return count, lines.TOO_LARGE, begin, i, free
            elif kind == cells.FALSE:
                x = 0.0
        if given:
            tokens.put(features, count, key, x, field, start, stop, 8 * column + origin)
            count += 1
        i = after_blanks(text, i)
        if text[i] == json.COMMA:
            i = after_blanks(text, i + 1)
        position += 1
    return count, -1, 0, 0, free


@helper
def kind_of(text, i):
    """The kind of cell that the value at i is. NaN is not a number."""
    c = text[i]
    if c in (json.OPEN_OBJECT, json.OPEN_LIST):
        return cells.INNER
    if c == 116:
        return cells.TRUE
    if c == 102:
        return cells.FALSE
    return cells.NULL if c == 110 or c == 78 else cells.WRITTEN


@helper
def find(text, start, stop, names, name_ends, slots, likely):
    """The column with this name, or −1. `likely` is tried first: most objects have the same order of keys."""
    if likely < len(name_ends) and _is_name(text, start, stop, names, name_ends, likely):
        return likely
    slot = hashing.murmur(text, start, stop, 0) & (len(slots) - 1)
    while slots[slot] >= 0:
        if _is_name(text, start, stop, names, name_ends, slots[slot]):
            return slots[slot]
        slot = (slot + 1) & (len(slots) - 1)
    return -1


@helper
def _is_name(text, start, stop, names, name_ends, column):
    begin = name_ends[column - 1] if column > 0 else 0
    same = stop - start == name_ends[column] - begin
    for i in range(stop - start if same else 0):
        same = same and text[start + i] == names[begin + i]
    return same
