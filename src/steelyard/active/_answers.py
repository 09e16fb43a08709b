"""`Answers`: the answers, skips and taught labels that are in force, and what follows from them.

Taught labels are seeds, those of old projects, and the answers of attempts at certificates. The model learns
them. Their rows are not asked for any more, and are in no estimate: those are made from rows that were drawn
with known probabilities, and scored before their label was learned.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.active import counter_rng
from steelyard.active.events import ANSWER, SKIP, TEACH, Event, Events
from steelyard.active.labelled_rows import LabelledRows
from steelyard.active.stored_rows import ANSWERED, OPEN, SKIPPED, TAUGHT, ReadRows

_STATES = {ANSWER: ANSWERED, SKIP: SKIPPED}
_PAST = {ANSWERED: "answered", SKIPPED: "skipped"}
_AUDIT = 1  # the purpose of these random numbers; 0 is that of questions, 2 and 3 are those of pools


class AuditSample(NamedTuple):
    """The examples that are asked for at random, and whose answers are not learned."""

    share: float
    seed: int

    def includes(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        drawn: NDArray[np.bool_] = counter_rng.uniform(self.seed, _AUDIT, numbers) < self.share
        return drawn


class Answers:
    """Keeps states of rows, and labels for the model, in line with the events that are in force."""

    def __init__(self, read: ReadRows, labelled: LabelledRows, audit: AuditSample) -> None:
        self._read, self._labelled, self._audit = read, labelled, audit
        self._events = Events()  # answers, skips and taught labels that were not undone
        self.taught = 0
        """How many labels in force nobody was asked for."""

    @property
    def labels(self) -> dict[int, float]:
        """All labels so far, by the number of the example."""
        return {event.number: event.label for event in self._events if event.label is not None}

    def is_dry(self, label: float, count: int) -> bool:
        """Whether there are answers with this label, but none among so many of the last."""
        return label not in self._events.labels(count) and label in self._events.labels()

    def check(self, events: Sequence[Event]) -> None:
        """Raise a ValueError unless these answers and skips are of open questions, with possible labels."""
        for place, event in enumerate(events):
            state = self._read.state(event.number)
            if state is None or state == TAUGHT:
                raise ValueError(f"there is no question {event.number!r}: it was not asked")
            if state != OPEN:
                raise ValueError(f"question {event.number} was {_PAST[state]} already; undo that first")
            if event.number in {other.number for other in events[:place]}:
                raise ValueError(f"question {event.number} is there twice")
            self.check_label(event)

    def check_label(self, event: Event) -> None:
        codes = self._labelled.codes
        if event.label is not None and event.label not in codes:
            raise ValueError(
                f"question {event.number} has the label {event.label}: the labels are "
                f"{' and '.join(map(str, codes))}"
            )

    def check_revision(self, event: Event) -> None:
        """Raise a ValueError unless there is something to revise, with a possible label."""
        self.check_label(event)
        if not self._events.is_about(event.number):
            raise ValueError(f"question {event.number} was neither answered nor skipped, nor taught")

    def lessons(self, labels: Mapping[int, float]) -> list[Event]:
        """The events that teach these labels: answers where a question is open. What has a label keeps it."""
        for number, label in labels.items():
            self.check_label(Event(TEACH, number, label))
        known = self.labels
        return [
            Event(ANSWER if self._read.state(number) == OPEN else TEACH, number, label)
            for number, label in labels.items()
            if number not in known
        ]

    @property
    def last(self) -> Event | None:
        """The last event in force."""
        return self._events.last if self._events else None

    def apply(self, event: Event) -> None:
        """Put an answer, a skip or a taught label into force."""
        self._events.append(event)
        number, probability = event.number, 1.0
        if event.kind == TEACH:
            self.taught += 1
        else:
            self._read.set_state(number, _STATES[event.kind])
            probability = self._read.probability(number)
        if event.label is not None and self._is_learned(event):
            self._labelled.answer(self._read.place(number), event.label, probability)

    def undo(self) -> None:
        """Put the last event out of force."""
        last = self._events.last
        self._events.pop()
        if last.kind == TEACH:
            self.taught -= 1
        else:
            self._read.set_state(last.number, OPEN)
        if last.label is not None and self._is_learned(last):
            self._labelled.undo()

    def revise(self, revision: Event) -> None:
        """Change or withdraw an event: all is then as if those in force were all that ever came."""
        events = self._events
        events.revise(revision)
        self._events, self.taught = Events(), 0
        self._read.reopen()
        self._labelled.undo(len(self._labelled))
        for event in events:
            self.apply(event)

    def _is_learned(self, event: Event) -> bool:
        return event.kind == TEACH or not self._audit.includes(np.array([event.number]))[0]
