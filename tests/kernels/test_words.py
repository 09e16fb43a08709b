"""Digits, eight at a time, against Python's own."""

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.kernels import words
from steelyard.kernels.jit import kernel


@kernel
def leading(text, i, end):  # type: ignore[no-untyped-def]
    return words.leading_digits(words.address(text), i, end)


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
