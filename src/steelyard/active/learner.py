"""`ActiveLearner`: considers examples one after another, asks for some labels, and learns the answers.

Answers may come late and in any order. Everything is written to the journal first; a learner that is started
with the journal of another continues as that one would have.

>>> import numpy as np
>>> from steelyard import Settings
>>> from steelyard.active.learner import ActiveLearner
>>> from steelyard.active.strategies._base import BudgetPlan
>>> from steelyard.examples import examples
>>> learner = ActiveLearner(Settings(scaling="normalized"), features=2, plan=BudgetPlan(rate=0.5))
>>> (query,) = learner.consider(examples(np.array([[1.0, 0.0]])))
>>> query.id, query.probability
(0, 1.0)
>>> learner.answer([query.id], [1.0])
>>> learner.predict(examples(np.array([[1.0, 0.0]]))) > 0.0
array([ True])
"""

import copy
import sqlite3
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard._messages import GONE
from steelyard.active import class_models, counter_rng, strategies
from steelyard.active._answers import Answers
from steelyard.active._locking import locked
from steelyard.active._pool_ranking import PoolRanking, Ranking
from steelyard.active.journal import AskedRow, Decisions, History, Journal
from steelyard.active.labelled_rows import Labelled, RefitPlan
from steelyard.active.stored_rows import OPEN, TAUGHT, PoolRows, ReadRows, sparse_row
from steelyard.active.strategies._base import BudgetPlan, Column, Strategy
from steelyard.examples import Examples
from steelyard.losses import class_labels
from steelyard.model import Model, Settings

_FEWEST, _MOST = 16, 256  # rows that `replay` scores ahead of the next question
_QUESTIONS, _AUDIT = 0, 1  # purposes of random numbers; 2 and 3 are those of pools


@dataclass(frozen=True)
class Query:
    """An example whose label is wanted."""

    id: int
    """Its number in the stream, from 0."""
    probability: float
    """With which it was asked for; estimates weight its label by the inverse."""
    prediction: float
    """w·x, before the label is known; with several classes the number of `class_models.decisions`."""
    place: int
    """Its row among those that were considered together, from 0."""


def _check_row(row: AskedRow, features: int, pool_size: int | None) -> None:
    """What a damaged file has must not reach a kernel."""
    if pool_size is not None and not 0 <= row.number < pool_size:
        raise TypeError(f"row {row.number} is not in the pool")
    inside = ((row.indices >= 0) & (row.indices < features)).all()
    if len(row.indices) != len(row.values) or not inside or not np.isfinite(row.values).all():
        raise TypeError(f"row {row.number} has features that do not exist")


class ActiveLearner(PoolRanking, Answers):
    """`journal` stores everything that happens; without one it is kept in memory. Threads may share it.

    With a `pool`, whose row `order[i]` is example i, rows are not copied.
    """

    def __init__(
        self,
        settings: Settings,
        features: int,
        plan: BudgetPlan,
        training: RefitPlan | None = None,
        journal: Journal | None = None,
        about: dict[str, Any] | None = None,
        strategy: Strategy | None = None,
        classes: int = 2,
        pool: tuple[Examples, NDArray[np.int64]] | None = None,
    ) -> None:
        super().__init__()
        class_labels(settings.loss)
        self.plan, self.training = plan, training or RefitPlan()
        self.strategy = (strategy or strategies.by_name(strategies.DEFAULT)).start(plan)
        if classes > 2 and not self.strategy.several:
            able = [name for name in strategies.names() if strategies.by_name(name).several]
            raise ValueError(
                f"the strategy {strategies.name_of(self.strategy)!r} chooses among rows of two classes, and "
                f"{classes} are named: use {', '.join(map(repr, able))}, or tell one class from the rest"
            )
        self.journal = journal or Journal()
        self.labelled = Labelled(settings, features, self.training, classes)
        self.seen = 0  # examples considered so far
        self.decided: Decisions | None = None  # about the examples that were considered last
        self._features = features
        self._read = ReadRows()  # the numbers of taught rows are below 0 if they are in no pool
        self._pool_size = None if pool is None else len(pool[0])
        if pool is not None:
            self.labelled.rows = PoolRows(*pool, self._read)
        self._ranking: Ranking | None = None
        try:
            self._begin_journal(settings, about or {})
            self._resume()
        except (sqlite3.DatabaseError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"{self.journal.path}: is damaged ({type(error).__name__}: {error})") from error

    def _begin_journal(self, settings: Settings, about: dict[str, Any]) -> None:
        """Start the journal, or check that it was started with the same parameters."""
        name = losses.name_of(settings.loss) or type(settings.loss).__name__
        now: dict[str, dict[str, Any]] = {
            "settings": asdict(settings) | {"loss": {"name": name} | asdict(settings.loss)},
            "plan": asdict(self.plan),
            "training": asdict(self.training),
            "about": about | {"features": self._features},
            "strategy": self.strategy.describe(),
        }
        self.journal.begin(now)

    def _resume(self) -> None:
        strategy = self.strategy
        for block in self.journal.decisions():
            recent = np.append(strategy.window, block.scores)
            strategy.window = recent[len(recent) - block.window :]
            strategy.bound, strategy.thinning = block.bound, block.thinning
            self.seen += len(block.scores)
        probabilities = self.journal.considered("probabilities", 0.0)
        taught = self.journal.taught()
        for number in self.journal.turns():
            row = self.journal.row(number)
            _check_row(row, self._features, self._pool_size)
            if number in taught:
                self._store(row, 1.0, TAUGHT)
            else:
                self._store(row, float(probabilities[number]))
        for event in self.journal.events_in_force():
            self._apply(event)

    def _store(self, row: AskedRow, probability: float, state: int = OPEN) -> None:
        self.labelled.rows.add(row.indices, row.values)
        self._read.add(row.number, probability, state)

    @property
    def asked(self) -> int:
        return len(self._read) - self._read.count(TAUGHT)

    @property
    def spent(self) -> bool:
        """Whether there is a budget and nothing of it is left. A skipped question costs nothing."""
        return self.plan.is_spent(self.asked - self.skipped)

    @locked
    def set_budget(self, budget: int) -> None:
        """Ask for more or fewer labels than was planned, from the next question on."""
        if self.plan.budget is None:
            raise ValueError("there is no budget to change: this learner asks at a rate")
        self.plan = replace(self.plan, budget=budget)
        self.strategy.plan = self.plan
        self.journal.save_plan(asdict(self.plan))

    @property
    @locked
    def models(self) -> list[Model]:
        """To predict with, refitted on all answers: one for two classes, else one for each."""
        return self.labelled.final

    @property
    def model(self) -> Model:
        """The only one, of two classes."""
        (model,) = self.models
        return model

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        """w·x of each row, by the model refitted on all answers; with several classes, a column for each."""
        return class_models.predict(self.models, examples)

    def _score(self, models: list[Model], examples: Examples) -> tuple[Column, Column]:
        """Scores of rows, and the decisions about them."""
        if len(models) == 1:
            return self.strategy.score(models[0], examples)
        scores, predictions = self.strategy.score_classes(models, examples)
        return scores, class_models.decisions(self.labelled.settings.loss, predictions)

    @locked
    def probabilities(self, examples: Examples) -> NDArray[np.float64]:
        """The probability with which each row would be asked for if it came next. This decides nothing."""
        scores, _ = self._score(self.labelled.models, examples)
        p = self.strategy.probabilities(scores, self.seen + 1, self.asked - self.skipped)
        return p if self.spent else self.plan.with_audit(p)

    def in_audit(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which examples of the stream are in the audit: asked for at random, and not learned."""
        drawn: NDArray[np.bool_] = counter_rng.uniform(self.training.seed, _AUDIT, numbers) < self.plan.audit
        return drawn

    def places(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where rows are among those that are stored."""
        return self._read.places(numbers)

    @locked
    def consider(self, examples: Examples, *, first_only: bool = False) -> list[Query]:
        """Consider the next rows of the stream; returns those to ask for.

        With `first_only` it stops at the first of them, and `seen` says how far it came.
        """
        if examples.offsets is not None:
            raise ValueError("rows with offsets cannot be asked for: leave the offsets out")
        scores, predictions = self._score(self.labelled.models, examples)
        strategy = copy.copy(self.strategy)  # replaces it only once everything is in the journal
        begin, count = self.seen, len(examples)
        probabilities = np.zeros(count)
        places: list[int] = []
        cost = self.asked - self.skipped
        at = 0
        while at < count and not (first_only and places):
            k = begin + at + 1
            end = min(count, at + strategy.stretch(k))
            counts = np.arange(k, k + end - at)
            p = strategy.probabilities(scores[at:end], counts, cost)
            ask = counter_rng.uniform(self.training.seed, _QUESTIONS, counts) < p
            if not self.plan.is_spent(cost):
                ask, p = ask | self.in_audit(counts - 1), self.plan.with_audit(p)
            taught = np.array(self._read.taught_between(k - 1, begin + end), np.int64) - (k - 1)
            ask[taught], p[taught] = False, 0.0  # such rows have a label, and are in no estimate
            hits = np.flatnonzero(ask)
            if len(hits):
                end = at + int(hits[0]) + 1
                places.append(end - 1)
                cost += 1
            probabilities[at:end] = p[: end - at]
            strategy.observe(scores[at:end], begin + end, cost, question=len(hits) > 0)
            at = end
        decisions = Decisions(
            begin, probabilities[:at], predictions[:at], scores[:at],
            strategy.bound, strategy.thinning, len(strategy.window),
        )  # fmt: skip
        queries = self._decide(decisions, examples, {begin + place: place for place in places})
        self.strategy = strategy
        return queries

    def _decide(
        self, decisions: Decisions, examples: Examples, asked: dict[int, int], source: int | None = None
    ) -> list[Query]:
        """Write the decisions to the journal, then go by them; `asked` has rows by the example's number."""
        stored = [AskedRow(number, *sparse_row(examples, row)) for number, row in asked.items()]
        if len(decisions.scores):
            self.journal.decide(decisions, stored, source)
        self.seen, self.decided = self.seen + len(decisions.scores), decisions
        queries = []
        for each in stored:
            at = each.number - decisions.first
            probability, prediction = float(decisions.probabilities[at]), float(decisions.predictions[at])
            self._store(each, probability)
            queries.append(Query(each.number, probability, prediction, asked[each.number]))
        return queries

    @locked
    def history(self) -> History:
        """Everything that happened, as columns in the order of the stream."""
        return self.journal.history()


def continue_from(journal: Journal) -> ActiveLearner:
    """A learner with the parameters that are in the journal, as it was when that ended."""
    about = journal.about()
    if about is None:
        raise ValueError(f"{journal.path}: is empty: nothing was asked for yet")
    described = {name: value for name, value in about["settings"].items() if name not in GONE}
    settings = Settings(**described | {"loss": losses.by_name(**described["loss"])})
    kept, strategy = dict(about["about"]), strategies.from_description(about["strategy"])
    return ActiveLearner(
        settings, kept.pop("features"), BudgetPlan(**about["plan"]), RefitPlan(**about["training"]), journal,
        kept, strategy, len(kept.get("classes", ("", ""))),
    )  # fmt: skip


def replay(learner: ActiveLearner, examples: Examples, label: Callable[[int], float]) -> None:
    """Consider a labelled stream in order, each question answered before the next row comes.

    `label(row)` is called for rows that are asked for, and for no others.
    """
    begin, plan = learner.seen, learner.plan
    size = _MOST if plan.c0 is not None else int(np.clip(2.0 / plan.share, _FEWEST, _MOST))
    while (row := learner.seen - begin) < len(examples):
        ahead = examples.take(np.arange(row, min(row + size, len(examples))))
        for query in learner.consider(ahead, first_only=True):
            learner.answer([query.id], [label(query.id - begin)])
