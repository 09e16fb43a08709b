"""Memory for temporary arrays, reused once nothing refers to them.

Fresh memory is expensive: the system clears each page when it is first touched. For text that is read block
after block this takes a tenth of the time.
"""

import mmap
import os
import weakref
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_LEAST = 1 << 16  # bytes: smaller arrays are not worth reusing
_SLACK = 1.125  # blocks differ in size
_WASTE = 8  # times as large as needed: the last block of a file is smaller than the others
_OWN = mmap.ACCESS_COPY if os.name == "posix" else mmap.ACCESS_DEFAULT  # else forked processes would share it
_MOST = 8  # spare buffers: a few are in use in turn; if many are freed at once, the rest are not needed


def spacious(count: int, dtype: DTypeLike) -> NDArray[Any]:
    """Like `np.empty`, for arrays that are far larger than what will be used of them; large ones are 0.

    NumPy asks for huge pages, each of which the system clears as a whole for the first byte that is touched.
    """
    size = count * np.dtype(dtype).itemsize
    return np.empty(count, dtype) if size < _LEAST else np.frombuffer(mmap.mmap(-1, size, access=_OWN), dtype)


class BufferPool:
    """Arrays like those of `np.empty`, from any thread. A buffer returns when its array is collected."""

    def __init__(self) -> None:
        self._spare: deque[memoryview] = deque(maxlen=_MOST)

    def empty(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """An uninitialised array of this many numbers. It is not reused while views of it exist."""
        size = count * np.dtype(dtype).itemsize
        if size < _LEAST:
            return np.empty(count, dtype)
        buffer = self._fitting(size)
        array = np.frombuffer(buffer, dtype, count)  # views refer to it, because the buffer is not an array
        weakref.finalize(array, self._spare.append, buffer).atexit = False
        return array

    def _fitting(self, size: int) -> memoryview:
        """The next spare buffer, or a new one if that is too small or much too large."""
        try:
            buffer = self._spare.popleft()
        except IndexError:
            buffer = memoryview(b"")
        fits = size <= len(buffer) <= _WASTE * size
        return buffer if fits else spacious(int(_SLACK * size), np.uint8).data
