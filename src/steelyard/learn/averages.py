"""Averages of the coefficients along the way, in which the time t counts as t^power.

The average of w up to the time T is w(T) − (1/T^power)·∫ t^power dw: it lags behind w by the second term. A
model keeps that integral as its `lag`, and a row that moves a few coefficients changes a few entries of it.
Times are divided by a reference R that grows with them, so that the powers stay within the range of float32:

    lag = ∫ (t/R)^power dw,      average = w − lag·(R/T)^power

Time is the weight learned, the same for a row of weight h and for h copies of it. The time of a move is that
of its epoch (see `clock`).
"""

import math

from steelyard.native.declare import part

_BITS = 48  # the most of (t/R)^power; beyond that the reference grows, and all lags are multiplied once


@part
def raise_to(base, power):
    """Compute base^power, for a whole power."""
    result = 1.0
    while power > 0:
        if power & 1:
            result *= base
        base *= base
        power >>= 1
    return result


@part
def lasts_until(reference, power):
    """Return the clock up to which this reference serves."""
    return 1.0 * (1 << max(_BITS // power, 1)) * reference if power > 0 else math.inf


@part
def next_reference(reference, clock, power):
    """Return the reference for times up to this clock: at least 1, and growing by powers of two.

    Multiplied by powers of two, lags keep every bit.
    """
    reference = max(reference, 1.0)
    while clock > lasts_until(reference, power):
        reference = lasts_until(reference, power)
    return reference
