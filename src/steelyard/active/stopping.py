"""May I stop? Rules that judge estimates, and say why or why not.

The intervals of estimates are valid at any stopping time, so a rule may be asked after every answer: it stops
wrongly with probability at most 1 − level (see docs/estimates.md for `current`). With several rules, each has
that risk.

>>> from steelyard.active.estimates import Estimate
>>> now = Estimate("pool", "recall", 0.91, 0.84, 0.96, 0.95, rows=8000, asked=1900, skipped=0)
>>> verdict = RecallAbove(0.8).judge([now])
>>> verdict.met, verdict.why
(True, 'stop: pool recall is at least 0.840, with 95 % confidence; the target is 0.800')
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field

from steelyard._messages import counted
from steelyard.active.estimates import Estimate


@dataclass(frozen=True)
class Verdict:
    """Whether to stop; it is true or false by itself, too."""

    met: bool
    why: str

    def __bool__(self) -> bool:
        return self.met


class Rule(ABC):
    """Judges the estimates made at one time, in any order; `of` and `measure` name the one that it needs."""

    of: str = "progressive"
    measure: str = "error"

    @abstractmethod
    def judge(self, estimates: Iterable[Estimate]) -> Verdict:
        """Whether to stop, with a sentence that says why or why not."""


@dataclass(frozen=True)
class Budget(Rule):
    """Stop after so many questions, skipped ones included."""

    questions: int

    def judge(self, estimates: Iterable[Estimate]) -> Verdict:
        asked = max((each.asked for each in estimates), default=0)
        met = asked >= self.questions
        return _verdict(met, f"{asked:,} of {counted(self.questions, 'question')} asked")


@dataclass(frozen=True)
class ErrorBelow(Rule):
    """Stop when the upper bound of an error, or of another such measure, is at most the target."""

    target: float
    of: str = "current"
    measure: str = "error"

    def judge(self, estimates: Iterable[Estimate]) -> Verdict:
        one = _find(self.of, self.measure, estimates)
        what = f"{one.title} is at most {one.high:.3f}, {_confidence(one)}"
        return _verdict(one.high <= self.target, f"{what}; the target is {self.target:.3f}")


@dataclass(frozen=True)
class RecallAbove(Rule):
    """Stop when the lower bound of recall, or of another such measure, is at least the target."""

    target: float
    of: str = "pool"
    measure: str = "recall"

    def judge(self, estimates: Iterable[Estimate]) -> Verdict:
        one = _find(self.of, self.measure, estimates)
        what = f"{one.title} is at least {one.low:.3f}, {_confidence(one)}"
        return _verdict(one.low >= self.target, f"{what}; the target is {self.target:.3f}")


@dataclass(frozen=True)
class Narrow(Rule):
    """Stop when the interval is at most this wide."""

    width: float
    of: str = "current"
    measure: str = "error"

    def judge(self, estimates: Iterable[Estimate]) -> Verdict:
        one = _find(self.of, self.measure, estimates)
        what = f"{one.title} lies between {one.low:.3f} and {one.high:.3f}, {_confidence(one)}"
        return _verdict(
            one.width <= self.width, f"{what}: a width of {one.width:.3f}, wanted {self.width:.3f}"
        )


@dataclass(frozen=True)
class Certified(Rule):
    """Stop when there is a certificate: error below the target, or precision or recall at least the target.

    With it, `ask_next` begins an attempt by itself: when the model's own estimate of what is missing is at
    most half of what the target allows; for recall, after 50 answers in a row that are not relevant. Then it
    asks for the rows that the attempt draws. If that fails, its labels are learned, and the next one begins
    when the estimate is that good at a later look. docs/certify.md has all of it.
    """

    measure: str = field()
    target: float
    alpha: float = 0.05
    """The risk of all attempts together."""
    most: int | None = None
    """Labels of one attempt; by default twice those of a plan for a model half as bad as is allowed."""

    def judge(self, estimates: Iterable[Estimate]) -> Verdict:
        raise ValueError("certificates are made from the rows of a pool: use ActiveClassifier.pool(X)")


def _find(of: str, measure: str, estimates: Iterable[Estimate]) -> Estimate:
    found = list(estimates)
    for each in found:
        if (each.of, each.measure) == (of, measure):
            return each
    there = ", ".join(f"{each.of} {each.measure}" for each in found) or "none"
    raise ValueError(f"the rule needs the estimate of {of} {measure}; there are: {there}")


def _confidence(estimate: Estimate) -> str:
    return f"with {100.0 * estimate.level:g} % confidence"


def _verdict(met: bool, why: str) -> Verdict:
    return Verdict(met, f"{'stop' if met else 'continue'}: {why}")
