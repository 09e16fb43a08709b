"""Delimited text after RFC 4180: records of cells, some of them quoted, with newlines and separators within.

A quote opens a cell only as its first byte; within, two quotes stand for one. Whatever follows the
closing quote is not quoted any more: so the end of a record is found the same way by everyone.
"""

import numpy as np

from steelyard.kernels import cells, lines
from steelyard.kernels.jit import kernel
from steelyard.kernels.lines import NEWLINE, RETURN, SPACE, TAB

QUOTE = 34


@kernel
def last_record_end(text, end, separator):
    """Where the last whole record of text[:end] ends, 0 if there is none. Records begin at 0."""
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


@kernel
def _cell_end(text, i, end, separator):
    """The next separator or newline. (Unsigned positions need no check against negative ones.)"""
    at, last = np.uint64(i), np.uint64(end)
    while at < last and text[at] != separator and text[at] != NEWLINE:
        at += np.uint64(1)
    return np.int64(at)


@kernel
def closed(text, i, end):
    """Just behind the quote that closes the one at i (past `end` if none does), and how many are doubled."""
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
def split(text, i, end, separator, quoting, free, room, spans):
    """The record at i as spans of cells: (cells, where the next begins, free, code or −1, where).

    All cells are counted, those kept for which there is room. What has doubled quotes is put into
    `room` from `free` on, with single ones.
    """
    count = 0
    code = -1
    where = i
    while True:
        start = i
        stop = -1
        if quoting and text[i] == QUOTE:
            i, doubled = closed(text, i, end)
            if i > end:
                return count, end, free, lines.OPEN_QUOTE, start
            start, stop = start + 1, i - 1
            while text[i] != separator and (text[i] == SPACE or text[i] == TAB or text[i] == RETURN):
                i += 1
            if text[i] != separator and text[i] != NEWLINE and code < 0:
                code, where = lines.STRAY_QUOTE, start - 1
            if doubled:
                start, stop, free = _single_quoted(text, start, stop, room, free)
        i = _cell_end(text, i, end, separator)
        if stop < 0:
            stop = i - 1 if text[i] == NEWLINE and i > start and text[i - 1] == RETURN else i
        if count < len(spans):
            spans[count, 0], spans[count, 1], spans[count, 2] = cells.WRITTEN, start, stop
        count += 1
        i += 1
        if text[i - 1] == NEWLINE:
            return count, i, free, code, where


@kernel
def _single_quoted(text, start, stop, room, free):
    """Write the cell with each pair of quotes as one: (its start, its stop, what is free then)."""
    begin = free
    i = start
    while i < stop:
        room[free] = text[i]
        i += 2 if text[i] == QUOTE else 1
        free += 1
    room[free] = 0  # ends the last word
    return begin, free, free + 1


@kernel
def is_blank(text, i, next_record):
    """Whether there is nothing in the record, not even a separator."""
    for k in range(i, next_record):
        if text[k] != SPACE and text[k] != RETURN and text[k] != NEWLINE:
            return False
    return True


@kernel
def newlines(text, start, end):
    count = 0
    for i in range(start, end):
        count += text[i] == NEWLINE
    return count


@kernel
def parse(
    text, start, end, valid, separator, quoting, width, places, plan, rule, options, largest,
    table, room, heads, features, problems,
):  # fmt: skip
    """Read the records of text[start:end], each of `width` cells. Returns (rows, features, lines, problems).

    What is decoded goes behind the text: `room` is the same memory, open for writing.
    """
    spans = np.zeros((width, 3), np.int64)
    free = end
    row = 0
    count = 0
    wrong = 0
    i = start
    line = newlines(text, 0, start)
    while i < end:
        found, following, free, code, where = split(text, i, end, separator, quoting, free, room, spans)
        column, stop = -1, following
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
                text, spans, places, plan, rule, options, largest, row, count, table, heads, features
            )
            count = before if code >= 0 else count
            row += code < 0
        if code >= 0:
            wrong = cells.note(problems, wrong, line, code, where, stop, column)
        line += newlines(text, i, following)
        i = following
    return row, count, line, wrong
