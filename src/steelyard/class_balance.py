"""Longer steps where one of two classes is rare.

Adaptive rates make every step as long as the learning rate says, however far the prediction has to go. Where
one class is rare, the other soon is what the model predicts of everything, and examples of the rare one have
a longer way to go than those of two equal classes, and come seldom. So the learning rate is divided by the
standard deviation of the labels so far, taken as −1 and 1, with a little added to the variance, so that steps
are never `_MOST` times as long: by 1 where classes are equal, by 0.47 where one has 5 % of the weight.

The factor is looked up anew where the weight seen reaches a power of two. It depends on labels and weights in
their order, and on nothing else, so chunks of any size add up to the same model. With rates that follow the
flow, a row that goes beyond such a weight is learned in two parts, so that its copies would do the same.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from steelyard.losses import REAL_LINE, Loss, OneOf

Numbers = NDArray[np.float64]

# The places of the numbers that a model keeps: the weight seen, that of the second label, and the factor.
WEIGHT, SECOND, STEPS, SIZE = range(4)

_MOST = 5.0
_PRIOR = 2.0  # the weight of each class that is presumed before any is seen


def follow(loss: Loss) -> bool:
    """Whether the labels of this loss are two classes, and its predictions no probabilities."""
    return isinstance(loss.labels, OneOf) and len(set(loss.labels.values)) == 2 and loss.domain == REAL_LINE


def new_state(*lanes: int) -> Numbers:
    """Nothing seen yet; with a column for each lane."""
    state = np.zeros((SIZE, *lanes))
    state[STEPS] = 1.0
    return state


def shares(loss: Loss, labels: Numbers, weights: Numbers) -> Numbers:
    """How much of the second label each is. A row of no weight may have no label."""
    assert isinstance(loss.labels, OneOf)
    low, high = min(loss.labels.values), max(loss.labels.values)
    return np.where(weights > 0.0, (labels - low) / (high - low), 0.0)


def steps(weight: Numbers, second: Numbers) -> Numbers:
    """What the learning rate is multiplied by, for so much weight, of which so much has the second label."""
    share = (second + _PRIOR) / (weight + 2.0 * _PRIOR)
    least = 1.0 / _MOST**2
    return np.asarray(1.0 / np.sqrt(least + (1.0 - least) * 4.0 * share * (1.0 - share)))


def look_up(state: Numbers) -> None:
    """Bring the factor up to date, whatever the weight."""
    state[STEPS] = steps(state[WEIGHT], state[SECOND])


def blocks(
    state: Numbers, shares: Numbers, weights: Numbers, totals: Numbers | None = None
) -> Iterator[tuple[slice, Numbers]]:
    """Cut the rows where the factor of some lane changes; pieces come with their factors.

    `state` has a column for each lane, `shares` and `weights` have a row for each. `state` is brought up to
    date. `totals` is the weight seen after each row of one lane, where it is known better than as a sum.
    """
    # one after the other, so that the sums are the same to the last bit in any chunks
    seen, second = (
        _sums(state[place], each) for place, each in ((WEIGHT, weights), (SECOND, weights * shares))
    )
    if totals is not None:
        seen[0, 1:] = totals
    ends = {place for lane in seen for place in _ends(lane)}
    start = 0
    for end in sorted({weights.shape[1], *ends}):
        yield slice(start, end), state[STEPS].copy()
        if end in ends:
            changed = _octaves(seen[:, end]) != _octaves(seen[:, start])
            state[STEPS] = np.where(changed, steps(seen[:, end], second[:, end]), state[STEPS])
        state[WEIGHT], state[SECOND] = seen[:, end], second[:, end]
        start = end


def _sums(before: Numbers, parts: Numbers) -> Numbers:
    sums = np.empty((len(parts), parts.shape[1] + 1))
    sums[:, 0], sums[:, 1:] = before, parts
    return np.cumsum(sums, axis=1, out=sums)


def _ends(seen: Numbers) -> list[int]:
    """After how many rows the weight of a lane has reached another power of two."""
    first, last = (math.frexp(max(end, 0.5))[1] for end in (seen[0], seen[-1]))
    if first == last:  # as in most chunks
        return []
    found: list[int] = np.searchsorted(seen, np.ldexp(1.0, np.arange(first, last))).tolist()
    return found


def parts_of_rows(before: float, weights: Numbers) -> tuple[NDArray[np.intp], Numbers, Numbers]:
    """Rows cut where the weight seen reaches a power of two.

    Of each part the number of its row, its weight, and the weight seen after it.
    """
    seen = np.cumsum(np.append(before, weights))
    rows, ends = np.arange(len(weights)), seen[1:]
    for row in {end - 1 for end in _ends(seen)}:
        first, last = _octaves(seen[row : row + 2]).tolist()
        powers = np.ldexp(1.0, np.arange(first, last))
        inside = powers[powers < seen[row + 1]]
        rows, ends = np.append(rows, np.full(len(inside), row)), np.append(ends, inside)
    order = np.lexsort((ends, rows))
    rows, ends = rows[order], ends[order]
    cut = np.bincount(rows, minlength=len(weights))[rows] > 1
    # a difference of large sums would not be the weight of a row that is whole
    return rows, np.where(cut, np.diff(ends, prepend=before), weights[rows]), ends


def _octaves(seen: Numbers) -> NDArray[np.intp]:
    """Between which powers of two a weight is; below 1 all are the same."""
    found: NDArray[np.intp] = np.frexp(np.maximum(seen, 0.5))[1].astype(np.intp)
    return found
