"""Names of features: which keys are new at their index, and the names that a model shows.

Features of tables are called `column`, `column=value` or `column^token`, those of Vowpal Wabbit's text
`namespace^name`; crosses join the names of their parts by `*`.
"""

import numpy as np

from steelyard.native.declare import helper, kernel
from steelyard.native.kinds import Bytes, Counts, IntRows, Ints, Keys
from steelyard.text import tokens
from steelyard.text.assemble import known
from steelyard.text.byte_kinds import BLANKS, LETTERS, MISSING_WORD, SMALL
from steelyard.text.lines import BAR, COLON, is_gap
from steelyard.text.sparse_text import ends_name
from steelyard.text.swar import address, bars, byte


@kernel
def admit(
    indices: Counts, keys: Counts, first: Keys, second: Keys, firsts: Counts, seconds: Counts, rest: Counts
):  # fmt: skip
    """Enter new keys into two tables, the first and the second at each index.

    Fills in the positions of those entered first, of those entered second, and of the rest; returns how many
    each are. There may be as many as there are keys.
    """
    n_first = n_second = n_rest = 0
    for k in range(len(indices)):
        index, key = indices[k], known(keys[k])
        if first[index] == key or second[index] == key:
            continue
        if first[index] == 0:
            first[index] = key
            firsts[n_first] = k
            n_first += 1
        elif second[index] == 0:
            second[index] = key
            seconds[n_second] = k
            n_second += 1
        else:
            rest[n_rest] = k
            n_rest += 1
    return n_first, n_second, n_rest


STAR, EQUALS, HAT, SPACE = 42, 61, 94, 32
_NOT_BLANK = ~BLANKS  # a kernel would need memory for it


@kernel
def compose_cell_names(
    text: Bytes, starts: Ints, stops: Ints, origins: Ints, columns: Bytes, column_ends: Counts, places: IntRows,
    out: Bytes, lengths: Ints,
):  # fmt: skip
    """Write the names of these features one after another into `out`; returns their total size.

    `columns` has the names of the columns one after another, `column_ends` the end of each. If `out` is
    empty, the names are only measured.
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
                size = _append(MISSING_WORD, 0, len(MISSING_WORD), out, _put(EQUALS, out, size))
            elif kind == tokens.WORDS:
                size = _lower(text, start, stop, LETTERS, out, _put(HAT, out, size))
            elif kind == tokens.CHARACTERS:
                size = _lower(text, start, stop, _NOT_BLANK, out, _put(HAT, out, size))
            elif kind == tokens.KEY:
                size = _append(text, start, stop, out, _put(HAT, out, size))
            elif kind == tokens.POSITION:
                size = _digits(start, out, _put(HAT, out, size))
        lengths[k] = size - before
    return size


@helper
def _put(c, out, size):
    if len(out):
        out[size] = c
    return size + 1


@helper
def _append(text, start, end, out, size):
    for i in range(start, end):
        size = _put(text[i], out, size)
    return size


@helper
def _lower(text, start, end, kept, out, size):
    """text[start:end] in lower case; a run of bytes that are not kept becomes one space."""
    for i in range(start, end):
        if kept[text[i]]:
            size = _put(SMALL[text[i]], out, size)
        elif i == start or kept[text[i - 1]]:
            size = _put(SPACE, out, size)
    return size


@helper
def _digits(number, out, size):
    power = 1
    while number // power >= 10:
        power *= 10
    while power:
        size = _put(48 + number // power % 10, out, size)
        power //= 10
    return size


@kernel
def compose_vw_names(
    text: Bytes, starts: Ints, firsts: Ints, grams: Ints, places: IntRows, out: Bytes, lengths: Ints
):  # fmt: skip
    """Write names as `compose_cell_names` does, where the namespace is in the text too, before the name.

    Where there are n-grams, the name of feature k is made of the names from number `firsts[k]` on of which
    `grams[k]` has a bit: `namespace^one^two`.
    """
    size = 0
    bar = last = np.int64(0)
    for k in range(len(places)):
        before = size
        for position in range(places.shape[1]):
            place = np.int64(places[k, position])
            if place < 0:
                break
            if position > 0:
                size = _put(STAR, out, size)
            word = np.int64(firsts[place]) if len(firsts) else place
            gram = np.int64(grams[place]) if len(grams) else np.int64(1)
            start = starts[word]
            bar = _bar_before(text, start, bar, last)
            last = start
            space_end = bar + 1
            while not is_gap(text[space_end]) and text[space_end] != COLON:
                space_end += 1
            named = space_end > bar + 1 and space_end < start
            if named:
                size = _append(text, bar + 1, space_end, out, size)
            while gram:
                if gram & 1:
                    if named:
                        size = _put(HAT, out, size)
                    named = True
                    start = starts[word]
                    end = start
                    while not ends_name(text[end]):
                        end += 1
                    size = _append(text, start, end, out, size)
                gram >>= 1
                word += 1
        lengths[k] = size - before
    return size


@helper
def _bar_before(text, start, known, last):
    """The bar before a feature; `known` is the bar before an earlier feature at `last`, often nearby."""
    first = last if last <= start else np.int64(0)
    bytes_at = address(text)
    i = np.int64(start)
    while i - 64 >= first and bars(bytes_at, i - 64) == 0:
        i -= 64
    while i > first:
        i -= 1
        if byte(bytes_at, i) == BAR:
            return i
    return known


@kernel
def compose_indices(text: Bytes, starts: Ints, places: IntRows, out: Bytes, lengths: Ints):
    """Write names as `compose_cell_names` does, where they are the indices of svmlight."""
    size = 0
    for k in range(len(places)):
        before = size
        i = starts[places[k, 0]]
        while text[i] != COLON:
            size = _put(text[i], out, size)
            i += 1
        lengths[k] = size - before
    return size
