"""Rows cut anew: where, depends on the rows alone."""

import numpy as np
import pytest

from steelyard.io.arrow_arrays import gather
from steelyard.io.convert import regroup, to_batch
from tests.io.chunks import chunked, random_rows

ROWS = random_rows(100, seed=3)


def slow_cuts(size: int) -> list[int]:
    """How many rows each batch has: it ends with the row that fills it."""
    cuts, count, filled = [], 0, 0
    for row in ROWS:
        count += 1
        filled += 32 + 8 * len(row.indices) + len(row.tag)
        if filled >= size:
            cuts.append(count)
            count = filled = 0
    return [*cuts, count] if count else cuts


@pytest.mark.parametrize("size", [1, 40, 100, 1000, 10**6])
@pytest.mark.parametrize("chunk", [1, 3, 50, 1000])
def test_batches_are_cut_by_the_rows_sizes(size: int, chunk: int) -> None:
    pieces = list(regroup(map(to_batch, chunked(ROWS, chunk)), size))
    assert [len(part) for part in pieces] == slow_cuts(size)
    assert [tuple(row) for part in pieces for row in part["indices"].to_pylist()] == [
        row.indices for row in ROWS
    ]
    assert [tag or b"" for part in pieces for tag in part["tag"].to_pylist()] == [row.tag for row in ROWS]


def test_gathered() -> None:
    found = gather(np.arange(10), np.array([7, 0, 3]), np.array([2, 0, 3]))
    assert found.tolist() == [7, 8, 3, 4, 5]
    assert gather(np.arange(10), np.array([], int), np.array([], int)).tolist() == []
