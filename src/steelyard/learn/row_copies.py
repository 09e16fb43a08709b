"""Copies of the numbers of a row's features, side by side in memory, and the scratch memory for them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.origins import MARKS
from steelyard.learn.rows import BLOCK
from steelyard.native.declare import part
from steelyard.native.kinds import Bytes, ExactPairs, Keys, Numbers, Pairs, Table, WeightRows, Weights, Words

_LINE = 64  # bytes of a cache line


class Scratch(NamedTuple):
    """Buffers of `standardized.learn`: for copies of the longest row, and for marks of columns."""

    pairs: Pairs
    sums: ExactPairs
    numbers: WeightRows
    exact: Table
    typed: Weights
    moment: Numbers
    places: Words
    flags: Keys
    marks: Bytes


class AdaptiveScratch(NamedTuple):
    """Buffers of `adaptive.learn`."""

    pairs: ExactPairs
    numbers: WeightRows
    exact: Table
    typed: Weights
    moment: Numbers


def scratch_for(
    indptr: NDArray[Any], pairs: NDArray[Any], origins: NDArray[Any], moment: NDArray[Any]
) -> Scratch:
    longest = int(np.diff(indptr).max(initial=0))
    size = (longest // BLOCK + 3) * BLOCK
    return Scratch(
        _aligned(size, pairs.dtype), _aligned(size, np.dtype(np.complex128)),
        _aligned(6 * size, origins.dtype).reshape(6, size),
        _aligned(3 * size, np.dtype(np.float64)).reshape(3, size),
        np.zeros(5, origins.dtype), moment, np.zeros(size, np.uint64),
        np.zeros(size, np.uint32), np.zeros(MARKS, np.uint8),
    )  # fmt: skip


def adaptive_scratch_for(
    indptr: NDArray[Any], pairs: NDArray[Any], max_abs: NDArray[Any], moment: NDArray[Any]
) -> AdaptiveScratch:
    longest = int(np.diff(indptr).max(initial=0))
    size = (longest // BLOCK + 3) * BLOCK
    return AdaptiveScratch(
        _aligned(size, pairs.dtype), _aligned(7 * size, max_abs.dtype).reshape(7, size),
        _aligned(3 * size, np.dtype(np.float64)).reshape(3, size),
        np.zeros(5, max_abs.dtype), moment,
    )  # fmt: skip


def _aligned(size: int, kind: Any) -> NDArray[Any]:
    """Return zeros that begin with a cache line: vectors across two lines would be slower."""
    buffer = np.zeros(size * kind.itemsize + _LINE, np.uint8)
    start = -buffer.ctypes.data % _LINE
    return buffer[start : start + size * kind.itemsize].view(kind)


@part
def take_pairs(start, end, base, indices, dense, some_origins, pairs, own, marks, places):
    """Copy the pairs of the row; returns how many features may have an origin, and lists them in `places`."""
    count = np.uint64(0)
    if dense or not some_origins:
        take(start, end, base, indices, dense, pairs, own)
        return count
    for j in range(start, end):
        i = np.uint64(indices[j - base])
        own[j - start] = pairs[i]
        places[count] = j - start
        count += np.uint64(marks[i & np.uint64(MARKS - 1)])
    return count


@part
def take(start, end, base, indices, dense, numbers, own):
    """Copy the numbers of the row's features; those of a dense row lie side by side."""
    if dense:
        for k in range(end - start):
            own[k] = numbers[k]
    else:
        for j in range(start, end):
            own[j - start] = numbers[np.uint64(indices[j - base])]


@part
def put(start, end, base, indices, dense, own, numbers):
    """Copy numbers back: the reverse of `take`."""
    if dense:
        for k in range(end - start):
            numbers[k] = own[k]
    else:
        for j in range(start, end):
            numbers[np.uint64(indices[j - base])] = own[j - start]


@part
def clear(count, own):
    for k in range(count):
        own[k] = 0.0


@part
def split_pairs(count, pairs, first, second):
    """Copy the real and the imaginary parts of pairs into two arrays."""
    for k in range(count):
        first[k] = pairs[k].real
        second[k] = pairs[k].imag
