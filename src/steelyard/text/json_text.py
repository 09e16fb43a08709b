"""The grammar of JSON as Python's json accepts it: where a value ends, and what the escapes in a string mean.

Every function may read up to the newline that ends the line; no value contains it.
"""

import numpy as np

from steelyard.native.declare import helper, kernel, part
from steelyard.native.kinds import Bytes, Count
from steelyard.text.lines import COLON, RETURN, SPACE, TAB
from steelyard.text.swar import address, specials, trailing_zeros

QUOTE, BACKSLASH, COMMA, MINUS = 34, 92, 44, 45
OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST = 123, 125, 91, 93
_WORDS = np.frombuffer(b"true     false    null     NaN      Infinity -Infinity", np.uint8).reshape(6, 9)
_WORD_SIZES = np.array([4, 5, 4, 3, 8, 9])
_ESCAPES = np.frombuffer(b'""\\\\//b\bf\fn\nr\rt\t', np.uint8).reshape(8, 2)


@kernel
def after_blanks(text, i):
    while text[i] == SPACE or text[i] == TAB or text[i] == RETURN:
        i += 1
    return i


@kernel
def value_end(text, i, stack):
    """The end of the value at i, or −1 if it is not JSON; and whether it is a string with escapes."""
    depth = 0
    while True:
        # a value begins here
        c = text[i]
        escaped = False
        if c in (OPEN_OBJECT, OPEN_LIST):
            if depth == len(stack):
                return -1, False
            stack[depth] = c
            depth += 1
            i = after_blanks(text, i + 1)
            if text[i] == c + 2:  # empty
                depth -= 1
                i += 1
            else:
                if c == OPEN_OBJECT:
                    i = _member(text, i)
                    if i < 0:
                        return -1, False
                continue
        elif c == QUOTE:
            i, escaped = string_end(text, i)
        else:
            i = _scalar_end(text, i)
        if i < 0:
            return -1, False
        # a value ends here, and perhaps those that contain it
        while depth > 0:
            i = after_blanks(text, i)
            if text[i] == COMMA:
                i = after_blanks(text, i + 1)
                if stack[depth - 1] == OPEN_OBJECT:
                    i = _member(text, i)
                    if i < 0:
                        return -1, False
                break
            if text[i] != stack[depth - 1] + 2:
                return -1, False
            depth -= 1
            i += 1
        if depth == 0:
            return i, escaped


@helper
def _member(text, i):
    """The start of the value of the member whose key is at i, or −1."""
    i, _escaped = string_end(text, i)
    if i < 0:
        return -1
    i = after_blanks(text, i)
    return after_blanks(text, i + 1) if text[i] == COLON else -1


@kernel
def string_end(text, i):
    """The position after the string at i, or −1; and whether it has escapes."""
    if text[i] != QUOTE:
        return -1, False
    escaped = False
    at = _after_plain(text, np.int64(i + 1))
    while text[at] != QUOTE:
        if text[at] < 32:
            return -1, False
        escaped = True
        at += 1
        if text[at] == 117:
            for _digit in range(4):
                at += 1
                if hexadecimal(text[at]) < 0:
                    return -1, False
        elif _escape(text[at]) < 0:
            return -1, False
        at = _after_plain(text, at + 1)
    return at + 1, escaped


@part
def _after_plain(text, i):
    """The position of the next quotation mark, backslash or control character; a newline is one."""
    bytes_at = address(text)
    while i + 64 <= len(text):
        found = specials(bytes_at, i)
        if found:
            return i + np.int64(trailing_zeros(found))
        i += 64
    while text[i] != QUOTE and text[i] != BACKSLASH and text[i] >= 32:
        i += 1
    return i


@kernel
def contains(text: Bytes, end: Count, key: Bytes):
    """Whether the key stands in text[:end] as it is written, with its quotation marks."""
    bytes_at = address(text)
    last = np.int64(end - len(key))
    i = np.int64(0)
    while i <= last:
        found = np.uint64(1)
        if i + 64 <= end:
            found = specials(bytes_at, i)
        while found:
            at = i + np.int64(trailing_zeros(found))
            same = at <= last
            k = 0
            while same and k < len(key):
                same = text[at + k] == key[k]
                k += 1
            if same:
                return True
            found &= found - np.uint64(1)
        i += 64 if i + 64 <= end else 1
    return False


@helper
def hexadecimal(c):
    """The value of a hexadecimal digit, or −1."""
    c = np.int64(c)
    if 48 <= c <= 57:
        return c - 48
    c |= 32
    return c - 87 if 97 <= c <= 102 else np.int64(-1)


@helper
def _escape(c):
    """The character that a backslash and c stand for, or −1."""
    for k in range(len(_ESCAPES)):
        if _ESCAPES[k, 0] == c:
            return np.int64(_ESCAPES[k, 1])
    return np.int64(-1)


@helper
def _scalar_end(text, i):
    """The end of the number, true, false, null, NaN or Infinity at i, or −1."""
    if text[i] > 57 or (text[i] == MINUS and text[i + 1] > 57):
        return _word_end(text, i)
    if text[i] == MINUS:
        i += 1
    begin = i
    i = _digits_end(text, i)
    if i == begin or (text[begin] == 48 and i > begin + 1):
        return -1
    if text[i] == 46:
        begin = i + 1
        i = _digits_end(text, begin)
        if i == begin:
            return -1
    if text[i] | 32 == 101:
        i += 1
        if text[i] == 43 or text[i] == MINUS:
            i += 1
        begin = i
        i = _digits_end(text, begin)
        if i == begin:
            return -1
    return i


@helper
def _word_end(text, i):
    for k in range(len(_WORDS)):
        size = 0
        while size < _WORD_SIZES[k] and text[i + size] == _WORDS[k, size]:
            size += 1
        if size == _WORD_SIZES[k]:
            return i + size
    return -1


@helper
def _digits_end(text, i):
    while 48 <= text[i] <= 57:
        i += 1
    return i


@kernel
def decode(text, start, stop, buffer, free):
    """Write a valid string with its escapes decoded: (start, stop, next free position).

    A lone surrogate becomes U+FFFD.
    """
    begin = free
    i = start
    while i < stop:
        if text[i] != BACKSLASH:
            plain = min(_after_plain(text, np.int64(i)), stop) - i
            for k in range(np.uint64(plain)):
                buffer[np.uint64(free) + k] = text[np.uint64(i) + k]
            free += plain
            i += plain
        elif text[i + 1] != 117:
            buffer[free] = _escape(text[i + 1])
            free += 1
            i += 2
        else:
            point = _unit(text, i + 2)
            i += 6
            if 0xD800 <= point < 0xDC00 and i + 6 <= stop and text[i] == BACKSLASH and text[i + 1] == 117:
                low = _unit(text, i + 2)
                if 0xDC00 <= low < 0xE000:
                    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00)
                    i += 6
            free = _encode(0xFFFD if 0xD800 <= point < 0xE000 else point, buffer, free)
    buffer[free] = 0  # ends the last word
    return begin, free, free + 1


@helper
def _unit(text, i):
    """The value of four hexadecimal digits."""
    unit = np.int64(0)
    for k in range(4):
        unit = unit << 4 | hexadecimal(text[i + k])
    return unit


@helper
def _encode(point, buffer, free):
    """Write the character in UTF-8; returns the next free position."""
    if point < 0x80:
        buffer[free] = point
        return free + 1
    if point < 0x800:
        buffer[free] = 0xC0 | point >> 6
    else:
        if point < 0x10000:
            buffer[free] = 0xE0 | point >> 12
        else:
            buffer[free] = 0xF0 | point >> 18
            free += 1
            buffer[free] = 0x80 | point >> 12 & 0x3F
        free += 1
        buffer[free] = 0x80 | point >> 6 & 0x3F
    buffer[free + 1] = 0x80 | point & 0x3F
    return free + 2
