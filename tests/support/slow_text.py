"""Slow readers of text in plain Python: what the compiled ones are held against."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple


def murmur3(data: bytes, seed: int) -> int:
    """MurmurHash3, x86, 32 bits, from its description."""

    def rotated(x: int, r: int) -> int:
        return ((x << r) | (x >> (32 - r))) & 0xFFFFFFFF

    def stirred(k: int) -> int:
        return rotated(k * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF

    h = seed
    whole = len(data) // 4 * 4
    for i in range(0, whole, 4):
        h = rotated(h ^ stirred(int.from_bytes(data[i : i + 4], "little")), 13) * 5 + 0xE6546B64 & 0xFFFFFFFF
    h ^= stirred(int.from_bytes(data[whole:], "little")) if len(data) > whole else 0
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def key(name: bytes, seed: int) -> int:
    if name and all(48 <= c <= 57 for c in name):
        return (int(name) + seed) & 0xFFFFFFFF
    return murmur3(name, seed)


class Feature(NamedTuple):
    key: int
    value: float
    space: bytes
    name: bytes


@dataclass
class Row:
    label: float = math.nan
    importance: float = 1.0
    base: float = 0.0
    tag: bytes = b""
    features: list[Feature] = field(default_factory=list)


def vw(line: bytes) -> Row | None:
    """A line of Vowpal Wabbit's text; None for a blank one. A ValueError for one that makes no sense."""
    if not line.strip(b" \t\r"):
        return None
    head, bar, rest = line.partition(b"|")
    if not bar:
        raise ValueError("no bar")
    row = Row()
    words = head.replace(b"\t", b" ").replace(b"\r", b" ").split(b" ")
    touching = words.pop()
    numbers = []
    for word in filter(None, words):
        if word.startswith(b"'"):
            row.tag = word[1:]
        else:
            numbers.append(decimal(word))
    if touching:
        row.tag = touching.removeprefix(b"'")
    if len(numbers) > 3:
        raise ValueError("too many numbers")
    row.label, row.importance, row.base = [*numbers, *[math.nan, 1.0, 0.0][len(numbers) :]]
    if row.importance < 0.0:
        raise ValueError("negative importance")
    for text in rest.split(b"|"):
        _namespace(text, row)
    return row


def _namespace(text: bytes, row: Row) -> None:
    words = text.replace(b"\t", b" ").replace(b"\r", b" ").split(b" ")
    space, colon, weight = words[0].partition(b":")
    factor = decimal(weight) if colon else 1.0
    seed = key(space, 0) if space else 0
    nameless = 0
    for word in filter(None, words[1:]):
        name, colon, value = word.partition(b":")
        x = (decimal(value) if colon else 1.0) * factor
        if abs(x) > 1e17:
            raise ValueError("too large")
        if name:
            row.features.append(Feature(key(name, seed), x, space, name))
        else:
            row.features.append(Feature((seed + nameless) & 0xFFFFFFFF, x, space, name))
            nameless += 1


def svmlight(line: bytes) -> Row | None:
    """A line of svmlight text; None for a blank one or a comment."""
    line = line.partition(b"#")[0].replace(b"\t", b" ").replace(b"\r", b" ")
    words = [word for word in line.split(b" ") if word]
    if not words:
        return None
    row = Row(label=decimal(words[0]))
    for word in words[1:]:
        index, colon, value = word.partition(b":")
        if colon and index == b"qid":
            continue
        if not colon or not index.isdigit():
            raise ValueError("not index:value")
        x = decimal(value)
        if abs(x) > 1e17:
            raise ValueError("too large")
        row.features.append(Feature(int(index) & 0xFFFFFFFF, x, b"", index))
    return row


def decimal(text: bytes) -> float:
    """A finite decimal number, without Python's underscores and spaces."""
    if not text or any(c not in b"0123456789+-.eE" for c in text):
        raise ValueError("not a number")
    number = float(text)
    if math.isinf(number):
        raise ValueError("not finite")
    return number
