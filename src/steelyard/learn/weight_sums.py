"""Sums of weights, one row after the other, so that they are the same however rows are cut into chunks."""

from steelyard.native.declare import kernel
from steelyard.native.kinds import Numbers

TOTAL, SQUARES, LARGEST, SIZE = 0, 1, 2, 3


@kernel
def add(weights: Numbers, sums: Numbers):
    """Add to the total, and to the squares relative to the largest; returns where that is, or −1."""
    total, squares, largest = sums[TOTAL], sums[SQUARES], sums[LARGEST]
    found = -1
    for row in range(len(weights)):
        h = weights[row]
        total += h
        if h > largest:
            squares = squares * (largest / h) ** 2 + 1.0
            largest, found = h, row
        elif h > 0.0:
            squares += (h / largest) ** 2
    sums[TOTAL], sums[SQUARES], sums[LARGEST] = total, squares, largest
    return found
