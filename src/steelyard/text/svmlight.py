"""svmlight and libsvm text: `label [qid:number] index:value … [# comment]`."""

import numpy as np

from steelyard.numba_tools.jit import borrow, kernel, part
from steelyard.text import decimals, hashing, lines
from steelyard.text.byte_masks import count_up_to, find_blanks
from steelyard.text.index_value import BATCH, BATCH_WORDS, MARGIN, convert, pairs, put_known
from steelyard.text.lines import COLON, HASH, NEWLINE, is_gap, note
from steelyard.text.swar import address, byte, leading_digits


@kernel
def parse(
    text, end, stops, largest,
    labels, sample_weight, offsets, tags, ends, keys, values, fields, starts, problems,
):  # fmt: skip
    """Read the whole lines text[:end]. Returns (rows, features, lines, problems, lines with a qid).

    `stops` is a buffer for the positions of blanks.
    """
    bytes_at = address(text)
    stops, keys, values, starts = borrow(stops), borrow(keys), borrow(values), borrow(starts)
    known, ascii_only = find_blanks(text, end, stops)
    most = count_up_to(stops, known, end - MARGIN)
    room = np.empty(BATCH_WORDS, np.uint64)
    staged = borrow(room)
    # typed: a literal 0 would compile every helper twice
    row = np.int64(0)
    count = np.int64(0)  # features converted
    n = np.int64(0)  # features in the batch
    k = np.int64(0)
    line = np.int64(0)
    wrong = np.int64(0)
    queries = np.int64(0)
    i = np.int64(0)
    while i < end:
        while is_gap(text[i]):
            i += 1
        first = count + n
        code = -1
        where = i
        if not ascii_only and not lines.valid_utf8(text, i, lines.line_end(text, i, end)):
            code = lines.NOT_UTF8
        elif text[i] != NEWLINE and text[i] != HASH:
            label, i, status = decimals.number_at(bytes_at, i, end)
            if status != decimals.OK or not _ends_value(text[i]):
                code = lines.BAD_LABEL
            else:
                code, where, i, k, n, count, query = _features(
                    bytes_at, i, end, stops, k, most, largest, staged, n, count, keys, values, starts
                )
                queries += query
            if code < 0:
                labels[row], sample_weight[row], offsets[row] = label, 1.0, 0.0
                tags[row, 0] = tags[row, 1] = 0
                ends[row] = count + n
                row += 1
        if code >= 0:
            wrong = note(problems, wrong, line, code, where)
            count = min(count, first)
            n = first - count
        i = lines.line_end(text, i, end) + 1
        line += 1
    convert(room, n, count, keys, values, starts)  # used last, so that it stays alive
    fields[: count + n] = -1
    return row, count + n, line, wrong, queries


@part
def _ends_value(c):
    return is_gap(c) | (c == NEWLINE) | (c == HASH)


@part
def _features(text, i, end, stops, k, most, largest, staged, n, count, keys, values, starts):
    """The features of one line.

    (code or −1, where, position, k, n in the batch, count converted, whether there was a qid)
    """
    query = False
    while True:
        while is_gap(byte(text, i)):
            i += 1
        if byte(text, i) == NEWLINE or byte(text, i) == HASH:
            return -1, i, i, k, n, count, query
        if n == BATCH:
            convert(staged, n, count, keys, values, starts)
            count += n
            n = np.int64(0)
        begin = i
        while stops[k] < i:
            k += 1
        i, k, n = pairs(text, i, stops, k, most, largest, np.int64(0), staged, n)
        if i > begin:
            continue
        index, digits = leading_digits(text, i, end)
        i += digits
        while digits == 8:
            more, digits = leading_digits(text, i, end)
            index = (index * 10**digits + more) & hashing.BITS_32
            i += digits
        if (
            i == begin
            and byte(text, i) == 113
            and byte(text, i + 1) == 105
            and byte(text, i + 2) == 100
            and byte(text, i + 3) == COLON
        ):
            query = True
            while not _ends_value(byte(text, i)):
                i += 1
            continue
        if i == begin or byte(text, i) != COLON:
            return lines.BAD_INDEX, begin, i, k, n, count, query
        x, i, status = decimals.number_at(text, i + 1, end)
        if status != decimals.OK or not _ends_value(byte(text, i)):
            code = lines.NOT_FINITE if status == decimals.NOT_FINITE else lines.BAD_VALUE
            return code, begin, i, k, n, count, query
        if abs(x) > largest:
            return lines.TOO_LARGE, begin, i, k, n, count, query
        put_known(staged, n, begin, index, x)
        n += 1


@kernel
def compose_names(text, starts, places, out, lengths):
    """Write indices as names, one after another, into `out`; if `out` is empty they are only measured."""
    size = 0
    for k in range(len(places)):
        before = size
        i = starts[places[k, 0]]
        while text[i] != COLON:
            if len(out):
                out[size] = text[i]
            size += 1
            i += 1
        lengths[k] = size - before
    return size
