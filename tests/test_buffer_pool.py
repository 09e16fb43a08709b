"""Memory is used again, but never while anybody holds a part of it."""

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from steelyard._buffer_pool import BufferPool, spacious

LARGE = 100_000


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64"])
@pytest.mark.parametrize("count", [0, 1, 10, LARGE])
def test_arrays_are_of_the_size_and_type_asked_for_and_can_be_written(count: int, dtype: str) -> None:
    array = BufferPool().empty(count, dtype)
    assert (array.shape, array.dtype) == ((count,), np.dtype(dtype))
    array[...] = 7
    assert (array == 7).all()


def test_what_nobody_holds_any_more_is_used_again() -> None:
    rooms = BufferPool()
    first = rooms.empty(LARGE, "float64")
    place = address(first)
    del first
    gc.collect()
    assert address(rooms.empty(int(0.9 * LARGE), "float64")) == place


def test_a_view_of_a_view_keeps_its_room() -> None:
    rooms = BufferPool()
    array = rooms.empty(LARGE, "int32")
    array[...] = np.arange(LARGE)
    held = array[10:20][::2].view("uint32")
    del array
    gc.collect()
    others = [rooms.empty(LARGE, "int32") for _ in range(3)]
    for other in others:
        other[...] = -1
    np.testing.assert_array_equal(held, np.arange(10, 20, 2))


@pytest.mark.parametrize("count", [LARGE // 16, 2 * LARGE])
def test_a_room_that_does_not_suit_is_let_go(count: int) -> None:
    rooms = BufferPool()
    rooms.empty(LARGE, "float64")
    rooms.empty(count, "float64")
    assert len(rooms._spare) == 1  # that of the second; the first one is gone


def test_threads_never_share_a_room() -> None:
    rooms = BufferPool()

    def fill(number: int) -> bool:
        for _ in range(200):
            array = rooms.empty(LARGE, "int32")
            array[...] = number
            if not (array == number).all():
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(fill, range(4)))


def test_of_many_that_are_let_go_at_once_few_are_kept() -> None:
    rooms = BufferPool()
    many = [rooms.empty(LARGE, "float64") for _ in range(100)]
    many.clear()
    assert 0 < len(rooms._spare) < 10


@pytest.mark.parametrize("count", [0, 10, LARGE])
def test_spacious_arrays_can_be_written(count: int) -> None:
    array = spacious(count, np.int32)
    array[...] = 7
    assert len(array) == count
    assert (array == 7).all()


FORKED = """
import os
import numpy as np
from steelyard._buffer_pool import spacious
array = spacious(1 << 20, np.uint8)
array[0] = 1
if not (child := os.fork()):
    array[0] = 2
    os._exit(0)
os.waitpid(child, 0)
assert array[0] == 1
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_has_its_own() -> None:
    subprocess.run([sys.executable, "-c", FORKED], check=True)
