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

from steelyard._buffer_pool import spacious
from steelyard.native.declare import helper, in_this_order, part
from steelyard.text import hashing
from steelyard.text.structs import Scratch, TokenOptions
from steelyard.text.words import MOST, add_words, room

# How a token counts that occurs several times in one text
COUNTS, BINARY, SUBLINEAR, RELATIVE = range(4)
REPEATED = {"counts": COUNTS, "binary": BINARY, "sublinear": SUBLINEAR, "relative": RELATIVE}

# What the span of a feature names: its origin is 8·column + one of these
NUMBER, CATEGORY, MISSING, WORDS, CHARACTERS, KEY, POSITION = range(7)

_ONE = np.uint64(1)
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

    def array(self, bits: int) -> TokenOptions:
        """The options for kernels, for a model of 2^bits features."""
        least, most = self.characters or (0, 0)
        return TokenOptions(self.words, least, most, REPEATED[self.repeated], (1 << bits) - 1)

    def most_tokens(self, size: int) -> int:
        """An upper bound on the number of tokens in a text of this many bytes."""
        least, most = self.characters or (1, 0)
        return (size + 1) // 2 * self.words + size * (most - least + 1)


def scratch(tokens: int) -> Scratch:
    """What `tokenise` needs for texts of up to so many tokens, as often as they come."""
    table = spacious(max(1 << (2 * tokens).bit_length(), 16), np.uint32)
    known, counts, firsts = (spacious(tokens + 1, dtype) for dtype in (np.uint32, np.int32, np.int32))
    return Scratch(table, known, counts, firsts, room())


@part
def tokenise(text, start, end, seed, field, column, options, count, scratch, features):
    """Add the tokens of text[start:end]: (the new number of features, whether all are known to differ).

    Features differ if their indices do.
    """
    window = scratch.window
    most_words, least, most, repeated, mask = options
    first = count
    if most_words > 0:
        origin = 8 * column + WORDS
        single = repeated == COUNTS
        count = add_words(text, start, end, seed, field, origin, most_words, single, count, window, features)
    if most > 0:
        origin = 8 * column + CHARACTERS
        count = _characters(
            text, start, end, seed ^ CHARACTER_SALT, field, origin, least, most, count, features
        )
    if repeated == COUNTS:  # folding adds up duplicates
        return count, False
    return _merge(first, count, repeated, mask, scratch, features)


@part
def put(features, at, key, value, field, start, stop, origin):
    """Write the feature number `at`; without its field or its span, where nobody needs them."""
    keys, values, fields, starts, stops, origins = features
    keys[at] = key
    values[at] = value
    if len(fields) > 0:
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
def _merge(first, count, repeated, mask, scratch, features):
    """Merge the features first … count that have the same key: (the new count, whether indices differ).

    Whether a key is new is hard to foresee, so nothing is decided by that. Different keys have places from 1
    on; `table` holds the place of a key, 0 for none, and `known` the key at each place. Place 0 is given the
    key that is looked for, so that a single comparison ends the search.

    Where a search begins depends on the index of a key alone, so that a key meets all others of this index
    on its way, and nobody need look for them again. Not if there are few indices: the ways would be long.
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


_LOGARITHMS = np.array([0.0, *(1.0 + math.log(count) for count in range(1, 256))])
