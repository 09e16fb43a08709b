"""Digits, eight at a time, against Python's own."""

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.numba_tools.jit import kernel
from steelyard.text import swar


@kernel
def leading(text, i, end):  # type: ignore[no-untyped-def]
    return swar.leading_digits(swar.address(text), i, end)


@settings(deadline=None)
@given(st.text("0123456789999:. eé", max_size=20), st.integers(0, 20))
def test_leading_digits(text: str, start: int) -> None:
    data = text.encode()
    start = min(start, len(data))
    found = re.match(rb"\d{0,8}", data[start:])
    assert found is not None
    with np.errstate(over="ignore"):
        value, count = leading(np.frombuffer(data + b"\n", np.uint8), start, len(data))
    assert (value, count) == (int(found[0] or b"0"), len(found[0]))


def test_a_word_with_its_bounds_checked_is_the_same_word() -> None:
    """The one of the lane with bounds checked against eight bytes as Python reads them."""
    data = b"0.12345678\xff9"
    text = np.frombuffer(data, np.uint8)
    for start in range(len(data) - 7):
        expected = int.from_bytes(data[start : start + 8], "little")
        assert int(swar._checked_word(text, start)) == expected
        assert int(swar._plain_word(text, start)) == expected  # type: ignore[no-untyped-call]
