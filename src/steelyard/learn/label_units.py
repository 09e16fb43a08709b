"""The unit of the labels: their spread so far, looked up as an epoch begins (see `clock`).

With scale-free rates the unit of a feature does not matter, and neither should that of a label.
Let the labels be a·y + b: every prediction ought to be a·p + b. Adaptive rates have the slope in
their denominator, so that a step is as long as the learning rate says, whatever the size of the
slope: for every loss of p − y, the learner on a·y + b takes the same steps times a exactly if its
rate is a times as large and its bias starts at b + a times the old start. (With ℓ(ap, ay) = aᵏ·ℓ
slopes grow as aᵏ⁻¹, rates fall as a¹⁻ᵏ, and the push that makes a times the change grows as a²⁻ᵏ:
the learning rate must make up for one factor a, for k = 2, squared, as for k = 1, quantile.)

So the bias starts at the first label, and the learning rate is multiplied by the standard deviation of the
labels so far. It is looked up where the clock reaches a power of two, and as long as it is 0, from what was
seen so far and one whole unit of weight of the row that begins the epoch: however a row is cut, that is the
same. It stays 0 as long as all labels are equal: there is nothing to be learned from those. No prediction
profits from a label to come, but for the very first, which is predicted as it is. Without a bias labels are
measured from 0, and the unit is their root mean square.
"""

import math

from steelyard.learn.levels import octave
from steelyard.learn.linear import BIAS, CLOCK, FRACTION
from steelyard.native.declare import part

# The places of the numbers in the array that a model keeps: the weight seen, the label to measure
# from, sums of distances from it and of their squares, the unit, and the weight seen when it was set.
WEIGHT, ORIGIN, SUM, SQUARES, UNIT, SET_AT, SIZE = range(7)

LONGEST = 1e140  # squares of longer distances from the origin might not add up to a finite number


@part
def begin_labels(now, known, y, bias_value):
    """With the first label: distances are measured from there, and the bias begins there."""
    if len(known) > 0 and known[WEIGHT] == 0.0 and bias_value > 0.0:
        known[ORIGIN] = now[BIAS] = y


@part
def look_at_label(now, known, y, h, bias_value, cut):
    """The unit for what comes next; 1 where labels have none.

    Rows that are not `cut` into epochs count with their whole weight h.
    """
    if len(known) == 0:
        return 1.0
    begins = now[FRACTION] == 0.0 or not cut
    if begins and (known[UNIT] == 0.0 or octave(now[CLOCK]) > octave(known[SET_AT])):
        known[UNIT] = _spread(known, y, 1.0 if cut else h, bias_value)
        known[SET_AT] = now[CLOCK]
    return known[UNIT]


@part
def teaches_unit(known, y):
    """Whether the next whole number of the clock may find a unit where there was none."""
    return len(known) > 0 and known[UNIT] == 0.0 and (y != known[ORIGIN] or known[SQUARES] > 0.0)


@part
def count_label(known, y, weight):
    if len(known) > 0:
        distance = _distance(known, y)
        known[WEIGHT] += weight
        known[SUM] += weight * distance
        known[SQUARES] += weight * distance * distance


@part
def _distance(known, y):
    return min(max(y - known[ORIGIN], -LONGEST), LONGEST)


@part
def _spread(known, y, h, bias_value):
    """The standard deviation; without a bias the root mean square."""
    distance, weight = _distance(known, y), known[WEIGHT] + h
    mean = (known[SUM] + h * distance) / weight if bias_value > 0.0 else 0.0
    return math.sqrt(max((known[SQUARES] + h * distance * distance) / weight - mean * mean, 0.0))


@part
def typical_slope(known, unit, derivative):
    """That of a prediction one unit away, as losses that have a unit are functions of p − y; else 1."""
    slope = abs(derivative(unit, 0.0)) if len(known) > 0 else 1.0
    return slope if slope > 0.0 else 1.0
