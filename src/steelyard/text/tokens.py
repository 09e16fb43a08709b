"""Text → features: words, word n-grams and character n-grams, lower-cased while they are hashed.

`steelyard.token_rules` says what a word is, and how keys are made.

>>> TextOptions(words=2).as_json()
{'words': 2, 'characters': None, 'repeated': 'relative'}
>>> TextOptions.from_json({"words": 0, "characters": [3, 5], "repeated": "binary"})
TextOptions(words=0, characters=(3, 5), repeated='binary')
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.native.declare import helper, part
from steelyard.text import hashing
from steelyard.text.byte_kinds import BLANKS, CHARACTER_SALT, PLAIN
from steelyard.text.repeats import COUNTS, merge
from steelyard.text.structs import TokenOptions
from steelyard.text.words import MOST, add_words
from steelyard.token_rules import REPEATED

# What the span of a feature names: its origin is 8·column + one of these
NUMBER, CATEGORY, MISSING, WORDS, CHARACTERS, KEY, POSITION = range(7)


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
        return TokenOptions(self.words, least, most, REPEATED.index(self.repeated), (1 << bits) - 1)

    def most_tokens(self, size: int) -> int:
        """An upper bound on the number of tokens in a text of this many bytes."""
        least, most = self.characters or (1, 0)
        return (size + 1) // 2 * self.words + size * (most - least + 1)


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
    return merge(first, count, repeated, mask, scratch, features)


@part
def put(features, at, key, value, field, start, stop, origin):
    """Write the feature number `at`; its field and its span are left out where there is no room for them."""
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
                    h, k, shift = hashing.mix(h, k), np.int64(0), 0
                j += one
            j = inner
            size += 1
            if size == 1:
                following = j
            if size >= least:
                put(features, at, hashing.finish(h, k, length), 1.0, field, i, j, origin)
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
