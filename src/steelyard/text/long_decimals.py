"""The float64 nearest to a decimal of any length, for cases that 128 bits do not decide.

Integers of any length are arrays of 32-bit limbs, the lowest first. This is seldom needed, so it is kept
simple.
"""

import math

import numpy as np

from steelyard.numba_tools.jit import kernel
from steelyard.text.swar import EXACT_POWERS, byte

_LIMBS = 160
_MOST_DIGITS = 800  # more than any midpoint of two floats has; of the rest only matters whether it is 0
_LARGEST = 1.7976931348623157e308


@kernel
def nearest(text, first, stop, m, exponent):
    """The float64 nearest to the digits text[first:stop]; m·10^exponent has the leading ones."""
    digits = np.zeros(_LIMBS, np.int64)
    power = _read_digits(text, first, stop, digits, m, exponent)
    x = min(_guess(m, exponent), _LARGEST)
    while True:
        side, odd = _side_of_midpoint(digits, power, x)
        if side < 0 or (side == 0 and not odd):
            break
        if x == _LARGEST:
            return np.inf
        x = np.nextafter(x, np.inf)
    while x > 0.0:
        below = np.nextafter(x, 0.0)
        side, odd = _side_of_midpoint(digits, power, below)
        if side > 0 or (side == 0 and odd):
            break
        x = below
    return x


@kernel
def _guess(m, exponent):
    x = float(m)
    left = abs(exponent)
    while left > 0:
        power = EXACT_POWERS[min(left, 22)]
        x = x * power if exponent > 0 else x / power
        left -= 22
    return x


@kernel
def _read_digits(text, first, stop, digits, m, exponent):
    """Read all significant digits into `digits`; returns their power of ten."""
    count = 0
    more = False
    for i in range(first, stop):
        d = np.int64(byte(text, i)) - 48
        if d < 0:  # the point
            continue
        if count < _MOST_DIGITS:
            _times(digits, 10, d)
            count += 1 if count > 0 or d > 0 else 0
        else:
            more |= bool(d > 0)
    if more:
        _times(digits, 10, 1)
    in_m = 0  # the number of digits in m
    while m > 0:
        m //= 10
        in_m += 1
    return exponent + in_m - count - more


@kernel
def _side_of_midpoint(digits, power, x):
    """Whether digits·10^power is above (1), at (0) or below (−1) the midpoint of x and the next float.

    And whether the last bit of x is odd, which decides at the midpoint.
    """
    two = max(math.frexp(x)[1] - 53, -1074) if x > 0.0 else -1074
    f = np.int64(math.ldexp(x, -two))
    left = digits.copy()
    right = np.zeros(_LIMBS, np.int64)
    _times(right, 1, f >> 31)
    _times(right, 1 << 31, f & 0x7FFFFFFF)
    _times(right, 2, 1)
    _times_power(left if power > 0 else right, 10, abs(power))
    _times_power(right if two > 1 else left, 2, abs(two - 1))
    for k in range(_LIMBS - 1, -1, -1):
        if left[k] != right[k]:
            return (1 if left[k] > right[k] else -1), f & 1
    return 0, f & 1


@kernel
def _times_power(limbs, base, count):
    for _ in range(count // 9):
        _times(limbs, base**9, 0)
    for _ in range(count % 9):
        _times(limbs, base, 0)


@kernel
def _times(limbs, factor, plus):
    """limbs·factor + plus, in place."""
    carry = np.int64(plus)
    for k in range(_LIMBS):
        product = limbs[k] * factor + carry
        limbs[k] = product & 0xFFFFFFFF
        carry = product >> 32
