"""Parts of a lane: the numbers that each of many models side by side has of a feature.

`weights[feature, number, lane]` is one array. Sums of squares are in float64, or rounding would decide on
levels: in lanes of float32 each takes the place of two numbers, and all that come after them lie further on.
"""

import numpy as np

from steelyard.native.declare import kernel, part
from steelyard.native.kinds import Count, Switches, WeightCube

COEFFICIENT, GRADIENTS, UNIT, LAG = range(4)


def numbers_before(lane_part: int, singles: int) -> int:
    """How many numbers lie before a part; `singles` of them take the place of a float64."""
    return lane_part if lane_part <= GRADIENTS else lane_part + singles - 1


place_of = part(numbers_before)  # for kernels


@kernel
def find_met(weights: WeightCube, first: Count, last: Count, found: Switches):
    """Mark the features of which any lane knows something: one of these numbers that is not 0."""
    lanes = np.uint64(weights.shape[2])
    for i in range(np.uint64(len(found))):
        known = False
        for number in range(first, last):
            for k in range(lanes):
                known |= weights[i, number, k] != 0.0
        found[i] = known
