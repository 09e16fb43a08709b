"""Numbers as text with nine significant digits: what Python writes for `%.9g`, to the last digit.

A probability is m·2⁻ˢ⁻ᵏ with a whole number m below 2⁵³, so that its first nine digits are m·5ᵏ/2ˢ, rounded:
that is exact in two words of 64 bits. Probabilities below 10⁻⁴ and other numbers, of which there are few, are
left to Python.

>>> text, starts, stops = write(np.array([0.1 + 0.2, 1e-9, 1.0]))
>>> [text[start:stop].tobytes() for start, stop in zip(starts, stops)]
[b'0.3', b'1e-09', b'1']
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.native.declare import kernel, part
from steelyard.native.kinds import Bytes, Counts, Numbers, Words

WIDTH = 16  # bytes: no number takes more
_LEAST = 1e-4  # below, there would be an exponent
_MANTISSA, _LOW = np.uint64((1 << 52) - 1), np.uint64(0xFFFFFFFF)
_HALF, _TEN = np.uint64(32), np.uint64(10)
_FIVES = np.array([5**k for k in range(13)], np.uint64)


def write(values: NDArray[np.float64]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """A text that contains all numbers, and where each begins and ends."""
    values = np.ascontiguousarray(values)
    text, starts = np.empty(WIDTH * len(values), np.uint8), np.arange(0, WIDTH * len(values), WIDTH)
    stops = np.empty(len(values), np.int64)
    if write_usual(values, values.view(np.uint64), text, stops):
        for k in np.flatnonzero(stops == starts).tolist():
            written = np.frombuffer(b"%.9g" % values[k], np.uint8)
            stops[k] += len(written)
            text[starts[k] : stops[k]] = written
    return text, starts, stops


@kernel
def write_usual(values: Numbers, bits: Words, text: Bytes, stops: Counts):
    """Write the numbers from 10⁻⁴ to 1, each at its multiple of WIDTH; returns how many others there are.

    `bits` are those of the numbers; `stops` gets where each ends, that is where it begins if it is left out.
    """
    others = np.int64(0)
    for k in range(len(values)):
        at = np.int64(WIDTH * k)
        if _LEAST <= values[k] < 1.0:
            stops[k] = _write(values[k], bits[k], text, at)
        elif values[k] == 1.0:
            text[at] = 49
            stops[k] = at + 1
        else:
            stops[k] = at
            others += 1
    return others


@part
def _write(value, bits, text, at):
    """Write a number from 10⁻⁴ on, and below 1; returns where it ends."""
    zeros = np.int64(value < 0.1) + np.int64(value < 0.01) + np.int64(value < 0.001)
    five = _FIVES[9 + zeros]
    whole = (bits & _MANTISSA) + _MANTISSA + np.uint64(1)
    low = (whole & _LOW) * five
    high = (whole >> _HALF) * five + (low >> _HALF)
    # the digits are high·2³² + low, less these bits and 32 more
    shift = np.uint64(1075 - 9 - zeros - 32) - (bits >> np.uint64(52))
    digits = high >> shift
    rest = (high - (digits << shift)) << _HALF | low & _LOW
    half = np.uint64(1) << (shift + np.uint64(31))
    digits += np.uint64((rest > half) | ((rest == half) & (digits & np.uint64(1) == np.uint64(1))))
    if digits == np.uint64(1_000_000_000):
        if zeros == 0:
            text[at] = 49
            return at + 1
        digits = np.uint64(100_000_000)
        zeros -= 1
    text[at], text[at + 1] = 48, 46
    for k in range(zeros):
        text[at + 2 + k] = 48
    stop = at + 2 + zeros + 9
    for k in range(9):
        rest = digits // _TEN
        text[stop - 1 - k] = 48 + (digits - rest * _TEN)
        digits = rest
    while text[stop - 1] == 48:
        stop -= 1
    return stop
