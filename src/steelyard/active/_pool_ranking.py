"""Asking from a pool that the model ranks: the row that the strategy wants most, and now and then any row."""

from abc import abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.active import counter_rng
from steelyard.active._locking import Locked, locked
from steelyard.active.certification import draw_order
from steelyard.active.journal import Decisions
from steelyard.active.labelled_rows import Labelled, RefitPlan, last_refit
from steelyard.active.stored_rows import ReadRows
from steelyard.active.strategies._base import BudgetPlan, Strategy

if TYPE_CHECKING:
    from steelyard.active.learner import Query
    from steelyard.examples import Examples
    from steelyard.model import Model

FIRST_RANKED = 10  # labels from a pool before a model ranks it
_OFTEN, _SMALL = 10, 100_000  # answers after which a pool of at most so many rows is ranked anew
_AUDIT_TURNS, _PICK_TURNS = 2, 3  # purposes of random numbers


class Unread:
    """Numbers in an order; those that are read by now are passed for good."""

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        self._numbers, self._passed = numbers, 0

    def first(self, read: ReadRows) -> int | None:
        """The first that was not read; None if all were."""
        while self._passed < len(self._numbers):
            if (number := int(self._numbers[self._passed])) not in read:
                return number
            self._passed += 1
        return None


class Ranking(NamedTuple):
    """A pool as the model of some answers ranks it; rows go by their numbers."""

    answers: tuple[bytes, bytes]
    ranked: Unread
    """The rows outside the audit that were not asked for by then, the most wanted first."""
    audit: Unread
    scores: NDArray[np.float64]
    predictions: NDArray[np.float64]


class PoolRanking(Locked):
    """For `ActiveLearner`."""

    strategy: Strategy
    plan: BudgetPlan
    training: RefitPlan
    labelled: Labelled
    _read: ReadRows
    _ranking: Ranking | None
    _picks: Unread | None = None
    """All numbers in a random order."""

    @locked
    def ask_from(self, pool: "Examples", order: NDArray[np.int64]) -> "Query | None":
        """The row of a pool that the strategy wants most; None once the budget or the pool is used up.

        Example number i is row `order[i]`. Until the strategy has answers to rank by it is any row. Then the
        pool is ranked whenever there are a tenth more answers. In between, the next in rank is asked for, so
        the question depends on answers and questions so far only.
        A share of the questions, drawn at random, is for the audit; its rows are not ranked. A strategy may
        pick a share of rows at random from all that are unread.
        """
        if self.spent:
            return None
        ranking = self._rank(pool, order)
        ranked, audit = (numbers.first(self._read) for numbers in (ranking.ranked, ranking.audit))
        if ranked is None and audit is None:
            return None
        turn = np.array([self.asked])
        for_audit = audit is not None and bool(
            ranked is None or self._draw(_AUDIT_TURNS, turn) < self.plan.audit / self.plan.share
        )
        number, probability, source = (audit, self.plan.audit, None) if for_audit else (ranked, 1.0, None)
        if self.strategy.picks and not for_audit:
            by_rank = self.strategy.can_rank(self.labelled, len(self.labelled))
            if not by_rank or self._draw(_PICK_TURNS, turn) < self.strategy.picks:
                number, probability, source = self._pick(order).first(self._read), self.strategy.picks, 0
        assert number is not None
        decisions = Decisions(
            number, np.array([probability]), ranking.predictions[[number]], ranking.scores[[number]],
            self.strategy.bound, self.strategy.thinning, 0,
        )  # fmt: skip
        (query,) = self._decide(decisions, pool, {number: int(order[number])}, source)
        return query

    def _draw(self, purpose: int, turn: NDArray[np.int64]) -> float:
        return float(counter_rng.uniform(self.training.seed, purpose, turn)[0])

    def _pick(self, order: NDArray[np.int64]) -> Unread:
        """A random order that nothing else depends on: its first unread row is uniform among the unread."""
        if self._picks is None:
            numbers = np.empty(len(order), np.int64)
            numbers[order] = np.arange(len(order))
            self._picks = Unread(
                numbers[draw_order(self.training.seed, 0, len(order), np.arange(len(order)))]
            )
        return self._picks

    def _rank(self, pool: "Examples", order: NDArray[np.int64]) -> Ranking:
        answered = len(self.labelled)
        count = self._ranked_by(answered, len(pool))
        answers = self.labelled.fingerprint(count)
        if self._ranking is None or self._ranking.answers != answers:
            is_open = np.ones(len(pool), bool)
            is_open[self._read.numbers()] = False
            audit = self.in_audit(np.arange(len(pool)))
            models = self.labelled.refit(0)
            if count:
                unread = self.labelled.unlabelled(pool, order[self._unlabelled(count, audit)])
                models = self.strategy.rank_by(self.labelled, count, unread)
            scores, predictions = (column[order] for column in self._score(models, pool))
            ranked = np.argsort(scores, kind="stable")
            ranked = ranked[(is_open & ~audit)[ranked]]
            others = Unread(np.flatnonzero(is_open & audit))
            self._ranking = Ranking(answers, Unread(ranked), others, scores, predictions)
        return self._ranking

    def _ranked_by(self, answered: int, rows: int) -> int:
        """The number of answers whose model ranks so many rows; 0: none does."""
        enough = answered >= FIRST_RANKED or self.strategy.picks > 0.0
        if not enough or not self.strategy.can_rank(self.labelled, answered):
            return 0
        count = last_refit(answered)
        if self.strategy.picks and rows <= _SMALL:
            count = max(count, answered - answered % _OFTEN)
        return count if self.strategy.can_rank(self.labelled, count) else answered

    def _unlabelled(self, count: int, audit: NDArray[np.bool_]) -> NDArray[np.int64]:
        """As many as the strategy presumes to know of the numbers that the first answers are not about.

        They are the first in the order of the pool: the proof of recall needs that nothing else depends on
        the order of picks. And they follow from the answers alone, however often a process was started anew.
        """
        free = ~audit
        free[self._read.numbers()[self.labelled.places[:count]]] = False
        return np.flatnonzero(free)[: self.strategy.presumed]

    @property
    @abstractmethod
    def asked(self) -> int: ...

    @property
    @abstractmethod
    def spent(self) -> bool: ...

    @abstractmethod
    def _score(
        self, models: "list[Model]", examples: "Examples"
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    @abstractmethod
    def in_audit(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]: ...

    @abstractmethod
    def _decide(
        self, decisions: Decisions, examples: "Examples", asked: dict[int, int], source: int | None
    ) -> "list[Query]": ...
