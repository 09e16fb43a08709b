"""Levels: the numbers that rates depend on are rounded, so that rates stay the same for a while.

Positive numbers have `LEVELS` levels in each octave, evenly spaced: the leading bits of the mantissa say which.
Epochs (see `clock`) are numbered; these numbers have `TIMES` levels in each octave, and below 2·`TIMES` each
has its own. Every power of two begins a level of time.
"""

import math
from typing import Any

import numpy as np

from steelyard.learn.float_bits import bits_of, float_of
from steelyard.native.declare import overload, part
from steelyard.native.lazy import types

LEVELS, TIMES = 4, 64

# A factor that keeps natural values such as 4 off the edge of a level, where rounding would decide.
_OFF_EDGES = 1.2345678901234567

# The bits of a number that name its level: sign, exponent and the leading bits of the mantissa. The bit after
# these makes it the middle of the level.
_KEPT_32, _MIDDLE_32 = np.uint32(0xFFE00000), np.uint32(0x00100000)
_KEPT_64, _MIDDLE_64 = np.uint64(0xFFFC000000000000), np.uint64(0x0002000000000000)
MASKS: dict[str, Any] = {
    "float32": (_KEPT_32, _MIDDLE_32, np.uint32),
    "float64": (_KEPT_64, _MIDDLE_64, np.uint64),
}


def level_of(x):
    """Return the middle of the level of a positive number."""
    if isinstance(x, np.float32):
        return ((x.view(np.uint32) & _KEPT_32) | _MIDDLE_32).view(np.float32)
    return ((np.float64(x).view(np.uint64) & _KEPT_64) | _MIDDLE_64).view(np.float64)


@overload(level_of, inline="always")
def _compiled_level_of(x):
    if x == types.float32:
        return lambda x: float_of(np.uint32((bits_of(x) & _KEPT_32) | _MIDDLE_32))
    return lambda x: float_of((bits_of(np.float64(x)) & _KEPT_64) | _MIDDLE_64)


def to_bits(x):
    """Return the bits of a float as an integer; of two positive floats the larger one has the larger bits."""
    return x.view(np.uint32) if isinstance(x, np.float32) else np.float64(x).view(np.uint64)


@overload(to_bits, inline="always")
def _compiled_to_bits(x):
    return lambda x: bits_of(x)


def from_bits(bits):
    """Return the float with these bits: the reverse of `to_bits`."""
    return bits.view(np.float32) if isinstance(bits, np.uint32) else bits.view(np.float64)


@overload(from_bits, inline="always")
def _compiled_from_bits(bits):
    return lambda bits: float_of(bits)


def level_start(middle):
    """Return the lower end of the level with this middle; the upper end is equally far from the middle."""
    if isinstance(middle, np.float32):
        return (middle.view(np.uint32) & _KEPT_32).view(np.float32)
    return (np.float64(middle).view(np.uint64) & _KEPT_64).view(np.float64)


@overload(level_start, inline="always")
def _compiled_level_start(middle):
    if middle == types.float32:
        return lambda middle: float_of(np.uint32(bits_of(middle) & _KEPT_32))
    return lambda middle: float_of(bits_of(np.float64(middle)) & _KEPT_64)


@part
def level_scale(steep):
    """Return the factor of sums of squares before their level is looked up, for slopes of about this size.

    It makes levels independent of the unit of the labels. Only the mantissa counts, so nothing overflows.
    """
    mantissa, _ = math.frexp(steep * steep)
    return _OFF_EDGES / (mantissa if 0.5 <= mantissa < 1.0 else 0.5)


@part
def octave(epoch):
    """Return the exponent of the next larger power of two: numbers between the same powers share it."""
    return math.frexp(epoch)[1]


@part
def time_width(epoch):
    """Return the number of epochs in the level of time that this epoch belongs to."""
    return 1.0 if epoch < 2 * TIMES else math.ldexp(1.0, math.frexp(epoch)[1] - 1) / TIMES
