"""Sparse text: Vowpal Wabbit's, and that of svmlight and libsvm.

    [label [importance [base]]] ['tag]|namespace[:weight] name[:value] … |…
    label [qid:number] index:value … [# comment]

Of the first, the last word before the first bar is the tag if it touches the bar or begins with an
apostrophe.
"""

import numpy as np

from steelyard.native.declare import helper, kernel, part
from steelyard.native.kinds import Bytes, Count, Counts, Ints, Number, Places, Words
from steelyard.text import decimals, hashing, lines
from steelyard.text.index_value import BATCH, MARGIN, convert, pairs, put_known
from steelyard.text.lines import BAR, COLON, HASH, NEWLINE, QUOTE, is_digit, is_gap, note
from steelyard.text.structs import Features, Heads
from steelyard.text.swar import address, byte, find_blanks, leading_digits, name_ends, trailing_zeros


@kernel
def parse_vw(
    text: Bytes, end: Count, stops: Ints, staged: Words, largest: Number, field_seeds: Counts, heads: Heads,
    features: Features, problems: Places,
):  # fmt: skip
    """Read the whole lines text[:end] of Vowpal Wabbit's text. Returns (rows, features, lines, problems).

    `stops` is a buffer for the positions of blanks, `staged` one for a batch of features. `field_seeds`: the
    keys of the namespaces used in interactions; the field of a feature is its index in that list, or −1.
    `starts`: where the name of each feature begins in the text.
    """
    bytes_at = address(text)
    labels, sample_weight, offsets, tags, ends, _ = heads
    keys, values, fields, starts, _, _ = features
    most, ascii_only = find_blanks(text, end, end - MARGIN, stops)
    # typed: a literal 0 would compile every helper twice
    row = line = wrong = k = i = np.int64(0)
    count = n = np.int64(0)  # features converted, and those in the batch
    while i < end:
        first = count + n
        code, where, i = -1, i, i
        if not ascii_only and not lines.valid_utf8(text, i, lines.line_end(text, i, end)):
            code = lines.NOT_UTF8
        else:
            code, where, i = _head(bytes_at, i, end, row, labels, sample_weight, offsets, tags)
        if code < 0 and text[i] == BAR:
            code, where, i, k, n, count = _namespaces(
                bytes_at, i, end, stops, k, most, largest, field_seeds, staged, n, count,
                keys, values, fields, starts,
            )  # fmt: skip
        if code >= 0:
            wrong = note(problems, wrong, line, code, where, where, -1)
            count = min(count, first)
            n = first - count
            i = lines.line_end(text, i, end)
        elif where >= 0:  # where = −1 means a blank line
            ends[row] = count + n
            row += 1
        i += 1
        line += 1
    convert(staged, n, count, keys, values, starts)
    return row, count + n, line, wrong


@part
def _ends_value(c):
    return is_gap(c) | (c == NEWLINE) | (c == BAR)


@part
def ends_name(c):
    return _ends_value(c) | (c == COLON)


@part
def _head(text, i, end, row, labels, sample_weight, offsets, tags):
    """Read what precedes the first bar: (code or −1, where, position of the bar or line end)."""
    numbers = 0
    begin = i
    tags[row, 0] = tags[row, 1] = 0
    labels[row], sample_weight[row], offsets[row] = np.nan, 1.0, 0.0
    blank = True
    while True:
        while is_gap(byte(text, i)):
            i += 1
        if byte(text, i) == BAR:
            break
        if byte(text, i) == NEWLINE:
            return (-1, -1, i) if blank else (lines.NO_BAR, begin, i)
        blank = False
        word = i
        while not _ends_value(byte(text, i)):
            i += 1
        if byte(text, i) == BAR or byte(text, word) == QUOTE:
            tags[row, 0], tags[row, 1] = word + (byte(text, word) == QUOTE), i
            continue
        x, stop, status = decimals.number_at(text, word, i)
        if status == decimals.OK and stop < i:
            status = decimals.NOT_A_NUMBER
        if numbers == 0:
            labels[row] = x
        elif numbers == 1:
            sample_weight[row] = x
        elif numbers == 2:
            offsets[row] = x
        if numbers > 2:
            return lines.TOO_MANY_NUMBERS, word, i
        if status != decimals.OK:
            code = (lines.BAD_LABEL, lines.BAD_IMPORTANCE, lines.BAD_BASE)[numbers]
            return code, word, i
        if numbers == 1 and x < 0.0:
            return lines.NEGATIVE_IMPORTANCE, word, i
        numbers += 1
    return -1, begin, i


@part
def _namespaces(
    text, i, end, stops, k, most, largest, field_seeds, staged, n, count, keys, values, fields, starts
):
    """The namespaces of one line, from its first bar.

    (code or −1, where, position, k, n in the batch, count converted)
    """
    seed = np.int64(0)
    field = np.int16(-1)
    factor = 1.0
    nameless = np.int64(0)
    while True:
        if byte(text, i) == BAR:
            i += 1
            begin = i
            while not ends_name(byte(text, i)):
                i += 1
            seed = hashing.key_at(text, begin, i, 0) if i > begin else np.int64(0)
            field = np.int16(-1)
            for place in range(len(field_seeds)):
                if field_seeds[place] == seed:
                    field = np.int16(place)
            factor = 1.0
            nameless = np.int64(0)
            if byte(text, i) == COLON:
                factor, i, status = decimals.number_at(text, i + 1, end)
                if status != decimals.OK or not _ends_value(byte(text, i)):
                    return lines.BAD_NAMESPACE_VALUE, begin, i, k, n, count
            continue
        if is_gap(byte(text, i)):
            i += 1
            continue
        if byte(text, i) == NEWLINE:
            return -1, 0, i, k, n, count
        if n == BATCH:
            convert(staged, n, count, keys, values, starts)
            count += n
            n = np.int64(0)
        begin = i
        if factor == 1.0 and is_digit(byte(text, i)):
            while stops[k] < i:
                k += 1
            so_far = count + n
            i, k, n = pairs(text, i, stops, k, most, largest, seed, staged, n)
            if len(field_seeds):
                for place in range(so_far, count + n):
                    fields[place] = field
            if i > begin:
                continue
        code, feature, x, i = _feature(text, begin, end, seed, nameless)
        nameless += byte(text, begin) == COLON
        if code >= 0:
            return code, begin, i, k, n, count
        x *= factor
        if abs(x) > largest:
            return lines.TOO_LARGE, begin, i, k, n, count
        fields[count + n] = field
        put_known(staged, n, begin, feature, x)
        n += 1


@helper
def _feature(text, i, end, seed, nameless):
    """`name[:value]` of any kind: (code or −1, key, value, position)."""
    begin = i
    number = np.int64(0)
    if is_digit(byte(text, i)):
        digits = np.int64(8)
        while digits == 8:
            more, digits = leading_digits(text, i, end)
            number = (number * 10**digits + more) & hashing.BITS_32
            i += digits
    if i > begin and ends_name(byte(text, i)):
        feature = (number + seed) & hashing.BITS_32
    else:
        i = _name_end(text, i, end)
        size = i - begin
        if size == 0:  # a value without a name is numbered
            feature = (seed + nameless) & hashing.BITS_32
        elif size < 16 and i + 16 <= end:
            feature = hashing.short_murmur(text, begin, size, seed)
        else:
            feature = hashing.murmur_at(text, begin, i, seed)
    x = 1.0
    if byte(text, i) == COLON:
        x, i, status = decimals.number_at(text, i + 1, end)
        if status != decimals.OK or not _ends_value(byte(text, i)):
            return (lines.NOT_FINITE if status == decimals.NOT_FINITE else lines.BAD_VALUE), feature, x, i
    return -1, feature, x, i


@part
def _name_end(text, i, end):
    while i + 32 <= end:
        ends = name_ends(text, i)
        if ends != 0:
            return i + np.int64(trailing_zeros(ends))
        i += 32
    while not ends_name(byte(text, i)):
        i += 1
    return i


@kernel
def parse_svmlight(
    text: Bytes, end: Count, stops: Ints, staged: Words, largest: Number, heads: Heads, features: Features,
    problems: Places,
):  # fmt: skip
    """Read whole lines of svmlight, as `parse_vw` does. Returns (rows, features, lines, problems, lines with a qid)."""
    bytes_at = address(text)
    labels, sample_weight, offsets, tags, ends, _ = heads
    keys, values, fields, starts, _, _ = features
    most, ascii_only = find_blanks(text, end, end - MARGIN, stops)
    # typed: a literal 0 would compile every helper twice
    row = line = wrong = queries = k = i = np.int64(0)
    count = n = np.int64(0)  # features converted, and those in the batch
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
            if status != decimals.OK or not _ends_pair(text[i]):
                code = lines.BAD_LABEL
            else:
                code, where, i, k, n, count, query = _pairs_of_line(
                    bytes_at, i, end, stops, k, most, largest, staged, n, count, keys, values, starts
                )
                queries += query
            if code < 0:
                labels[row], sample_weight[row], offsets[row] = label, 1.0, 0.0
                tags[row, 0] = tags[row, 1] = 0
                ends[row] = count + n
                row += 1
        if code >= 0:
            wrong = note(problems, wrong, line, code, where, where, -1)
            count = min(count, first)
            n = first - count
        i = lines.line_end(text, i, end) + 1
        line += 1
    convert(staged, n, count, keys, values, starts)
    fields[: count + n] = -1
    return row, count + n, line, wrong, queries


@part
def _ends_pair(c):
    return is_gap(c) | (c == NEWLINE) | (c == HASH)


@part
def _pairs_of_line(text, i, end, stops, k, most, largest, staged, n, count, keys, values, starts):
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
            while not _ends_pair(byte(text, i)):
                i += 1
            continue
        if i == begin or byte(text, i) != COLON:
            return lines.BAD_INDEX, begin, i, k, n, count, query
        x, i, status = decimals.number_at(text, i + 1, end)
        if status != decimals.OK or not _ends_pair(byte(text, i)):
            code = lines.NOT_FINITE if status == decimals.NOT_FINITE else lines.BAD_VALUE
            return code, begin, i, k, n, count, query
        if abs(x) > largest:
            return lines.TOO_LARGE, begin, i, k, n, count, query
        put_known(staged, n, begin, index, x)
        n += 1
