"""`Questions`: what a learner asks, with rows and classes as the user has them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.active.learner import ActiveLearner, Query
from steelyard.examples import Examples
from steelyard.losses import decision_point

_FEWEST, _MOST = 64, 4096  # rows of a pool that are scored at a time


@dataclass(frozen=True)
class ActiveQuestion:
    """A row whose label is wanted."""

    id: int
    """The number in the stream, from 0; `answer` takes it."""
    row: int
    """The row in the matrix that was given, or in the pool."""
    probability: float
    """The probability with which it was asked for."""
    prediction: Any
    """The class that the model expects."""


class Questions:
    """Asks from a pool, whose row `order[i]` has the number i, or from a stream."""

    def __init__(
        self, learner: ActiveLearner, classes: Sequence[Any], order: NDArray[np.int64] | None = None
    ) -> None:
        self._learner, self._classes, self._order = learner, classes, order

    def ask(self, chunk: Examples) -> list[ActiveQuestion]:
        """The questions among the next rows of the stream."""
        return [self._question(query, query.place) for query in self._learner.consider(chunk)]

    def ask_from(self, pool: Examples) -> ActiveQuestion | None:
        """The next question from the pool; None if there is none within the budget."""
        learner, order = self._learner, self._order
        assert order is not None  # there is a pool
        if learner.strategy.ranks_pool:
            ranked = learner.ask_from_pool()
            return None if ranked is None else self._question(ranked, ranked.place)
        ahead = int(np.clip(2.0 / learner.plan.share, _FEWEST, _MOST))
        while learner.seen < len(pool) and not learner.spent:
            rows = order[learner.seen : learner.seen + ahead]
            for query in learner.consider(pool.take(rows), first_only=True):
                return self._question(query, int(order[query.id]))
        return None

    def waiting(self) -> list[ActiveQuestion]:
        """The questions without an answer."""
        with self._learner.lock:
            history, numbers = self._learner.history(), self._learner.open
        return [
            self._question(
                Query(number, float(history.probability[number]), float(history.prediction[number]), 0),
                number if self._order is None else int(self._order[number]),
            )
            for number in numbers
        ]

    def _question(self, query: Query, row: int) -> ActiveQuestion:
        code = query.prediction
        if len(self._classes) == 2:
            code = query.prediction > decision_point(self._learner.labelled.settings.loss)
        return ActiveQuestion(query.id, row, query.probability, self._classes[int(code)])
