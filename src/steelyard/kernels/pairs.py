"""`index:value` in one look: where colon and point stand is known at once, not one after the other."""

import numpy as np

from steelyard.kernels.decimals import OK, power_of_ten, rounded
from steelyard.kernels.jit import part
from steelyard.kernels.words import (
    EXACT,
    EXACT_POWERS,
    ROOM,
    SIGNS,
    TENS,
    TO_SIGN,
    ZEROS,
    byte,
    leading_digits,
    trailing_zeros,
    value_of,
    word,
)  # fmt: skip


@part
def pair(text, i, end):
    """`index:whole.part` where all of it but what is behind the point is within eight bytes.

    (index, value, where it stops); it stops at i if it is anything else. This is what most features look
    like, and where the colon and the point stand is known at once, not one after the other.
    """
    nothing = (np.int64(0), 0.0, i)
    if i + 8 > end:
        return nothing
    digits = word(text, i) ^ ZEROS
    others = ((digits + TO_SIGN) | digits) & SIGNS
    colon = trailing_zeros(others) & np.uint64(0x78)
    others &= others - np.uint64(1)
    point = trailing_zeros(others) & np.uint64(0x78)
    if colon == np.uint64(0) or others == np.uint64(0):
        return nothing
    behind = i + np.int64(point >> np.uint64(3)) + 1
    if byte(text, i + np.int64(colon >> np.uint64(3))) != 58 or byte(text, behind - 1) != 46:
        return nothing
    index = value_of(digits << (np.uint64(64) - colon))
    whole_bits = point - colon - np.uint64(8)
    whole = np.int64(0)
    if whole_bits > np.uint64(0):
        whole = value_of((digits >> (colon + np.uint64(8))) << (np.uint64(64) - whole_bits))
    stop = behind
    m = whole
    count = np.int64(8)
    while count == 8:
        digits_there, count = leading_digits(text, stop, end)
        if m >= ROOM[count]:
            return nothing
        m = m * TENS[count] + digits_there
        stop += count
    places = stop - behind
    if places == 0 and whole_bits == np.uint64(0):
        return nothing
    digits_end = stop
    exponent = -places
    if stop < end and (byte(text, stop) | 32) == 101:  # e E
        power, stop, status = power_of_ten(text, stop + 1, end)
        if status != OK:
            return nothing
        exponent += power
    if m < EXACT and -22 <= exponent <= 22:
        x = m / EXACT_POWERS[-exponent] if exponent < 0 else m * EXACT_POWERS[exponent]
    else:
        x = rounded(text, i + np.int64(colon >> np.uint64(3)) + 1, digits_end, m, exponent, False)
        if x == np.inf:
            return nothing
    return index, x, stop
