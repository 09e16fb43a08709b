"""Delimited text after RFC 4180: records of cells. Quoted cells may contain newlines and separators.

A quote opens a quoted cell only as its first byte; inside, two quotes stand for one. Text after the closing
quote is not quoted, so that everyone finds the same end of a record.
"""

import numpy as np

from steelyard.native.declare import helper, kernel
from steelyard.native.kinds import Bytes, Count, Counts, Number, Places, Switch
from steelyard.text import cells, lines
from steelyard.text.lines import NEWLINE, RETURN, SPACE, TAB
from steelyard.text.structs import CellPlan, Features, Heads, LabelTable, Scratch, TokenOptions

QUOTE = 34


@kernel
def last_record_end(text: Bytes, end: Count, separator: Count):
    """The end of the last whole record of text[:end], or 0. Records begin at 0."""
    last = 0
    i = 0
    while i < end:
        if text[i] == QUOTE:
            i, _doubled = closed(text, i, end)
        i = _cell_end(text, i, end, separator)
        if i < end and text[i] == NEWLINE:
            last = i + 1
        i += 1
    return last


@helper
def _cell_end(text, i, end, separator):
    """The next separator or newline. (Unsigned positions need no check for negative ones.)"""
    at, last = np.uint64(i), np.uint64(end)
    while at < last and text[at] != separator and text[at] != NEWLINE:
        at += np.uint64(1)
    return np.int64(at)


@helper
def closed(text, i, end):
    """The position after the closing quote (past `end` if there is none), and how many quotes are doubled."""
    doubled = 0
    one = np.uint64(1)
    at, last = np.uint64(i + 1), np.uint64(end)
    while at < last:
        if text[at] == QUOTE:
            if at + one < last and text[at + one] == QUOTE:
                doubled += 1
                at += one
            else:
                return np.int64(at) + 1, doubled
        at += one
    return np.int64(end) + 1, doubled


@kernel
def split(
    text: Bytes, i: Count, end: Count, separator: Count, quoting: Switch, free: Count, buffer: Bytes, spans: Places
):  # fmt: skip
    """Split the record at i into spans: (cells, start of the next record, lines, free, code or −1, where).

    All cells are counted; those that fit are stored. Cells with doubled quotes are written to `buffer` from
    `free` on, with single quotes.
    """
    one = np.uint64(1)
    count = np.uint64(0)
    at = np.uint64(i)
    quoted = False
    code = -1
    where = i
    while True:
        start = at
        stop = at
        if quoting and text[at] == QUOTE:
            quoted = True
            behind, doubled = closed(text, np.int64(at), end)
            if behind > end:
                return np.int64(count), end, newlines(text, i, end), free, lines.OPEN_QUOTE, np.int64(at)
            start, stop, at = at + one, np.uint64(behind - 1), np.uint64(behind)
            while text[at] != separator and (text[at] == SPACE or text[at] == TAB or text[at] == RETURN):
                at += one
            if text[at] != separator and text[at] != NEWLINE:
                if code < 0:
                    code, where = lines.STRAY_QUOTE, np.int64(start) - 1
                while text[at] != separator and text[at] != NEWLINE:
                    at += one
            if doubled:
                begin, free = _single_quoted(text, start, stop, buffer, free)
                start, stop = np.uint64(begin), np.uint64(free - 1)
        else:
            while text[at] != separator and text[at] != NEWLINE:
                at += one
            stop = at
            if text[at] == NEWLINE and at > start and text[at - one] == RETURN:
                stop -= one
        if count < np.uint64(len(spans)):
            spans[count, 0], spans[count, 1], spans[count, 2] = cells.WRITTEN, start, stop
        count += one
        at += one
        if text[at - one] == NEWLINE:
            following = np.int64(at)
            span = newlines(text, i, following) if quoted else 1
            return np.int64(count), following, span, free, code, where


@helper
def _single_quoted(text, start, stop, buffer, free):
    """Write the cell with single quotes, and a zero that ends its last word: (start, free)."""
    begin = free
    i = start
    while i < stop:
        buffer[free] = text[i]
        i += np.uint64(2 if text[i] == QUOTE else 1)
        free += 1
    buffer[free] = 0
    return begin, free + 1


@kernel
def is_blank(text: Bytes, i: Count, next_record: Count):
    """Whether the record is empty, without even a separator."""
    for k in range(i, next_record):  # noqa: SIM110  (kernels have no generators)
        if text[k] != SPACE and text[k] != RETURN and text[k] != NEWLINE:
            return False
    return True


@helper
def newlines(text, start, end):
    count = 0
    for i in range(start, end):
        count += text[i] == NEWLINE
    return count


@kernel
def parse(
    text: Bytes, start: Count, end: Count, valid: Switch, separator: Count, quoting: Switch, spans: Places,
    places: Counts, plan: CellPlan, rule: LabelTable, options: TokenOptions, largest: Number, scratch: Scratch,
    buffer: Bytes, heads: Heads, features: Features, problems: Places,
):  # fmt: skip
    """Read the records of text[start:end], of as many cells as `spans` has room for.

    Returns (rows, features, lines, problems).

    Decoded cells are written behind the text: `buffer` is the same memory, writable.
    """
    width = len(spans)
    free = end
    row = count = np.int64(0)  # typed: a literal 0 would compile every helper twice
    wrong = np.int64(0)
    i = start
    line = newlines(text, 0, start)
    while i < end:
        found, following, height, free, code, where = split(
            text, i, end, separator, quoting, free, buffer, spans
        )
        column, stop = -1, following - 1
        if code < 0 and found == 1 and is_blank(text, i, following):
            line += 1
            i = following
            continue
        if not valid and not lines.valid_utf8(text, i, following):
            code, where = lines.NOT_UTF8, i
        if code < 0 and found != width:
            code, where = (lines.MISSING_FIELDS if found < width else lines.EXTRA_FIELDS), i
        if code < 0:
            before = count
            count, code, column, where, stop = cells.row(
                text, spans, places, plan, rule, options, largest, row, count, scratch, heads, features
            )
            count = before if code >= 0 else count
            row += code < 0
        if code >= 0:
            wrong = lines.note(problems, wrong, line, code, where, stop, column)
        line += height
        i = following
    return row, count, line, wrong
