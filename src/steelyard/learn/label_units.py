"""The unit of the labels: their spread so far, looked up when an epoch begins (see `clock`).

With scale-free rates the unit of a feature does not matter, and neither should that of a label.
If the labels are a·y + b, every prediction ought to be a·p + b. Adaptive rates have the slope in
their denominator, so that a step is as long as the learning rate says, whatever the size of the
slope: for every loss of p − y, the learner on a·y + b takes the same steps times a exactly if its
rate is a times as large and its bias starts at b + a times the old start. (With ℓ(ap, ay) = aᵏ·ℓ
slopes grow as aᵏ⁻¹, rates fall as a¹⁻ᵏ, and the push that makes a times the change grows as a²⁻ᵏ:
the learning rate must make up for one factor a, for k = 2, squared, as for k = 1, quantile.)

So the bias starts at the first label, and the learning rate is multiplied by the standard deviation of the
labels so far. That is computed when the clock reaches a power of two, and at every epoch as long as it is 0. It
includes one whole unit of weight of the row that begins the epoch, so that it does not depend on how a row is
cut. It stays 0 as long as all labels are equal: there is nothing to learn from those. No prediction profits
from a later label, except the very first, which is predicted exactly. Without a bias, labels are measured from
0, and the unit is their root mean square.
"""

import math

from steelyard.learn.levels import octave
from steelyard.learn.linear import BIAS, CLOCK, FRACTION
from steelyard.native.declare import part

# The indices of `label_state`: the weight so far, the label to measure from, the sum of distances from it and
# the sum of their squares, the unit, and the clock when it was set.
WEIGHT, ORIGIN, SUM, SQUARES, UNIT, SET_AT, SIZE = range(7)

LONGEST = 1e140  # squares of longer distances from the origin might not add up to a finite number


@part
def begin_labels(now, label_state, y, bias_value):
    """Measure distances from the first label, and let the bias begin there."""
    if len(label_state) > 0 and label_state[WEIGHT] == 0.0 and bias_value > 0.0:
        label_state[ORIGIN] = now[BIAS] = y


@part
def look_at_label(now, label_state, y, h, bias_value, cut):
    """Return the unit for the next rows, and update it if it is time; 1 where labels have none.

    Rows that are not `cut` into epochs count with their whole weight h.
    """
    if len(label_state) == 0:
        return 1.0
    begins = now[FRACTION] == 0.0 or not cut
    if begins and (label_state[UNIT] == 0.0 or octave(now[CLOCK]) > octave(label_state[SET_AT])):
        label_state[UNIT] = _spread(label_state, y, 1.0 if cut else h, bias_value)
        label_state[SET_AT] = now[CLOCK]
    return label_state[UNIT]


@part
def teaches_unit(label_state, y):
    """Return whether this label may give the next epoch a unit, where there is none yet."""
    return (
        len(label_state) > 0
        and label_state[UNIT] == 0.0
        and (y != label_state[ORIGIN] or label_state[SQUARES] > 0.0)
    )


@part
def count_label(label_state, y, weight):
    if len(label_state) > 0:
        distance = _distance(label_state, y)
        label_state[WEIGHT] += weight
        label_state[SUM] += weight * distance
        label_state[SQUARES] += weight * distance * distance


@part
def _distance(label_state, y):
    return min(max(y - label_state[ORIGIN], -LONGEST), LONGEST)


@part
def _spread(label_state, y, h, bias_value):
    """Return the standard deviation of the labels, or without a bias their root mean square."""
    distance, weight = _distance(label_state, y), label_state[WEIGHT] + h
    mean = (label_state[SUM] + h * distance) / weight if bias_value > 0.0 else 0.0
    return math.sqrt(max((label_state[SQUARES] + h * distance * distance) / weight - mean * mean, 0.0))


@part
def typical_slope(label_state, unit, derivative):
    """Return the slope of a prediction one unit off, as losses that have a unit are functions of p − y; else 1."""
    slope = abs(derivative(unit, 0.0)) if len(label_state) > 0 else 1.0
    return slope if slope > 0.0 else 1.0
