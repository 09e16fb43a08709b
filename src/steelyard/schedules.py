"""Learning rates over weighted time.

The clock t counts weight, not examples: an example of weight h moves the clock from t to t + h and gets the
integral of the rate over that stretch, as h copies would. (With a rate for each feature, the rate is constant
within each unit of the clock: see `learn.clock`.)
"""

import math
from dataclasses import dataclass

from steelyard._field_types import is_number
from steelyard._parameters import Message, bare
from steelyard.losses import LARGEST_EXPONENT

AUTO = "auto"  # a learning rate that is found out: several rates learn side by side (see `engine.auto_rate`)


def rate(learning_rate: float, initial_t: float, power_t: float, t: float) -> float:
    return learning_rate * math.pow(initial_t / (t + initial_t), power_t)


def integral(learning_rate: float, initial_t: float, power_t: float, t: float, h: float) -> float:
    if power_t == 0.0:
        return learning_rate * h
    start = t + initial_t
    log_growth = math.log1p(h / start)
    exponent = (1.0 - power_t) * log_growth
    ratio = math.expm1(exponent) / exponent if exponent != 0.0 else 1.0
    return rate(learning_rate, initial_t, power_t, t) * start * log_growth * ratio


def frozen(learning_rate: float, initial_t: float, power_t: float, t: float, h: float) -> float:
    return rate(learning_rate, initial_t, power_t, t) * h


@dataclass(frozen=True)
class PowerDecay:
    """η(t) = learning_rate · (initial_t / (t + initial_t))^power_t.

    >>> schedule = PowerDecay(learning_rate=0.5, initial_t=1.0, power_t=0.5)
    >>> schedule.rate(3.0)
    0.25
    >>> schedule.integral(0.0, 3.0)
    1.0
    """

    learning_rate: float = 0.5
    initial_t: float = 1.0
    power_t: float = 0.5

    def __post_init__(self) -> None:
        for name, must in (
            ("learning_rate", "positive"),
            ("initial_t", "positive"),
            ("power_t", "0 or more"),
        ):
            given = getattr(self, name)
            if not is_number(given):
                raise TypeError(f"{name} must be a number; got {given!r}")
            if not 0.0 <= given < math.inf or (given == 0.0 and must == "positive"):
                raise ValueError(Message(bare(name), f" must be a finite number, {must}; got {given!r}"))

    def rate(self, t: float) -> float:
        """η(t)."""
        return rate(self.learning_rate, self.initial_t, self.power_t, t)

    def integral(self, t: float, h: float) -> float:
        """∫ η from t to t + h, accurate also for tiny h and for powers near 1."""
        return integral(self.learning_rate, self.initial_t, self.power_t, t, h)

    def frozen(self, t: float, h: float) -> float:
        """h·η(t): the integral if the rate stayed as it is at t, as the explicit update takes it."""
        return frozen(self.learning_rate, self.initial_t, self.power_t, t, h)

    def importance(self, t: float, integral: float) -> float:
        """The h with `integral(t, h) == integral`; infinite if the rates never add up to it."""
        if self.power_t == 0.0:
            return integral / self.learning_rate
        start = t + self.initial_t
        scale = self.rate(t) * start
        power = 1.0 - self.power_t
        if integral == 0.0:
            return 0.0
        if scale == 0.0 or power * integral <= -scale:
            return math.inf
        needed = integral / scale
        log_growth = math.log1p(power * needed) / power if power != 0.0 else needed
        return start * math.expm1(log_growth) if log_growth < LARGEST_EXPONENT else math.inf

    def frozen_importance(self, t: float, integral: float) -> float:
        """The h with `frozen(t, h) == integral`; infinite once the rate is 0."""
        rate = self.rate(t)
        return integral / rate if rate > 0.0 else math.inf
