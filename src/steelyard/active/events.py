"""Answers, skips and taught labels: as entries of the journal, and as columns of those that are in force."""

import math
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ANSWER, SKIP, UNDO, TEACH, CHANGE, WITHDRAW = "answer", "skip", "undo", "teach", "change", "withdraw"
_KINDS = ANSWER, SKIP, TEACH  # that are in force


@dataclass(frozen=True, slots=True)
class Event:
    """An answer, a skip, a label that nobody was asked for; or what becomes of one.

    That is: an undo of the last of these in force, another answer, none any more.
    """

    kind: str
    number: int
    label: float | None = None


class Events:
    """Those in force in their order: there may be a hundred thousand, so each takes 17 bytes."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._kinds, self._numbers, self._labels = bytearray(), array("q"), array("d")
        for event in events:
            self.append(event)

    def __len__(self) -> int:
        return len(self._kinds)

    def append(self, event: Event) -> None:
        self._kinds.append(_KINDS.index(event.kind))
        self._numbers.append(event.number)
        self._labels.append(math.nan if event.label is None else event.label)

    def pop(self) -> None:
        """The last one is in force no longer."""
        for column in (self._kinds, self._numbers, self._labels):
            column.pop()

    @property
    def last(self) -> Event:
        return self._event(self._kinds[-1], self._numbers[-1], self._labels[-1])

    def __iter__(self) -> Iterator[Event]:
        return map(self._event, self._kinds, self._numbers, self._labels)

    @staticmethod
    def _event(kind: int, number: int, label: float) -> Event:
        return Event(_KINDS[kind], number, None if math.isnan(label) else label)

    def is_about(self, number: int) -> bool:
        return number in self._numbers

    def labels(self, last: int = 0) -> NDArray[np.float64]:
        """Of all or so many of the last; NaN where there is none."""
        return np.array(self._labels[-last:])


def revise(events: list[Event], revision: Event) -> None:
    """Change or withdraw the entry of a question, wherever it stands among those in force."""
    place, *others = (place for place, event in enumerate(events) if event.number == revision.number)
    for other in reversed(others):  # a label that was taught after a skip
        del events[other]
    taught = events[place].kind == TEACH  # without a label, nothing is known about such a row
    if revision.kind == WITHDRAW or (taught and revision.label is None):
        del events[place]
    else:
        kind = TEACH if taught else SKIP if revision.label is None else ANSWER
        events[place] = Event(kind, revision.number, revision.label)
