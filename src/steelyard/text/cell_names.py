"""Names of the features of tables: `column`, `column=value`, `column^token`; of crosses, joined by `*`."""

import numpy as np

from steelyard.numba_tools.jit import kernel
from steelyard.text import tokens

STAR, EQUALS, HAT, SPACE = 42, 61, 94, 32
_MISSING = np.frombuffer(b"missing", np.uint8)


@kernel
def compose(text, starts, stops, origins, columns, column_ends, places, out, lengths):
    """The names of the features at these places, one after another into `out`.

    `columns` are the names of the columns, one after another, `column_ends` where each ends. With an
    `out` of size 0 they are only measured. Returns the size of all.
    """
    size = 0
    for k in range(len(places)):
        before = size
        for part in range(places.shape[1]):
            place = places[k, part]
            if place < 0:
                break
            if part > 0:
                size = _put(STAR, out, size)
            column = origins[place] >> 3
            kind = origins[place] & 7
            size = _append(columns, column_ends[column - 1] if column else 0, column_ends[column], out, size)
            start, stop = starts[place], stops[place]
            if kind == tokens.CATEGORY:
                size = _append(text, start, stop, out, _put(EQUALS, out, size))
            elif kind == tokens.MISSING:
                size = _append(_MISSING, 0, len(_MISSING), out, _put(EQUALS, out, size))
            elif kind == tokens.WORDS:
                size = _lowered(text, start, stop, tokens.LETTERS, out, _put(HAT, out, size))
            elif kind == tokens.CHARACTERS:
                size = _lowered(text, start, stop, ~tokens.BLANKS, out, _put(HAT, out, size))
            elif kind == tokens.KEY:
                size = _append(text, start, stop, out, _put(HAT, out, size))
            elif kind == tokens.POSITION:
                size = _digits(start, out, _put(HAT, out, size))
        lengths[k] = size - before
    return size


@kernel
def _put(c, out, size):
    if len(out):
        out[size] = c
    return size + 1


@kernel
def _append(text, start, end, out, size):
    for i in range(start, end):
        size = _put(text[i], out, size)
    return size


@kernel
def _lowered(text, start, end, kept, out, size):
    """text[start:end] in small letters; what is not kept becomes one space, however long it is."""
    for i in range(start, end):
        if kept[text[i]]:
            size = _put(tokens.lower(text[i]), out, size)
        elif i == start or kept[text[i - 1]]:
            size = _put(SPACE, out, size)
    return size


@kernel
def _digits(number, out, size):
    power = 1
    while number // power >= 10:
        power *= 10
    while power:
        size = _put(48 + number // power % 10, out, size)
        power //= 10
    return size
