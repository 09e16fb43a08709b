"""Sums of weights, added row by row, so that they do not depend on how rows are cut into chunks."""

from steelyard.native.declare import kernel
from steelyard.native.kinds import Numbers

TOTAL, SQUARES, LARGEST, SIZE = 0, 1, 2, 3


@kernel
def add(weights: Numbers, sums: Numbers):
    """Add weights to the total, and to the squares relative to the largest.

    Returns the row of the largest weight, or −1 if an earlier chunk had it.
    """
    total, squares, largest = sums[TOTAL], sums[SQUARES], sums[LARGEST]
    largest_row = -1
    for row in range(len(weights)):
        h = weights[row]
        total += h
        if h > largest:
            squares = squares * (largest / h) ** 2 + 1.0
            largest, largest_row = h, row
        elif h > 0.0:
            squares += (h / largest) ** 2
    sums[TOTAL], sums[SQUARES], sums[LARGEST] = total, squares, largest
    return largest_row
