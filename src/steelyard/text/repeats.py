"""Tokens that a text has several times: merged into one, whose value depends on how often it occurs."""

import math

import numpy as np

from steelyard._buffer_pool import spacious
from steelyard.native.declare import in_this_order, part
from steelyard.text import words
from steelyard.text.structs import Scratch
from steelyard.token_rules import REPEATED

# How a token counts that occurs several times in one text
COUNTS, BINARY, SUBLINEAR, RELATIVE = range(len(REPEATED))

_ONE = np.uint64(1)
_SPREAD = np.uint64(0x9E3779B1)
_LOGARITHMS = np.array([0.0, *(1.0 + math.log(count) for count in range(1, 256))])


def scratch_for(tokens: int) -> Scratch:
    """What `merge` needs for texts of up to so many tokens, as often as they come."""
    table = spacious(max(1 << (2 * tokens).bit_length(), 16), np.uint32)
    known, counts, firsts = (spacious(tokens + 1, dtype) for dtype in (np.uint32, np.int32, np.int32))
    return Scratch(table, known, counts, firsts, words.new_window())


@part
def merge(first, count, repeated, mask, scratch, features):
    """Merge the features first … count that have the same key: (the new count, whether indices differ).

    A processor cannot foresee whether a key is new, so there is no branch on it. Different keys have places from
    1 on; `table` holds the place of a key, 0 for none, and `known` the key at each place. Place 0 is given the
    key that is looked for, so that a single comparison ends the search.

    A search begins where the index of the key says, so that a key meets all others of its index on the way, and
    whether indices differ is known without another search. With few indices the searches would be long: then
    they begin where the whole key says, and indices count as shared.
    """
    table, known, counts, firsts, _window = scratch
    keys, values, _fields, starts, stops, origins = features
    begin, size = np.uint64(first), np.uint64(count - first)
    slots = np.uint64(16)
    while slots < np.uint64(8) * size and slots < np.uint64(len(table)):
        slots <<= _ONE
    last = slots - _ONE
    roomy = np.uint64(4) * size <= np.uint64(mask) + _ONE
    index_bits = np.uint32(mask) if roomy else np.uint32(0xFFFFFFFF)
    shared = not roomy
    for k in range(slots):
        table[k] = 0
    for k in range(size + _ONE):
        counts[k] = 0
    kept = np.uint64(0)
    for k in range(size):
        key = keys[begin + k]
        known[0] = key
        slot = (np.uint64(key & index_bits) * _SPREAD >> np.uint64(7)) & last
        place = np.uint64(table[slot])
        while known[place] != key:
            shared |= (known[place] ^ key) & index_bits == 0
            slot = (slot + _ONE) & last
            place = np.uint64(table[slot])
        firsts[kept] = k
        new = np.uint64(place == 0)
        kept += new
        place |= kept & (np.uint64(0) - new)
        table[slot] = place
        known[place] = key
        counts[place] += np.int32(1)
    for k in range(kept):
        keys[begin + k] = known[k + _ONE]
    if len(starts) > 0:
        for spans in (starts, stops, origins):
            for k in range(kept):
                spans[begin + k] = spans[begin + np.uint64(firsts[k])]
    _weigh(counts, kept, repeated, values, begin)
    return np.int64(begin + kept), not shared


@part
def _weigh(counts, size, repeated, values, begin):
    """Make values of counts, of which the first is that of place 1."""
    if repeated == BINARY:
        for k in range(size):
            values[begin + k] = 1.0
        return
    most = np.int32(0)
    for k in range(size):
        most = max(most, counts[k + _ONE])
    seldom = most < len(_LOGARITHMS)  # as is usual: then there is nothing to decide for each
    squares = 0.0
    for k in range(size if repeated == RELATIVE else np.uint64(0)):
        squares = _plus_square(
            squares, _LOGARITHMS[counts[k + _ONE]] if seldom else _logarithmic(counts[k + _ONE])
        )
    length = math.sqrt(squares) if repeated == RELATIVE else 1.0
    if seldom:
        for k in range(size):
            values[begin + k] = _LOGARITHMS[counts[k + _ONE]] / length
    else:
        for k in range(size):
            values[begin + k] = _logarithmic(counts[k + _ONE]) / length


@in_this_order
def _plus_square(total, x):
    """(Sums of a `part` may be reordered.)"""
    return total + x * x


@part
def _logarithmic(count):
    """1 + log of the count."""
    return 1.0 + math.log(np.float64(count))
