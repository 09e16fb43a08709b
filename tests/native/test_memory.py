"""Where arrays lie."""

import sys
from typing import Any

import numpy as np
import pytest

from steelyard.native.declare import PLAIN, kernel
from steelyard.native.memory import address_of, flat_view, itself


@kernel
def where(array: Any) -> Any:
    return address_of(array)


@kernel
def fill_flat(array: Any) -> Any:
    view = flat_view(array)
    for k in range(view.shape[0]):
        view[k] = k
    return view.shape[0]


@kernel
def same(array: Any) -> Any:
    itself(array)[0] = 1.0
    return array[0]


@pytest.mark.skipif(PLAIN, reason="there, an array stands for its address")
def test_addresses() -> None:
    matrix = np.zeros((3, 4))
    assert where(matrix) == matrix.ctypes.data
    assert where(matrix[1:, 2]) == matrix.ctypes.data + 8 * 6


@pytest.mark.parametrize("shape", [(6,), (2, 3), (2, 1, 3), (0, 4)])
def test_a_flat_view_is_the_same_memory(shape: tuple[int, ...]) -> None:
    array = np.full(shape, -1.0, np.float32)
    assert fill_flat(array) == array.size
    assert array.ravel().tolist() == list(range(array.size))


def test_itself() -> None:
    array = np.zeros(1)
    assert same(array) == array[0] == 1.0


@pytest.mark.skipif(PLAIN, reason="views are made by NumPy's means")
def test_a_view_needs_no_owner() -> None:
    """Nothing is counted, so nothing of Python is called."""
    array = np.zeros((2, 3))
    before = sys.getrefcount(array)
    fill_flat(array)
    assert sys.getrefcount(array) == before
