"""Rows of chunks in a drawn order: of one seed whatever the chunks and the memory, another in every pass."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from steelyard.engine import shuffled_rows
from steelyard.engine.row_sources import RowsInChunks
from steelyard.engine.shuffled_rows import ShuffledRows
from steelyard.examples import Examples, examples, join

ROWS = 200
WHOLE = examples(
    sparse.random_array((ROWS, 9), density=0.4, rng=np.random.default_rng(0), format="csr"),
    np.arange(ROWS, dtype=float),
    np.arange(ROWS) % 4,
    offsets=np.arange(ROWS) / 8,
)


def chunks(size: int, whole: Examples = WHOLE) -> Iterator[Examples]:
    return (whole.take(np.arange(start, min(start + size, ROWS))) for start in range(0, ROWS, size))


def shuffled(size: int = 30, memory: int = 1 << 20, seed: int = 7, **rest: Any) -> ShuffledRows:
    return ShuffledRows(RowsInChunks(lambda: chunks(size), in_passing=True, **rest), seed, memory)


def come(rows: ShuffledRows, pass_number: int = 0) -> Examples:
    return join([piece.examples for piece in rows.pieces(pass_number)])


def same(one: Examples, other: Examples) -> bool:
    names = ("indptr", "indices", "values", "labels", "sample_weight", "offsets")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.no_cover
@pytest.mark.parametrize("memory", [1 << 20, 0, 5000], ids=["all", "none", "some"])
@pytest.mark.parametrize("size", [1, 30, 200])
def test_the_order_is_that_of_the_seed(size: int, memory: int) -> None:
    rows, reference = shuffled(size, memory), shuffled()
    for number in (0, 1):
        found = come(rows, number)
        assert same(found, come(reference, number))
        order = found.labels.astype(int)
        assert sorted(order) == list(range(ROWS))
        assert same(found, WHOLE.take(order))
    assert not same(come(rows), come(rows, 1))
    assert same(come(rows), come(rows)), "from a checkpoint, say"
    assert not same(come(rows), come(shuffled(seed=8)))


@pytest.mark.parametrize("memory", [1 << 20, 0])
def test_rows_held_out_are_those_of_the_files(memory: int) -> None:
    rows = shuffled(memory=memory, holdout=5)
    assert not rows.holds_out
    held = []
    for piece in rows.pieces(0):
        assert piece.held_out_weight is not None
        aside = piece.held_out_weight > 0.0
        held += piece.examples.labels[aside].tolist()
        assert not piece.examples.sample_weight[aside].any()
    assert sorted(held) == [row for row in range(4, ROWS, 5) if row % 4]
    assert [len(piece) for piece in rows.held_out()] == [6, 6, 6, 6, 6, 6, 4]


def test_the_share_and_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffled_rows, "PIECE", 80)
    rows = shuffled()
    assert [(len(piece), rows.share) for piece in rows.pieces(0)] == [(80, 0.4), (80, 0.8), (40, 1.0)]
    spilled = shuffled(memory=0)
    assert [spilled.share for _ in spilled.pieces(0)][-1] == 1.0


def test_no_rows() -> None:
    assert list(ShuffledRows(RowsInChunks(list, in_passing=True), 0).pieces(0)) == []


def test_offsets_of_some_parts_only() -> None:
    parts = list(chunks(100))
    joined = join([replace(parts[0], offsets=None), parts[1]])
    assert joined.offsets is not None
    assert joined.offsets.tolist() == [0.0] * 100 + (np.arange(100, 200) / 8).tolist()
    assert join([replace(part, offsets=None) for part in parts]).offsets is None


@pytest.mark.parametrize(("size", "memory"), [(1, 1 << 20), (30, 1 << 20), (100, 0)])
@pytest.mark.parametrize("in_passing", [True, False])
def test_heavy_rows_come_in_parts(size: int, memory: int, in_passing: bool) -> None:
    weights = np.where(np.arange(ROWS) % 4 == 0, 0.0, np.arange(ROWS, dtype=float) ** 2)
    whole = replace(WHOLE, sample_weight=weights)

    def parted(size: int, memory: int) -> ShuffledRows:
        rows = RowsInChunks(lambda: chunks(size, whole), 5, in_passing=in_passing)
        return ShuffledRows(rows, 7, memory, apart=True)

    rows = parted(size, memory)
    assert rows.holds_out is not in_passing
    found = come(rows)
    assert same(found, come(parted(200, 1 << 20)))
    assert same(come(rows, 1), come(parted(200, 1 << 20), 1)), "kept rows are cut once"
    labels = found.labels.astype(int)
    learned = np.where(np.arange(1, ROWS + 1) % 5, weights, 0.0)
    assert np.bincount(labels, found.sample_weight, ROWS).tolist() == learned.tolist()
    counted = weights if in_passing else learned
    assert np.bincount(labels, minlength=ROWS).tolist() == shuffled_rows.count_parts(counted).tolist()


def test_the_number_of_parts() -> None:
    weights = np.array([0.0, 0.3, 1.0, 7.0, 63.5, 64.0, 65.0, 256.0, 1e4, 1e6, 1e9])
    parts = shuffled_rows.count_parts(weights)
    assert parts.tolist() == [0, 1, 1, 7, 64, 64, 64, 128, 512, 4096, 131072]
