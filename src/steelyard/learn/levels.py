"""Levels: what rates depend on, rounded, so that rates stand still for a while.

A positive number has `LEVELS` levels an octave, evenly spaced: the leading bits of its mantissa say which.
The number of an epoch (see `clock`) has `TIMES` an octave, and one of its own below 2·`TIMES`. Every power of
two begins a level of time.
"""

import math
from typing import Any

import numpy as np

from steelyard.learn.float_bits import bits_of, float_of
from steelyard.native.declare import overload, part
from steelyard.native.lazy import types

LEVELS, TIMES = 4, 64

# Natural values such as 4 would lie on the edge of a level, where rounding decides.
_OFF_EDGES = 1.2345678901234567

# What is left of the bits of a number: sign, exponent and the leading bits of the mantissa; and the bit after
# these, which makes it the middle of the level.
_KEPT_32, _MIDDLE_32 = np.uint32(0xFFE00000), np.uint32(0x00100000)
_KEPT_64, _MIDDLE_64 = np.uint64(0xFFFC000000000000), np.uint64(0x0002000000000000)
MASKS: dict[str, Any] = {
    "float32": (_KEPT_32, _MIDDLE_32, np.uint32),
    "float64": (_KEPT_64, _MIDDLE_64, np.uint64),
}


def level_of(x):
    """The middle of the level of a positive number."""
    if isinstance(x, np.float32):
        return ((x.view(np.uint32) & _KEPT_32) | _MIDDLE_32).view(np.float32)
    return ((np.float64(x).view(np.uint64) & _KEPT_64) | _MIDDLE_64).view(np.float64)


@overload(level_of, inline="always")
def _compiled_level_of(x):
    if x == types.float32:
        return lambda x: float_of(np.uint32((bits_of(x) & _KEPT_32) | _MIDDLE_32))
    return lambda x: float_of((bits_of(np.float64(x)) & _KEPT_64) | _MIDDLE_64)


def to_bits(x):
    """The bits of a float: an integer, and of positive floats the larger one has the larger bits."""
    return x.view(np.uint32) if isinstance(x, np.float32) else np.float64(x).view(np.uint64)


@overload(to_bits, inline="always")
def _compiled_to_bits(x):
    return lambda x: bits_of(x)


def from_bits(bits):
    """The reverse of `to_bits`."""
    return bits.view(np.float32) if isinstance(bits, np.uint32) else bits.view(np.float64)


@overload(from_bits, inline="always")
def _compiled_from_bits(bits):
    return lambda bits: float_of(bits)


def level_start(middle):
    """The lower end of the level with this middle; the upper end is as far from the middle."""
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
    """What sums of squares are multiplied by before their level is looked up, for slopes about so steep.

    Labels in other units must not have other levels. Only the mantissa matters, so nothing overflows.
    """
    mantissa, _ = math.frexp(steep * steep)
    return _OFF_EDGES / (mantissa if 0.5 <= mantissa < 1.0 else 0.5)


@part
def octave(epoch):
    """Between which powers of two a whole number lies."""
    return math.frexp(epoch)[1]


@part
def time_width(epoch):
    """How many epochs the level of time has that this one belongs to."""
    return 1.0 if epoch < 2 * TIMES else math.ldexp(1.0, math.frexp(epoch)[1] - 1) / TIMES
