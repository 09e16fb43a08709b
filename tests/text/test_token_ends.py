"""Where words end, against NumPy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.text import token_ends


@settings(deadline=None)
@given(
    st.text("a \n\t\r\x01\x00!é", max_size=300).map(str.encode) | st.binary(max_size=200), st.integers(0, 9)
)
def test_stops(data: bytes, beyond: int) -> None:
    """Only those before the end, however many there are to a word."""
    text = np.frombuffer(data + b" \xff" * beyond, np.uint8)
    room = np.empty(len(data) + token_ends.SPARE, np.int32)
    with np.errstate(over="ignore"):
        count, ascii_only = token_ends.find(text, len(data), room)
    expected = np.flatnonzero(np.isin(text[: len(data)], list(b" \t\r\n")))
    assert room[:count].tolist() == expected.tolist()
    assert ascii_only == data.isascii()
    for last in (-1, 0, len(data) // 2, len(data)):
        assert token_ends.up_to(room, count, last) == np.count_nonzero(expected <= last)
