"""Hashed features → rows of indices: crossing, folding keys into the model's range, merging duplicates.

An index is the low bits of a key, so two names may share an index. An index that occurs twice in a row, under
one name or two, is merged into one entry with the sum of the values, at the position of the first.

A small hash table of positions finds it. The table is never cleared: positions are stored as serial numbers
that grow from row to row, and numbers older than the row do not count.
"""

import numpy as np

from steelyard.native.declare import helper, kernel, part
from steelyard.native.kinds import Counts, Keys, Places, Shorts, Switches, Values
from steelyard.text.hashing import BITS_32, CROSS_PRIME
from steelyard.text.structs import FoldOutput, HashTable


@kernel
def sizes(ends: Counts, fields: Shorts, crosses: Places, counts: Counts):
    """(features in total with crosses, of which there are some; the most in one row): upper bounds.

    `counts` is room for a number of each field that is crossed.
    """
    total = 0
    longest = 0
    start = np.int64(0)
    for row in range(len(ends)):
        size = ends[row] - start
        counts[:] = 0
        for k in range(start, ends[row]):
            if fields[k] >= 0:
                counts[fields[k]] += 1
        for c in range(len(crosses)):
            product = 1
            for field in crosses[c]:
                if field >= 0:
                    product *= counts[field]
            size += product
        total += size
        longest = max(longest, size)
        start = ends[row]
    return total, longest


@kernel
def fold(
    ends: Counts, distinct: Switches, keys: Keys, values: Values, scratch: HashTable, first: Keys, second: Keys,
    to: FoldOutput,
):  # fmt: skip
    """Fold rows without crosses. Returns (entries, candidates for names).

    `distinct` tells which rows are known to have no index twice; it is empty if nothing is known.
    `first` and `second` hold the keys known at each index, 0 for none. A key that is neither is a candidate:
    its index, the key, and its position among the features.
    """
    mask, table, serial = scratch
    indptr, indices, out, new, new_key, new_place = to
    # typed: a literal 0 would compile every helper twice
    count = np.int64(0)
    candidates = np.int64(0)
    start = np.int64(0)
    for row in range(len(ends)):
        end = ends[row]
        if (len(distinct) > 0 and distinct[row]) or _increasing(keys, start, end, mask):
            _copy(keys, values, start, end, mask, indices, out, count)
            count += end - start
            search = len(first) > 0 and _any_unknown(keys, start, end, mask, first)
        else:
            count = _merge(keys, values, start, end, mask, table, serial, indices, out, count)
            search = len(first) > 0
        if search:
            for k in range(start, end):
                key = np.int64(keys[k])
                index = key & mask
                if first[index] != known(key) and second[index] != known(key):
                    new[candidates], new_key[candidates] = index, key
                    new_place[candidates, 0] = k
                    candidates += 1
        start = end
        indptr[row + 1] = count
    return count, candidates


@kernel
def fold_in_place(
    ends: Counts, distinct: Switches, keys: Keys, values: Values, scratch: HashTable, indptr: Counts
):  # fmt: skip
    """Fold rows without crosses or names, where they are: keys become indices. Returns how many are left."""
    mask, table, serial = scratch
    count = np.int64(0)
    start = np.int64(0)
    for row in range(len(ends)):
        end = ends[row]
        if (len(distinct) > 0 and distinct[row]) or _increasing(keys, start, end, mask):
            if count == start:  # as is usual: nothing moves
                for k in range(np.uint64(start), np.uint64(end)):
                    keys[k] &= np.uint32(mask)
            else:
                _copy(keys, values, start, end, mask, keys, values, count)
            count += end - start
        else:
            count = _merge(keys, values, start, end, mask, table, serial, keys, values, count)
        start = end
        indptr[row + 1] = count
    return count


@part
def _copy(keys, values, start, end, mask, indices, out, count):
    """Copy a row as it is, in two loops that the compiler vectorises."""
    size = np.uint64(end - start)
    start, count = np.uint64(start), np.uint64(count)
    for k in range(size):
        indices[count + k] = keys[start + k] & np.uint32(mask)
    for k in range(size):
        out[count + k] = values[start + k]


@part
def _any_unknown(keys, start, end, mask, first):
    """Whether a key is not the first at its index."""
    unknown = np.uint32(0)
    for k in range(np.uint64(start), np.uint64(end)):
        unknown |= first[keys[k] & np.uint32(mask)] ^ known(keys[k])
    return unknown != 0


@part
def _merge(keys, values, start, end, mask, table, serial, indices, out, count):
    """Copy a row with duplicates merged; returns the new number of entries."""
    begin = count
    slots = _slots(end - start, len(table))
    for k in range(start, end):
        index = np.int64(keys[k]) & mask
        slot = _place(index, begin, serial, slots, table, indices, count)
        if slot >= 0:
            out[slot] += values[k]
        else:
            indices[count] = index
            out[count] = values[k]
            count += 1
    return count


@kernel
def fold_crossed(
    ends: Counts, keys: Keys, values: Values, fields: Shorts, crosses: Places, chosen: Counts, scratch: HashTable,
    first: Keys, second: Keys, to: FoldOutput,
):  # fmt: skip
    """Fold rows as `fold` does, with the features of each row followed by its crosses.

    A cross of fields is every choice of one feature from each; a cross of a field with itself is every choice
    regardless of order. `chosen` is room for such a choice.
    """
    mask, table, serial = scratch
    indptr, indices, out, new, new_key, new_place = to
    count = 0
    candidates = 0
    start = 0
    order = crosses.shape[1]
    for row in range(len(ends)):
        begin = count
        end = ends[row]
        slots = len(table)
        for c in range(-1, len(crosses)):
            depth = 0
            width = 1 if c < 0 else _width(crosses[c])
            chosen[0] = start - 1
            while depth >= 0:
                if c < 0:
                    chosen[0] += 1
                else:
                    chosen[depth] = _following(fields, chosen[depth], end, crosses[c, depth])
                if chosen[depth] >= end:
                    depth -= 1
                    continue
                if depth + 1 < width:
                    depth += 1
                    same = crosses[c, depth] == crosses[c, depth - 1]
                    chosen[depth] = chosen[depth - 1] - 1 if same else start - 1
                    continue
                key = np.int64(keys[chosen[0]])
                value = values[chosen[0]]
                for member in range(1, width):
                    key = ((key * CROSS_PRIME) ^ np.int64(keys[chosen[member]])) & BITS_32
                    value *= values[chosen[member]]
                index = key & mask
                slot = _place(index, begin, serial, slots, table, indices, count)
                if slot >= 0:
                    out[slot] += value
                else:
                    indices[count] = index
                    out[count] = value
                    count += 1
                if len(first) and first[index] != known(key) and second[index] != known(key):
                    new[candidates], new_key[candidates] = index, key
                    for member in range(order):
                        new_place[candidates, member] = chosen[member] if member < width else -1
                    candidates += 1
        start = end
        indptr[row + 1] = count
    return count, candidates


@helper
def _increasing(keys, start, end, mask):
    """Whether the indices of a row increase, so that there are no duplicates: as in most files of numbers."""
    wrong = np.uint32(0)
    low = np.uint32(mask)
    for k in range(np.uint64(start + 1), np.uint64(end)):
        wrong |= np.uint32((keys[k - np.uint64(1)] & low) >= (keys[k] & low))
    return wrong == 0


@helper
def known(key):
    """The key as it is stored: never 0, which means none. (2³¹ has the same index as 0.)"""
    return np.uint32(key if key != 0 else 0x80000000)


@part
def _slots(features, most):
    """The size of the table, a power of two, for a row with this many features."""
    slots = 16
    while slots < 4 * features and slots < most:
        slots *= 2
    return slots


@part
def _place(index, begin, serial, slots, table, indices, count):
    """The position of this index in the row that began at `begin`; −1 if it is new: then it is entered."""
    slot = (index * 0x9E3779B1 >> 7) & (slots - 1)
    while table[slot] >= serial + begin:
        place = table[slot] - serial
        if indices[place] == index:
            return place
        slot = (slot + 1) & (slots - 1)
    table[slot] = serial + count
    return -1


@helper
def _width(cross):
    """The number of crossed fields: the list is padded with −1."""
    width = 0
    while width < len(cross) and cross[width] >= 0:
        width += 1
    return width


@helper
def _following(fields, place, end, field):
    """The next feature of this field after `place`."""
    place += 1
    while place < end and fields[place] != field:
        place += 1
    return place
