"""Decimal numbers in text → float64, correctly rounded: the same bits as Python's `float`.

Digits are read eight at a time into an integer m and a power of ten: value = m·10^e. Then the first of these
that suffices gives the float:

1. If m < 2⁵³ and |e| ≤ 22, both are exact in float64, so one multiplication or division rounds correctly.
2. A product of m with 128 bits of 10^e decides almost always (Lemire, 2021).
3. Else integers of any length do (see `exact_decimals`).
"""

import math

import numpy as np

from steelyard.native.declare import helper, kernel, part
from steelyard.native.kinds import Bytes, Count
from steelyard.text.exact_decimals import nearest
from steelyard.text.swar import EXACT, EXACT_POWERS, ROOM, TENS, address, byte, leading_digits

# The status that `number` returns
OK, NOT_A_NUMBER, NOT_FINITE = range(3)

_FULL = 10**17  # from here on another digit may not fit in 63 bits
_LARGEST_EXPONENT = 400  # beyond this the value is 0 or infinite, whatever the digits
_LOWEST, _HIGHEST = -342, 308  # the powers of ten that a float64 of 19 digits can need
_WORD = 8  # digits that are read at once


def _powers() -> "np.typing.NDArray[np.uint64]":
    """The leading 128 bits of each power of ten, in two words, rounded down (up for negative powers)."""
    words = []
    for k in range(_LOWEST, _HIGHEST + 1):
        if k >= 0:
            bits = 10**k
            shift = 128 - bits.bit_length()
            bits = bits << shift if shift >= 0 else bits >> -shift
        else:
            ten = 10**-k
            bits = (1 << (ten.bit_length() + 127)) // ten + 1
            bits >>= max(bits.bit_length() - 128, 0)
        words.append((bits >> 64, bits & 0xFFFFFFFFFFFFFFFF))
    return np.array(words, np.uint64)


_POWERS = _powers()


@kernel
def number(text: Bytes, start: Count, end: Count):
    """`number_at` of an array of bytes."""
    return number_at(address(text), np.int64(start), np.int64(end))


@helper
def number_at(text, start, end):
    """The number that begins at `start`: (value, end, status).

    It ends at the first byte that cannot belong to it, at `end` at the latest; the caller decides whether
    anything may follow.
    """
    i = start
    negative = False
    if i < end and (byte(text, i) == 43 or byte(text, i) == 45):  # + -
        negative = byte(text, i) == 45
        i += 1
    first = i
    m, count = leading_digits(text, i, end)
    i += count
    more = count
    while more == _WORD:
        m, i, more = _appended(text, i, end, m)
    exponent = np.int64(0)
    if i < end and byte(text, i) == 46 and more >= 0:  # .
        i += 1
        point = i
        more = _WORD
        while more == _WORD:
            m, i, more = _appended(text, i, end, m)
        exponent = np.int64(point - i)
        count += i - point
    cut = False  # whether m lacks digits
    if more < 0:
        m, exponent, i, cut = _long(text, first, end)
    if count == 0:
        return _word(text, first, end)
    if i < end and (byte(text, i) | 32) == 101:  # e E
        power, i, status = power_of_ten(text, i + 1, end)
        if status != OK:
            return 0.0, i, status
        exponent += power
    if m < EXACT and -22 <= exponent <= 22:
        x = m / EXACT_POWERS[-exponent] if exponent < 0 else m * EXACT_POWERS[exponent]
    else:
        x = rounded(text, first, i, m, exponent, cut)
        if x == np.inf:
            return 0.0, i, NOT_FINITE
    return -x if negative else x, i, OK


@part
def _appended(text, i, end, m):
    """m with up to eight more digits appended: (m, end, their number, or −1 if they do not fit)."""
    digits, count = leading_digits(text, i, end)
    if m >= ROOM[count]:
        return m, i, np.int64(-1)
    return m * TENS[count] + digits, i + count, count


@helper
def power_of_ten(text, i, end):
    """The exponent after an e: (power, end, status)."""
    minus = False
    if i < end and (byte(text, i) == 43 or byte(text, i) == 45):
        minus = byte(text, i) == 45
        i += 1
    first = i
    power = np.int64(0)
    while i < end:
        d = np.int64(byte(text, i)) - 48
        if d < 0 or d > 9:
            break
        power = min(power * 10 + d, np.int64(1_000_000_000))  # large enough, whatever the digits before the e
        i += 1
    return -power if minus else power, i, OK if i > first else NOT_A_NUMBER


@helper
def _long(text, first, end):
    """More digits than fit a 64-bit integer: (m, power of ten, end, whether nonzero digits are not in m)."""
    i = first
    m = np.int64(0)
    exponent = np.int64(0)
    point = False
    more = False
    while i < end:
        d = np.int64(byte(text, i)) - 48
        if 0 <= d <= 9:
            if m < _FULL:
                m = m * 10 + d
                exponent -= point
            else:
                more |= bool(d > 0)
                exponent += not point
        elif d == -2 and not point:
            point = True
        else:
            break
        i += 1
    return m, exponent, i, more


@helper
def _word(text, i, end):
    """nan, inf and infinity, as programs print them: numbers, but not finite ones."""
    a = byte(text, i) | 32 if i + 2 < end else 0
    b = byte(text, i + 1) | 32 if i + 2 < end else 0
    c = byte(text, i + 2) | 32 if i + 2 < end else 0
    if (a == 110 and b == 97 and c == 110) or (a == 105 and b == 110 and c == 102):
        return 0.0, i, NOT_FINITE
    return 0.0, i, NOT_A_NUMBER


@helper
def rounded(text, first, end, m, exponent, more):
    """text[first:end] = m·10^exponent rounded; both may be too large to be exact, and m may lack digits."""
    if m == 0 or exponent < -_LARGEST_EXPONENT:
        return 0.0
    if exponent > _LARGEST_EXPONENT:
        return np.inf
    x, sure = _product(np.uint64(m), exponent)
    if more and sure:  # the exact value lies between m and m + 1
        above, sure = _product(np.uint64(m + 1), exponent)
        sure = sure and above == x
    return x if sure else nearest(text, first, end, m, exponent, more)


@helper
def _product(m, exponent):
    """(m·10^exponent rounded, whether that is certain)."""
    if exponent < _LOWEST or exponent > _HIGHEST:
        return 0.0, False
    one = np.uint64(1)
    shift = np.uint64(0)
    while m >> np.uint64(63) == 0:
        m <<= one
        shift += one
    high, low = _multiply(m, _POWERS[exponent - _LOWEST, 0])
    carried, _ = _multiply(m, _POWERS[exponent - _LOWEST, 1])
    total = low + carried
    if total < low:
        high += one
    # 55 bits decide: 53, the rounding bit, and one because the product may begin with a zero.
    # The power is off by less than a unit in its last place, so the rest of the bits must not be at an edge.
    top = high >> np.uint64(63)
    kept = high >> (np.uint64(9) + top)
    rest = high & ((one << (np.uint64(9) + top)) - one)
    edge = (one << (np.uint64(9) + top)) - one
    if (rest == edge and total > np.uint64(0xFFFFFFFFFFFFFFFF) - np.uint64(2)) or (
        rest == np.uint64(0) and total <= np.uint64(2)
    ):
        return 0.0, False
    # 10^exponent = (its 128 bits)·2^(⌊exponent·log₂10⌋ − 127)
    binary = ((217706 * exponent) >> 16) + 11 - np.int64(shift) + np.int64(top)
    if binary < -1074 or binary > 970:  # near the ends of the range: rare, so left to `nearest`
        return 0.0, False
    kept = (kept + (kept & one)) >> one
    return math.ldexp(float(np.int64(kept)), int(binary)), True


@helper
def _multiply(a, b):
    """The 128 bits of a product of two words, as (high, low)."""
    word = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a1, a0, b1, b0 = a >> half, a & word, b >> half, b & word
    low, mid1, mid2 = a0 * b0, a1 * b0, a0 * b1
    middle = (low >> half) + (mid1 & word) + (mid2 & word)
    high = a1 * b1 + (mid1 >> half) + (mid2 >> half) + (middle >> half)
    return high, (middle << half) | (low & word)
