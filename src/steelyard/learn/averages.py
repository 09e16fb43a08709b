"""Averages of the coefficients along the way, in which the time t counts as t^power.

The average of w up to the time T is w(T) − (1/T^power)·∫ t^power dw: what it lags behind. A model keeps that
integral as its `lag`, and a row that moves a few coefficients changes a few entries of it. So that the powers
stay within the range of float32, times are measured by a reference that grows as they do:

    lag = ∫ (t/R)^power dw,      average = w − lag·(R/T)^power

Time is the weight learned, the same for a row of weight h and for h copies of it. Along one example the
coefficients move first, then more slowly, the nearer the prediction comes to its label; the time of a move is
taken from how long it would have lasted at the speed it began with.
"""

from steelyard.numba_tools.jit import part

_BITS = 48  # of (t/R)^power, at most: beyond, the reference grows, and all lags are multiplied once


@part
def raised(base, power):
    """base^power, for a whole power."""
    result = 1.0
    while power > 0:
        if power & 1:
            result *= base
        base *= base
        power >>= 1
    return result


@part
def next_reference(reference, clock, h, power):
    """The reference for a row of weight h: the first weight, then larger as the clock runs ahead.

    It grows by powers of two, so that lags keep every bit.
    """
    if reference == 0.0:
        return h
    growth = 1.0 * (1 << max(_BITS // power, 1))
    while clock + h > growth * reference:
        reference *= growth
    return reference


@part
def time_weight(clock, reference, power, h, change, full_speed):
    """(t/R)^power in the middle of a move by `change`; `full_speed` is the change at its first speed."""
    lasted = h * min(abs(change), abs(full_speed)) / abs(full_speed) if full_speed != 0.0 else h
    return raised((clock + 0.5 * lasted) / reference, power)
