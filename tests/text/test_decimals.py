"""Numbers in text, against Python's own `float`."""

import math
import random
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.native.declare import PLAIN
from steelyard.text import decimals


def read(text: str) -> tuple[float, int, int]:
    with np.errstate(over="ignore"):
        array = np.frombuffer(text.encode() + b" ", np.uint8)
        value, stop, status = decimals.number(array, 0, len(array))
    return float(value), int(stop), int(status)


def check(text: str) -> None:
    value, stop, status = read(text)
    expected = float(text)
    if math.isinf(expected):
        assert status == decimals.NOT_FINITE
    else:
        assert (status, stop) == (decimals.OK, len(text))
        assert struct.pack("d", value) == struct.pack("d", expected), text


EDGES = """
0 -0 1 -1 +3 0.1 .5 5. 00012 1e5 1E5 1e+5 1e-5 1e22 1e23 1e-22 1e-23 1e300 1e308 1e309 1e-999 0e999
1e999999999999 1.7976931348623157e308 1.7976931348623158e308 1.7976931348623159e308 5e-324 2.5e-324 2.4e-324
3e-324 2.2250738585072011e-308 2.2250738585072014e-308 9007199254740992 9007199254740993 9007199254740992.5
9007199254740993.000000000000000000000000000001 100000000000000000000000 123456789012345678901234567890
0.000000000000000000000000000000000000001 179769313486231580793728971405301e276 0.1e-400 10e400
7.2057594037927933e16 12345678901234567 1234567890123456789.5e-30 12345678901234567890e-1
"""


@pytest.mark.parametrize("text", EDGES.split())
def test_edges(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", ["", "-", "+", ".", "-.", "e5", "1e", "1e+", "abc", "--1", "in", "na"])
def test_no_number(text: str) -> None:
    assert read(text)[2] == decimals.NOT_A_NUMBER


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "inf", "-Infinity", "+INF"])
def test_no_number_to_learn_from(text: str) -> None:
    assert read(text)[2] == decimals.NOT_FINITE


@pytest.mark.parametrize(("text", "stop"), [("1.2.3", 3), ("1a", 1), ("0x10", 1), ("1_0", 1), ("3:4", 1)])
def test_stops_where_the_number_does(text: str, stop: int) -> None:
    assert read(text)[1:] == (stop, decimals.OK)


@settings(deadline=None, max_examples=20 if PLAIN else 300)
@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["{!r}", "{:.17e}", "{:.8e}", "{:.25e}", "{:f}"]),
)
def test_as_programs_print_them(number: float, form: str) -> None:
    check(form.format(number))


@settings(deadline=None, max_examples=20 if PLAIN else 300)
@given(st.integers(0, 10**60), st.integers(-400, 400))
def test_digits_and_a_power(digits: int, power: int) -> None:
    check(f"{digits}e{power}")


def test_middles_between_floats() -> None:
    """Where only all digits can tell, and a little more or less decides."""
    chance = random.Random(5)
    for _ in range(3 if PLAIN else 100):
        x = abs(struct.unpack("d", chance.randbytes(8))[0])
        if not 1e-300 < x < 1e300:
            continue
        middle = (Fraction(x) + Fraction(math.nextafter(x, math.inf))) / 2
        places = max(len(bin(middle.denominator)) - 3, 0)
        digits = str(middle.numerator * 5**places)
        for more in ("", "0", "00000000000000000001"):
            check(f"{digits}{more}e{-places - len(more)}")
        check(f"{int(digits) - 1}e{-places}")


def test_a_thousand_digits() -> None:
    check("0." + "1" * 1000)
    check("9" * 309)
    check("1" + "0" * 400)
    check("1" + "0" * 50 + "." + "0" * 900 + "1")
