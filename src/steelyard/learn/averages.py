"""Averages of the coefficients along the way, in which the time t counts as t^power.

The average of w up to the time T is w(T) − (1/T^power)·∫ t^power dw: what it lags behind. A model keeps that
integral as its `lag`, and a row that moves a few coefficients changes a few entries of it. So that the powers
stay within the range of float32, times are measured by a reference that grows as they do:

    lag = ∫ (t/R)^power dw,      average = w − lag·(R/T)^power

Time is the weight learned, the same for a row of weight h and for h copies of it. The time of a move is that
of its epoch (see `clock`).
"""

import math

from steelyard.native.declare import part

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
def lasts_until(reference, power):
    """Up to which clock times can be measured by this reference."""
    return 1.0 * (1 << max(_BITS // power, 1)) * reference if power > 0 else math.inf


@part
def next_reference(reference, clock, power):
    """The reference for times up to this clock: 1, then larger as the clock runs ahead.

    It grows by powers of two, so that lags keep every bit.
    """
    reference = max(reference, 1.0)
    while clock > lasts_until(reference, power):
        reference = lasts_until(reference, power)
    return reference
