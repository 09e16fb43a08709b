"""What steers C₀: nobody can choose it by hand, since most values ask for almost nothing or almost all.

`Fixed` keeps one, for experiments. `Steered` asks for a share of the stream, or for a budget of labels out
of an expected number of examples. It looks at the flip importances of the last examples and takes the C₀
with which they would have been asked for as often as the labels that are left allow. C₀ is set anew after
every question and every 64 examples, wherever the stream is cut.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.active import iwal
from steelyard.learn import query_probability

Column = NDArray[np.float64]

STRETCH = 64  # examples after which C₀ is set anew
WINDOW = 256  # examples that are looked at for it
WARM_UP = 20  # questions that are asked at once, before there is anything to go by
LONGEST_WARM_UP = 50  # with a budget, of which a fifth is spent so
FLOOR_SHARE = 0.2  # of the labels, at most, are spent on the floor
_REPAID = 10.0  # questions within which a rate makes up for too many or too few
_LEAST, _MOST = math.log(1e-24), math.log(1e4)  # of b
_HALVINGS = 30
_TOO_MANY = 1.01  # times the share that was meant: the smallest bound asks for more


@dataclass(frozen=True)
class Plan:
    """How much to ask: one of `c0`, `rate`, or `budget` out of `expected` examples."""

    c0: float | None = None
    rate: float | None = None
    budget: int | None = None
    expected: int | None = None
    floor: float = 0.01
    """The least P, so that weights stay bounded and every region sampled. None of it with `c0`."""
    constants: str = "practice"
    audit: float = 0.0
    """The share of all examples that is asked for whatever they are, and never learned: to be judged by."""

    def __post_init__(self) -> None:
        iwal.constants(self.constants)
        if sum(given is not None for given in (self.c0, self.rate, self.budget)) != 1:
            raise ValueError(
                "say how much to ask: a budget of labels, a rate such as 0.05, or c0; one of the three"
            )
        if self.c0 is not None and not 0.0 < self.c0 < math.inf:
            raise ValueError(f"c0 must be a positive number; got {self.c0!r}")
        if self.rate is not None and not 0.0 < self.rate <= 1.0:
            raise ValueError(f"the rate is a share of the examples, above 0 and at most 1; got {self.rate!r}")
        if self.budget is not None:
            if self.budget < 1:
                raise ValueError(f"the budget is a number of labels, 1 or more; got {self.budget!r}")
            if self.expected is None or self.expected < 1:
                raise ValueError(
                    "a budget is spent over an expected number of examples: say expected=…, or rate=… instead"
                )
        if not 0.0 <= self.floor <= 1.0:
            raise ValueError(f"the floor is a probability, from 0 to 1; got {self.floor!r}")
        if not 0.0 <= self.audit < self.share:
            raise ValueError(
                "the audit is a share of the examples, 0 or more; its labels are among those asked for, so "
                f"it must be less than {self.share:g}; got {self.audit!r}"
            )

    @property
    def share(self) -> float:
        """Of the examples, to be asked for."""
        if self.budget is not None and self.expected is not None:
            return min(self.budget / self.expected, 1.0)
        return 1.0 if self.rate is None else self.rate

    @property
    def least(self) -> float:
        """The floor as it is held: a fifth of the labels at most is spent on it."""
        return 0.0 if self.c0 is not None else min(self.floor, FLOOR_SHARE * self.share)

    def chosen(self, asked: float) -> float:
        """The probability of being chosen, of a row that is not in the audit; its inverse is `overall`."""
        return max(asked - self.audit, 0.0) / (1.0 - self.audit)

    def overall(self, chosen: Column) -> Column:
        """The probability of being asked for, of rows that may be in the audit."""
        return self.audit + (1.0 - self.audit) * chosen

    @property
    def warm_up(self) -> int:
        """The questions that are asked at once."""
        if self.budget is None:
            return WARM_UP
        return min(max(self.budget // 5, WARM_UP // 2), LONGEST_WARM_UP)


class Steering:
    """Turns flip importances into probabilities. `bound`, `thinning` and `window` are all it knows."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.bound = math.inf
        self.thinning = 1.0
        """A factor of all P, where no C₀ asks for few enough, as of rows that would flip at once."""
        self.window: Column = np.zeros(0)
        self._constants = iwal.constants(plan.constants)

    def stretch(self, k: int) -> int:
        """How many examples from the k-th on have one C₀, unless there is a question among them."""
        return STRETCH - (k - 1) % STRETCH

    def spent(self, asked: int) -> bool:
        return self.plan.budget is not None and asked >= self.plan.budget

    def probabilities(self, flips: Column, k: int | NDArray[np.int64], asked: int) -> Column:
        """P of examples, the k-th of the stream, within a stretch, if they are not in the audit.

        `asked`: for how many labels so far.
        """
        if self.spent(asked):
            return np.zeros(len(flips))
        if self.plan.c0 is not None:
            return iwal.query_probability(flips / k, k, self.plan.c0, self.plan.constants)
        if asked < self.plan.warm_up:
            return np.ones(len(flips))
        p = iwal.probability_within(flips / k, self.bound, self._constants)
        return np.maximum(self.thinning * p, self.plan.least)

    def saw(self, flips: Column, k: int, cost: int, *, question: bool) -> None:
        """Look at examples up to the k-th, the last of which is asked for or not; `cost`: labels so far."""
        if self.plan.c0 is not None or cost - question < self.plan.warm_up:
            return  # what a model that knows next to nothing would take to flip says nothing of later ones
        self.window = np.append(self.window, flips)[-WINDOW:]
        if question or k % STRETCH == 0:
            self._set(self.plan.chosen(self.wanted(k, cost)), self.window / k)

    def _set(self, share: float, confidences: Column) -> None:
        of, least = self._constants, self.plan.least
        self.bound = query_probability.bound_for(
            share, confidences, least, of.c1, of.c2, _LEAST, _MOST, _HALVINGS
        )
        asked = iwal.probability_within(confidences, self.bound, of).mean()
        self.thinning = min(share / asked, 1.0) if asked > _TOO_MANY * share else 1.0

    def wanted(self, k: int, asked: int) -> float:
        """The share of the next examples to ask for, after k of them."""
        plan = self.plan
        if plan.budget is not None and plan.expected is not None:
            return min((plan.budget - asked) / max(plan.expected - k, 1), 1.0)
        rate = self.plan.share
        behind = rate * k - asked
        return min(max(rate * (1.0 + behind / _REPAID), 0.25 * rate), 4.0 * rate, 1.0)

    def c0(self, k: int) -> float:
        """The C₀ in force at the k-th example."""
        if self.plan.c0 is not None:
            return self.plan.c0
        return self.bound * (k - 1) / math.log(k) if k > 1 else math.inf
