"""What an active learner is told: answers, skips, labels that nobody was asked for, and other answers later.

Taught labels are seeds, those of old projects, and the answers of attempts at certificates. The model learns
them. Their rows are not asked for any more, and are in no estimate: those are made from rows that were drawn
with known probabilities, and scored before their label was learned.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.active._locking import Locked, locked
from steelyard.active.events import ANSWER, CHANGE, SKIP, TEACH, UNDO, WITHDRAW, Event, Events
from steelyard.active.journal import AskedRow, Journal
from steelyard.active.labelled_rows import Labelled
from steelyard.active.stored_rows import ANSWERED, OPEN, SKIPPED, TAUGHT, ReadRows, sparse_row
from steelyard.active.strategies._base import BudgetPlan, Strategy

if TYPE_CHECKING:
    from steelyard.examples import Examples

_STATES = {ANSWER: ANSWERED, SKIP: SKIPPED}
_PAST = {ANSWERED: "answered", SKIPPED: "skipped"}


class Answers(Locked):
    """For `ActiveLearner`. All is written to the journal before it counts."""

    journal: Journal
    plan: BudgetPlan
    strategy: Strategy
    labelled: Labelled
    _read: ReadRows

    def __init__(self) -> None:
        super().__init__()
        self.taught = 0
        """How many labels in force nobody was asked for."""
        self._audited = 0  # answers that were not learned
        self._events = Events()  # answers, skips and taught labels that were not undone

    @property
    def answered(self) -> int:
        """Answers to questions; taught labels are not among them."""
        return len(self.labelled) - self.taught + self._audited

    @property
    def skipped(self) -> int:
        return self._settled - self.answered

    @property
    def missing(self) -> float:
        """The share of settled questions that were skipped; NaN before there are any."""
        return self.skipped / self._settled if self._settled else float("nan")

    @property
    def _settled(self) -> int:
        return self._read.count(ANSWERED) + self._read.count(SKIPPED)

    @property
    @locked
    def open(self) -> list[int]:
        return self._read.in_state(OPEN)

    @property
    def open_count(self) -> int:
        return self._read.count(OPEN)

    @property
    @locked
    def labels(self) -> dict[int, float]:
        """All labels so far, by the number of the example."""
        return {event.number: event.label for event in self._events if event.label is not None}

    @locked
    def is_dry(self, label: float, count: int) -> bool:
        """Whether there are answers with this label, but none among so many of the last."""
        return label not in self._events.labels(count) and label in self._events.labels()

    def answer(self, ids: Sequence[int], labels: Sequence[float]) -> None:
        """The labels of questions, as the loss takes them; all of them or, if one is wrong, none."""
        self._settle([Event(ANSWER, number, float(y)) for number, y in zip(ids, labels, strict=True)])

    def skip(self, ids: Sequence[int]) -> None:
        self._settle([Event(SKIP, number) for number in ids])

    @locked
    def _settle(self, events: list[Event]) -> None:
        for place, event in enumerate(events):
            state = self._read.state(event.number)
            if state is None or state == TAUGHT:
                raise ValueError(f"there is no question {event.number!r}: it was not asked")
            if state != OPEN:
                raise ValueError(f"question {event.number} was {_PAST[state]} already; undo that first")
            if event.number in {other.number for other in events[:place]}:
                raise ValueError(f"question {event.number} is there twice")
            self._check_label(event)
        self.journal.add(events)
        for event in events:
            self._apply(event)

    def _check_label(self, event: Event) -> None:
        codes = self.labelled.codes
        if event.label is not None and event.label not in codes:
            raise ValueError(
                f"question {event.number} has the label {event.label}: the labels are "
                f"{' and '.join(map(str, codes))}"
            )

    @locked
    def teach(
        self,
        labels: Mapping[int, float],
        rows: Mapping[int, int],
        examples: "Examples",
        *,
        source: int | None = None,
        attempt: int | None = None,
    ) -> None:
        """Learn labels by the numbers of examples, which are `rows` of `examples`; the answer if one is open.

        What has a label keeps it. `source` is the random order from which an attempt drew them (see `turns`),
        and `attempt` the one whose labels they are.
        """
        for number, label in labels.items():
            self._check_label(Event(TEACH, number, label))
        known = self.labels
        events = [
            Event(ANSWER if self._read.state(number) == OPEN else TEACH, number, label)
            for number, label in labels.items()
            if number not in known
        ]
        new = [
            AskedRow(event.number, *sparse_row(examples, rows[event.number]))
            for event in events
            if event.number not in self._read
        ]
        self.journal.teach(events, new, source, attempt)
        for row in new:
            self._store(row, 1.0, TAUGHT)
        for event in events:
            self._apply(event)

    @locked
    def undo(self) -> int:
        """Take back the last answer, skip or taught label; returns its number. A question is open again.

        A row that was taught is still not asked for, and can be taught again.
        """
        if not self._events:
            raise ValueError("there is nothing to undo: no question was answered or skipped")
        last = self._events.last
        self.journal.add([Event(UNDO, last.number)])
        self._events.pop()
        if last.kind == TEACH:
            self.labelled.undo()
            self.taught -= 1
            return last.number
        self._read.settle(last.number, OPEN)
        if last.kind == ANSWER and self._is_audited(last.number):
            self._audited -= 1
        elif last.kind == ANSWER:
            self.labelled.undo()
        return last.number

    def change(self, number: int, label: float | None) -> None:
        """Another label of what was answered, skipped or taught; None: nobody can tell it."""
        event = Event(CHANGE, number, label)
        self._check_label(event)
        self._revise(event)

    def withdraw(self, number: int) -> None:
        """Take back an answer or a skip: the question is open again. Or a label that was taught."""
        self._revise(Event(WITHDRAW, number))

    @locked
    def _revise(self, event: Event) -> None:
        """The model then is as if the answers in force were all that ever came."""
        if not self._events.is_about(event.number):
            raise ValueError(f"question {event.number} was neither answered nor skipped, nor taught")
        self.journal.add([event])
        events = self._events
        events.revise(event)
        self._events, self._audited, self.taught = Events(), 0, 0
        self._read.reopen()
        while len(self.labelled):
            self.labelled.undo()
        for each in events:
            self._apply(each)

    def _apply(self, event: Event) -> None:
        """What is in the journal now counts."""
        self._events.append(event)
        number, label = event.number, event.label
        if event.kind == TEACH:
            assert label is not None
            self.labelled.answer(self._read.place(number), label, 1.0)
            self.taught += 1
            return
        self._read.settle(number, _STATES[event.kind])
        if label is not None and self._is_audited(number):
            self._audited += 1
        elif label is not None:
            asked = 1.0 if self.strategy.uniform else self.plan.without_audit(self._read.probability(number))
            self.labelled.answer(self._read.place(number), label, asked)

    def _is_audited(self, number: int) -> bool:
        return bool(self.in_audit(np.array([number]))[0])

    @abstractmethod
    def in_audit(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]: ...

    @abstractmethod
    def _store(self, row: AskedRow, probability: float, state: int) -> None: ...
