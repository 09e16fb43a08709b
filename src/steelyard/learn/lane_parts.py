"""Parts of a lane: the numbers that each of many models side by side has for a feature.

`weights[feature, number, lane]` is one array. Sums of squares are in float64, or rounding would decide on
levels: in lanes of float32 each takes two numbers, and the parts after them lie one number further on.
"""

import numpy as np

from steelyard.native.declare import kernel, part
from steelyard.native.kinds import Count, Switches, WeightCube

COEFFICIENT, GRADIENTS, UNIT, LAG = range(4)


def numbers_before(lane_part: int, singles: int) -> int:
    """Return how many numbers lie before a part; `singles` of them make a float64."""
    return lane_part if lane_part <= GRADIENTS else lane_part + singles - 1


place_of = part(numbers_before)  # for kernels


@kernel
def mark_met(weights: WeightCube, first: Count, last: Count, met: Switches):
    """Mark the features that any lane has met: one of the numbers from `first` to before `last` is not 0."""
    lanes = np.uint64(weights.shape[2])
    for i in range(np.uint64(len(met))):
        some = False
        for number in range(first, last):
            for k in range(lanes):
                some |= weights[i, number, k] != 0.0
        met[i] = some
