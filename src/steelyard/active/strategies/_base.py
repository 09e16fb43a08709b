"""`Strategy`: what every query strategy has in common, above all how it keeps to its budget."""

import copy
import math
from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from steelyard.active import strategies
from steelyard.active.budget import BudgetPlan, Column
from steelyard.examples import Examples
from steelyard.model import Model

STRETCH = 64  # examples after which the strategy adjusts itself
WINDOW = 256  # recent scores by which it does so


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
    uniform: ClassVar[bool] = False
    """Whether all rows are equally likely: then there is no warm-up, and answers have the weight 1."""
    lane_code: ClassVar[int | None] = None
    """Its number in `learn/query_lanes.py`; None if `Simulation` cannot run it."""
    lane_parameters: ClassVar[tuple[float, ...]] = ()
    """The parameters that `active simulate --grid` tries."""

    plan: BudgetPlan
    bound: float = math.inf
    thinning: float = 1.0
    window: Column = np.zeros(0)

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
                f"c0 is for the strategy 'iwal': give {strategies.name_of(self)!r} a budget or a rate"
            )

    def describe(self) -> dict[str, Any]:
        """Its name and parameters, as the journal stores them."""
        own: Any = self
        parameters = [field.name for field in fields(own)] if is_dataclass(own) else []
        return {"name": strategies.name_of(self)} | {name: getattr(self, name) for name in parameters}

    @abstractmethod
    def score(self, model: Model, examples: Examples) -> tuple[Column, Column]:
        """The score of each row, low where its label is wanted, and the prediction w·x."""

    @abstractmethod
    def choose(self, scores: Column, k: int | NDArray[np.int64], asked: int) -> Column:
        """The probability of each row, after the warm-up and while there is budget left."""

    def adjust(self, share: float, k: int) -> None:  # noqa: B027 - some have nothing to adjust
        """Set the state so that about this share of the next examples is asked for, after k of them."""

    def probabilities(self, scores: Column, k: int | NDArray[np.int64], asked: int) -> Column:
        """P of rows outside the audit: the k-th of the stream, within a stretch; `asked` labels so far."""
        if self.plan.is_spent(asked):
            return np.zeros(len(scores))
        if asked < self.plan.warm_up and not self.uniform:
            return np.ones(len(scores))
        return self.choose(scores, k, asked)

    def stretch(self, k: int) -> int:
        """How many examples from the k-th on share one state, unless one of them is asked for."""
        return STRETCH - (k - 1) % STRETCH

    def observe(self, scores: Column, k: int, asked: int, *, question: bool) -> None:
        """Take note of examples up to the k-th, whether the last one is asked for, and the labels so far."""
        if self.plan.c0 is not None or asked - question < self.plan.warm_up:
            return  # scores by a model that knows next to nothing say nothing about later ones
        self.window = np.append(self.window, scores)[-WINDOW:]
        if question or k % STRETCH == 0:
            self.adjust(self.plan.without_audit(self.plan.target_share(k, asked)), k)
