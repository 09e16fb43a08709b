"""Decimals that 128 bits do not settle → float64, by integers of any length.

A decimal is a fraction of two integers, one of which is a power of five: powers of two only move the binary
point. When both have as many bits, one is divided by the other bit by bit, as one does by hand. That gives
the bits of the float, and what is left says how they are rounded.

An integer is an array of limbs of 32 bits, the lowest first. It lies on the stack of the kernel, so that
readers need not pass it down to every number, and threads have their own.
"""

import math

import numpy as np

from steelyard.native.declare import PLAIN, apart, intrinsic, kernel, part
from steelyard.native.lazy import ir, types
from steelyard.native.memory import array_at
from steelyard.text.swar import byte

# A middle between two floats has at most 768 digits. After so many, others matter only by not being 0.
_MOST_DIGITS = 800
_KNOWN_DIGITS = 18  # that m has if it lacks others (see `decimals`)

# Numbers are from 10^-400 on, or there would be no question: the largest integer is 5^(401 + _MOST_DIGITS),
# which has 2,789 bits, and one more while it is divided.
_LIMBS = 96
_LIMB_BITS = 32
_LIMB = (1 << _LIMB_BITS) - 1
_STEP = 13  # 5^13 times a limb fits in 63 bits
_BILLION = 10**9  # and so does this

_BITS, _LEAST, _MOST = 53, -1074, 1023  # of a float64: digits, and the powers of two of its last and first


@intrinsic
def _compiled_limbs(context):
    def build(context, builder, signature, arguments):
        with builder.goto_entry_block():
            limbs = builder.alloca(ir.ArrayType(ir.IntType(64), _LIMBS))
        return array_at(context, builder, signature.return_type, limbs, [_LIMBS])

    return types.Array(types.int64, 1, "C")(), build


def _plain_limbs():
    return np.empty(_LIMBS, np.int64)


# Not within a function of their own, whose stack would end with it.
_limbs = _plain_limbs if PLAIN else _compiled_limbs


@kernel
def nearest(text, first, end, m, exponent, more):
    """The float nearest to m·10^exponent, m > 0; with `more`, further digits of text[first:end] follow m."""
    apart()
    above, below = _limbs(), _limbs()
    above[0], above[1], below[0] = m & _LIMB, m >> _LIMB_BITS, 1
    size, other = 1 + (above[1] > 0), 1
    if more:
        size, appended = _append(text, first, end, above, size)
        exponent -= appended
    if exponent < 0:
        other = _raise(below, other, 5, -exponent)
    else:
        size = _raise(above, size, 5, exponent)
    longer = _bits(above, size) - _bits(below, other)
    if longer < 0:
        size = _raise(above, size, 2, -longer)
    else:
        other = _raise(below, other, 2, longer)
    exponent += longer
    above[size] = below[size] = 0  # as many limbs of both, which have as many bits, and one to double into
    size += 1
    if _order(above, below, size) < 0:
        _double(above, size)
        exponent -= 1
    # now the number is above/below·2^exponent, and 1 ≤ above/below < 2
    count = min(_BITS, exponent + 1 - _LEAST)
    if count < 0:
        return 0.0
    kept = np.int64(0)
    for _ in range(count):
        kept += kept
        if _order(above, below, size) >= 0:
            _subtract(above, below, size)
            kept += 1
        _double(above, size)
    rest = _order(above, below, size)
    if rest > 0 or (rest == 0 and kept & 1 == 1):
        kept += 1
    if exponent > _MOST or (exponent == _MOST and kept >> _BITS == 1):
        return np.inf
    return math.ldexp(float(kept), int(exponent + 1 - count))


@part
def _append(text, first, end, limbs, size):
    """Append the digits behind those that are known: (size, how many)."""
    known = count = digits = np.int64(0)
    factor = np.int64(1)
    for i in range(first, end):
        digit = np.int64(byte(text, i)) - 48
        if digit == -2:  # the point
            continue
        if digit < 0 or digit > 9:
            break
        if known < _KNOWN_DIGITS:
            known += digit > 0 or known > 0
            continue
        if count == _MOST_DIGITS:
            if digit == 0:
                continue
            digit = np.int64(1)
        digits = digits * 10 + digit
        factor *= 10
        count += 1
        if factor == _BILLION:
            size = _scale(limbs, size, factor, digits)
            digits, factor = np.int64(0), np.int64(1)
        if count > _MOST_DIGITS:
            break
    return _scale(limbs, size, factor, digits), count


@part
def _raise(limbs, size, base, power):
    """Multiply by base^power, of a base up to five; returns the size."""
    for _ in range(power // _STEP):
        size = _scale(limbs, size, base**_STEP, 0)
    return _scale(limbs, size, base ** (power % _STEP), 0)


@part
def _scale(limbs, size, factor, more):
    """Multiply by a factor, and add; returns the size."""
    carry = np.int64(more)
    for k in range(size):
        carry += limbs[k] * factor
        limbs[k] = carry & _LIMB
        carry >>= _LIMB_BITS
    if carry > 0:
        limbs[size] = carry
        size += 1
    return size


@part
def _bits(limbs, size):
    """The length of an integer whose last limb is not 0."""
    count = _LIMB_BITS * (size - 1)
    last = limbs[size - 1]
    while last > 0:
        last >>= 1
        count += 1
    return count


@part
def _order(a, b, size):
    """Above 0 if a is larger, below if b is, else 0."""
    k = size - 1
    while k > 0 and a[k] == b[k]:
        k -= 1
    return a[k] - b[k]


@part
def _subtract(a, b, size):
    """a −= b, which is not larger."""
    borrowed = np.int64(0)
    for k in range(size):
        borrowed += a[k] - b[k]
        a[k] = borrowed & _LIMB
        borrowed >>= _LIMB_BITS


@part
def _double(limbs, size):
    """Multiply by two within the size."""
    carry = np.int64(0)
    for k in range(size):
        carry += 2 * limbs[k]
        limbs[k] = carry & _LIMB
        carry >>= _LIMB_BITS
