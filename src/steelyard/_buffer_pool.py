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
_SLACK = 1.125  # new buffers are larger than needed by this factor, as blocks differ in size
_WASTE = 8  # reused buffers are at most this many times as large as needed, as for the last block of a file
_OWN = mmap.ACCESS_COPY if os.name == "posix" else mmap.ACCESS_DEFAULT  # forked processes must not share it
_MOST = 8  # spare buffers: only a few are in use in turn


def spacious(count: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return an array like `np.empty`, of which only a small part will be used; large ones hold zeros.

    NumPy asks for huge pages, and the system clears such a page as a whole when its first byte is touched.
    """
    size = count * np.dtype(dtype).itemsize
    return np.empty(count, dtype) if size < _LEAST else np.frombuffer(mmap.mmap(-1, size, access=_OWN), dtype)


class BufferPool:
    """Makes arrays like `np.empty`, for any thread. A buffer is reused when its array was collected."""

    def __init__(self) -> None:
        self._spare: deque[memoryview] = deque(maxlen=_MOST)

    def empty(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return an uninitialised array of this many numbers; its memory is not reused while views of it exist."""
        size = count * np.dtype(dtype).itemsize
        if size < _LEAST:
            return np.empty(count, dtype)
        buffer = self._fitting(size)
        array = np.frombuffer(buffer, dtype, count)  # views refer to it, because the buffer is not an array
        weakref.finalize(array, self._spare.append, buffer).atexit = False
        return array

    def _fitting(self, size: int) -> memoryview:
        """Return the next spare buffer, or a new one if that is too small or much too large."""
        try:
            buffer = self._spare.popleft()
        except IndexError:
            buffer = memoryview(b"")
        fits = size <= len(buffer) <= _WASTE * size
        return buffer if fits else spacious(int(_SLACK * size), np.uint8).data
