"""The copies of a row that kernels with many rates work on: side by side in memory, in whole blocks."""

import numpy as np

from steelyard.numba_tools.jit import part

# Divisors are kept within the range of float32: a feature of value 0 that was never seen gets a finite rate,
# and the slopes of the exponential loss have squares that would be infinite.
SMALLEST, LARGEST = 1.2e-38, 1e38

BLOCK = 16  # features: one vector of the longest kind; more would be padding in short rows


@part
def fill(start, end, values, x):
    """Copy the row's values into x, padded with 0 to whole blocks; returns the padded length."""
    block = np.uint64(BLOCK)
    count = end - start
    filled = (count + block - np.uint64(1)) // block * block
    # in whole blocks, even if that copies some values of the next rows too
    copied = filled if start + filled <= np.uint64(len(values)) else count
    for k in range(copied):
        x[k] = values[start + k]
    for k in range(block):
        x[count + k] = 0.0
    return filled


@part
def dot(count, a, b):
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total


@part
def longest(indptr):
    most = 0
    for row in range(len(indptr) - 1):
        most = max(most, indptr[row + 1] - indptr[row])
    return most
