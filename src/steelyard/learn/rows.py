"""Loops over rows that learn nothing: checks of CSR matrices, losses of predictions, copies of rows.

Checking a well-formed matrix takes two quick passes, one over the indices and one over the values. Loop
indices are unsigned, which avoids the code for negative ones and lets the compiler vectorise.
"""

from typing import NamedTuple

import numpy as np

from steelyard.native.declare import kernel, part
from steelyard.native.kinds import (
    Bits,
    Count,
    Counts,
    Function2,
    Indices,
    Ints,
    Number,
    Numbers,
    OneBits,
    Switch,
    Values,
)

_TOGETHER = 128  # rows that are checked at a time: so few stay in the cache

# Divisors stay within the range of float32: so a feature of value 0 that was never seen gets a finite rate,
# and squares of the slopes of the exponential loss stay finite.
SMALLEST, LARGEST = 1.2e-38, 1e38

# Kernels with many rates work on copies of a row, side by side in memory, in whole blocks of this many
# features: one vector of the longest kind. Larger blocks would pad short rows more.
BLOCK = 16


class Rows(NamedTuple):
    """Rows to learn in `order`, or as they come if that is empty. Dense rows share one list of indices."""

    indptr: Counts
    indices: Ints
    values: Values
    dense: Switch
    labels: Numbers
    sample_weight: Numbers
    offsets: Numbers
    order: Counts


@kernel
def increasing_within(indptr: Counts, indices: Indices, features: Count):
    """Return whether every row is strictly increasing and within bounds, so that no index is bad or repeated.

    Rows are short for vectors. So indices that do not increase are counted over many rows at once, and those
    that only begin a row are subtracted.
    """
    zero, one, together = np.uint64(0), np.uint64(1), np.uint64(_TOGETHER)
    height = np.uint64(len(indptr) - 1)
    for first in range(zero, height, together):
        last = min(first + together, height)
        begin = np.uint64(indptr[first])
        falls = np.uint32(0)
        for j in range(begin + one, np.uint64(indptr[last])):
            falls += np.uint32(indices[j - one] >= indices[j])
        for row in range(first, last):
            start, end = np.uint64(indptr[row]), np.uint64(indptr[row + one])
            if start == end:
                continue
            if indices[start] < 0 or indices[end - one] >= features:
                return False
            if start > begin:
                falls -= np.uint32(indices[start - one] >= indices[start])
        if falls > np.uint32(0):
            return False
    return True


@kernel
def first_bad_index(indices: Indices, features: Count):
    """Return the position of the first index that is negative or too large, or −1."""
    for j in range(len(indices)):
        if indices[j] < 0 or indices[j] >= features:
            return j
    return -1


@kernel
def has_duplicates(indptr: Counts, indices: Indices, last_row: Counts):
    """Return whether some row has a feature twice, in any order; `last_row` begins with −1 for each feature."""
    for row in range(len(indptr) - 1):
        for j in range(indptr[row], indptr[row + 1]):
            if last_row[indices[j]] == row:
                return True
            last_row[indices[j]] = row
    return False


@kernel
def sizes(bits: Bits, mask: OneBits):
    """Return the smallest absolute value other than 0, and the largest, as bits; both are 0 if there is none.

    Without their sign bit floats are ordered as integers; infinity and NaN are larger than every number.
    """
    kind = bits.dtype.type
    smallest, largest, zero = kind(mask), kind(0), kind(0)
    for j in range(np.uint64(len(bits))):
        size = kind(bits[j] & mask)
        smallest = min(smallest, size if size > zero else kind(mask))
        largest = max(largest, size)
    return (smallest if largest > zero else zero), largest


@kernel
def fill_scalar(function: Function2, predictions: Numbers, label: Number, out: Numbers):
    """Fill in out = function(prediction, label) for each row; the function is a pointer."""
    for row in range(len(predictions)):
        out[row] = function(predictions[row], label)


@kernel
def fill_pairs(function: Function2, predictions: Numbers, labels: Numbers, out: Numbers):
    """Fill in out = function(prediction, label of the row) for each row."""
    for row in range(len(predictions)):
        out[row] = function(predictions[row], labels[row])


@part
def fill(start, end, values, x):
    """Copy the row's values into x, padded with 0 to whole blocks; returns the padded length."""
    block = np.uint64(BLOCK)
    count = end - start
    filled = (count + block - np.uint64(1)) // block * block
    # whole blocks are faster, although they may include values of the next rows
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
