"""Runs of `index:value`: each is located in one look, and the digits of many are converted at once.

The reader copies the eight bytes at which each run of digits begins, and its length, into a batch. `convert`
then does the same arithmetic for all of them, which the compiler turns into vector operations. A feature that
the reader has converted itself waits in the batch too, so that all come out in the order of the text.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.native.declare import apart, helper, kernel, part
from steelyard.text.decimals import rounded
from steelyard.text.hashing import BITS_32
from steelyard.text.lines import NEWLINE
from steelyard.text.swar import EXACT, EXACT_POWERS, TENS, byte, no_digits, trailing_zeros, value_of, word

BATCH = 520  # features; not a power of two, or all columns would compete for the same cache lines

# The columns, each of BATCH words: the digits of the index, those before the point, those after it; a seed to
# add to the index; and one word with, from its lowest bits, the positions of the colon, the point and the end
# of the digits (8 bits each), a further divisor beside the power of ten for the digits after the point (8
# bits), and the start of the feature in the text. If the value is known, it is stored in place of the digits
# before the point.
_INDEX, _WHOLE, _BEHIND, _SEED, _PLACES = (np.uint64(k * BATCH) for k in range(5))
_BATCH_WORDS = 5 * BATCH

MINUS = np.uint64(32)  # added to the divisor: the number is negative
_VALUE_KNOWN = np.uint64(63)  # as divisor: the value is known
DIVISORS = np.ones(64)
DIVISORS[:23] = EXACT_POWERS
DIVISORS[32:55] = -EXACT_POWERS

_DIGITS = np.uint64(0x0F0F0F0F0F0F0F0F)


def new_batch() -> NDArray[np.uint64]:
    """The memory of a batch; it may hold anything."""
    return np.empty(_BATCH_WORDS, np.uint64)


@part
def put(staged, n, start, digits, whole, behind, colon, point, stop, divisor):
    """Store `index:[-]whole.behind`, with one to eight digits before and after the colon, as number n.

    `digits`, `whole` and `behind` are eight bytes of text each; without a point, stop = point + 1.
    """
    n = np.uint64(n)
    staged[n + _INDEX] = digits
    staged[n + _WHOLE] = whole
    staged[n + _BEHIND] = behind
    staged[n + _PLACES] = (
        np.uint64(start) << np.uint64(32)
        | divisor << np.uint64(24)
        | stop << np.uint64(16)
        | point << np.uint64(8)
        | colon
    )


@part
def put_valued(staged, n, start, digits, colon, x):
    """Store an index of one to eight digits whose value is known."""
    point = colon + np.uint64(3)  # as if there were one digit after a minus
    stop = colon + np.uint64(4)
    value = np.float64(x).view(np.uint64)
    put(staged, n, start, digits, value, np.uint64(0), colon, point, stop, _VALUE_KNOWN)


@part
def put_known(staged, n, start, key, x):
    """Store a feature whose key and value are known."""
    put_valued(staged, n, start, np.uint64(0), np.uint64(1), x)
    put_seeds(staged, n, n + 1, key)


@part
def put_seeds(staged, first, end, seed):
    """Store the seed that is added to the indices of these features."""
    for n in range(np.uint64(first), np.uint64(end)):
        staged[n + _SEED] = np.uint64(seed)


@kernel
def convert(staged, n, first, keys, values, starts):
    """Convert the n features of the batch and write them from position `first` on."""
    apart()
    first = np.uint64(first)
    eight, low = np.uint64(8), np.uint64(255)
    for k in range(np.uint64(n)):
        places = staged[k + _PLACES]
        colon = places & low
        point = (places >> eight) & low
        stop = (places >> np.uint64(16)) & low
        divisor = (places >> np.uint64(24)) & low
        minus = (divisor >> np.uint64(5)) & np.uint64(1)
        # bits of the digits before and after the point
        whole = (point - colon - np.uint64(1) - minus) << np.uint64(3)
        behind = (stop - point - np.uint64(1)) << np.uint64(3)
        index = (staged[k + _INDEX] & _DIGITS) << (np.uint64(64) - (colon << np.uint64(3)))
        keys[first + k] = (value_of(index) + np.int64(staged[k + _SEED])) & BITS_32
        before = (staged[k + _WHOLE] & _DIGITS) << (np.uint64(64) - whole)
        after = ((staged[k + _BEHIND] & _DIGITS) << (np.uint64(56) - behind)) << eight
        m = np.int32(value_of(after | (before >> behind)))
        x = m / DIVISORS[divisor + (behind >> np.uint64(3))]
        values[first + k] = np.uint64(staged[k + _WHOLE]).view(np.float64) if divisor == _VALUE_KNOWN else x
        starts[first + k] = places >> np.uint64(32)


MARGIN = 40  # bytes after the end of a feature that may be read with it

_ONE, _TWO, _FOUR, _EIGHT, _TEN = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(8), np.uint64(10)
_NONE = np.uint64(1 << 32)  # a bit above those of a mask, so that there is one; a position that means none
_NO = np.uint64(255)  # no divisor
_E_MINUS, _E_MINUS_BITS = np.uint64(0x2D45), np.uint64(0xFFDF)  # e or E, which differ in one bit
_FULL = 10**10  # from here on eight more digits may not fit


@kernel
def pairs(text, i, stops, k, most, largest, seed, staged, n):
    """Put features into the batch from i on; the first ends at stops[k], the last at stops[most] at most.

    It continues while they have the form `index:[-]whole[.behind][e-power]`, with an index of up to eight
    digits, and the batch has room. Returns (position, k, n in the batch); the position is unchanged if there
    were none.
    """
    apart()
    most = min(most, k + BATCH - n)
    before = n
    while k < most:
        stop = np.int64(stops[np.uint64(k)])
        size = np.uint64(stop - i)
        others = no_digits(text, i)
        second = others & (others - _ONE)
        third = second & (second - _ONE)
        colon, point, digits_end = trailing_zeros(others), trailing_zeros(second), trailing_zeros(third)
        if colon - _ONE >= _EIGHT or byte(text, i + np.int64(colon)) != 58:
            break
        divisor = np.uint64(0)
        if not (digits_end == size and byte(text, i + np.int64(point)) == 46):
            if point == size:
                digits_end = point + _ONE
            else:
                divisor = _two_digit_power(text, stop, size, point, digits_end, third)
                if divisor == _NO or byte(text, i + np.int64(point)) != 46:
                    digits_end = _NONE
        if digits_end - colon <= _TEN and point - colon >= _TWO:
            put(
                staged, n, i, word(text, i), word(text, i + np.int64(colon) + 1),
                word(text, i + np.int64(point) + 1), colon, point, digits_end, divisor,
            )  # fmt: skip
        else:
            if digits_end == _NONE:
                point, digits_end, divisor = _unusual(text, i, size, colon, second)
                if divisor == _NO:
                    break
            first = colon + _ONE + (divisor >> np.uint64(5))
            whole = point - first
            behind = digits_end - point - _ONE
            if whole - _ONE < _EIGHT and whole + behind <= _EIGHT:
                put(
                    staged, n, i, word(text, i), word(text, i + np.int64(first)),
                    word(text, i + np.int64(point) + 1), colon, point, digits_end, divisor,
                )  # fmt: skip
            else:
                x = _long(text, i + np.int64(first), stop, whole, behind, divisor & np.uint64(31))
                if not abs(x) <= largest:
                    break
                put_valued(staged, n, i, word(text, i), colon, x if divisor < MINUS else -x)
        n += 1
        if byte(text, stop) == NEWLINE:
            i = stop
            break
        i = stop + 1
        k += 1
    put_seeds(staged, before, n, seed)
    return i, k, n


@part
def _two_digit_power(text, stop, size, point, mark, others):
    """The power of `whole.behind`e-dd, the form that programs write; _NO for anything else.

    `others`: the bytes that are not digits, from the mark on.
    """
    if mark + _FOUR != size:
        return _NO
    tail = word(text, stop - 8) >> np.uint64(32)
    behind_minus = others & (others - _ONE)
    behind_minus &= behind_minus - _ONE
    if (tail & _E_MINUS_BITS) != _E_MINUS or trailing_zeros(behind_minus) != size:
        return _NO
    power = ((tail >> np.uint64(16)) & np.uint64(15)) * _TEN + ((tail >> np.uint64(24)) & np.uint64(15))
    return power if power + mark - point - _ONE <= np.uint64(22) else _NO


@helper
def _unusual(text, i, size, colon, others):
    """A number with a minus or a negative power of ten: (point, end of the digits, divisor or _NO).

    `others`: the bytes that are not digits, from after the colon on.
    """
    others |= _NONE
    divisor = np.uint64(0)
    if byte(text, i + np.int64(colon) + 1) == 45:
        others &= others - _ONE
        divisor = MINUS
    point = trailing_zeros(others)
    mark = point
    digits_end = point + _ONE
    if byte(text, i + np.int64(point)) == 46:
        others &= others - _ONE
        mark = digits_end = trailing_zeros(others)
    if mark == size:
        return point, digits_end, divisor
    others &= others - _ONE
    after = i + np.int64(mark)
    if (byte(text, after) | 32) != 101 or byte(text, after + 1) != 45:  # e-
        return point, digits_end, _NO
    others &= others - _ONE
    places = size - mark - _TWO
    if trailing_zeros(others) != size or places - _ONE >= _TWO:
        return point, digits_end, _NO
    power = np.uint64(byte(text, after + 2)) - np.uint64(48)
    if places == _TWO:
        power = np.uint64(10) * power + np.uint64(byte(text, after + 3)) - np.uint64(48)
    if power + digits_end - point - _ONE > np.uint64(22):
        return point, digits_end, _NO
    return point, digits_end, divisor + power


@helper
def _long(text, first, stop, whole, behind, power):
    """text[first:stop], with `whole` digits and `behind` after the point, over 10^power; NaN if too long."""
    some, words = behind & np.uint64(7), behind >> np.uint64(3)
    if whole - _ONE >= _EIGHT:
        return np.nan
    place = first + np.int64(whole) + 1
    m = value_of((word(text, first) & _DIGITS) << (np.uint64(64) - (whole << np.uint64(3))))
    after = ((word(text, place) & _DIGITS) << (np.uint64(56) - (some << np.uint64(3)))) << _EIGHT
    m = m * TENS[some] + value_of(after)
    place += np.int64(some)
    for _ in range(words):
        if m >= _FULL:
            return np.nan
        m = m * 100_000_000 + value_of(word(text, place) & _DIGITS)
        place += 8
    exponent = np.int64(behind + power)
    if m < EXACT and exponent <= 22:
        return m / EXACT_POWERS[np.uint64(exponent)]
    return rounded(text, first, stop, m, -exponent, False)
