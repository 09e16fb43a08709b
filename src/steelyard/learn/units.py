"""Units and origins of features, learned from the rows as they come: x becomes z = (x − origin)/unit.

The unit of a feature depends on its values so far, and multiplying all of them by a number changes nothing:

- Counts: as long as all values are whole multiples of one number, at most `MOST` times, that number is the
  unit. One document that says a word ten times does not make the steps of this word small for ever.
- All other features are measured by their largest |value|, so |z| ≤ 1.
- Rows of length 1, as tf-idf has them, bring the unit 1 for features that they are the first to have: their
  values have been made comparable, and a unit for each feature would undo that.
- Columns of numbers: a feature that was in every row since the first, and whose value has changed `CHANGES`
  times, is measured from its first value, and its unit is the largest distance from there.

A model keeps its coefficients v in these units: its prediction is Σ v·z. When the unit of a feature changes,
`new_unit` says what v and its sum of squares are to be multiplied by. Where a value is larger than ever, the
coefficient of the raw value shrinks, and one enormous value does not make an enormous prediction.

Units change in rows that teach the model something, no others. Copies of a row change nothing more. A unit is
stored with its sign: positive for counts, negative for others, 0 for a feature that was not seen.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.rows import LARGEST
from steelyard.numba_tools.jit import part

MOST = 16.0  # counts of a feature, in its unit
CHANGES = 16  # of the value of a column, before it gets an origin

# The columns of `candidates`: features that may yet get an origin, and what is known of their values
INDEX, FIRST, LAST, FARTHEST, CHANGED, CANDIDATE_SIZE = range(6)

MARKS = 4096  # few enough for the L1 cache

# A feature whose values were never larger counts as 0: its coefficient would leave the range of float32.
TINIEST = 1e-30

NEAR = 1e-5  # how far from a whole number a multiple may be
_NEAR_1 = 1e-4  # how far from 1 the sum of squares of a row of length 1 may be, in float32


@part
def divide(count, pairs, x, v, units, z, typed):
    """Of a row: coefficients and units out of their pairs, and z = x/unit.

    z is 0 where a feature is new, or its values so tiny that they do not count.
    """
    typed[0], typed[1] = TINIEST, 0.0
    tiniest, zero = typed[0], typed[1]
    for k in range(count):
        coefficient, unit = pairs[k].real, pairs[k].imag
        size = abs(unit)
        own = x[k] / max(size, tiniest)
        z[k] = own if size > tiniest else zero
        v[k] = coefficient
        units[k] = unit


@part
def any_misfit(count, x, units, z, typed):
    """Whether, in a row, a feature is new, or its value does not fit its unit."""
    typed[0], typed[1], typed[2], typed[3], typed[4] = 0.5, MOST, 1.0, NEAR, TINIEST
    half, most, one, near, tiniest = typed[0], typed[1], typed[2], typed[3], typed[4]
    misfits = np.uint32(0)
    for k in range(count):
        own, size = abs(z[k]), abs(x[k])
        counted = units[k] > tiniest
        limit = most if counted else one
        slack = near * own if counted else one
        apart = abs(own - np.float32(np.int32(own + half)))
        limit = limit if abs(units[k]) > tiniest else -size
        misfits |= np.uint32(own > limit)
        misfits |= np.uint32(apart > slack)
    return misfits > 0


@part
def has_length_1(start, end, values):
    """Whether a row has been brought to length 1."""
    squares = 0.0
    for j in range(start, end):
        squares += values[j] * values[j]
    return abs(squares - 1.0) <= _NEAR_1


@part
def change_units(count, x, z, v, g, units, lags, flags, places, length_1, typed):
    """Give features of a row whose values do not fit another unit.

    Most of them are new or larger than ever, and change all at once; counts that do not fit are seldom, and
    change one by one.
    """
    _flag_counts(count, units, z, flags, typed)
    _enlarge(count, x, z, g, units, length_1, typed)
    for m in range(_flagged(count, flags, places)):
        k = places[m]
        unit, scale, square = new_unit(x[k], units[k], length_1)
        units[k] = unit
        v[k] *= scale
        lags[k] *= scale
        g[k] = min(g[k] * square, LARGEST)
        z[k] = standard(x[k], unit)


@part
def _flag_counts(count, units, z, flags, typed):
    """Flag the values that do not fit a unit of counts."""
    typed[0], typed[1], typed[2], typed[3] = 0.5, MOST, NEAR, TINIEST
    half, most, near, tiniest = typed[0], typed[1], typed[2], typed[3]
    for k in range(count):
        own = abs(z[k])
        apart = abs(own - np.float32(np.int32(own + half)))
        misfit = np.uint32(own > most) | np.uint32(apart > near * own)
        flags[k] = np.uint32(units[k] > tiniest) & misfit


@part
def _flagged(count, flags, places):
    """List the places that are flagged; returns how many."""
    found = np.uint64(0)
    for k in range(count):
        places[found] = k
        found += np.uint64(flags[k])
    return found


@part
def _enlarge(count, x, z, g, units, length_1, typed):
    """As `new_unit` and `standard`, of features that are new, or measured by their largest value."""
    typed[0], typed[1], typed[2] = TINIEST, 0.0, 1.0
    tiniest, zero, one = typed[0], typed[1], typed[2]
    for k in range(count):
        size, unit = abs(x[k]), units[k]
        old = abs(unit)
        new = (old <= tiniest) & (size > zero)
        larger = (unit < -tiniest) & (abs(z[k]) > one)
        g[k] = min(g[k] * (old / size) ** 2, LARGEST) if larger else g[k]
        shared = new & length_1 & (size > tiniest) & (size < one)
        sign = math.copysign(one, x[k]) if size > tiniest else zero
        z[k] = sign if new | larger else z[k]
        z[k] = x[k] if shared else z[k]
        unit = -size if larger else unit
        unit = size if new else unit
        units[k] = -one if shared else unit


@part
def fits(x, unit, z):
    """The same for one feature."""
    own = abs(z)
    if abs(unit) <= TINIEST:
        return x == 0.0
    if unit > 0.0:
        return own <= MOST and abs(own - np.int64(own + 0.5)) <= NEAR * own
    return own <= 1.0


@part
def new_unit(x, unit, length_1):
    """For a value that does not fit: the unit, and the factors of the coefficient and of its squares."""
    size, old = abs(x), abs(unit)
    if old <= TINIEST:
        return (-1.0 if length_1 and TINIEST < size < 1.0 else size), 1.0, 1.0
    if unit > 0.0:
        divisor = _divisor(size / old)
        if divisor > 0:
            return old / divisor, 1.0 / divisor, 1.0 * divisor
        new = max(size, old)
        return -new, new / old * min(1.0, MOST * old / size), (old / new) ** 2
    return -size, 1.0, (old / size) ** 2


@part
def _divisor(multiple):
    """The least d for which the value is a whole multiple of unit/d, at most `MOST` times; 0 for none."""
    for divisor in range(1, int(MOST) + 1):
        times = multiple * divisor
        if times > MOST * (1.0 + NEAR):
            return 0
        if abs(times - np.int64(times + 0.5)) <= NEAR * times:
            return divisor
    return 0


@part
def standard(x, unit):
    """z of one value."""
    return x / abs(unit) if abs(unit) > TINIEST else 0.0


@part
def find(candidate, place, start, end, base, indices, dense):
    """Where in the row a candidate is; -1 if it is absent. `place` is where the last one was.

    Rows and candidates are in the same order, or nearly so: the search goes on from there.
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
    """Note the value of a candidate, and keep it; returns whether it shall have its origin now."""
    origin = candidates[c, FIRST]
    changed = candidates[c, CHANGED] + (1.0 if x != candidates[c, LAST] else 0.0)
    farthest = max(candidates[c, FARTHEST], abs(x - origin))
    candidates[kept, INDEX], candidates[kept, FIRST], candidates[kept, LAST] = candidates[c, INDEX], origin, x
    candidates[kept, FARTHEST], candidates[kept, CHANGED] = farthest, changed
    return changed >= CHANGES


@part
def forget(candidates, kept, count):
    """Those that are not kept leave nothing behind."""
    for c in range(kept, count):
        candidates[c, :] = 0.0


@part
def note_columns(columns, count, marks):
    """Mark which features may have an origin: most have none, and need not look for theirs."""
    for c in range(count):
        marks[np.uint64(columns[c]) & np.uint64(MARKS - 1)] = 1


def candidates(features: NDArray[Any], values: NDArray[Any], units: NDArray[Any]) -> NDArray[np.float64]:
    """The columns that may get an origin: those of the first row, unless their units are known."""
    usable = (np.abs(values) > TINIEST) & (units[features] == 0.0)
    found = np.zeros((np.count_nonzero(usable), CANDIDATE_SIZE))
    found[:, INDEX] = features[usable]
    found[:, FIRST] = found[:, LAST] = values[usable]
    return found
