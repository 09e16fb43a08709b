"""What the readers of lines share: codes of problems, characters, and checks.

A reader goes through a block of whole lines. It skips a line that it cannot read and records a problem (line
in the block, code, byte in the block); its caller decides whether that ends the run.
"""

import numpy as np

from steelyard.native.declare import helper, kernel, part
from steelyard.native.kinds import Bytes, Count, Counts, Places
from steelyard.text.swar import address, newlines, trailing_zeros

# Codes of what can be wrong with a line
(
    BAD_LABEL, BAD_IMPORTANCE, NEGATIVE_IMPORTANCE, BAD_BASE, TOO_MANY_NUMBERS, NO_BAR,
    BAD_VALUE, NOT_FINITE, TOO_LARGE, BAD_INDEX, NOT_UTF8, BAD_NAMESPACE_VALUE,
    MISSING_FIELDS, EXTRA_FIELDS, OPEN_QUOTE, BAD_JSON,
    BAD_NUMBER, UNKNOWN_LABEL, STRAY_QUOTE, NESTED, REPEATED_KEY,
) = range(21)  # fmt: skip

NEWLINE, SPACE, TAB, RETURN, BAR, COLON, QUOTE, HASH = 10, 32, 9, 13, 124, 58, 39, 35


@helper
def line_end(text, start, end):
    i = np.int64(start)
    bytes_at = address(text)
    while i + 64 <= end:
        found = newlines(bytes_at, i)
        if found:
            return i + np.int64(trailing_zeros(found))
        i += 64
    while i < end and text[i] != NEWLINE:
        i += 1
    return i


@kernel
def line_spans(text: Bytes, found: Places):
    """Write where each line begins and ends, without blanks at its ends; lines of blanks are left out.

    Returns how many there are, of which `found` gets as many as fit.
    """
    count = 0
    start, end = np.int64(0), np.int64(len(text))
    while start < end:
        stop = following = line_end(text, start, end)
        while start < stop and is_gap(text[start]):
            start += 1
        while start < stop and is_gap(text[stop - 1]):
            stop -= 1
        if start < stop:
            if count < len(found):
                found[count, 0], found[count, 1] = start, stop
            count += 1
        start = following + 1
    return count


@kernel
def splice(
    text: Bytes, spans: Places, skipped: Counts, keys: Bytes, key_ends: Counts, cells: Bytes, starts: Places,
    stops: Places, out: Bytes,
):  # fmt: skip
    """Write each span of the text, followed by its cells; returns how many bytes that is.

    Before each cell comes its key, and one more at the end; keys follow one another up to their ends. Of the
    first of them so many bytes are `skipped`. The cells of row k are `cells` from starts[k] to stops[k], one
    for each column. `out` has room for all.
    """
    at = np.uint64(0)
    columns = starts.shape[1]
    for k in range(len(spans)):
        at = _append(text, np.uint64(spans[k, 0]), np.uint64(spans[k, 1]), out, at)
        begin = np.uint64(skipped[k])
        for column in range(columns):
            at = _append(keys, begin, np.uint64(key_ends[column]), out, at)
            at = _append(cells, np.uint64(starts[k, column]), np.uint64(stops[k, column]), out, at)
            begin = np.uint64(key_ends[column])
        at = _append(keys, begin, np.uint64(key_ends[columns]), out, at)
    return np.int64(at)


@part
def _append(text, start, stop, out, at):
    """Copy text[start:stop] to out[at:]; returns where it ends."""
    for k in range(stop - start):
        out[at + k] = text[start + k]
    return at + stop - start


@helper
def is_gap(c):
    return (c == SPACE) | (c == TAB) | (c == RETURN)


@helper
def is_digit(c):
    return (c >= 48) & (c <= 57)


@helper
def note(problems, count, line, code, start, stop, column):
    """Record a problem, if there is room; all are counted. Returns the new count."""
    if count < len(problems):
        problems[count, 0], problems[count, 1], problems[count, 2] = line, code, start
        problems[count, 3], problems[count, 4] = stop, column
    return count + 1


@kernel
def valid_utf8(text: Bytes, start: Count, end: Count):
    """Whether text[start:end] is UTF-8: no stray or missing continuation, nothing overlong, no surrogates."""
    i = start
    while i < end:
        c = np.int64(text[i])
        if c < 0x80:
            i += 1
            continue
        more = 1 if c < 0xE0 else (2 if c < 0xF0 else 3)
        if c < 0xC2 or c > 0xF4 or i + more >= end:
            return False
        point = c & (0x3F >> more)
        for k in range(1, more + 1):
            d = np.int64(text[i + k])
            if d & 0xC0 != 0x80:
                return False
            point = point << 6 | d & 0x3F
        least = 0x80 if more == 1 else (0x800 if more == 2 else 0x10000)
        if point < least or point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            return False
        i += more + 1
    return True
