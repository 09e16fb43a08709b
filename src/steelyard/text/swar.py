"""Eight bytes of text at once, as a 64-bit word: reads the digits at its start in a few instructions.

A loop over the digits of a number has an end that the processor cannot predict. Here a number of up to eight
digits takes the same steps whatever its length.

Text is passed by its address: for an array, Numba would count references at every call.
"""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from steelyard.numba_tools.jit import part
from steelyard.numba_tools.numba_private import array_struct


@intrinsic
def _compiled_address(context, array):
    def build(context, builder, signature, arguments):
        data = array_struct(context, builder, signature.args[0], arguments[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(array), build


def _load(bits, result):
    """A function that loads this many bits at an address plus an index."""

    @intrinsic
    def load(context, address, index):
        def build(context, builder, signature, arguments):
            kind = ir.IntType(bits).as_pointer()
            return builder.load(builder.inttoptr(builder.add(*arguments), kind), align=1)

        return result(types.int64, types.int64), build

    return load


@intrinsic
def _compiled_trailing_zeros(context, word):
    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), build


def _plain_word(text, index):
    return np.uint64(int.from_bytes(text[index : index + 8].tobytes(), "little"))


def _plain_trailing_zeros(word):
    return np.uint64((int(word) & -int(word)).bit_length() - 1 if word else 64)


@part
def _checked_word(text, index):
    word = np.uint64(0)
    for k in range(8):
        word |= np.uint64(text[index + k]) << np.uint64(8 * k)
    return word


@part
def _itself(text):
    return text


@part
def _item(text, index):
    return text[index]


# If bounds are checked, or nothing is compiled, the "address" of an array is the array itself.
fast = not (config.DISABLE_JIT or config.BOUNDSCHECK)
address = _compiled_address if fast else _itself
byte = _load(8, types.uint8) if fast else _item
word = _load(64, types.uint64) if fast else _plain_word if config.DISABLE_JIT else _checked_word
trailing_zeros = _plain_trailing_zeros if config.DISABLE_JIT else _compiled_trailing_zeros

ZEROS = np.uint64(0x3030303030303030)
TO_SIGN = np.uint64(0x7676767676767676)
SIGNS = np.uint64(0x8080808080808080)
_PAIRS = np.uint64(0x000000FF000000FF)
_THOUSANDS = np.uint64(0x000F424000000064)  # 10⁶ and 10²
_ONES = np.uint64(0x0000271000000001)  # 10⁴ and 1

# Integers and powers of ten that are exact in float64: their quotient is rounded once, and correctly.
EXACT = 2**53
EXACT_POWERS = np.array([10.0**k for k in range(23)])
TENS = np.array([10**k for k in range(9)])
ROOM = np.array([10 ** (18 - k) for k in range(9)])  # below this, k more digits fit in 63 bits


@part
def leading_digits(text, i, end):
    """(the number made of up to eight digits from i on, how many digits)."""
    if i + 8 > end:
        value = np.int64(0)
        count = np.int64(0)
        while i + count < end and 48 <= byte(text, i + count) <= 57:
            value = value * 10 + np.int64(byte(text, i + count)) - 48
            count += 1
        return value, count
    digits = word(text, i) ^ ZEROS
    # a byte above 9 gets its highest bit set, and may spoil the bytes after it, which do not count
    others = ((digits + TO_SIGN) | digits) & SIGNS
    bits = trailing_zeros(others) & np.uint64(0x78)
    if bits == np.uint64(0):
        return np.int64(0), np.int64(0)
    digits <<= np.uint64(64) - bits  # now there are eight digits, with leading zeros
    return value_of(digits), np.int64(bits >> np.uint64(3))


@part
def value_of(digits):
    """The number made of eight digits, one in each byte, the first in the lowest byte."""
    digits = digits * np.uint64(10) + (digits >> np.uint64(8))
    digits = (digits & _PAIRS) * _THOUSANDS + ((digits >> np.uint64(16)) & _PAIRS) * _ONES
    return np.int64(digits >> np.uint64(32))
