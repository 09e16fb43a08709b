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
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard._messages import GONE
from steelyard.active import class_models, strategies
from steelyard.active._answers import Answers, AuditSample
from steelyard.active._locking import locked
from steelyard.active._pool_ranking import PoolRanking
from steelyard.active._stream_choice import choose_from_stream
from steelyard.active.events import ANSWER, CHANGE, SKIP, UNDO, WITHDRAW, Event
from steelyard.active.journal import AskedRow, Decisions, History, Journal
from steelyard.active.labelled_rows import LabelledRows, RefitPlan
from steelyard.active.snapshot import LearnerSnapshot
from steelyard.active.stored_rows import ANSWERED, OPEN, SKIPPED, TAUGHT, PoolRows, ReadRows, sparse_row
from steelyard.active.strategies._base import BudgetPlan, Strategy
from steelyard.examples import Examples
from steelyard.losses import class_labels
from steelyard.model import Model, Settings

_FROM_STREAM, _FROM_POOL = (16, 256), (64, 4096)  # rows that are scored ahead of the next question


@dataclass(frozen=True)
class Query:
    """An example whose label is wanted."""

    id: int
    """The number of the example in the stream, from 0."""
    probability: float
    """The probability with which it was asked for; estimates weight its label by the inverse."""
    prediction: float
    """w·x, before the label is known; with several classes the number of `class_models.decisions`."""
    row: int
    """The row among those that were considered together, from 0; or the row of the pool."""


def _check_row(row: AskedRow, features: int, pool_size: int | None) -> None:
    """Raise a TypeError for a row of a damaged file: it must not reach a kernel."""
    if pool_size is not None and not 0 <= row.number < pool_size:
        raise TypeError(f"row {row.number} is not in the pool")
    inside = ((row.indices >= 0) & (row.indices < features)).all()
    if len(row.indices) != len(row.values) or not inside or not np.isfinite(row.values).all():
        raise TypeError(f"row {row.number} has features that do not exist")


class ActiveLearner:
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
        class_labels(settings.loss)
        self.lock = threading.RLock()
        self.plan, self.training = plan, training or RefitPlan()
        self.strategy = (strategy or strategies.by_name(strategies.DEFAULT)).start(plan)
        if classes > 2 and not self.strategy.several:
            able = [name for name in strategies.names() if strategies.by_name(name).several]
            raise ValueError(
                f"the strategy {strategies.name_of(self.strategy)!r} chooses among rows of two classes, and "
                f"{classes} are named: use {', '.join(map(repr, able))}, or tell one class from the rest"
            )
        self.journal = journal or Journal()
        self.seen = 0  # examples considered so far
        self.decided: Decisions | None = None  # about the examples that were considered last
        self._features = features
        self._read = ReadRows()  # the numbers of taught rows are below 0 if they are in no pool
        self._pool = pool
        rows = None if pool is None else PoolRows(*pool, self._read)
        self.labelled = LabelledRows(settings, features, self.training, classes, rows)
        self.audit = AuditSample(plan.audit, self.training.seed)
        self._answers = Answers(self._read, self.labelled, self.audit)
        self._ranking = None if pool is None else PoolRanking(*pool, self._read, self.labelled, self.audit)
        try:
            self._begin_journal(settings, about or {})
            self._resume()
        except (sqlite3.DatabaseError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"{self.journal.path}: is damaged ({type(error).__name__}: {error})") from error

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.RLock())

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
        self.journal.about.begin(now)

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
            _check_row(row, self._features, None if self._pool is None else len(self._pool[0]))
            if number in taught:
                self._store(row, 1.0, TAUGHT)
            else:
                self._store(row, float(probabilities[number]))
        for event in self.journal.events_in_force():
            self._answers.apply(event)

    def _store(self, row: AskedRow, probability: float, state: int = OPEN) -> None:
        """Note that a row was read; `probability` is that of asking for it, by the strategy or the audit."""
        self.labelled.rows.add(row.indices, row.values)
        by_strategy = 1.0 if self.strategy.uniform else self.plan.without_audit(probability)
        self._read.add(row.number, 1.0 if state == TAUGHT else by_strategy, state)

    @property
    def asked(self) -> int:
        return len(self._read) - self._read.count(TAUGHT)

    @property
    def answered(self) -> int:
        """How many questions were answered; taught labels are not among them."""
        return self._read.count(ANSWERED)

    @property
    def skipped(self) -> int:
        return self._read.count(SKIPPED)

    @property
    def missing(self) -> float:
        """The share of skips among answers and skips; NaN before there are any."""
        closed = self.answered + self.skipped
        return self.skipped / closed if closed else float("nan")

    @property
    @locked
    def open(self) -> list[int]:
        """The numbers of questions without an answer, in the order in which they were asked."""
        return self._read.in_state(OPEN)

    @property
    def open_count(self) -> int:
        return self._read.count(OPEN)

    @property
    def taught(self) -> int:
        """How many labels in force nobody was asked for."""
        return self._answers.taught

    @property
    @locked
    def taught_rows(self) -> list[int]:
        """The numbers of rows that nobody was asked about, whether or not their labels are in force."""
        return self._read.in_state(TAUGHT)

    @property
    @locked
    def labels(self) -> dict[int, float]:
        """All labels so far, by the number of the example."""
        return self._answers.labels

    @locked
    def is_dry(self, label: float, count: int) -> bool:
        """Whether there are answers with this label, but none among so many of the last."""
        return self._answers.is_dry(label, count)

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
        self.journal.about.save_plan(asdict(self.plan))

    @property
    @locked
    def models(self) -> list[Model]:
        """The models to predict with, refitted on all answers: one for two classes, else one for each."""
        return self.labelled.final

    @property
    def model(self) -> Model:
        """The only model, if there are two classes."""
        (model,) = self.models
        return model

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        """w·x of each row, by the model refitted on all answers; with several classes, a column for each."""
        return class_models.predict(self.models, examples)

    @locked
    def probabilities(self, examples: Examples) -> NDArray[np.float64]:
        """The probability with which each row would be asked for if it came next. This decides nothing."""
        scores, _ = class_models.score_and_decide(self.strategy, self.labelled.models, examples)
        p = self.strategy.probabilities(scores, self.seen + 1, self.asked - self.skipped)
        return p if self.spent else self.plan.with_audit(p)

    @locked
    def consider(self, examples: Examples, *, first_only: bool = False) -> list[Query]:
        """Consider the next rows of the stream; returns those to ask for.

        With `first_only` it stops at the first of them, and `seen` says how far it came.
        """
        if examples.offsets is not None:
            raise ValueError("rows with offsets cannot be asked for: leave the offsets out")
        scores, predictions = class_models.score_and_decide(self.strategy, self.labelled.models, examples)
        strategy = copy.copy(self.strategy)  # replaces it only once everything is in the journal
        decisions, places = choose_from_stream(
            strategy, scores, predictions, self._read, self.audit,
            seen=self.seen, cost=self.asked - self.skipped, first_only=first_only,
        )  # fmt: skip
        queries = self._decide(decisions, examples, {decisions.first + place: place for place in places})
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
    def ask_from_pool(self) -> Query | None:
        """The next question from the pool; None once the budget or the pool is used up.

        It is the row that the strategy wants most, or the next one in the order of the pool.
        """
        if self._pool is None or self._ranking is None:
            raise ValueError("this learner has no pool to ask from")
        if not self.strategy.ranks_pool:
            return self._ask_in_order(*self._pool)
        choice = None if self.spent else self._ranking.choose(self.strategy, self.plan, self.asked)
        if choice is None:
            return None
        asked = {choice.decisions.first: choice.row}
        (query,) = self._decide(choice.decisions, self._pool[0], asked, choice.source)
        return query

    def _ask_in_order(self, pool: Examples, order: NDArray[np.int64]) -> Query | None:
        ahead = int(np.clip(2.0 / self.plan.share, *_FROM_POOL))
        while self.seen < len(pool) and not self.spent:
            rows = order[self.seen : self.seen + ahead]
            for query in self.consider(pool.take(rows), first_only=True):
                return replace(query, row=int(order[query.id]))
        return None

    def answer(self, ids: Sequence[int], labels: Sequence[float]) -> None:
        """Take the labels of questions, as the loss has them; all of them or, if one is wrong, none."""
        self._add([Event(ANSWER, number, float(y)) for number, y in zip(ids, labels, strict=True)])

    def skip(self, ids: Sequence[int]) -> None:
        """Note that nobody can answer these questions."""
        self._add([Event(SKIP, number) for number in ids])

    @locked
    def _add(self, events: list[Event]) -> None:
        self._answers.check(events)
        self.journal.add(events)
        for event in events:
            self._answers.apply(event)

    @locked
    def teach(
        self,
        labels: Mapping[int, float],
        rows: Mapping[int, int],
        examples: Examples,
        *,
        source: int | None = None,
        attempt: int | None = None,
    ) -> None:
        """Learn labels by the numbers of examples, which are `rows` of `examples`; the answer if one is open.

        What has a label keeps it. `source` is the random order from which an attempt drew them (see
        `Journal.turns`), and `attempt` the one whose labels they are.
        """
        events = self._answers.lessons(labels)
        new = [
            AskedRow(event.number, *sparse_row(examples, rows[event.number]))
            for event in events
            if event.number not in self._read
        ]
        self.journal.teach(events, new, source, attempt)
        for row in new:
            self._store(row, 1.0, TAUGHT)
        for event in events:
            self._answers.apply(event)

    @locked
    def undo(self) -> int:
        """Take back the last answer, skip or taught label; returns its number. A question is open again.

        A row that was taught is still not asked for, and can be taught again.
        """
        last = self._answers.last
        if last is None:
            raise ValueError("there is nothing to undo: no question was answered or skipped")
        self.journal.add([Event(UNDO, last.number)])
        self._answers.undo()
        return last.number

    def change(self, number: int, label: float | None) -> None:
        """Give another label to what was answered, skipped or taught; None: nobody can tell it."""
        self._revise(Event(CHANGE, number, label))

    def withdraw(self, number: int) -> None:
        """Take back an answer or a skip: the question is open again. Or a label that was taught."""
        self._revise(Event(WITHDRAW, number))

    @locked
    def _revise(self, event: Event) -> None:
        """Change or withdraw; the model then is as if the answers in force were all that ever came."""
        self._answers.check_revision(event)
        self.journal.add([event])
        self._answers.revise(event)

    @locked
    def waiting(self) -> list[Query]:
        """The questions without an answer. In a stream their places count from its first row, as their ids do."""
        history, order = self.history(), None if self._pool is None else self._pool[1]
        return [
            Query(
                number, float(history.probability[number]), float(history.prediction[number]),
                number if order is None else int(order[number]),
            )
            for number in self.open
        ]  # fmt: skip

    @locked
    def history(self) -> History:
        """Everything that happened, as columns in the order of the stream."""
        return self.journal.history()

    @locked
    def snapshot(self) -> LearnerSnapshot:
        """The learner as it is now, to be judged in another thread while this one goes on."""
        return LearnerSnapshot(
            self.labelled.copy(), self._read.copy(), self.journal.history(), self.strategy, self.plan,
            self.audit, self.seen, self.asked, self.answered,
        )  # fmt: skip


def continue_from(journal: Journal) -> ActiveLearner:
    """A learner with the parameters that are in the journal, as it was when that ended."""
    about = journal.about.read()
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
    size = _FROM_STREAM[1] if plan.c0 is not None else int(np.clip(2.0 / plan.share, *_FROM_STREAM))
    while (row := learner.seen - begin) < len(examples):
        ahead = examples.take(np.arange(row, min(row + size, len(examples))))
        for query in learner.consider(ahead, first_only=True):
            learner.answer([query.id], [label(query.id - begin)])
