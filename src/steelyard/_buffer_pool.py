"""Memory for arrays of passing interest, which is used again when the last of its users is gone.

Fresh memory is dear: the system clears it, page by page, as it is first touched, which for text that is read
block after block takes a tenth of all the time.
"""

import weakref
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_LEAST = 1 << 16  # bytes: smaller ones cost no more than the administration here
_SLACK = 1.125  # blocks are not all alike
_MOST = 8  # spare ones: a few go from hand to hand, but many may be let go at once, and are not missed


class BufferPool:
    """Arrays as `np.empty` makes them. From any thread; rooms go back when the garbage collector says so."""

    def __init__(self) -> None:
        self._spare: deque[memoryview] = deque(maxlen=_MOST)

    def empty(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """An array of so many numbers. Views of it keep it from being used again."""
        size = count * np.dtype(dtype).itemsize
        if size < _LEAST:
            return np.empty(count, dtype)
        room = self._fitting(size)
        array = np.frombuffer(room, dtype, count)  # whose views refer to it, for the room is no array
        weakref.finalize(array, self._spare.append, room).atexit = False
        return array

    def _fitting(self, size: int) -> memoryview:
        """A spare room, unless the next one is too small, or so large that much of it would be wasted."""
        try:
            room = self._spare.popleft()
        except IndexError:
            room = memoryview(b"")
        fits = size <= len(room) <= 2 * size
        return room if fits else np.empty(int(_SLACK * size), np.uint8).data
