"""`PoolRanking`: chooses from a pool the row that the strategy wants most, and now and then any row."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.active import class_models, counter_rng
from steelyard.active._answers import AuditSample
from steelyard.active.certification import draw_order
from steelyard.active.journal import Decisions
from steelyard.active.labelled_rows import LabelledRows, last_refit
from steelyard.active.stored_rows import ReadRows
from steelyard.active.strategies._base import BudgetPlan, Strategy

if TYPE_CHECKING:
    from steelyard.examples import Examples

FIRST_RANKED = 10  # labels from a pool before a model ranks it
_OFTEN, _SMALL = 10, 100_000  # answers after which a pool of at most so many rows is ranked anew
_AUDIT_TURNS, _PICK_TURNS = 2, 3  # purposes of random numbers


class UnreadQueue:
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
    ranked: UnreadQueue
    """The rows outside the audit that were not asked for by then, the most wanted first."""
    audit: UnreadQueue
    scores: NDArray[np.float64]
    predictions: NDArray[np.float64]


class PoolChoice(NamedTuple):
    """The row that is asked for next."""

    row: int
    decisions: Decisions
    source: int | None
    """0 if it was picked from the random order of the strategy, else None."""


class PoolRanking:
    """Ranks the rows of a pool by the labelled ones; example number i is row `order[i]`."""

    def __init__(
        self,
        pool: "Examples",
        order: NDArray[np.int64],
        read: ReadRows,
        labelled: LabelledRows,
        audit: AuditSample,
    ) -> None:
        self._pool, self._order = pool, order
        self._read, self._labelled, self._audit = read, labelled, audit
        self._seed = audit.seed
        self._ranking: Ranking | None = None
        self._picks: UnreadQueue | None = None  # all numbers in a random order

    def choose(self, strategy: Strategy, plan: BudgetPlan, asked: int) -> PoolChoice | None:
        """The row that the strategy wants most, after so many questions; None if all were read.

        Until the strategy has answers to rank by it is any row. Then the pool is ranked whenever there are a
        tenth more answers. In between, the next in rank is asked for, so the question depends on answers and
        questions so far only.
        A share of the questions, drawn at random, is for the audit; its rows are not ranked. A strategy may
        pick a share of rows at random from all that are unread.
        """
        ranking = self._rank(strategy)
        ranked, audit = (numbers.first(self._read) for numbers in (ranking.ranked, ranking.audit))
        if ranked is None and audit is None:
            return None
        for_audit = audit is not None and bool(
            ranked is None or self._draw(_AUDIT_TURNS, asked) < plan.audit / plan.share
        )
        number, probability, source = (audit, plan.audit, None) if for_audit else (ranked, 1.0, None)
        if strategy.picks and not for_audit:
            by_rank = strategy.can_rank(self._labelled, len(self._labelled))
            if not by_rank or self._draw(_PICK_TURNS, asked) < strategy.picks:
                number, probability, source = self._pick().first(self._read), strategy.picks, 0
        assert number is not None
        decisions = Decisions(
            number, np.array([probability]), ranking.predictions[[number]], ranking.scores[[number]],
            strategy.bound, strategy.thinning, 0,
        )  # fmt: skip
        return PoolChoice(int(self._order[number]), decisions, source)

    def _draw(self, purpose: int, turn: int) -> float:
        return float(counter_rng.uniform(self._seed, purpose, np.array([turn]))[0])

    def _pick(self) -> UnreadQueue:
        """A random order that nothing else depends on: its first unread row is uniform among the unread."""
        if self._picks is None:
            count = len(self._order)
            numbers = np.empty(count, np.int64)
            numbers[self._order] = np.arange(count)
            self._picks = UnreadQueue(numbers[draw_order(self._seed, 0, count, np.arange(count))])
        return self._picks

    def _rank(self, strategy: Strategy) -> Ranking:
        labelled, pool, order = self._labelled, self._pool, self._order
        count = answers_that_rank(strategy, labelled, len(labelled), len(pool))
        answers = labelled.fingerprint(count)
        if self._ranking is None or self._ranking.answers != answers:
            is_open = np.ones(len(pool), bool)
            is_open[self._read.numbers()] = False
            audit = self._audit.includes(np.arange(len(pool)))
            models = labelled.refit(0)
            if count:
                unread = labelled.unlabelled(pool, order[self._presumed(strategy, count, audit)])
                models = strategy.rank_by(labelled, count, unread)
            scores, decisions = (
                column[order] for column in class_models.score_and_decide(strategy, models, pool)
            )
            ranked = np.argsort(scores, kind="stable")
            ranked = ranked[(is_open & ~audit)[ranked]]
            others = UnreadQueue(np.flatnonzero(is_open & audit))
            self._ranking = Ranking(answers, UnreadQueue(ranked), others, scores, decisions)
        return self._ranking

    def _presumed(self, strategy: Strategy, count: int, audit: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The numbers, not among the first answers, whose labels the strategy presumes to know.

        They are the first in the order of the pool: the proof of recall needs that nothing else depends on
        the order of picks. And they follow from the answers alone, however often a process was started anew.
        """
        free = ~audit
        free[self._read.numbers()[self._labelled.places[:count]]] = False
        return np.flatnonzero(free)[: strategy.presumed]


def answers_that_rank(strategy: Strategy, labelled: LabelledRows, answered: int, rows: int) -> int:
    """The number of answers, of those so far, whose model ranks so many rows; 0: none does."""
    enough = answered >= FIRST_RANKED or strategy.picks > 0.0
    if not enough or not strategy.can_rank(labelled, answered):
        return 0
    count = last_refit(answered)
    if strategy.picks and rows <= _SMALL:
        count = max(count, answered - answered % _OFTEN)
    return count if strategy.can_rank(labelled, count) else answered
