"""Lines as spans, and spans with something appended, beside Python's bytes."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.native.declare import PLAIN
from steelyard.text import lines

few = settings(deadline=None, max_examples=30 if PLAIN else 100)


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
@given(st.integers(0, 3), st.data())
def test_spans_are_written_with_their_cells(columns: int, data: st.DataObject) -> None:
    """Of each row: what is copied, how much of the first key is passed over, and a cell for each column."""
    keys = [data.draw(st.binary(min_size=2, max_size=9)) for _ in range(columns + 1)]
    row = st.tuples(
        st.binary(max_size=90),
        st.integers(0, 2),
        st.lists(st.binary(max_size=9), min_size=columns, max_size=columns),
    )
    rows = data.draw(st.lists(row, max_size=5))
    text = b"".join(copied for copied, _, _ in rows)
    ends = np.cumsum([0, *(len(copied) for copied, _, _ in rows)])
    cells = [cell for *_, own in rows for cell in own]
    stops = np.cumsum([len(cell) for cell in cells], dtype=np.int64)
    starts = stops - np.array([len(cell) for cell in cells], np.int64)
    expected = b"".join(
        copied + b"".join(part for pair in zip(keys, [*own, b""], strict=True) for part in pair)[skipped:]
        for copied, skipped, own in rows
    )
    out = np.empty(len(expected), np.uint8)
    size = lines.splice(
        np.frombuffer(text, np.uint8), np.column_stack((ends[:-1], ends[1:])),
        np.array([skipped for _, skipped, _ in rows], np.int64),
        np.frombuffer(b"".join(keys), np.uint8), np.cumsum([len(key) for key in keys], dtype=np.int64),
        np.frombuffer(b"".join(cells), np.uint8),
        starts.reshape(len(rows), columns), stops.reshape(len(rows), columns), out,
    )  # fmt: skip
    assert size == len(expected)
    assert out.tobytes() == expected
