"""Query probabilities of whole columns, and the bound b with which so many would be asked for."""

import math

import numpy as np

from steelyard.numba_tools.jit import kernel, part

LARGEST = 1e300  # beyond which 4·c₂·K would overflow


@part
def probability(g, b, c1, c2):
    """The root of G = (c₁/√P − c₁ + 1)·√b + (c₂/P − c₂ + 1)·b, or 1 for G up to √b + b."""
    root = math.sqrt(b)
    if g <= root + b:
        return 1.0
    if g == np.inf:
        return 0.0
    k = min(g + (c1 - 1.0) * root + (c2 - 1.0) * b, LARGEST)
    s = (c1 + math.sqrt(c1 * c1 + 4.0 * c2 * k)) / (2.0 * k)
    return min(b * s * s, 1.0)


@kernel
def fill(confidences, bounds, c1, c2, out):
    """out = P, one by one; an infinite bound is never exceeded."""
    for row in range(len(out)):
        out[row] = probability(confidences[row], bounds[row], c1, c2)


@kernel
def bound_for(share, confidences, least, c1, c2, low, high, halvings):
    """The b with which this share of all would be asked for, between e^low and e^high.

    A probability below `least` counts as that.
    """
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        b = math.exp(middle)
        total = 0.0
        for g in confidences:
            total += max(probability(g, b, c1, c2), least)
        if total < share * len(confidences):
            low = middle
        else:
            high = middle
    return math.exp(high)
