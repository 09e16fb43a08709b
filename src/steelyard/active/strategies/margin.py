"""Margin sampling: ask for the rows whose prediction is nearest to the decision boundary."""

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
from steelyard.losses import decision_point
from steelyard.model import Model


class Margin(Strategy):
    """Asks for the rows of which the model is least sure, as many as the budget or the rate allows.

    From a pool it takes the least certain row of all. In a stream it asks for rows within a distance that is
    set by the last 256 rows, after every question and every 64 rows. Of several classes, the model is least
    sure where the two likeliest are closest. Nothing is left to chance, so nothing can be estimated from
    these labels alone; an audit is a random sample beside them.
    """

    summary = "the rows of which the model is least sure; no estimates without an audit"
    randomized = False
    ranks_pool = True
    several = True
    lane_code: ClassVar[int | None] = query_lanes.NEAR_THE_MARGIN

    def score(self, model: Model, examples: Examples) -> tuple[Floats, Floats]:
        predictions = Learner(model=model).predict(examples)
        return np.abs(predictions - decision_point(model.settings.loss)), predictions

    def score_classes(self, models: Sequence[Model], examples: Examples) -> tuple[Floats, Floats]:
        """How far the likeliest class is ahead of the second."""
        predictions = class_models.predict(models, examples)
        second, first = np.partition(predictions, -2, axis=1)[:, -2:].T
        return first - second, predictions

    def choose(self, scores: Floats, k: int | NDArray[np.int64], asked: int) -> Floats:
        at_bound = np.where(scores == self.bound, self.thinning, 0.0)
        return np.where(scores < self.bound, 1.0, at_bound)

    def adjust(self, share: float, k: int) -> None:
        wanted = share * len(self.window)
        self.bound = float(np.sort(self.window)[min(int(wanted), len(self.window) - 1)])
        below, ties = (self.window < self.bound).sum(), (self.window == self.bound).sum()
        # Many rows may be at the same distance, such as 0: then only some of them are asked for.
        self.thinning = min(float((wanted - below) / ties), 1.0)
        if share >= 1.0:
            self.bound = np.inf
