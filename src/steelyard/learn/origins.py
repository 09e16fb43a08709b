"""Columns of numbers: features that are measured from an origin, and candidates for one (see `units`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.linear import BIAS, BIAS_LAG, L1_LAG, L1_TOTAL, PAYMENTS, SCALE, SCALE_LAG, soft
from steelyard.learn.shrinkage import lag_of_payment
from steelyard.learn.units import TINIEST, scaled_gain
from steelyard.native.declare import part

CHANGES = 16  # the value of a column changes so often before it gets an origin

# The columns of `candidates`: a feature that may yet get an origin, its first and its last value, its largest
# distance from the first, and how often it has changed.
INDEX, FIRST, LAST, FARTHEST, CHANGED, CANDIDATE_SIZE = range(6)

MARKS = 4096  # so few fit the L1 cache


@part
def move_origins(
    start, end, base, indices, values, dense, pairs, sums, gained, origins, columns, candidates, counts,
    l1_applied, l1_lags, payments, now,
):  # fmt: skip
    """Give candidates that are ready their origins and adapt the bias to these; drop those that are absent."""
    kept = place = np.int64(0)
    for c in range(counts[1]):
        i = np.int64(candidates[c, INDEX])
        at = find(i, place, start, end, base, indices, dense)
        if at < 0 or values[start + np.uint64(at)] == 0.0:
            continue
        place = at + 1
        if not look_at(candidates, c, kept, values[start + np.uint64(at)]):
            kept += 1
            continue
        origin, farthest = candidates[kept, FIRST], candidates[kept, FARTHEST]
        unit = abs(pairs[i].imag)
        v, lag = pairs[i].real, sums[i].imag
        if len(l1_lags) > 0:
            lag -= lag_of_payment(
                v, l1_applied[i], l1_lags[i], now[L1_TOTAL], now[L1_LAG], payments, np.int64(now[PAYMENTS])
            )
            l1_lags[i] = now[L1_LAG]
        if len(l1_applied) > 0:
            v = soft(v, now[L1_TOTAL] - l1_applied[i])
            l1_applied[i] = now[L1_TOTAL]
        longer = farthest / unit if unit > 0.0 else 0.0  # 0: no row has taught anything yet
        now[BIAS] += now[SCALE] * v * (origin / farthest * longer)
        now[BIAS_LAG] += (lag - now[SCALE_LAG] * v) * (origin / farthest * longer)
        pairs[i] = complex(v * longer, -farthest)
        sums[i] = complex(0.0, lag * longer)
        if len(gained) > 0:
            gained[i] = scaled_gain(gained[i], 0.0)
        origins[i] = origin
        columns[counts[0]] = i
        counts[0] += 1
    forget(candidates, kept, counts[1])
    counts[1] = kept


@part
def find(candidate, place, start, end, base, indices, dense):
    """Return the index of a candidate within the row, or -1 if it is absent.

    Rows and candidates are in the same order, or nearly so: the search begins at `place`, behind the last one.
    """
    count = np.int64(end - start)
    if dense:
        return candidate
    for step in range(count):
        at = place + step
        at = at if at < count else at - count
        if np.int64(indices[np.int64(start - base) + at]) == candidate:
            return at
    return -1


@part
def look_at(candidates, c, kept, x):
    """Store the value of a candidate at index `kept`; returns whether it gets its origin now."""
    origin = candidates[c, FIRST]
    changed = candidates[c, CHANGED] + (1.0 if x != candidates[c, LAST] else 0.0)
    farthest = max(candidates[c, FARTHEST], abs(x - origin))
    candidates[kept, INDEX], candidates[kept, FIRST], candidates[kept, LAST] = candidates[c, INDEX], origin, x
    candidates[kept, FARTHEST], candidates[kept, CHANGED] = farthest, changed
    return changed >= CHANGES


@part
def forget(candidates, kept, count):
    """Clear the candidates that are not kept."""
    for c in range(kept, count):
        candidates[c, :] = 0.0


@part
def note_columns(columns, count, marks):
    """Mark the features that may have an origin: for most of them, none is looked up."""
    for c in range(count):
        marks[np.uint64(columns[c]) & np.uint64(MARKS - 1)] = 1


def candidates(features: NDArray[Any], values: NDArray[Any], units: NDArray[Any]) -> NDArray[np.float64]:
    """Return the candidates for an origin: the features of the first row, unless their units are fixed."""
    usable = (np.abs(values) > TINIEST) & (units[features] == 0.0)
    found = np.zeros((np.count_nonzero(usable), CANDIDATE_SIZE))
    found[:, INDEX] = features[usable]
    found[:, FIRST] = found[:, LAST] = values[usable]
    return found
