"""The rates of features within an epoch, and how many epochs join as rates stay the same (see `epochs`)."""

import math

import numpy as np

from steelyard.learn.levels import from_bits, level_of, level_start, to_bits
from steelyard.learn.linear import BIAS_SQUARES, STEEPEST
from steelyard.learn.rows import LARGEST, SMALLEST
from steelyard.native.declare import part

_TRIALS = 8  # searches for how many epochs can join
HEAVY, _SHARE = (
    1e11,
    1e-3,
)  # from this clock on, a step takes at least this share of a weight, so that it ends


@part
def fill_moves(count, z, g, steepest, scale, counts, moves, typed):
    """Write z times its rate into `moves`, leaving out the factor that all rates have in common."""
    typed[0], typed[1], typed[2], typed[3] = SMALLEST, LARGEST, min(scale * steepest, LARGEST), scale
    smallest, largest, steep, scale_typed = typed[0], typed[1], typed[2], typed[3]
    for k in range(count):
        square = z[k] * z[k]
        m = min(square, abs(z[k])) if counts else square
        total = scale_typed * z.dtype.type(g[k]) + m * steep
        moves[k] = z[k] / np.sqrt(level_of(min(max(total, smallest), largest)))


@part
def bias_level(now, steepest, scale):
    return level_of(min(max(scale * (now[BIAS_SQUARES] + steepest), SMALLEST), LARGEST))


@part
def level_bounds(count, z, g, now, scale, bias_value, counts, typed):
    """Return the bounds of A + ℓ′² between which all rates keep their levels; neither is negative.

    The search compares bits, which are in the same order: loops over floats would not be vectorised.
    """
    typed[0], typed[1], typed[2] = SMALLEST, LARGEST, min(scale * now[STEEPEST], LARGEST)
    typed[3], typed[4] = scale, np.inf
    smallest, largest, steep, scale_typed, every = typed[0], typed[1], typed[2], typed[3], typed[4]
    none = z.dtype.type(0.0)
    low, high = to_bits(none), to_bits(every)
    for k in range(count):
        square = z[k] * z[k]
        m = min(square, abs(z[k])) if counts else square
        base = scale_typed * z.dtype.type(g[k])
        middle = level_of(min(max(base + m * steep, smallest), largest))
        start = level_start(middle)
        end = middle + (middle - start) if m > smallest else every
        start = start if (m > smallest) & (start > smallest) else none
        divisor = max(m, smallest)
        low = max(low, to_bits(max(start - base, none) / divisor))
        high = min(high, to_bits(max(end - base, none) / divisor))
    least, most = np.float64(from_bits(low)) / scale, np.float64(from_bits(high)) / scale
    if bias_value > 0.0:
        middle_64 = bias_level(now, now[STEEPEST], scale)
        start_64 = level_start(middle_64)
        least = max(least, start_64 / scale - now[BIAS_SQUARES])
        most = min(most, (middle_64 + (middle_64 - start_64)) / scale - now[BIAS_SQUARES])
    return least, most


@part
def gain_of(before, after, weight, speed, slope, p, change, y, derivative):
    """Return ∫ ℓ′² over a part of a row that moves p by `change`.

    As dℓ/du = −ℓ′², it is the drop of the loss divided by the speed. A drop that rounding has swallowed is taken
    from the slope halfway, where there is no kink.
    """
    drop = before - after
    if drop < 1e-5 * abs(before):
        drop = abs(change) * abs(derivative(p + 0.5 * change, y))
    most = weight * slope * slope
    return min(drop / speed if speed > 0.0 else most, most, LARGEST)


@part
def count_joining(p, y, before, slope, speed, low, high, most, heavy, step, value, derivative):
    """Return how many epochs from here on can be one step: at most `most`, and at times fewer than possible.

    As ℓ′² falls, A grows no faster than at the last trial that was fine: that bounds the next trial.
    """
    square = slope * slope
    fine, gain, later = max(np.floor(_SHARE * most), 1.0) if heavy else 1.0, 0.0, square
    if not (low < np.inf and high > -np.inf):  # numbers are out of range
        return most  # pragma: no cover
    bad = most + 1.0
    for _ in range(_TRIALS):
        more = np.floor((high - square - gain) / later) if later > 0.0 else np.inf
        trial = min(fine + more, bad - 1.0)
        if bad <= most:  # ℓ′² falls too far by then
            trial = min(trial, np.floor(math.sqrt(fine * bad)))
        if not trial > fine:
            break
        change = step(p, y, speed * (trial - 1.0))
        after, end = value(p + change, y), derivative(p + change, y)
        grown = gain_of(before, after, trial - 1.0, speed, slope, p, change, y, derivative)
        if 2.0 * end * end >= low and square + grown < high:
            few = trial - fine <= 0.25 * fine
            fine, gain, later = trial, grown, end * end
            if few:
                break
        else:
            bad = trial
    return fine
