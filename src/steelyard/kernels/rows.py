"""Loops over CSR rows that look before anything is learned."""

import numpy as np

from steelyard.kernels.jit import kernel


@kernel
def first_bad_value(values):
    """The place of the first NaN or infinity, or −1. The common case is one pass of arithmetic."""
    nothing = 0.0
    for value in values:
        nothing += value * 0.0
    if nothing == 0.0:
        return -1
    for j in range(len(values)):
        if not np.isfinite(values[j]):
            return j
    return -1


@kernel
def first_bad_index(indices, features):
    """The place of the first index that is negative or too large, or −1."""
    smallest, largest = 0, -1
    for index in indices:
        smallest = min(smallest, index)
        largest = max(largest, index)
    if smallest >= 0 and largest < features:
        return -1
    for j in range(len(indices)):
        if indices[j] < 0 or indices[j] >= features:
            return j
    return -1


@kernel
def has_duplicates(indptr, indices, features):
    """Whether some row names a feature twice. Sorted rows are seen to be free of it on the way."""
    last_row = np.empty(0, np.int64)
    for row in range(len(indptr) - 1):
        increasing = True
        for j in range(indptr[row] + 1, indptr[row + 1]):
            increasing &= indices[j - 1] < indices[j]
        if not increasing:
            if len(last_row) == 0:
                last_row = np.full(features, -1, np.int64)
            for j in range(indptr[row], indptr[row + 1]):
                if last_row[indices[j]] == row:
                    return True
                last_row[indices[j]] = row
    return False
