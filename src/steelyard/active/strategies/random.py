"""Random sampling: every row is asked for with the same probability, whatever the model thinks of it."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats
from steelyard.active import class_models
from steelyard.active.strategies._base import Strategy
from steelyard.examples import Examples
from steelyard.learn import query_lanes
from steelyard.learner import Learner
from steelyard.model import Model


class Random(Strategy):
    """Asks at a constant rate, or spends a budget on rows that are all equally likely.

    The baseline for other strategies, and the best choice while no model can be learned yet.
    """

    summary = "every row with the same probability"
    randomized = True
    uniform = True
    several = True
    lane_code: ClassVar[int | None] = query_lanes.AT_RANDOM

    def score(self, model: Model, examples: Examples) -> tuple[Floats, Floats]:
        return np.zeros(len(examples)), Learner(model=model).predict(examples)

    def score_classes(self, models: Sequence[Model], examples: Examples) -> tuple[Floats, Floats]:
        return np.zeros(len(examples)), class_models.predict(models, examples)

    def choose(self, scores: Floats, k: int | NDArray[np.int64], asked: int) -> Floats:
        plan = self.plan
        if plan.budget is None or plan.expected is None:
            return np.full(len(scores), plan.without_audit(plan.share))
        # Selection sampling (Knuth's algorithm S): the labels that are left over the rows that are left.
        rows = np.broadcast_to(np.maximum(plan.expected - np.asarray(k) + 1, 1), scores.shape)
        shares = np.minimum((plan.budget - asked) / rows, 1.0)
        return np.maximum(shares - plan.audit, 0.0) / (1.0 - plan.audit)
