"""Rows for several passes: pieces, rows held out, and what is kept."""

from collections.abc import Iterator

import numpy as np
import pytest

from steelyard.engine.rows import Rows, RowsInChunks
from steelyard.examples import Examples
from steelyard.sweep import rows
from tests.engine.problems import numbers

WHOLE = numbers(50)
HELD = np.arange(4, 50, 5)


def chunks() -> list[Examples]:
    return [WHOLE.take(np.arange(start, min(start + 8, 50))) for start in range(0, 50, 8)]


def labels(pieces: Iterator[rows.Piece]) -> list[float]:
    return [label for examples, order in pieces for label in examples.labels[order].tolist()]


@pytest.mark.parametrize("kind", ["table", "chunks"])
def test_every_so_many_rows_one_is_held_out(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PIECE", 7)
    made: Rows = RowsInMemory(WHOLE, 5) if kind == "table" else RowsInChunks(chunks, 5)
    assert made.holds_out
    for number in (0, 1):
        assert labels(made.learned(number)) == np.delete(WHOLE.labels, HELD).tolist()
        assert labels(made.held()) == WHOLE.labels[HELD].tolist()


def test_none_is_held_out() -> None:
    for made in (RowsInMemory(WHOLE), RowsInChunks(chunks)):
        assert not made.holds_out
        assert labels(made.learned(0)) == WHOLE.labels.tolist()
        assert labels(made.held()) == []


def test_an_order_for_each_pass() -> None:
    orders = [np.arange(50)[::-1], np.roll(np.arange(50), 3)]
    made = RowsInMemory(WHOLE, 5, orders)
    for number, order in enumerate(orders):
        assert labels(made.learned(number)) == [WHOLE.labels[i] for i in order if i not in HELD]


def test_the_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PIECE", 25)
    made = RowsInMemory(WHOLE)
    assert [made.share for _ in made.learned(0)] == [0.5, 1.0]
    told = iter([0.2, 0.6])
    streamed = RowsInChunks(lambda: chunks()[:2], keep=1 << 30, share=lambda: next(told))
    assert [streamed.share for _ in streamed.learned(0)] == [0.2, 0.6]
    assert [streamed.share for _ in streamed.learned(1)] == [0.5, 1.0]


@pytest.mark.parametrize(("keep", "opened"), [(1 << 20, 1), (3000, 3), (0, 3)])
def test_rows_that_fit_are_read_once(keep: int, opened: int) -> None:
    count = 0

    def source() -> list[Examples]:
        nonlocal count
        count += 1
        return chunks()

    made = RowsInChunks(source, keep=keep)
    for number in range(3):
        assert labels(made.learned(number)) == WHOLE.labels.tolist()
    assert count == opened


def test_what_was_not_read_to_the_end_is_not_kept() -> None:
    made = RowsInChunks(chunks, keep=1 << 20)
    next(made.learned(0))
    assert labels(made.learned(0)) == WHOLE.labels.tolist()


def test_bases_count() -> None:
    from dataclasses import replace

    assert rows._bytes(replace(WHOLE, offsets=np.zeros(50))) == rows._bytes(WHOLE) + 400
