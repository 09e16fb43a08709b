"""Lines as spans, and spans with something appended, beside Python's bytes."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import config

from steelyard.text import lines

few = settings(deadline=None, max_examples=30 if config.DISABLE_JIT else 100)


@few
@given(st.text(st.sampled_from("ab \t\r\n"), max_size=100))
@example(" a b \t\r\n\n \r\nb" + "x" * 130)
def test_spans_are_lines_without_blanks(text: str) -> None:
    data = np.frombuffer(text.encode() + b"\n", np.uint8)
    expected = [line for line in (each.strip(" \t\r") for each in text.split("\n")) if line]
    count = lines.line_spans(data, np.empty((0, 2), np.int64))
    found = np.empty((count, 2), np.int64)
    assert lines.line_spans(data, found) == count
    assert [data[start:stop].tobytes().decode() for start, stop in found.tolist()] == expected


@few
@given(st.lists(st.tuples(st.binary(max_size=90), st.binary(max_size=9), st.binary(max_size=9)), max_size=5))
def test_spans_are_written_with_their_tails(parts: list[tuple[bytes, bytes, bytes]]) -> None:
    """Of each part: what is copied, a tail, and what of the tails is passed over."""
    text = b"".join(copied for copied, _, _ in parts)
    tails = b"".join(skipped + tail for _, tail, skipped in parts)
    ends = np.cumsum([0, *(len(copied) for copied, _, _ in parts)])
    stops = np.cumsum([len(skipped + tail) for _, tail, skipped in parts], dtype=np.int64)
    starts = stops - np.array([len(tail) for _, tail, _ in parts], np.int64)
    expected = b"".join(copied + tail for copied, tail, _ in parts)
    out = np.empty(len(expected), np.uint8)
    given = np.frombuffer(text, np.uint8), np.column_stack((ends[:-1], ends[1:]))
    assert lines.splice(*given, np.frombuffer(tails, np.uint8), starts, stops, out) == len(expected)
    assert out.tobytes() == expected
