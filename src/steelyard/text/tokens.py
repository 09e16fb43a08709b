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

from steelyard.numba_tools.jit import kernel, part
from steelyard.text import hashing

# How a token counts that occurs several times in one text
COUNTS, BINARY, SUBLINEAR, RELATIVE = range(4)
REPEATED = {"counts": COUNTS, "binary": BINARY, "sublinear": SUBLINEAR, "relative": RELATIVE}
MOST = 16  # words or characters in a row

# What the span of a feature names: its origin is 8·column + one of these
NUMBER, CATEGORY, MISSING, WORDS, CHARACTERS, KEY, POSITION = range(7)

CHARACTER_SALT = 0x63686172  # makes the seed of characters differ from that of words

LETTERS = np.array(
    [48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122 or c >= 128 for c in range(256)], np.bool_
)
SMALL = np.array(  # a letter or digit as it is hashed, 0 for anything else
    [(c + 32 if 65 <= c <= 90 else c) if LETTERS[c] else 0 for c in range(256)], np.uint8
)
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


@kernel
def tokenise(text, start, end, seed, field, column, options, count, table, features):
    """Add the tokens of text[start:end] (text[end] is not a letter); returns the new number of features.

    `options`: the longest word n-gram, the shortest and longest character n-gram, how repeated tokens count.
    """
    most_words, least, most, repeated = options
    first = count
    if most_words > 0:
        count = _words(text, start, end, seed, field, 8 * column + WORDS, most_words, count, features)
    if most > 0:
        origin = 8 * column + CHARACTERS
        count = _characters(
            text, start, end, seed ^ CHARACTER_SALT, field, origin, least, most, count, features
        )
    if repeated != COUNTS:  # otherwise folding adds up duplicates
        count = _merge(first, count, repeated, table, features)
    return count


@part
def put(features, at, key, value, field, start, stop, origin):
    """Write the feature number `at`."""
    keys, values, fields, starts, stops, origins = features
    keys[at] = key
    values[at] = value
    fields[at] = field
    starts[at] = start
    stops[at] = stop
    origins[at] = origin


@kernel
def _words(text, start, end, seed, field, origin, most, count, features):
    """Add words and word n-grams. (Unsigned positions need no check for negative ones.)"""
    recent = np.empty(most, np.int64)  # the keys of the last words, and where they begin
    begins = np.empty(most, np.int64)
    found = 0
    one = np.uint64(1)
    at = np.uint64(count)
    i = np.uint64(start)
    last = np.uint64(end)
    while True:
        while i < last and SMALL[text[i]] == 0:
            i += one
        if i >= last:
            return np.int64(at)
        begin = i
        h, k, shift, seen = np.int64(seed), np.int64(0), 0, np.int64(0)
        c = np.int64(SMALL[text[i]])
        while c != 0:
            k |= c << shift
            seen |= c
            shift += 8
            if shift == 32:
                h, k, shift = hashing.mixed(h, k), np.int64(0), 0
            i += one
            c = np.int64(SMALL[text[i]])
        if seen & 0xC0:
            word = hashing.finished(h, k, np.int64(i - begin))
        else:  # only digits
            word = hashing.key(text, np.int64(begin), np.int64(i), seed)
        put(features, at, word, 1.0, field, begin, i, origin)
        at += one
        if most == 1:
            continue
        recent[found % most] = word
        begins[found % most] = begin
        found += 1
        for size in range(2, min(most, found) + 1):
            h = np.int64(seed)
            for w in range(found - size, found):
                h = hashing.mixed(h, recent[w % most])
            key = hashing.finished(h, np.int64(0), 4 * size)
            put(features, at, key, 1.0, field, begins[(found - size) % most], i, origin)
            at += one


@kernel
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


@kernel
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


@kernel
def lower(c):
    return c + 32 if 65 <= c <= 90 else c


@kernel
def _merge(first, count, repeated, table, features):
    """Merge the features first … count that have the same key; returns the new count.

    `table` holds positions + 1. Positions before `first` do not count, so the table need not be cleared.
    """
    keys, values, _fields, starts, stops, origins = features
    slots = 16
    while slots < 2 * (count - first):
        slots *= 2
    kept = first
    for k in range(first, count):
        key = np.int64(keys[k])
        slot = ((key & 0x7FFFFFFF) * 0x9E3779B1 >> 7) & (slots - 1)
        while table[slot] > first and np.int64(keys[table[slot] - 1]) != key:
            slot = (slot + 1) & (slots - 1)
        if table[slot] > first:
            values[table[slot] - 1] += 1.0
            continue
        keys[kept], values[kept] = keys[k], 1.0
        starts[kept], stops[kept], origins[kept] = starts[k], stops[k], origins[k]
        kept += 1
        table[slot] = kept
    length = 1.0
    if repeated == RELATIVE:
        squares = 0.0
        for k in range(first, kept):
            value = _logarithmic(values[k])
            squares += value * value
        length = math.sqrt(squares)
    for k in range(first, kept):
        values[k] = 1.0 if repeated == BINARY else _logarithmic(values[k]) / length
    return kept


@part
def _logarithmic(count):
    """1 + log of the count, which is 1 for most."""
    return 1.0 if count == 1.0 else 1.0 + math.log(np.float64(count))
