"""Names and texts → 32-bit keys and values in plain Python, the same as those of the compiled room `text`.

>>> murmur(b"price", 0)
3888873998
>>> sorted(Tokeniser(words=1, characters=None, repeated="counts").count(b"Free, free beer", 7).values())
[1, 2]
"""

import math
import re
from collections.abc import Iterator

from steelyard.token_rules import ASCII, bytes_in

_BITS = 0xFFFFFFFF
_SMALL = bytes(map(ASCII.small, range(256)))
_BLANKS = bytes_in(ASCII.blanks)
_WORD = re.compile(b"[" + re.escape(bytes_in(ASCII.letters)) + b"]+")
_BLANK_RUN = re.compile(b"[" + re.escape(_BLANKS) + b"]+")
_CHARACTER = re.compile(rb"[\x80-\xff][\x80-\xbf]*|[\x00-\x7f]", re.DOTALL)
_REMEMBERED = 1 << 20  # words whose keys are kept


def murmur(name: bytes, seed: int) -> int:
    """MurmurHash3, x86, 32 bits."""
    h = seed
    whole = len(name) & ~3
    for i in range(0, whole, 4):
        h = _mix(h, int.from_bytes(name[i : i + 4], "little"))
    return _finish(h, int.from_bytes(name[whole:], "little"), len(name))


def key(name: bytes, seed: int) -> int:
    """A name made of digits is that number."""
    return (int(name) + seed) & _BITS if name.isdigit() else murmur(name, seed)


def _mix_k1(k: int) -> int:
    k = k * 0xCC9E2D51 & _BITS
    return ((k << 15 | k >> 17) & _BITS) * 0x1B873593 & _BITS


def _mix(h: int, k: int) -> int:
    h ^= _mix_k1(k)
    return ((h << 13 | h >> 19) & _BITS) * 5 + 0xE6546B64 & _BITS


def _finish(h: int, k: int, length: int) -> int:
    h ^= _mix_k1(k) ^ length
    h = (h ^ h >> 16) * 0x85EBCA6B & _BITS
    h = (h ^ h >> 13) * 0xC2B2AE35 & _BITS
    return h ^ h >> 16


class Tokeniser:
    """Texts → keys with values, in the order of their first occurrence."""

    def __init__(self, words: int, characters: list[int] | None, repeated: str) -> None:
        self._words, self._characters, self._repeated = words, characters, repeated
        self._known: dict[tuple[bytes, int], int] = {}

    def features(self, text: bytes, seed: int) -> Iterator[tuple[int, float]]:
        counts = self.count(text, seed)
        if self._repeated in ("counts", "binary"):
            for each, count in counts.items():
                yield each, float(count) if self._repeated == "counts" else 1.0
            return
        values = [1.0 if count == 1 else 1.0 + math.log(count) for count in counts.values()]
        length = 1.0
        if self._repeated == "relative":
            squares = 0.0
            for value in values:
                squares += value * value
            length = math.sqrt(squares)
        for each, value in zip(counts, values, strict=True):
            yield each, value / length

    def count(self, text: bytes, seed: int) -> dict[int, int]:
        """How often each key occurs."""
        counts: dict[int, int] = {}
        if self._words:
            for each in self._word_keys(text, seed):
                counts[each] = counts.get(each, 0) + 1
        if self._characters:
            for each in self._character_keys(text, seed ^ ASCII.character_salt):
                counts[each] = counts.get(each, 0) + 1
        return counts

    def _word_keys(self, text: bytes, seed: int) -> Iterator[int]:
        """The key of each word, and those of the runs of words that end with it."""
        known, most = self._known, self._words
        recent: list[int] = []
        for word in _WORD.findall(text.translate(_SMALL)):
            found = known.get((word, seed))
            if found is None:
                found = key(word, seed)
                if len(known) < _REMEMBERED:
                    known[word, seed] = found
            yield found
            if most == 1:
                continue
            recent = [*recent[1 - most :], found] if len(recent) >= most else [*recent, found]
            for size in range(2, len(recent) + 1):
                h = seed
                for each in recent[-size:]:
                    h = _mix(h, each)
                yield _finish(h, 0, 4 * size)

    def _character_keys(self, text: bytes, seed: int) -> Iterator[int]:
        """The keys of runs of characters; a run of blanks is one space."""
        assert self._characters is not None
        least, most = self._characters
        plain = _BLANK_RUN.sub(b" ", text.translate(_SMALL).strip(_BLANKS))
        ends = [0, *(found.end() for found in _CHARACTER.finditer(plain))]
        for start in range(len(ends) - 1):
            for size in range(least, min(most, len(ends) - 1 - start) + 1):
                yield murmur(plain[ends[start] : ends[start + size]], seed)
