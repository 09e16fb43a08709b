"""Runs of `index:value`, each read in one look: where its parts stand is known at once."""

import numpy as np

from steelyard.numba_tools.jit import apart, kernel, part
from steelyard.text.byte_masks import no_digits
from steelyard.text.decimals import rounded
from steelyard.text.lines import NEWLINE
from steelyard.text.number_batch import MINUS, ROOM, put, put_seeds, put_valued
from steelyard.text.swar import EXACT, EXACT_POWERS, TENS, ZEROS, byte, trailing_zeros, value_of, word

MARGIN = 40  # bytes behind the end of a feature that must be text, for it may be looked at with them

_ONE, _TWO, _FOUR, _EIGHT, _TEN = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(8), np.uint64(10)
_NONE = np.uint64(1 << 32)  # a bit behind those of a look: so there is always one; and a place that is none
_NO = np.uint64(255)  # no divisor
_E_MINUS, _E_MINUS_BITS = np.uint64(0x2D45), np.uint64(0xFFDF)  # e or E, which differ in a bit
_FULL = 10**10  # a number behind which eight more digits may not fit


@kernel
def pairs(text, i, stops, k, most, largest, seed, staged, n):
    """Stage features from i on, the end of the first of them at stops[k], up to one that ends at stops[most].

    It goes on as long as they are `index:[-]whole[.behind][e-power]`, with an index of up to eight digits,
    and there is room. Returns (position, k, n staged); without any of these the position is where it was.
    """
    apart()
    most = min(most, k + ROOM - n)
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
                x = _long(text, i + np.int64(first), whole, behind, divisor & np.uint64(31))
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
    """The power of `whole.behind` e-dd, as numbers come that a program has written; _NO for anything else.

    `others`: what is no digit, from the mark on.
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


@kernel
def _unusual(text, i, size, colon, others):
    """With a minus, or a negative power of ten: (point, end of the digits, divisor; _NO for anything else).

    `others`: what is no digit, from behind the colon on.
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


@kernel
def _long(text, first, whole, behind, power):
    """A number with so many digits from `first` on and behind a point, over 10^power; NaN if it is longer."""
    some, words = behind & np.uint64(7), behind >> np.uint64(3)
    if whole - _ONE >= _EIGHT:
        return np.nan
    place = first + np.int64(whole) + 1
    m = value_of((word(text, first) ^ ZEROS) << (np.uint64(64) - (whole << np.uint64(3))))
    after = ((word(text, place) ^ ZEROS) << (np.uint64(56) - (some << np.uint64(3)))) << _EIGHT
    m = m * TENS[some] + value_of(after)
    place += np.int64(some)
    for _ in range(words):
        if m >= _FULL:
            return np.nan
        m = m * 100_000_000 + value_of(word(text, place) ^ ZEROS)
        place += 8
    exponent = np.int64(behind + power)
    if m < EXACT and exponent <= 22:
        return m / EXACT_POWERS[np.uint64(exponent)]
    return rounded(text, first, place, m, -exponent, False)
