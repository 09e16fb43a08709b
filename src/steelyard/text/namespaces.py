"""Namespaces of Vowpal Wabbit's text by their first letters: left out, made fields, and their n-grams.

Features of namespaces with one first letter are one sequence, in the order of the line. An n-gram is some of
its features, of which a mask says which: bit j stands for the jth after the first. Its value is 1, and its
key is made of theirs as Vowpal Wabbit does it.
"""

from typing import NamedTuple

import numpy as np

from steelyard.native.declare import helper, kernel
from steelyard.native.kinds import Bytes, Counts, Ints, Shorts, Switches
from steelyard.text.hashing import BITS_32
from steelyard.text.lines import BAR
from steelyard.text.sparse_text import ends_name
from steelyard.text.structs import Features

NAMELESS = 32  # stands for the namespace without a name
AS_READ = -2  # the field of a letter whose features keep the field that they have
GRAM_PRIME = 27942141


@kernel
def first_letters(text: Bytes, starts: Ints, letters: Bytes):
    """The first letter of the namespace of each feature."""
    letter = np.uint8(NAMELESS)
    i = np.int64(0)
    for k in range(len(starts)):
        while i < starts[k]:
            if text[i] == BAR:
                letter = np.uint8(NAMELESS) if ends_name(text[i + 1]) else text[i + 1]
            i += 1
        letters[k] = letter


class Tables(NamedTuple):
    """The letter of each feature; by letter what is dropped, the field, and where its n-grams end in `grams`."""

    letters: Bytes
    dropped: Switches
    fields: Shorts
    gram_ends: Counts
    grams: Counts


@kernel
def expand(
    ends: Counts, features: Features, tables: Tables, size: Counts, order: Counts, new_ends: Counts, new: Features
):  # fmt: skip
    """Rows sorted by letter, without dropped letters, each letter followed by its n-grams.

    Returns the number of features. If `new` has no room for any, they are only counted. `size` and `order` are room
    for a number of each letter. Its spans say of which features each new one is made: from which on, and a mask.
    """
    keys, values, fields, starts, _, _ = features
    letters, dropped, letter_fields, gram_ends, grams = tables
    new_keys, new_values, new_fields, new_starts, firsts, masks = new
    count = np.int64(0)
    start = np.int64(0)
    for row in range(len(ends)):
        size[:] = 0
        for k in range(start, ends[row]):
            size[letters[k]] += 1
        for letter in range(256):
            order[letter] = count
            if size[letter] == 0 or dropped[letter]:
                continue
            count += size[letter]
            for g in range(gram_ends[letter - 1] if letter else 0, gram_ends[letter]):
                count += max(size[letter] - _span(grams[g]), 0)
        if len(new_keys):
            new_ends[row] = count
            for k in range(start, ends[row]):
                letter = letters[k]
                if not dropped[letter]:
                    at = order[letter]
                    order[letter] += 1
                    field = letter_fields[letter]
                    new_keys[at], new_values[at], new_starts[at] = keys[k], values[k], starts[k]
                    new_fields[at] = fields[k] if field == AS_READ else field
                    firsts[at], masks[at] = at, 1
            for letter in range(256):
                if size[letter] == 0 or dropped[letter]:
                    continue
                at = order[letter]
                begin = at - size[letter]
                for g in range(gram_ends[letter - 1] if letter else 0, gram_ends[letter]):
                    for first in range(begin, begin + size[letter] - _span(grams[g])):
                        key = np.int64(new_keys[first])
                        for j in range(1, _span(grams[g]) + 1):
                            if grams[g] >> j & 1:
                                key = (key * GRAM_PRIME + np.int64(new_keys[first + j])) & BITS_32
                        new_keys[at], new_values[at], new_starts[at] = key, 1.0, new_starts[first]
                        new_fields[at] = new_fields[first]
                        firsts[at], masks[at] = first, grams[g]
                        at += 1
        start = ends[row]
    return count


@helper
def _span(mask):
    """How far the last feature of an n-gram is from the first."""
    span = np.int64(0)
    while mask >> span > 1:
        span += 1
    return span
