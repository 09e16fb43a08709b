"""Many bytes of text at once: the digits of a number, or which bytes are of some kind.

A loop over the bytes of a number or a name has an end that the processor mispredicts almost every time. Here
a number of up to eight digits, loaded as a 64-bit word, takes the same steps whatever its length. A mask is a
word with one bit for each byte, the lowest for the first: so the ends of a feature's name, of its digits and
of the feature itself are known after one load and one comparison.

`find_blanks` does so for a whole text. A reader that finds the end of a word only by reading it cannot begin
the next one sooner. With all ends known the processor works on several words at once.

Text is passed by its address: for an array, Numba would count references at every call.
"""

from functools import reduce

import numpy as np

from steelyard.native.declare import CHECKED, PLAIN, intrinsic, kernel, part
from steelyard.native.lazy import ir, types
from steelyard.native.memory import address_of, itself
from steelyard.token_rules import ASCII


def _load(bits, result):
    """A function that loads this many bits at an address plus an index."""

    @intrinsic
    def load(context, address, index):
        def build(context, builder, signature, arguments):
            kind = ir.IntType(bits).as_pointer()
            return builder.load(builder.inttoptr(builder.add(*arguments), kind), align=1)

        return getattr(types, result)(types.int64, types.int64), build

    return load


def _of_a_word(instruction):
    """A function of a 64-bit word that is one instruction."""

    @intrinsic
    def compiled(context, word):
        def build(context, builder, signature, arguments):
            return instruction(builder, arguments[0])

        return types.uint64(types.uint64), build

    return compiled


_compiled_trailing_zeros = _of_a_word(lambda builder, word: builder.cttz(word, ir.Constant(ir.IntType(1), 0)))
_compiled_population = _of_a_word(lambda builder, word: builder.ctpop(word))


@intrinsic
def _compiled_copy_kept(context, text, index, kept, start, out, at):
    def build(context, builder, signature, arguments):
        vector = ir.VectorType(ir.IntType(8), 16).as_pointer()
        text, index, kept, start, out, at = arguments
        read, mask, written = (
            builder.inttoptr(builder.add(*place), vector)
            for place in ((text, index), (kept, start), (out, at))
        )
        found = builder.and_(builder.load(read, align=1), builder.load(mask, align=1))
        builder.store(found, written, align=1)
        return context.get_dummy_value()

    return types.none(*(types.int64,) * 6), build


def _plain_word(text, index):
    return np.uint64(int.from_bytes(text[index : index + 8].tobytes(), "little"))


def _plain_trailing_zeros(word):
    return np.uint64((int(word) & -int(word)).bit_length() - 1 if word else 64)


def _plain_population(word):
    return np.uint64(int(word).bit_count())


@part
def _checked_word(text, index):
    word = np.uint64(0)
    for k in range(8):
        word |= np.uint64(text[index + k]) << np.uint64(8 * k)
    return word


@part
def _plain_copy_kept(text, index, kept, start, out, at):
    """Copy 16 bytes from an index of the text to a place of `out`, each masked by one of `kept`."""
    for k in range(16):
        out[at + k] = text[index + k] & kept[start + k]


@part
def _item(text, index):
    return text[index]


# If bounds are checked, or nothing is compiled, the "address" of an array is the array itself.
fast = not (PLAIN or CHECKED)
address = address_of if fast else itself
byte = _load(8, "uint8") if fast else _item
word = _load(64, "uint64") if fast else _plain_word if PLAIN else _checked_word
trailing_zeros = _plain_trailing_zeros if PLAIN else _compiled_trailing_zeros
copy_kept = _compiled_copy_kept if fast else _plain_copy_kept
population = _plain_population if PLAIN else _compiled_population

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


def _forms(width, vector_test, test):
    """A function of (text, index) that tests `width` bytes: compiled, with bounds checked, in plain Python.

    The test is given twice: of a vector, in LLVM's terms, and of a byte.
    """

    @intrinsic
    def compiled(context, address, index):
        def build(context, builder, signature, arguments):
            vector = ir.VectorType(ir.IntType(8), width)
            place = builder.inttoptr(builder.add(*arguments), vector.as_pointer())
            truths = vector_test(builder, builder.load(place, align=1))
            bits = builder.bitcast(truths, ir.IntType(width))
            return bits if width == 64 else builder.zext(bits, ir.IntType(64))

        return types.uint64(types.int64, types.int64), build

    @part
    def checked(text, index):
        bits = np.uint64(0)
        for k in range(width):
            bits |= np.uint64(test(text[index + k])) << np.uint64(k)
        return bits

    def plain(text, index):
        truths = np.packbits(test(text[index : index + width]), bitorder="little")
        return np.uint64(int.from_bytes(truths.tobytes(), "little"))

    return compiled, checked, plain


def _within(width, *ranges):
    """The forms of a test whether a byte is in one of these ranges, of which each is given as (first, last)."""

    def vector_test(builder, vector):
        def constant(value):
            return ir.Constant(vector.type, [value] * width)

        return reduce(
            builder.or_,
            (
                builder.icmp_unsigned("<=", builder.sub(vector, constant(first)), constant(last - first))
                for first, last in ranges
            ),
        )

    @part
    def test(c):
        found = c != c  # false, whether c is a byte or an array of them
        for first, last in ranges:
            found = found | ((c >= first) & (c <= last))
        return found

    return _forms(width, vector_test, test)


def _one_of(width, characters):
    return _within(width, *((c, c) for c in characters))


FORMS = {
    "no_digits": _within(32, (0, 47), (58, 255)),
    "blanks": _one_of(64, b" \t\n\r"),
    "beyond_ascii": _within(64, (128, 255)),
    "letters": _within(64, *ASCII.letters),
    "newlines": _one_of(64, b"\n"),
    "specials": _within(64, (0, 31), (34, 34), (92, 92)),  # of JSON: control characters, " and \\
    "bars": _one_of(64, b"|"),
    "name_ends": _one_of(32, b" \t\n\r:|"),
}
no_digits, blanks, beyond_ascii, letters, newlines, specials, bars, name_ends = (
    compiled if fast else plain if PLAIN else checked for compiled, checked, plain in FORMS.values()
)


SPARE = 8  # positions that are written at once, needed or not
_ONE = np.uint64(1)


@part
def _is_blank(c):
    return (c == 32) | (c == 9) | (c == 10) | (c == 13)


@kernel
def find_blanks(text, end, last, stops):
    """Write the positions of blanks in text[:end] into `stops`: (how many up to `last`, whether it is ASCII).

    A blank is a space, a tab, a return or a newline; `stops` needs room for `end` + SPARE positions.
    """
    bytes_at = address(text)
    count = np.int64(0)
    high = np.uint64(0)
    i = np.int64(0)
    while i + 64 <= end:
        found = blanks(bytes_at, i)
        high |= beyond_ascii(bytes_at, i)
        total = np.int64(population(found))
        # a fixed number of steps, which is mostly enough and which the processor predicts
        for k in range(SPARE):
            stops[count + k] = i + np.int64(trailing_zeros(found))
            found &= found - _ONE
        for k in range(SPARE, total):
            stops[count + k] = i + np.int64(trailing_zeros(found))
            found &= found - _ONE
        count += total
        i += 64
    while i < end:
        if _is_blank(byte(bytes_at, i)):
            stops[count] = i
            count += 1
        high |= np.uint64(byte(bytes_at, i) > 127)
        i += 1
    while count > 0 and stops[count - 1] > last:
        count -= 1
    return count, high == 0
