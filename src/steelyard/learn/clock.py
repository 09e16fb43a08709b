"""The clock of a model, and what stands still while it runs to the next whole number.

The clock is the weight learned so far: a whole number, CLOCK, and a FRACTION. One unit of it is an *epoch*.
Whatever would not be the same for a row of weight 2 and two of weight 1 changes when the clock reaches a
whole number, and at no other time: rates (see `epochs`), payments of L1 and L2, and here, when a *level of
time* begins (see `levels`):

- the push of an epoch, which follows the schedule,
- the time at which its moves count in averages,
- what the common factor of rates is made of, √(seen/norm): the mean norm of rows that have taught something,
- and, at powers of two, the factor for rare classes.
"""

import math
from dataclasses import astuple

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.averages import raised
from steelyard.learn.class_steps import SECOND, STEPS, WEIGHT, count_class, steps_for
from steelyard.learn.label_units import count_label
from steelyard.learn.levels import octave, time_width
from steelyard.learn.linear import (
    CLOCK,
    NORM,
    NORM_START,
    REFERENCE,
    SEEN,
    SEEN_START,
    STEEPEST,
    tick,
)
from steelyard.losses import Loss, name_of
from steelyard.native.declare import helper, part
from steelyard.schedules import PowerDecay, rate

_rate = part(rate)

# What is the same throughout a level of time: until which epoch; how late moves are for averages; the push of
# a weight of 1. And what always is the same: two numbers of `slope_at`, the schedule, and a factor of its
# rates, and the power of averages.
UNTIL, LATE, PUSHED, AT_REST, LOOKS, RATE, INITIAL_T, POWER_T, POWER, MOMENT_SIZE = range(10)

NOTHING = 1e-100  # slopes so small, for labels with a spread of 1, are 0
EXACT_REST = 1e-12
_AT_REST = {"float32": 1e-6, "float64": EXACT_REST}
_NEAR_REST = 1e-3


def new_moment(loss: Loss, dtype: str, schedule: PowerDecay, power: int) -> NDArray[np.float64]:
    """The array of a moment, of which `look_at_time` fills in the rest; `power` is that of averages, or 0."""
    moment = np.zeros(MOMENT_SIZE)
    moment[AT_REST] = _AT_REST[dtype]
    # our own losses are next to 0 where they rest; those of others may be anything
    moment[LOOKS] = _NEAR_REST if name_of(loss) else math.inf
    moment[RATE], moment[INITIAL_T], moment[POWER_T] = astuple(schedule)
    moment[POWER] = power
    return moment


@helper
def look_at_time(now, moment):
    """Fill in `moment` for the level of time that it is."""
    epoch = now[CLOCK]
    width = time_width(epoch)
    first = np.floor(epoch / width) * width
    time = first + 0.5 * width
    moment[UNTIL] = first + width
    moment[LATE] = late_at(time, now, moment)
    moment[PUSHED] = _rate(moment[RATE], moment[INITIAL_T], moment[POWER_T], time - 0.5)


@part
def late_at(time, now, moment):
    """How late a time is for averages: τ of `shrinkage`."""
    return raised(time / now[REFERENCE], np.int64(moment[POWER])) if moment[POWER] > 0.0 else 0.0


@part
def count_part(known, seen, y, share, weight):
    """Count so much of a row."""
    count_label(known, y, weight)
    count_class(seen, share, weight)


@part
def advance(now, moment, seen, weight):
    """Move the clock; returns whether it has reached a whole number."""
    if tick(now, weight) == 0.0:
        return False
    now[STEEPEST] = 0.0
    if now[CLOCK] >= moment[UNTIL]:
        begin_level(now, moment, seen)
    return True


@helper
def begin_level(now, moment, seen):
    now[SEEN_START], now[NORM_START] = now[SEEN], now[NORM]
    if len(seen) > 0 and octave(now[CLOCK]) > octave(moment[UNTIL] - 1.0):
        seen[STEPS] = steps_for(seen[WEIGHT], seen[SECOND])
    look_at_time(now, moment)


@part
def count_norm(now, q, change, speed):
    """Count Σz² = q of a row as often as it teaches something: by ∫ |ℓ′|, which adds up over parts.

    As dp/du = −ℓ′, that is how far the prediction has moved, divided by its speed for a slope of 1.
    """
    taught = abs(change) / speed if speed > 0.0 else 0.0
    now[SEEN] += taught
    now[NORM] += taught * q


@part
def common_factor(now, q, typical):
    """√(seen/norm), with the present row added as one of a typical slope."""
    norm = now[NORM_START] + typical * q
    return math.sqrt((now[SEEN_START] + typical) / norm) if norm > 0.0 else 1.0


@part
def slope_at(p, still, y, loss, unit, moment, derivative):
    """ℓ′, and 0 for a prediction that has all but arrived where its flow comes to rest, as at a kink.

    What counts as arrived is what rounding does to p: of it, `still` is known in float64, the bias and the
    offset. `loss` is ℓ: a convex loss that is 0 at rest is no nearer to it than ℓ/|ℓ′|, so few need a closer look.
    """
    slope = derivative(p, y)
    size = unit + abs(p - still)
    if abs(slope) <= NOTHING * unit:  # of which vectorised losses know less than others
        return 0.0
    if loss > moment[LOOKS] * size * abs(slope):
        return slope
    near = moment[AT_REST] * size + EXACT_REST * abs(p)
    return slope if derivative(p - math.copysign(near, slope), y) * slope > 0.0 else 0.0
