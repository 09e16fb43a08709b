"""Memory for weights: where it begins, and what becomes of it where there are no huge pages."""

import mmap

import numpy as np
import pytest

from steelyard.engine import lane_layout


@pytest.mark.parametrize("shape", [(3, 2, 32), (40_000, 1, 32)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zeros_at_the_start_of_a_cache_line(shape: tuple[int, ...], dtype: str) -> None:
    array = lane_layout.zeros(shape, dtype)
    assert array.shape == shape
    assert array.dtype == dtype
    assert array.ctypes.data % 64 == 0
    assert array.flags.c_contiguous
    assert not array.any()
    array += 1.0
    assert (array == 1.0).all()


@pytest.mark.parametrize("missing", ["MAP_ANONYMOUS", "MADV_HUGEPAGE"])
def test_systems_without_huge_pages_have_zeros_too(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(mmap, missing, raising=False)
    array = lane_layout.zeros((40_000, 1, 32), "float32")
    assert array.ctypes.data % 64 == 0
    assert not array.any()


def test_no_more_huge_pages_than_are_filled() -> None:
    """The last one would take memory that nobody planned for."""
    size = 3 * (2 << 20) - 4096
    np.testing.assert_array_equal(lane_layout.zeros((size,), "uint8"), np.zeros(size, np.uint8))
