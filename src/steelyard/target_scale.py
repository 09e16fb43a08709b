"""In what units the labels come: learned from the labels themselves as they go by.

With normalized scaling the unit of a feature does not matter, and neither should that of a label.
Let the labels be a·y + b: every prediction ought to be a·p + b. Adaptive rates have the slope in
their denominator, so that a step is as long as the learning rate says, whatever the size of the
slope: for every loss of p − y, the learner on a·y + b takes the same steps times a exactly if its
rate is a times as large and its bias starts at b + a times the old start. (With ℓ(ap, ay) = aᵏ·ℓ
slopes grow as aᵏ⁻¹, rates fall as a¹⁻ᵏ, and the push that makes a times the change grows as a²⁻ᵏ:
the learning rate must make up for one factor a, for k = 2, squared, as for k = 1, quantile.)

So the bias starts at the first label, and the learning rate is multiplied by the standard deviation
of the labels so far, the present one included (it is known when the step is taken). It is looked up
anew whenever the weight seen has doubled, and stays 0 as long as all labels were equal: there is
nothing to be learned from those. All of this depends on the labels in their order and on nothing
else, so chunks of any size, even single rows, add up to the same model; and no prediction profits
from a label to come, but for the very first, which is predicted as it is. Without a bias labels are
measured from 0, and the unit is their root mean square.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from steelyard.losses import REAL_LINE, Loss

# The places of the numbers in the array that a model keeps: the weight seen, the label to measure
# from, sums of distances from it and of their squares, the unit, and the weight seen when it was set.
WEIGHT, ORIGIN, SUM, SQUARES, UNIT, SET_AT, SIZE = range(7)

_LONGEST = 1e140  # squares of longer distances from the origin might not add up to a finite number


def follow(loss: Loss) -> bool:
    """Whether the predictions of this loss come in the units of its labels: whether it is one of p − y."""
    if loss.labels != REAL_LINE or loss.domain != REAL_LINE:
        return False
    try:
        return all(
            math.isclose(loss.derivative(p + shift, y + shift), loss.derivative(p, y), rel_tol=1e-6)
            for p, y in ((0.0, 1.0), (0.5, -0.25), (1.0, 3.0), (-2.0, -1.0))
            for shift in (-1.0, 2.0)
        )
    except (ArithmeticError, ValueError):  # not even defined for such labels
        return False


def blocks(
    known: NDArray[np.float64], labels: NDArray[np.float64], weights: NDArray[np.float64], centred: bool
) -> Iterator[tuple[slice, float]]:
    """Cut the rows where the unit changes; each piece comes with its unit. `known` is brought up to date.

    `centred`: measure from the first label, which is then `known[ORIGIN]`; else from 0.
    """
    start = 0
    if known[WEIGHT] == 0.0:
        heavy = np.flatnonzero(weights)
        start = int(heavy[0]) if len(heavy) else len(labels)
        if start > 0:
            yield slice(0, start), 0.0  # rows of no weight, which must not know of labels to come
        if len(heavy) and centred:
            known[ORIGIN] = labels[start]
    # a row of no weight may have no label either
    distances = np.where(weights > 0.0, np.clip(labels - known[ORIGIN], -_LONGEST, _LONGEST), 0.0)
    # from the first row on in order, so that the sums are the same to the last bit in any chunks
    weight, total, squares = (
        np.cumsum(np.append(known[place], parts))[1:]
        for place, parts in (
            (WEIGHT, weights),
            (SUM, weights * distances),
            (SQUARES, weights * distances * distances),
        )
    )
    divisor = np.where(weight > 0.0, weight, 1.0)
    mean = total / divisor if centred else 0.0
    variance = np.maximum(squares / divisor - mean * mean, 0.0)
    while start < len(labels):
        if _rows_before_a_change(known, weight[start:], variance[start:]) == 0:
            known[UNIT], known[SET_AT] = math.sqrt(variance[start]), weight[start]
        end = start + 1 + _rows_before_a_change(known, weight[start + 1 :], variance[start + 1 :])
        yield slice(start, end), float(known[UNIT])
        start = end
    if len(labels):
        known[WEIGHT], known[SUM], known[SQUARES] = weight[-1], total[-1], squares[-1]


def _rows_before_a_change(
    known: NDArray[np.float64], weight: NDArray[np.float64], variance: NDArray[np.float64]
) -> int:
    """How many of these rows come before the unit is looked up anew."""
    if known[UNIT] > 0.0:
        return int(np.searchsorted(weight, 2.0 * known[SET_AT]))
    found = np.flatnonzero(variance > 0.0)
    return int(found[0]) if len(found) else len(variance)
