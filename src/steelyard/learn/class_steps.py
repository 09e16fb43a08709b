"""Longer steps where one of two classes is rare, looked up where the clock reaches a power of two.

Adaptive rates make every step as long as the learning rate says, however far the prediction has to go. Where
one class is rare, the other soon is what the model predicts of everything, and examples of the rare one have
a longer way to go than those of two equal classes, and come seldom. So the learning rate is divided by the
standard deviation of the labels so far, taken as −1 and 1, with a little added to the variance, so that steps
are never `MOST` times as long: by 1 where classes are equal, by 0.47 where one has 5 % of the weight.
"""

import math

from steelyard.native.declare import part

# The places of the numbers that a model keeps: the weight seen, that of the second label, and the factor.
WEIGHT, SECOND, STEPS, SIZE = range(4)

MOST = 5.0  # times as long, at most
PRIOR = 2.0  # the weight of each class that is presumed before any is seen


def steps(weight: float, second: float) -> float:
    """What the learning rate is multiplied by, for so much weight, of which so much has the second label."""
    share = (second + PRIOR) / (weight + 2.0 * PRIOR)
    least = 1.0 / (MOST * MOST)
    return 1.0 / math.sqrt(least + (1.0 - least) * 4.0 * share * (1.0 - share))


steps_for = part(steps)


@part
def count_class(seen, share, weight):
    if len(seen) > 0:
        seen[WEIGHT] += weight
        seen[SECOND] += weight * share


@part
def class_factor(seen):
    return seen[STEPS] if len(seen) > 0 else 1.0
