"""Many bytes of text at once: a word with one bit for each byte that says whether the byte is of some kind.

The first byte has the lowest bit. So the ends of a feature's name, of its digits and of the feature itself
are known after one load and one comparison; a loop over the bytes would mispredict its end almost every time.

`find_blanks` does so for a whole text. A reader that finds the end of a word only by reading it cannot begin
the next one sooner. With all ends known the processor works on several words at once.
"""

from functools import reduce

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from steelyard.numba_tools.jit import kernel, part
from steelyard.text.lines import NEWLINE, is_gap
from steelyard.text.swar import address, byte, fast, trailing_zeros


def _forms(width, vector_test, test):
    """A function of (text, index) that tests `width` bytes: compiled, with bounds checked, and in plain
    Python.

    The test is given twice: of a vector, in LLVM's terms, and of a byte.
    """
    vector = ir.VectorType(ir.IntType(8), width)

    @intrinsic
    def compiled(context, address, index):
        def build(context, builder, signature, arguments):
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


def _choose(compiled, checked, plain):
    return compiled if fast else plain if config.DISABLE_JIT else checked


def _each(vector, value):
    return ir.Constant(vector.type, [value] * vector.type.count)


def _any_of(builder, vector, characters):
    """Which bytes are one of these."""
    found = [builder.icmp_unsigned("==", vector, _each(vector, c)) for c in characters]
    return reduce(builder.or_, found)


@part
def _no_digit(c):
    return (c < 48) | (c > 57)


def _no_digit_vector(builder, vector):
    return builder.icmp_unsigned(">", builder.sub(vector, _each(vector, 48)), _each(vector, 9))


@part
def _blank(c):
    return (c == 32) | (c == 9) | (c == 10) | (c == 13)


def _blank_vector(builder, vector):
    return _any_of(builder, vector, (32, 9, 10, 13))


@part
def _beyond_ascii(c):
    return c > 127


def _beyond_ascii_vector(builder, vector):
    return builder.icmp_unsigned(">", vector, _each(vector, 127))


@part
def _bar(c):
    return c == 124


def _bar_vector(builder, vector):
    return builder.icmp_unsigned("==", vector, _each(vector, 124))


@part
def _name_end(c):
    return (c == 32) | (c == 9) | (c == 13) | (c == 10) | (c == 58) | (c == 124)


def _name_end_vector(builder, vector):
    return _any_of(builder, vector, (32, 9, 13, 10, 58, 124))


FORMS = {
    "no_digits": _forms(32, _no_digit_vector, _no_digit),
    "blanks": _forms(64, _blank_vector, _blank),
    "beyond_ascii": _forms(64, _beyond_ascii_vector, _beyond_ascii),
    "bars": _forms(64, _bar_vector, _bar),
    "name_ends": _forms(32, _name_end_vector, _name_end),
}
no_digits, blanks, beyond_ascii, bars, name_ends = (_choose(*forms) for forms in FORMS.values())


@intrinsic
def _compiled_population(context, word):
    def build(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


def _plain_population(word):
    return np.uint64(int(word).bit_count())


population = _plain_population if config.DISABLE_JIT else _compiled_population


SPARE = 8  # positions that are written at once, needed or not
_ONE = np.uint64(1)


@kernel
def find_blanks(text, end, stops):
    """Write the positions of the blanks of text[:end] into `stops`: (how many, whether all is ASCII).

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
        if is_gap(byte(bytes_at, i)) or byte(bytes_at, i) == NEWLINE:
            stops[count] = i
            count += 1
        high |= np.uint64(byte(bytes_at, i) > 127)
        i += 1
    return count, high == 0


@kernel
def count_up_to(stops, count, last):
    """The number of stops that are not beyond `last`."""
    while count > 0 and stops[count - 1] > last:
        count -= 1
    return count
