"""Arrays that are lent: the same numbers at the same place, counted by nobody."""

import sys

import numpy as np
import pytest
from numba import config, njit

from steelyard.numba_tools import borrowed
from steelyard.numba_tools.jit import apart


def test_without_a_compiler_it_is_the_array() -> None:
    array = np.zeros(1)
    assert borrowed._itself(array) is array  # type: ignore[no-untyped-call]


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_what_is_done_to_a_lent_array_is_done_to_the_array(shape: tuple[int, ...]) -> None:
    @njit
    def called(array, times):  # type: ignore[no-untyped-def]
        apart()
        for k in range(times):
            array.flat[k] += 1.0
        return len(array)

    @njit
    def caller(array, times):  # type: ignore[no-untyped-def]
        lent = borrowed._compiled(array)
        return called(lent, times) + lent.shape[0]

    array = np.zeros(shape)
    before = sys.getrefcount(array)
    assert caller(array, 2) == 6
    assert sys.getrefcount(array) == before
    assert array.ravel().tolist() == [1.0, 1.0] + [0.0] * (array.size - 2)
