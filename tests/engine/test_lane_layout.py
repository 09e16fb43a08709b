"""Memory for weights: where it begins."""

import pytest

from steelyard.engine import lane_layout


@pytest.mark.parametrize("shape", [(3, 2, 32), (40_000, 1, 32), (600_000, 1, 32)])
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
