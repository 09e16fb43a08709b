"""Decimals near to the middle between two floats, or to the ends of the range, against Python's `float`."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.native.declare import PLAIN
from steelyard.text.exact_decimals import nearest
from steelyard.text.swar import fast
from tests.text.test_decimals import check

few = settings(deadline=None, max_examples=30 if PLAIN else 500)
LARGEST = 0x7FEFFFFFFFFFFFFF  # the bits of the largest float
SMALLEST_NORMAL = 0x0010000000000000
NONE = np.zeros(1, np.uint8)


def middle_above(bits: int) -> tuple[str, int]:
    """The middle between the float with these bits and the next one: (all its digits, power of ten)."""
    x = struct.unpack("d", struct.pack("Q", bits))[0]
    above = struct.unpack("d", struct.pack("Q", bits + 1))[0] if bits < LARGEST else 2**1024
    middle = (Fraction(x) + Fraction(above)) / 2
    places = middle.denominator.bit_length() - 1
    return str(middle.numerator * 5**places), -places


def forms(digits: str, power: int) -> list[str]:
    """As a whole number, with a point after the first digit, and without a power."""
    whole = digits.rjust(1 - power, "0")
    return [
        f"{digits}e{power}",
        f"{digits[:1]}.{digits[1:]}e{power + len(digits) - 1}",
        f"00{whole[:power]}.{whole[power:]}" if power else f"{digits}.000",
    ]


@few
@given(st.integers(0, SMALLEST_NORMAL) | st.integers(0, LARGEST), st.integers(0, 1200))
@example(0, 0)  # half of the smallest float, which is 0 as 0 is even
@example(1, 30)
@example(SMALLEST_NORMAL - 1, 1200)
@example(SMALLEST_NORMAL, 0)
@example(LARGEST - 1, 0)
@example(LARGEST, 1200)  # from this middle on, numbers are infinite
def test_middles_between_floats(bits: int, zeros: int) -> None:
    """Where all digits count, a middle is rounded to even, and a unit in the last digit is rounded away."""
    digits, power = middle_above(bits)
    longer = digits + "0" * zeros, power - zeros
    for given_digits in (longer[0], str(int(longer[0]) - 1), str(int(longer[0]) + 1)):
        for text in forms(given_digits, longer[1]):
            check(text)


@few
@given(st.integers(0, SMALLEST_NORMAL), st.integers(20, 2000))
def test_middles_of_small_numbers_that_are_cut(bits: int, count: int) -> None:
    """The first digits of a middle, and of one a little above."""
    digits, power = middle_above(bits)
    cut = digits[:count]
    check(f"{cut}e{power + len(digits) - len(cut)}")
    check(f"{cut.ljust(count, '0')}1e{power + len(digits) - max(len(cut), count) - 1}")


@few
@given(st.integers(10**19, 10**2000), st.integers(-2400, 400))
def test_many_digits(digits: int, power: int) -> None:
    check(f"{digits}e{power}")
    check(f"-{digits}e{power}")


@few
@given(st.integers(1, 2**63 - 1), st.integers(-400, 400))
@example(2**63 - 1, 400)
@example(1, -400)
@example(1, -323)
@example(2**53 + 1, 0)
@example(2**53, 0)
def test_integers_times_powers(m: int, power: int) -> None:
    """Also those that are never asked for, as less arithmetic tells them."""
    text = NONE.ctypes.data if fast else NONE
    expected = float(f"{m}e{power}")
    assert nearest(text, 0, 0, np.int64(m), np.int64(power), False) == expected


@pytest.mark.parametrize("text", ["1e-400", "9" * 2000 + "e-2400", "0." + "0" * 400 + "1" * 2000])
def test_less_than_the_least(text: str) -> None:
    check(text)


def test_digits_far_behind() -> None:
    """Only whether any digit is not 0 counts, however far behind it is."""
    digits, power = middle_above(struct.unpack("Q", struct.pack("d", 1.0))[0])
    for zeros in (600, 746, 747, 748, 749, 1400):
        check(f"{digits}{'0' * zeros}e{power - zeros}")
        check(f"{digits}{'0' * zeros}1000e{power - zeros - 4}")
    assert math.nextafter(1.0, 2.0) == float(f"{digits}{'0' * 1400}1e{power - 1401}")
