"""Longer steps where one of two classes is rare: a factor of the learning rate, updated at powers of two.

Adaptive rates make every step as long as the learning rate says, however far the prediction has to go. Where
one class is rare, the model soon predicts the other one for every row: examples of the rare class then have
farther to go than those of two equal classes, and they come seldom. So the learning rate is divided by the
standard deviation of the labels so far, taken as −1 and 1: by 1 where classes are equal, by 0.47 where one has
5 % of the weight. A little is added to the variance, so that steps stay shorter than `MOST` times as long.
"""

import math

from steelyard.native.declare import part

# The indices of `class_state`: the weight so far, the weight of the second label, and the factor.
WEIGHT, SECOND, FACTOR, SIZE = range(4)

MOST = 5.0  # the factor stays below this
PRIOR = 2.0  # the weight that each class is given to begin with


def factor_for(weight: float, second: float) -> float:
    """Return the factor of the learning rate for this weight of all rows, and of those with the second label."""
    share = (second + PRIOR) / (weight + 2.0 * PRIOR)
    least = 1.0 / (MOST * MOST)
    return 1.0 / math.sqrt(least + (1.0 - least) * 4.0 * share * (1.0 - share))


compiled_factor_for = part(factor_for)  # for kernels


@part
def count_class(class_state, share, weight):
    if len(class_state) > 0:
        class_state[WEIGHT] += weight
        class_state[SECOND] += weight * share


@part
def rare_class_factor(class_state):
    return class_state[FACTOR] if len(class_state) > 0 else 1.0
