"""The cells of one record, whatever its format → its label, weight, tag and features.

A reader splits a record into cells, which are spans of the text; cells with escapes are decoded and appended
behind the text, so that a span is enough. The role of a column decides what its cells become. Columns that
already are numbers or strings become the same features in the same order, whatever file they come from.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.native.declare import helper, kernel, part
from steelyard.native.kinds import Bytes, Count, Counts, IntCube, IntRows, Switches, Table
from steelyard.text import decimals, hashing, lines, tokens
from steelyard.text.byte_kinds import BLANKS, MISSING_WORD, SMALL
from steelyard.text.structs import ColumnPlan, Features, Scratch, TokenOptions
from steelyard.text.swar import address, beyond_ascii, newlines, population

# Roles of columns
LABEL, WEIGHT, BASE, TAG, TEXT, CATEGORY, NUMBER, IGNORE = range(8)

# What a cell is: absent, null, text, true, false, or a nested value
ABSENT, NULL, WRITTEN, TRUE, FALSE, INNER = range(6)

_NEAR = 1 << 14  # bytes


def new_spans(width: int) -> NDArray[np.int64]:
    """Room for the kind, start and stop of each cell of a record."""
    return np.zeros((width, 3), np.int64)


@kernel
def measures(text: Bytes, end: Count, escape: Count):
    """(lines, whether the text is UTF-8, whether there is a byte equal to `escape`; −1: none is)."""
    bytes_at = address(text)
    count = np.int64(0)
    high = np.uint64(0)
    found = np.uint8(0)
    mark = np.uint8(escape & 255)
    for begin in range(np.int64(0), end, _NEAR):  # a part of the text that stays in the nearest cache
        stop = min(begin + _NEAR, end)
        i = begin
        while i + 64 <= stop:
            count += np.int64(population(newlines(bytes_at, i)))
            high |= beyond_ascii(bytes_at, i)
            i += 64
        for k in range(np.uint64(i), np.uint64(stop)):
            count += text[k] == lines.NEWLINE
            high |= np.uint64(text[k] > 127)
        for k in range(np.uint64(begin), np.uint64(stop)):
            found |= np.uint8(text[k] == mark)
    return count, high == 0 or lines.valid_utf8(text, np.int64(0), end), escape >= 0 and found != 0


@part
def row(text, spans, places, plan, rule, options, largest, at, count, scratch, heads, features):
    """Read the cells into row `at`: (number of features, code or −1, column of the problem, its start, its
    stop).

    `spans`: kind, start and stop of each cell; `places`: the cell of each column, −1 for none. Texts come
    last because they cannot fail, and `scratch` must not see features that are withdrawn.
    """
    roles, seeds, column_fields, missing, missing_sizes = plan
    labels, sample_weight, offsets, tags, ends, distinct = heads
    distinct[at] = False
    labels[at], sample_weight[at], offsets[at] = np.nan, 1.0, 0.0
    tags[at, 0] = tags[at, 1] = 0
    texts = 0
    for column in range(len(roles)):
        role = roles[column]
        if role == TEXT:
            texts += 1
        place = places[column]
        if role in (TEXT, IGNORE) or place < 0 or spans[place, 0] == ABSENT:
            continue
        kind = spans[place, 0]
        start, stop = trimmed(text, spans[place, 1], spans[place, 2])
        if kind == INNER:
            if role < TEXT:
                return count, lines.NESTED, column, start, stop
            continue
        empty = kind == NULL or start == stop
        x, origin = 1.0, tokens.MISSING
        if role == CATEGORY:
            if not empty:
                origin = tokens.CATEGORY
        elif role == TAG:
            tags[at, 0], tags[at, 1] = (0, 0) if empty else (start, stop)
            continue
        elif role == LABEL:
            if empty:
                continue
            labels[at], code = _label(text, start, stop, kind, rule, missing, missing_sizes)
            if code >= 0:
                return count, code, column, start, stop
            continue
        else:
            x, code = _number(text, start, stop, kind, largest if role == NUMBER else np.inf)
            absent = empty or (code >= 0 and is_missing(text, start, stop, missing, missing_sizes))
            if role == BASE and absent:
                continue
            if code >= 0 and not (absent and role == NUMBER):
                if role != NUMBER:
                    code = lines.BAD_IMPORTANCE if role == WEIGHT else lines.BAD_BASE
                return count, code, column, start, stop
            if role == WEIGHT:
                if x < 0.0:
                    return count, lines.NEGATIVE_IMPORTANCE, column, start, stop
                sample_weight[at] = x
                continue
            if role == BASE:
                offsets[at] = x
                continue
            if absent:
                x = 1.0
            else:
                origin = tokens.NUMBER
        key = _key(text, start, stop, seeds[column], origin)
        tokens.put(features, count, key, x, column_fields[column], start, stop, 8 * column + origin)
        count += 1
    if texts > 0:
        for column in range(len(roles)):
            place = places[column]
            if roles[column] != TEXT or place < 0:
                continue
            kind = spans[place, 0]
            if kind in (WRITTEN, TRUE, FALSE):
                alone = count == (ends[at - 1] if at > 0 else 0)
                count, differ = tokens.tokenise(
                    text, spans[place, 1], spans[place, 2], seeds[column], column_fields[column], column,
                    options, count, scratch, features,
                )  # fmt: skip
                distinct[at] = alone and differ
    ends[at] = count
    return count, -1, -1, 0, 0


@part
def _key(text, start, stop, seed, origin):
    """The key of a cell: of its column if it is a number, else of its text or of its being missing."""
    if origin == tokens.NUMBER:
        return seed
    if origin == tokens.CATEGORY:
        return hashing.key(text, start, stop, seed)
    return hashing.murmur(MISSING_WORD, 0, len(MISSING_WORD), seed)


@helper
def trimmed(text, start, stop):
    """The span without blanks at either end."""
    while start < stop and BLANKS[text[start]]:
        start += 1
    while stop > start and BLANKS[text[stop - 1]]:
        stop -= 1
    return start, stop


@helper
def is_missing(text, start, stop, words, sizes):
    """Whether the cell is one of the words for a missing value, in upper or lower case."""
    for k in range(len(sizes)):
        if stop - start == sizes[k]:
            same = True
            for i in range(sizes[k]):
                same = same and SMALL[text[start + i]] == words[k, i]
            if same:
                return True
    return False


@helper
def _number(text, start, stop, kind, largest):
    """(the number, code or −1)."""
    if kind in (TRUE, FALSE):
        return (1.0 if kind == TRUE else 0.0), -1
    x, end, status = decimals.number(text, start, stop)
    if status == decimals.NOT_FINITE:
        return 0.0, lines.NOT_FINITE
    if status != decimals.OK or end < stop:
        return 0.0, lines.BAD_NUMBER
    return x, (lines.TOO_LARGE if abs(x) > largest else -1)


@helper
def _label(text, start, stop, kind, rule, missing, missing_sizes):
    """(label, code or −1). With a rule, names are compared byte for byte; without, the label is a number."""
    names, ends, values, others, otherwise = rule
    if len(ends):
        place = _class(text, start, stop, names, ends)
        if place >= 0:
            return values[place], -1
    x, code = _number(text, start, stop, kind, np.inf)
    if code >= 0 and is_missing(text, start, stop, missing, missing_sizes):
        return np.nan, -1
    if len(ends):
        return (otherwise, -1) if others else (np.nan, lines.UNKNOWN_LABEL)
    return x, (lines.BAD_LABEL if code >= 0 else -1)


@helper
def _class(text, start, stop, names, ends):
    """The place of a label among the names, which are sorted by length, then bytes; −1 for none."""
    low, high = 0, len(ends)
    size = stop - start
    while low < high:
        middle = (low + high) // 2
        first = ends[middle - 1] if middle > 0 else 0
        order = size - (ends[middle] - first)
        i = 0
        while order == 0 and i < size:
            order = np.int64(text[start + i]) - np.int64(names[first + i])
            i += 1
        if order == 0:
            return middle
        if order < 0:
            high = middle
        else:
            low = middle + 1
    return -1


@kernel
def separate(text: Bytes, spans: IntRows, out: Bytes):
    """Copy the spans of the text with a newline after each, at which the tokeniser stops.

    The spans become those of the copy.
    """
    at = 0
    for row in range(len(spans)):
        start = at
        for i in range(spans[row, 0], spans[row, 1]):
            out[at] = text[i]
            at += 1
        out[at] = lines.NEWLINE
        spans[row, 0], spans[row, 1] = start, at
        at += 1


@kernel
def rows_of_columns(
    text: Bytes, spans: IntCube, reals: Table, plan: ColumnPlan, options: TokenOptions, scratch: Scratch, ends: Counts,
    distinct: Switches, features: Features,
):  # fmt: skip
    """Fill in the features of all rows; returns how many there are."""
    roles, columns, places, seeds, column_fields = plan
    count = 0
    for row in range(len(ends)):
        begin = count
        distinct[row] = False
        for k in range(len(roles)):
            if roles[k] == TEXT:
                continue
            place = places[k]
            start, stop = 0, 0
            kind = tokens.MISSING
            value = 1.0
            if roles[k] == CATEGORY:
                start, stop = trimmed(text, spans[place, row, 0], spans[place, row, 1])
                kind = tokens.CATEGORY if start < stop else tokens.MISSING
            elif not np.isnan(reals[place, row]):
                kind = tokens.NUMBER
                value = reals[place, row]
            key = _key(text, start, stop, seeds[k], kind)
            tokens.put(features, count, key, value, column_fields[k], start, stop, 8 * columns[k] + kind)
            count += 1
        for k in range(len(roles)):
            if roles[k] == TEXT:
                place = places[k]
                alone = count == begin
                count, differ = tokens.tokenise(
                    text, spans[place, row, 0], spans[place, row, 1], seeds[k], column_fields[k], columns[k],
                    options, count, scratch, features,
                )  # fmt: skip
                distinct[row] = alone and differ
        ends[row] = count
    return count
