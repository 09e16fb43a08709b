"""Memory in which the weights of many lanes are quickly found."""

import math
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LINE = 64  # bytes: numbers that lie across two lines of a cache take as long to fetch as both
_HUGE_PAGE = 2 << 20


def zeros(shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """As `np.zeros`, at the start of a cache line, and in huge pages if that is much and the system has them.

    Features come in any order, so each is likely to be on another page than those before it; where a page
    is in memory has to be looked up, and what was found is remembered of a few thousand only.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    try:
        return _in_huge_pages(size).view(dtype).reshape(shape)
    except (OSError, AttributeError):  # not on this system, or not so much
        room = np.zeros(size + _LINE, np.uint8)
        return _from(room, _LINE, size).view(dtype).reshape(shape)


def _in_huge_pages(size: int) -> NDArray[np.uint8]:
    """Fresh pages. Those that are used again, as memory of usual size is, stay as small as they once were."""
    whole = size - size % _HUGE_PAGE  # what is left goes into small ones, not to take more than was planned
    if not whole:
        raise OSError("less than a page")
    pages = mmap.mmap(-1, size + _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    room = np.frombuffer(pages, np.uint8)
    pages.madvise(mmap.MADV_HUGEPAGE, -room.ctypes.data % _HUGE_PAGE, whole)
    return _from(room, _HUGE_PAGE, size)


def _from(room: NDArray[np.uint8], multiple: int, size: int) -> NDArray[np.uint8]:
    """So many bytes, from an address that is such a multiple on."""
    start = -room.ctypes.data % multiple
    return room[start : start + size]
