"""The visits of a row to its weights, for every number of vectors, against plain sums."""

from typing import Any

import numpy as np
import pytest

from steelyard.learn import lane_ops
from steelyard.learn.vectors import LANES
from steelyard.native.declare import part
from steelyard.native.memory import flat_view
from tests.support.parts import callable_part

INDPTR, INDICES = np.array([0, 3, 5]), np.array([4, 0, 2, 1, 4], np.int32)
VALUES = np.array([0.5, -1.5, 2.0, 3.0, 0.25], np.float32)


@callable_part
@part  # compiled anew by every run: what builds the code is tried, too
def visit(start, end, indices, values, weights, first, totals, moves):  # type: ignore[no-untyped-def]
    """All of them, to one row; x·x."""
    lanes, none = np.uint64(weights.shape[1]), np.uint64(0)
    flat = flat_view(weights)
    lane_ops.dots(start, end, none, indices, values, flat, lanes, lanes, totals)
    lane_ops.move(start, end, none, indices, values, flat, lanes, first, lanes, moves)
    return lane_ops.squares(start, end, values, flat)


@callable_part
@part  # compiled anew by every run: what builds the code is tried, too
def prefetchd(turn, rows, indptr, indices, weights):  # type: ignore[no-untyped-def]
    lanes = np.uint64(weights.shape[1])
    lane_ops.prefetch(turn, rows, indptr, False, indices, flat_view(weights), lanes, lanes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("vectors", range(1, 10))
def test_any_number_of_vectors_is_summed_up_and_moved(vectors: int, dtype: Any) -> None:
    rng = np.random.default_rng(vectors)
    weights = rng.normal(size=(5, vectors * LANES)).astype(dtype)
    before, totals, moves = weights.copy(), *rng.normal(size=(2, vectors * LANES)).astype(dtype)
    first = LANES * (vectors // 4)  # the vectors before it stay: one, two or three are left over
    n = visit(np.uint64(0), np.uint64(3), INDICES, VALUES, weights, np.uint64(first), totals, moves)
    x = np.array([-1.5, 0.0, 2.0, 0.0, 0.5], dtype)
    assert n == 6.5
    np.testing.assert_allclose(totals, x @ before, rtol=1e-5, atol=1e-5)
    moved = before + x[:, np.newaxis] * np.where(np.arange(vectors * LANES) < first, 0.0, moves)
    np.testing.assert_allclose(weights, moved, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("vectors", range(1, 6))
def test_a_row_that_is_prefetchd_or_beyond_the_last_changes_nothing(vectors: int) -> None:
    weights = np.ones((5, vectors * LANES), np.float32)
    for turn in range(3):
        prefetchd(np.uint64(turn), np.arange(2), INDPTR, INDICES, weights)
    assert (weights == 1.0).all()
