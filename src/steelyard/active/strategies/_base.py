"""`BudgetPlan`: how many labels to ask for. `Strategy`: how all strategies keep to it."""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats
from steelyard._parameters import Message, Parameter, bare
from steelyard.active import strategies

if TYPE_CHECKING:  # a plan needs no kernels
    from steelyard.active.labelled_rows import LabelledRows
    from steelyard.examples import Examples
    from steelyard.model import Model

MOST_LABELS = 1_000_000_000  # of a budget
WARM_UP = 20  # questions that are asked at once, before a model can choose
LONGEST_WARM_UP = 50  # of a budget, a fifth of which is spent so
FLOOR_SHARE = 0.2  # of the labels, at most, are spent on the floor
_REPAID = 10.0  # questions within which a rate makes up for too many or too few

STRETCH = 64  # examples after which the strategy adjusts itself
WINDOW = 256  # recent scores by which it does so


@dataclass(frozen=True)
class BudgetPlan:
    """How much to ask: one of `c0`, `rate`, or `budget` out of `expected` examples."""

    c0: float | None = None
    """The constant C₀ of the paper; for the strategy `iwal` only."""
    rate: float | None = None
    budget: int | None = None
    expected: int | None = None
    floor: float = 0.01
    """The least P of `iwal`, so that weights stay bounded and every region is sampled. None with `c0`."""
    constants: str = "practice"
    """The constants of `iwal`: practice or theory."""
    audit: float = 0.0
    """The share of all examples that are asked for at random and never learned, for evaluation."""

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.c0, self.rate, self.budget)) != 1:
            raise ValueError(
                Message(
                    "say how much to ask: a ", bare("budget"), " of labels, a ", bare("rate"), " such as 0.05, or ",
                    bare("c0"), "; one of the three",
                )
            )  # fmt: skip
        if self.c0 is not None and not 0.0 < self.c0 < math.inf:
            raise ValueError(Message(bare("c0"), f" must be a positive number; got {self.c0!r}"))
        if self.rate is not None and not 0.0 < self.rate <= 1.0:
            raise ValueError(f"the rate is a share of the examples, above 0 and at most 1; got {self.rate!r}")
        if self.budget is not None:
            if not 1 <= self.budget <= MOST_LABELS:
                raise ValueError(
                    f"the budget is a number of labels, from 1 to {MOST_LABELS:,}; got {self.budget!r}"
                )
            if self.expected is None or self.expected < 1:
                raise ValueError(
                    Message(
                        "a budget needs the expected number of examples: give ",
                        Parameter("expected", in_python="expected=…"), ", or ", Parameter("rate", in_python="rate=…"),
                        " instead",
                    )
                )  # fmt: skip
        if not 0.0 <= self.floor <= 1.0:
            raise ValueError(f"the floor is a probability, from 0 to 1; got {self.floor!r}")
        if not 0.0 <= self.audit < self.share:
            raise ValueError(
                "the audit is a share of the examples, 0 or more; its labels are among those asked for, so "
                f"it must be less than {self.share:g}; got {self.audit!r}"
            )

    @property
    def share(self) -> float:
        """The share of the examples to ask for."""
        if self.budget is not None and self.expected is not None:
            return min(self.budget / self.expected, 1.0)
        return 1.0 if self.rate is None else self.rate

    @property
    def least(self) -> float:
        """The floor in effect: at most a fifth of the labels is spent on it."""
        return 0.0 if self.c0 is not None else min(self.floor, FLOOR_SHARE * self.share)

    @property
    def warm_up(self) -> int:
        """The number of questions that are asked at once."""
        if self.c0 is not None:
            return 0
        if self.budget is None:
            return WARM_UP
        return min(max(self.budget // 5, WARM_UP // 2), LONGEST_WARM_UP)

    def is_spent(self, asked: int) -> bool:
        """Whether a budget is used up by so many labels."""
        return self.budget is not None and asked >= self.budget

    def target_share(self, k: int, asked: int) -> float:
        """The share of the next examples to ask for, after k examples and so many labels."""
        if self.budget is not None and self.expected is not None:
            return min(max(self.budget - asked, 0) / max(self.expected - k, 1), 1.0)
        rate = self.share
        behind = rate * k - asked
        return min(max(rate * (1.0 + behind / _REPAID), 0.25 * rate), 4.0 * rate, 1.0)

    def without_audit(self, overall: float) -> float:
        """The probability for a row outside the audit; the inverse of `with_audit`."""
        return max(overall - self.audit, 0.0) / (1.0 - self.audit)

    def with_audit(self, chosen: Floats) -> Floats:
        """The probability of being asked for, by the strategy or by the audit."""
        return self.audit + (1.0 - self.audit) * chosen


class Strategy(ABC):
    """Gives every row a score, and scores a probability of being asked for.

    Class attributes describe the strategy; parameters, if any, are the fields of a dataclass. The state is
    `bound`, `thinning` and `window`; the journal stores it with every decision.
    """

    summary: ClassVar[str]
    """One line for help texts."""
    randomized: ClassVar[bool]
    """Whether every row has a known probability above 0, so that labels can be weighted for estimates."""
    ranks_pool: ClassVar[bool] = False
    """Whether it asks for the row with the lowest score of a whole pool, rather than row by row."""
    picks: float = 0.0
    """The share of rows that is picked at random from the unread of a pool, if it ranks pools."""
    presumed: int = 0
    """How many unread rows of a pool `rank_by` gets."""
    uniform: ClassVar[bool] = False
    """Whether all rows are equally likely: then there is no warm-up, and answers have the weight 1."""
    several: ClassVar[bool] = False
    """Whether it can choose among rows of more than two classes: then it has `score_classes`."""
    refit: ClassVar[str] = "averaged"
    """How answers are learned by default: see `RefitPlan`."""
    lane_code: ClassVar[int | None] = None
    """The number of the strategy in `learn/query_lanes.py`; None if `Simulation` cannot run it."""

    plan: BudgetPlan
    bound: float = math.inf
    thinning: float = 1.0
    window: Floats = np.zeros(0)

    def start(self, plan: BudgetPlan) -> Self:
        """A copy with a plan, and with the state of a beginner."""
        self.check(plan)
        started = copy.copy(self)
        started.plan, started.bound, started.thinning, started.window = plan, math.inf, 1.0, np.zeros(0)
        return started

    def check(self, plan: BudgetPlan) -> None:
        """Raise a ValueError if the strategy cannot follow this plan."""
        if plan.c0 is not None:
            raise ValueError(
                Message(
                    bare("c0"), f" is for the strategy 'iwal': give {strategies.name_of(self)!r} a ", bare("budget"),
                    " or a ", bare("rate"),
                )
            )  # fmt: skip

    def describe(self) -> dict[str, Any]:
        """The name and parameters, as the journal stores them."""
        own: Any = self
        parameters = [field.name for field in fields(own)] if is_dataclass(own) else []
        return {"name": strategies.name_of(self)} | {name: getattr(self, name) for name in parameters}

    def toward(self, *, second: bool) -> "Strategy":
        """The strategy for a positive class that is the second, or the first, as the loss has them."""
        return self

    def can_rank(self, labelled: "LabelledRows", count: int) -> bool:
        """Whether a pool can be ranked by the first answers: there are two classes among them."""
        return len(labelled.kinds(count)) > 1

    def rank_by(self, labelled: "LabelledRows", count: int, unread: "Examples") -> "list[Model]":
        """The models of the first answers that rank a pool; `unread` are `presumed` of its rows, any."""
        return labelled.refit(count)

    @abstractmethod
    def score(self, model: "Model", examples: "Examples") -> tuple[Floats, Floats]:
        """The score of each row, low where its label is wanted, and the prediction w·x."""

    def score_classes(self, models: "Sequence[Model]", examples: "Examples") -> tuple[Floats, Floats]:
        """Score rows with a model for each of several classes; w·x has a column for each."""
        raise NotImplementedError

    @abstractmethod
    def choose(self, scores: Floats, k: int | NDArray[np.int64], asked: int) -> Floats:
        """The probability of each row, after the warm-up and while there is budget left."""

    def adjust(self, share: float, k: int) -> None:  # noqa: B027 - some have nothing to adjust
        """Set the state so that about this share of the next examples is asked for, after k of them."""

    def probabilities(self, scores: Floats, k: int | NDArray[np.int64], asked: int) -> Floats:
        """P of rows outside the audit: the k-th of the stream, within a stretch; `asked` labels so far."""
        if self.plan.is_spent(asked):
            return np.zeros(len(scores))
        if asked < self.plan.warm_up and not self.uniform:
            return np.ones(len(scores))
        return self.choose(scores, k, asked)

    def stretch(self, k: int) -> int:
        """How many examples from the k-th on share one state, unless one of them is asked for."""
        return STRETCH - (k - 1) % STRETCH

    def observe(self, scores: Floats, k: int, asked: int, *, question: bool) -> None:
        """Take note of examples up to the k-th, whether the last one is asked for, and the labels so far."""
        if self.plan.c0 is not None or asked - question < self.plan.warm_up:
            return  # scores by a model that knows next to nothing say nothing about later ones
        self.window = np.append(self.window, scores)[-WINDOW:]
        if question or k % STRETCH == 0:
            self.adjust(self.plan.without_audit(self.plan.target_share(k, asked)), k)
