"""Units and origins of features, learned from the rows as they come: x becomes z = (x − origin)/unit.

The unit of a feature depends on its values so far. Multiplying all of them by a number changes nothing:

- Counts: as long as all values are whole multiples of one number, at most `MOST` times, that number is the
  unit. One document that says a word ten times does not make the steps of this word small for ever.
- All other features are measured by their largest |value|, so |z| ≤ 1.
- Features that first occur in a row of length 1, such as tf-idf, have the unit 1: these columns already share
  a scale, and rescaling each would undo that.
- Columns of numbers: a feature that has been in every row, and whose value has changed `CHANGES` times, is
  measured from its first value, and its unit is the largest distance from there.

A model keeps its coefficients v in these units: its prediction is Σ v·z. When the unit of a feature changes,
`new_unit` gives the factors of v and of its sum of squares. Where a value is larger than ever, the coefficient
of the raw value shrinks, and one enormous value does not make an enormous prediction.

Only rows that teach the model something change units, and copies of a row change nothing more. A unit is
stored with a sign: positive for counts, negative for others, 0 for a feature that was not seen.
"""

import math

import numpy as np

from steelyard.learn.rows import LARGEST
from steelyard.native.declare import part

MOST = 16.0  # the largest count, in units of the feature
# A feature whose values are no larger than this counts as 0: its coefficient would leave the range of float32.
TINIEST = 1e-30

NEAR = 1e-5  # how far from a whole number a multiple may be
_LEAST_GAIN = 1e-300
_NEAR_1 = 1e-4  # how far from 1 the sum of squares of a row of length 1 may be, in float32


@part
def divide(count, pairs, x, v, units, z, typed):
    """Take coefficients and units of a row out of their pairs, and divide: z = x/unit.

    z is 0 where a feature is new, or where its values are too tiny to count.
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
    """Return whether some feature of a row is new, or has a value that does not fit its unit."""
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
def scaled_gain(gained, factor):
    """Return the gain of a feature in an open epoch after its unit changes: never 0, as the feature is listed."""
    return max(gained * factor, _LEAST_GAIN) if gained > 0.0 else 0.0


@part
def has_length_1(start, end, values):
    """Return whether a row has length 1."""
    squares = 0.0
    for j in range(start, end):
        squares += values[j] * values[j]
    return abs(squares - 1.0) <= _NEAR_1


@part
def change_units(count, x, z, v, g, fresh, units, lags, flags, places, length_1, typed):
    """Give features whose values do not fit another unit.

    `g` are their sums of squares, `fresh` their gains in an open epoch (see `epochs`). Most of them are new or
    larger than ever, and change all at once; counts that do not fit are rare, and change one by one.
    """
    _flag_counts(count, units, z, flags, typed)
    _enlarge(count, x, z, g, fresh, units, length_1, typed)
    for m in range(_flagged(count, flags, places)):
        k = places[m]
        unit, scale, square = new_unit(x[k], units[k], length_1)
        units[k] = unit
        v[k] *= scale
        lags[k] *= scale
        g[k] = min(g[k] * square, LARGEST)
        fresh[k] = scaled_gain(fresh[k], square)
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
    """List the indices that are flagged; returns how many."""
    found = np.uint64(0)
    for k in range(count):
        places[found] = k
        found += np.uint64(flags[k])
    return found


@part
def _enlarge(count, x, z, g, fresh, units, length_1, typed):
    """Do what `new_unit` and `standard` do for features that are new, or measured by their largest value."""
    typed[0], typed[1], typed[2] = TINIEST, 0.0, 1.0
    tiniest, zero, one = typed[0], typed[1], typed[2]
    for k in range(count):
        size, unit = abs(x[k]), units[k]
        old = abs(unit)
        new = (old <= tiniest) & (size > zero)
        larger = (unit < -tiniest) & (abs(z[k]) > one)
        shrink = np.float64(old / size) ** 2 if larger else 1.0
        g[k] = min(g[k] * shrink, LARGEST)
        fresh[k] = scaled_gain(fresh[k], shrink)
        shared = new & length_1 & (size > tiniest) & (size < one)
        sign = math.copysign(one, x[k]) if size > tiniest else zero
        z[k] = sign if new | larger else z[k]
        z[k] = x[k] if shared else z[k]
        unit = -size if larger else unit
        unit = size if new else unit
        units[k] = -one if shared else unit


@part
def fits(x, unit, z):
    """Return whether the value of one feature fits its unit."""
    own = abs(z)
    if abs(unit) <= TINIEST:
        return x == 0.0
    if unit > 0.0:
        return own <= MOST and abs(own - np.int64(own + 0.5)) <= NEAR * own
    return own <= 1.0


@part
def new_unit(x, unit, length_1):
    """Return the unit for a value that does not fit, and the factors of the coefficient and of its squares."""
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
    """Return the least d for which the value is a whole multiple of unit/d, at most `MOST` times; 0 for none."""
    for divisor in range(1, int(MOST) + 1):
        times = multiple * divisor
        if times > MOST * (1.0 + NEAR):
            return 0
        if abs(times - np.int64(times + 0.5)) <= NEAR * times:
            return divisor
    return 0


@part
def standard(x, unit):
    """Return z of one value."""
    return x / abs(unit) if abs(unit) > TINIEST else 0.0
