"""Names → 32-bit keys: murmur3, except that a name made of digits is that number.

Keys are 64-bit integers masked to 32 bits; products may wrap, but their low bits are right.

>>> name_key("price"), name_key("17")
(3888873998, 17)
>>> column_key("price") == name_key("price"), column_key("17") == name_key("17")
(True, False)
"""

import numpy as np

from steelyard.native.declare import helper, kernel, part
from steelyard.native.kinds import Bytes, Count
from steelyard.text.swar import address, byte, word

BITS_32 = 0xFFFFFFFF
_LOW = np.uint64(BITS_32)
CROSS_PRIME = 0x01000193  # the prime of the Fowler–Noll–Vo hash, for the keys of crossed features


@kernel
def murmur(text: Bytes, start: Count, end: Count, seed: Count):
    """`murmur_at` of an array of bytes."""
    return murmur_at(address(text), np.int64(start), np.int64(end), np.int64(seed))


@helper
def murmur_at(text, start, end, seed):
    """MurmurHash3 (x86, 32 bits) of text[start:end]."""
    h = np.int64(seed)
    i = start
    while i + 4 <= end:
        k = (
            np.int64(byte(text, i))
            | np.int64(byte(text, i + 1)) << 8
            | np.int64(byte(text, i + 2)) << 16
            | np.int64(byte(text, i + 3)) << 24
        )
        h = mix(h, k)
        i += 4
    k = np.int64(0)
    for rest in range(end - i):
        k |= np.int64(byte(text, i + rest)) << (8 * rest)
    return finish(h, k, end - start)


@kernel
def short_murmur(text, start, size, seed):
    """`murmur_at` of fewer than 16 bytes, followed by 16 more. Its steps do not depend on the size."""
    h = np.int64(seed)
    first, third = word(text, start), word(text, start + 8)
    h ^= (mix(h, np.int64(first & _LOW)) ^ h) & -np.int64(size >= 4)
    h ^= (mix(h, np.int64(first >> np.uint64(32))) ^ h) & -np.int64(size >= 8)
    h ^= (mix(h, np.int64(third & _LOW)) ^ h) & -np.int64(size >= 12)
    rest = size & 3
    last = word(text, start + size - rest) & ((np.uint64(1) << np.uint64(8 * rest)) - np.uint64(1))
    return finish(h, np.int64(last), size)


@helper
def mix(h, k):
    """Mix four more bytes into the hash."""
    return np.int64(mix_h1(np.uint32(np.uint32(h) ^ mix_k1(np.uint32(k)))))


@helper
def finish(h, k, length):
    """Finish the hash of `length` bytes; k has the last of them, fewer than four, not yet mixed in."""
    return np.int64(fmix32(np.uint32(np.uint32(h) ^ mix_k1(np.uint32(k)) ^ np.uint32(length))))


# MurmurHash3's own steps, by its own names; in 32 bits, of which many fit into a vector.


@part
def mix_k1(k):
    """Four bytes, as they are mixed in."""
    k = np.uint32(k * np.uint32(0xCC9E2D51))
    k = np.uint32(k << np.uint32(15) | k >> np.uint32(17))
    return np.uint32(k * np.uint32(0x1B873593))


@part
def mix_h1(h):
    """The hash with four bytes mixed in, made ready for the next."""
    h = np.uint32(h << np.uint32(13) | h >> np.uint32(19))
    return np.uint32(h * np.uint32(5) + np.uint32(0xE6546B64))


@part
def fmix32(h):
    """The last step, in which every bit changes all others."""
    h = np.uint32(np.uint32(h ^ h >> np.uint32(16)) * np.uint32(0x85EBCA6B))
    h = np.uint32(np.uint32(h ^ h >> np.uint32(13)) * np.uint32(0xC2B2AE35))
    return np.uint32(h ^ h >> np.uint32(16))


@kernel
def key(text: Bytes, start: Count, end: Count, seed: Count):
    """`key_at` of an array of bytes."""
    return key_at(address(text), np.int64(start), np.int64(end), np.int64(seed))


@helper
def key_at(text, start, end, seed):
    """The key of a name in the namespace with the key `seed`: its number plus the seed, or its hash."""
    number = np.int64(0)
    for i in range(start, end):
        d = np.int64(byte(text, i)) - 48
        if d < 0 or d > 9:
            return murmur_at(text, start, end, seed)
        number = (number * 10 + d) & BITS_32
    return (number + seed) & BITS_32 if end > start else murmur_at(text, start, end, seed)


def name_key(name: str) -> int:
    """The key of a single name, such as that of a namespace."""
    text = np.frombuffer(name.encode(), np.uint8)
    with np.errstate(over="ignore"):
        return int(key(text, 0, len(text), 0))


def column_key(name: str) -> int:
    """The key of a column: always a hash, or category 4 of column 1 would be the number column 5."""
    text = np.frombuffer(name.encode(), np.uint8)
    with np.errstate(over="ignore"):
        return int(murmur(text, 0, len(text), 0))
