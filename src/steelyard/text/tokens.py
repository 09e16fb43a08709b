"""Text → features: words, word n-grams and character n-grams, lower-cased while they are hashed.

A word is a run of letters and digits; every byte from 0x80 on counts as a letter, so that words in UTF-8 stay
whole. The key of a word is that of a name in the column (a word made of digits is a number). The key of a
word n-gram is the murmur3 hash of the keys of its words, four bytes each, lowest byte first. The key of a
character n-gram is the hash of its bytes with another seed, so that the word `the` and the characters `the`
differ; there a run of blanks counts as one space.

>>> TextOptions(words=2).as_json()
{'words': 2, 'characters': None, 'repeated': 'relative'}
>>> TextOptions.from_json({"words": 0, "characters": [3, 5], "repeated": "binary"})
TextOptions(words=0, characters=(3, 5), repeated='binary')
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from steelyard.numba_tools.jit import helper, part
from steelyard.text import hashing
from steelyard.text.words import MOST, add_words, room

# How a token counts that occurs several times in one text
COUNTS, BINARY, SUBLINEAR, RELATIVE = range(4)
REPEATED = {"counts": COUNTS, "binary": BINARY, "sublinear": SUBLINEAR, "relative": RELATIVE}

# What the span of a feature names: its origin is 8·column + one of these
NUMBER, CATEGORY, MISSING, WORDS, CHARACTERS, KEY, POSITION = range(7)

_NONE, _ONE, _HALF, _SIGN = np.uint64(0), np.uint64(1), np.uint64(32), np.uint64(63)
_LOW = np.uint64(0xFFFFFFFF)
_SPREAD = np.uint64(0x9E3779B1)

CHARACTER_SALT = 0x63686172  # makes the seed of characters differ from that of words

BLANKS = np.array([c == 32 or 9 <= c <= 13 for c in range(256)], np.bool_)
PLAIN = np.array(  # any byte as it is hashed among characters
    [32 if BLANKS[c] else (c + 32 if 65 <= c <= 90 else c) for c in range(256)], np.uint8
)


@dataclass(frozen=True)
class TextOptions:
    """Runs of 1 to `words` words, runs of `characters` (least, most) characters, or both.

    A word is a run of letters and digits, in lower case (ASCII only: É stays É). Characters are those of the
    text in lower case, without blanks at its ends and with a run of blanks as one space; a text shorter than
    the least has none. The value of a token is its count in the text, 1 (binary), 1 + log of the count
    (sublinear), or that divided by the length of the text, the root of the sum of its squares (relative).
    """

    words: int = 1
    characters: tuple[int, int] | None = None
    repeated: str = "relative"

    def __post_init__(self) -> None:
        if not 0 <= self.words <= MOST:
            raise ValueError(f"words in a row: from 0 (none) to {MOST}; got {self.words}")
        if self.characters is not None and not 1 <= self.characters[0] <= self.characters[1] <= MOST:
            raise ValueError(f"characters in a row: least and most, from 1 to {MOST}; got {self.characters}")
        if self.words == 0 and self.characters is None:
            raise ValueError("neither words nor characters are wanted: nothing of a text would be learned")
        if self.repeated not in REPEATED:
            raise ValueError(f"repeated tokens: one of {', '.join(REPEATED)}; got {self.repeated!r}")

    def as_json(self) -> dict[str, Any]:
        characters = None if self.characters is None else list(self.characters)
        return {"words": self.words, "characters": characters, "repeated": self.repeated}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "TextOptions":
        characters = stored["characters"]
        return cls(stored["words"], None if characters is None else tuple(characters), stored["repeated"])

    def array(self) -> tuple[int, int, int, int]:
        """The options for kernels."""
        least, most = self.characters or (0, 0)
        return self.words, least, most, REPEATED[self.repeated]

    def most_tokens(self, size: int) -> int:
        """An upper bound on the number of tokens in a text of this many bytes."""
        least, most = self.characters or (1, 0)
        return (size + 1) // 2 * self.words + size * (most - least + 1)


def scratch(tokens: int) -> tuple[Any, ...]:
    """What `tokenise` needs for texts of up to so many tokens, as often as they come.

    The last is a number that is added to all positions in the table: with one that is larger than all of
    them were, the table can be used again as it is.
    """
    table = np.zeros(max(1 << (2 * tokens).bit_length(), 16), np.uint64)
    return table, np.empty(tokens, np.int32), np.empty(tokens, np.int32), room(), 0


@part
def tokenise(text, start, end, seed, field, column, options, count, scratch, features):
    """Add the tokens of text[start:end]; returns the new number of features.

    `options`: the longest word n-gram, the shortest and longest character n-gram, how repeated tokens count.
    """
    table, counts, firsts, window, serial = scratch
    most_words, least, most, repeated = options
    first = count
    if most_words > 0:
        origin = 8 * column + WORDS
        count = add_words(text, start, end, seed, field, origin, most_words, count, window, features)
    if most > 0:
        origin = 8 * column + CHARACTERS
        count = _characters(
            text, start, end, seed ^ CHARACTER_SALT, field, origin, least, most, count, features
        )
    if repeated != COUNTS:  # otherwise folding adds up duplicates
        count = _merge(first, count, repeated, table, serial, counts, firsts, features)
    return count


@part
def put(features, at, key, value, field, start, stop, origin):
    """Write the feature number `at`; without its span, where features need no names."""
    keys, values, fields, starts, stops, origins = features
    keys[at] = key
    values[at] = value
    fields[at] = field
    if len(starts) > 0:
        starts[at] = start
        stops[at] = stop
        origins[at] = origin


@helper
def _characters(text, start, end, seed, field, origin, least, most, count, features):
    one = np.uint64(1)
    at = np.uint64(count)
    i, last = np.uint64(start), np.uint64(end)
    while i < last and BLANKS[text[i]]:
        i += one
    while last > i and BLANKS[text[last - one]]:
        last -= one
    while i < last:
        h, k, shift = np.int64(seed), np.int64(0), 0
        j = following = i
        length = size = 0
        while size < most and j < last:
            c = text[j]
            inner = np.uint64(after_character(text, j, last))
            stop = j + one if BLANKS[c] else inner
            while j < stop:
                k |= np.int64(PLAIN[text[j]]) << shift
                shift += 8
                length += 1
                if shift == 32:
                    h, k, shift = hashing.mixed(h, k), np.int64(0), 0
                j += one
            j = inner
            size += 1
            if size == 1:
                following = j
            if size >= least:
                put(features, at, hashing.finished(h, k, length), 1.0, field, i, j, origin)
                at += one
        i = following
    return np.int64(at)


@helper
def after_character(text, i, last):
    """The end of the character at i, or of the run of blanks."""
    one = np.uint64(1)
    c = text[i]
    i += one
    if c >= 128:
        while i < last and text[i] & 0xC0 == 0x80:
            i += one
    elif BLANKS[c]:
        while i < last and BLANKS[text[i]]:
            i += one
    return i


@helper
def lower(c):
    return c + 32 if 65 <= c <= 90 else c


@part
def _merge(first, count, repeated, table, serial, counts, firsts, features):
    """Merge the features first … count that have the same key; returns the new count.

    Whether a key is new is hard to foresee, so nothing is decided by that: it is written to the next place,
    which moves on if the key is new. `table` holds keys, and positions + `serial` + 1 in the low bits. Those
    before `first` do not count, so it need not be cleared: `there` has its low bits set if the entry counts.
    (A condition made of two comparisons would be compiled to two branches.)
    """
    keys, values, _fields, starts, stops, origins = features
    begin, size = np.uint64(first), np.uint64(count - first)
    origin = begin + np.uint64(serial)
    slots = np.uint64(16)
    while slots < np.uint64(4) * size and slots < np.uint64(len(table)):
        slots <<= _ONE
    last = slots - _ONE
    for k in range(size):
        counts[k] = 0
    kept = np.uint64(0)
    for k in range(size):
        key = np.uint64(keys[begin + k])
        slot = (key * _SPREAD >> np.uint64(7)) & last
        entry = table[slot]
        there = ((origin - (entry & _LOW)) >> _SIGN) * _LOW
        while (entry >> _HALF ^ key) & there != _NONE:
            slot = (slot + _ONE) & last
            entry = table[slot]
            there = ((origin - (entry & _LOW)) >> _SIGN) * _LOW
        new = _ONE - (there & _ONE)
        place = (entry & there) | ((origin + kept + _ONE) & ~there)
        table[slot] = key << _HALF | place
        keys[begin + kept] = np.uint32(key)
        firsts[kept] = k
        counts[place - origin - _ONE] += np.int32(1)
        kept += new
    if len(starts) > 0:
        for spans in (starts, stops, origins):
            for k in range(kept):
                spans[begin + k] = spans[begin + np.uint64(firsts[k])]
    _weigh(counts, kept, repeated, values, begin)
    return np.int64(begin + kept)


@part
def _weigh(counts, size, repeated, values, begin):
    """Make values of counts."""
    if repeated == BINARY:
        for k in range(size):
            values[begin + k] = 1.0
        return
    most = np.int32(0)
    for k in range(size):
        most = max(most, counts[k])
    seldom = most < len(_LOGARITHMS)  # as is usual: then there is nothing to decide for each
    squares = 0.0
    for k in range(size if repeated == RELATIVE else np.uint64(0)):
        squares = _plus_square(squares, _LOGARITHMS[counts[k]] if seldom else _logarithmic(counts[k]))
    length = math.sqrt(squares) if repeated == RELATIVE else 1.0
    if seldom:
        for k in range(size):
            values[begin + k] = _LOGARITHMS[counts[k]] / length
    else:
        for k in range(size):
            values[begin + k] = _logarithmic(counts[k]) / length


@njit(nogil=True, fastmath={"contract"}, forceinline=True)
def _plus_square(total, x):
    """(Sums of a `part` may be reordered.)"""
    return total + x * x


@part
def _logarithmic(count):
    """1 + log of the count."""
    return 1.0 + math.log(np.float64(count))


_LOGARITHMS = np.array([0.0, *(1.0 + math.log(count) for count in range(1, 256))])
