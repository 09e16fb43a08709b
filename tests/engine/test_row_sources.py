"""Rows for several passes: pieces, rows held out, and what is kept."""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.sparse import csr_array

from steelyard.engine import row_sources
from steelyard.engine.row_sources import Piece, Rows, RowsInChunks, RowsInMemory
from steelyard.examples import Examples, examples
from tests.engine.problems import numbers

WHOLE = numbers(50)
HELD = np.arange(4, 50, 5)


def chunks() -> list[Examples]:
    return [WHOLE.take(np.arange(start, min(start + 8, 50))) for start in range(0, 50, 8)]


def labels(pieces: Iterator[Piece]) -> list[float]:
    return [label for piece in pieces for label in learned(piece).labels.tolist()]


def learned(piece: Piece) -> Examples:
    return piece.examples if piece.order is None else piece.examples.take(piece.order)


@pytest.mark.parametrize("kind", ["table", "chunks"])
def test_every_so_many_rows_one_is_held_out(kind: str) -> None:
    made: Rows = RowsInMemory(WHOLE, 5, piece=7) if kind == "table" else RowsInChunks(chunks, 5)
    assert made.holds_out
    for number in (0, 1):
        assert labels(made.pieces(number)) == np.delete(WHOLE.labels, HELD).tolist()
        assert labels(made.held_out()) == WHOLE.labels[HELD].tolist()


def test_none_is_held_out() -> None:
    for made in (RowsInMemory(WHOLE), RowsInChunks(chunks)):
        assert not made.holds_out
        assert labels(made.pieces(0)) == WHOLE.labels.tolist()
        assert labels(made.held_out()) == []


def test_an_order_for_each_pass() -> None:
    orders = [np.arange(50)[::-1], np.roll(np.arange(50), 3)]
    made = RowsInMemory(WHOLE, 5, orders.__getitem__)
    for number, order in enumerate(orders):
        assert labels(made.pieces(number)) == [WHOLE.labels[i] for i in order if i not in HELD]


def test_dense_rows_are_copied_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_sources, "PIECE", 20)
    order = np.random.default_rng(0).permutation(50)
    pieces = list(RowsInMemory(WHOLE, None, lambda number: order, piece=None).pieces(0))
    assert [len(piece) for piece in pieces] == [20, 20, 10]
    assert all(piece.order is None for piece in pieces)
    assert labels(iter(pieces)) == WHOLE.labels[order].tolist()
    thin = examples(csr_array(np.eye(50)), WHOLE.labels)
    (piece,) = RowsInMemory(thin, None, lambda number: order, piece=None).pieces(0)
    assert piece.examples is thin
    assert piece.order is order


def test_the_share() -> None:
    made = RowsInMemory(WHOLE, piece=25)
    assert [made.share for _ in made.pieces(0)] == [0.5, 1.0]
    told = iter([0.2, 0.6])
    streamed = RowsInChunks(lambda: chunks()[:2], keep=1 << 30, share=lambda: next(told))
    assert [streamed.share for _ in streamed.pieces(0)] == [0.2, 0.6]
    assert [streamed.share for _ in streamed.pieces(1)] == [0.5, 1.0]


@pytest.mark.parametrize(("keep", "opened"), [(1 << 20, 1), (3000, 3), (0, 3)])
def test_rows_that_fit_are_read_once(keep: int, opened: int) -> None:
    count = 0

    def source() -> list[Examples]:
        nonlocal count
        count += 1
        return chunks()

    made = RowsInChunks(source, keep=keep)
    for number in range(3):
        assert labels(made.pieces(number)) == WHOLE.labels.tolist()
    assert count == opened


def test_what_was_not_read_to_the_end_is_not_kept() -> None:
    made = RowsInChunks(chunks, keep=1 << 20)
    next(made.pieces(0))
    assert labels(made.pieces(0)) == WHOLE.labels.tolist()


def test_bases_count() -> None:
    from dataclasses import replace

    assert (
        row_sources.count_bytes(replace(WHOLE, offsets=np.zeros(50))) == row_sources.count_bytes(WHOLE) + 400
    )


def test_all_rows_at_once() -> None:
    (piece,) = RowsInMemory(WHOLE, piece=None).pieces(0)
    assert piece.examples is WHOLE
    assert piece.order is None
    (piece,) = RowsInMemory(WHOLE, 5, piece=None).pieces(0)
    assert learned(piece).labels.tolist() == np.delete(WHOLE.labels, HELD).tolist()


def test_rows_held_out_in_passing_come_with_no_weight() -> None:
    made = RowsInChunks(chunks, 5, in_passing=True)
    assert not made.holds_out
    pieces = list(made.pieces(0))
    weights = np.concatenate([piece.examples.sample_weight for piece in pieces])
    aside = np.concatenate([piece.held_out_weight for piece in pieces if piece.held_out_weight is not None])
    assert np.flatnonzero(weights == 0.0).tolist() == np.flatnonzero(aside).tolist() == HELD.tolist()
    np.testing.assert_array_equal(weights + aside, WHOLE.sample_weight)


@pytest.mark.parametrize("in_passing", [False, True])
def test_skipping_rows_of_a_piece(in_passing: bool) -> None:
    (piece,) = RowsInChunks(lambda: [WHOLE], 5, in_passing=in_passing).pieces(0)
    assert piece.skip(0) is piece
    rest = piece.skip(7)
    assert len(rest) == len(piece) - 7
    assert learned(rest).labels.tolist() == learned(piece).labels.tolist()[7:]
    if in_passing:
        assert rest.held_out_weight is not None
        assert len(rest.held_out_weight) == len(rest)
    (plain,) = RowsInChunks(lambda: [WHOLE]).pieces(0)
    assert plain.skip(3).examples.labels.tolist() == WHOLE.labels.tolist()[3:]
