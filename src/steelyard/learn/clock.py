"""The clock of a model, and the numbers that change only when it reaches a whole number.

The clock is the weight learned so far: a whole number, CLOCK, and a FRACTION. One unit of it is an *epoch*.
Whatever would differ between a row of weight 2 and two rows of weight 1 changes when the clock reaches a whole
number, and at no other time: rates (see `epochs`), payments of L1 and L2, and here, when a *level of time*
begins (see `levels`):

- the push of an epoch, which follows the schedule,
- the time at which its moves count in averages,
- SEEN_START and NORM_START, of which the common factor of rates is made: √(seen/norm), where norm/seen is the
  mean norm of rows that have taught something,
- and, at powers of two, the factor for rare classes.

In kernels, `now` is the `state` of a model, and `moment` holds the constants of a level of time.
"""

import math
from dataclasses import astuple

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.averages import raise_to
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
from steelyard.learn.rare_classes import FACTOR, SECOND, WEIGHT, compiled_factor_for, count_class
from steelyard.losses import Loss, name_of
from steelyard.native.declare import helper, part
from steelyard.schedules import PowerDecay, rate

_rate = part(rate)

# The indices of `moment`. Constant within a level of time: the epoch at which it ends; the time of moves in
# averages; the push of a weight of 1. Constant for ever: two numbers of `slope_at`, the schedule, and the power
# of averages.
UNTIL, LATE, PUSHED, AT_REST, LOOKS, RATE, INITIAL_T, POWER_T, POWER, MOMENT_SIZE = range(10)

NOTHING = 1e-100  # smaller slopes count as 0, for labels with a spread of 1
EXACT_REST = 1e-12
_AT_REST = {"float32": 1e-6, "float64": EXACT_REST}
_NEAR_REST = 1e-3


def new_moment(loss: Loss, dtype: str, schedule: PowerDecay, power: int) -> NDArray[np.float64]:
    """Return the array `moment`, which `look_at_time` completes; `power` is that of averages, or 0."""
    moment = np.zeros(MOMENT_SIZE)
    moment[AT_REST] = _AT_REST[dtype]
    # the package's own losses are close to 0 where they rest; those of users may have any value
    moment[LOOKS] = _NEAR_REST if name_of(loss) else math.inf
    moment[RATE], moment[INITIAL_T], moment[POWER_T] = astuple(schedule)
    moment[POWER] = power
    return moment


@helper
def look_at_time(now, moment):
    """Fill in `moment` for the current level of time."""
    epoch = now[CLOCK]
    width = time_width(epoch)
    first = np.floor(epoch / width) * width
    time = first + 0.5 * width
    moment[UNTIL] = first + width
    moment[LATE] = late_at(time, now, moment)
    moment[PUSHED] = _rate(moment[RATE], moment[INITIAL_T], moment[POWER_T], time - 0.5)


@part
def late_at(time, now, moment):
    """Return (t/R)^power, by which moves at this time count in averages: τ of `shrinkage`."""
    return raise_to(time / now[REFERENCE], np.int64(moment[POWER])) if moment[POWER] > 0.0 else 0.0


@part
def count_part(label_state, class_state, y, share, weight):
    """Count this weight of a row in the unit of the labels and in the weights of the classes."""
    count_label(label_state, y, weight)
    count_class(class_state, share, weight)


@part
def advance(now, moment, class_state, weight):
    """Move the clock; returns whether it has reached a whole number, and so an epoch has ended."""
    if tick(now, weight) == 0.0:
        return False
    now[STEEPEST] = 0.0
    if now[CLOCK] >= moment[UNTIL]:
        begin_level(now, moment, class_state)
    return True


@helper
def begin_level(now, moment, class_state):
    now[SEEN_START], now[NORM_START] = now[SEEN], now[NORM]
    if len(class_state) > 0 and octave(now[CLOCK]) > octave(moment[UNTIL] - 1.0):
        class_state[FACTOR] = compiled_factor_for(class_state[WEIGHT], class_state[SECOND])
    look_at_time(now, moment)


@part
def count_norm(now, q, change, speed):
    """Count Σz² = q of a row with the weight ∫ |ℓ′|, which adds up over parts of the row.

    As dp/du = −ℓ′, that is the distance that the prediction has moved, divided by its speed for a slope of 1.
    """
    taught = abs(change) / speed if speed > 0.0 else 0.0
    now[SEEN] += taught
    now[NORM] += taught * q


@part
def common_factor(now, q, typical):
    """Return √(seen/norm), with the present row added as one of a typical slope."""
    norm = now[NORM_START] + typical * q
    return math.sqrt((now[SEEN_START] + typical) / norm) if norm > 0.0 else 1.0


@part
def slope_at(p, still, y, loss, unit, moment, derivative):
    """Return ℓ′, or 0 if the flow of the prediction has arrived where it rests, up to rounding, as at a kink.

    `still`, the bias and the offset, is the part of p that is known in float64. `loss` is ℓ: a convex loss that
    is 0 at rest is at least ℓ/|ℓ′| away from there, so few predictions need a closer look.
    """
    slope = derivative(p, y)
    size = unit + abs(p - still)
    if abs(slope) <= NOTHING * unit:  # vectorised losses are less exact there
        return 0.0
    if loss > moment[LOOKS] * size * abs(slope):
        return slope
    near = moment[AT_REST] * size + EXACT_REST * abs(p)
    return slope if derivative(p - math.copysign(near, slope), y) * slope > 0.0 else 0.0
