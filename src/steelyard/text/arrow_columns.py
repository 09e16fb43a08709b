"""Columns that already are numbers or strings → the features of their rows, in the order of `cells.row`.

So a table gives the same features from whatever kind of file it is read.
"""

import numpy as np

from steelyard.numba_tools.jit import kernel
from steelyard.text import cells, hashing, lines, tokens

_MISSING = np.frombuffer(b"missing", np.uint8)


@kernel
def separated(text, spans, out):
    """Copy the spans of the text, a newline behind each, as the tokeniser needs one to stop at.

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
def rows(text, spans, reals, plan, options, table, ends, features):
    """Fill in the features of all rows; returns how many there are.

    `plan` has of each feature column its role, its place among all columns, its place among `spans`
    (start and stop in the text, of every row) or among `reals` (NaN: missing), its seed and its field.
    """
    roles, columns, places, seeds, column_fields = plan
    keys, values, fields, starts, stops, origins = features
    count = 0
    for row in range(len(ends)):
        for k in range(len(roles)):
            if roles[k] == cells.TEXT:
                continue
            place = places[k]
            start, stop = 0, 0
            kind = tokens.MISSING
            value = 1.0
            if roles[k] == cells.CATEGORY:
                start, stop = cells.trimmed(text, spans[place, row, 0], spans[place, row, 1])
                kind = tokens.CATEGORY if start < stop else tokens.MISSING
            elif not np.isnan(reals[place, row]):
                kind = tokens.NUMBER
                value = reals[place, row]
            if kind == tokens.MISSING:
                key = hashing.murmur(_MISSING, 0, len(_MISSING), seeds[k])
            elif kind == tokens.CATEGORY:
                key = hashing.key(text, start, stop, seeds[k])
            else:
                key = seeds[k]
            keys[count] = key
            values[count] = value
            fields[count] = column_fields[k]
            starts[count] = start
            stops[count] = stop
            origins[count] = 8 * columns[k] + kind
            count += 1
        for k in range(len(roles)):
            if roles[k] == cells.TEXT:
                place = places[k]
                count = tokens.tokenise(
                    text, spans[place, row, 0], spans[place, row, 1], seeds[k], column_fields[k], columns[k],
                    options, count, table, features,
                )  # fmt: skip
        ends[row] = count
    return count
