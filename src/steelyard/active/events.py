"""Answers, skips and taught labels: as entries of the journal, and as columns of those that are in force."""

import math
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ANSWER, SKIP, UNDO, TEACH, CHANGE, WITHDRAW = "answer", "skip", "undo", "teach", "change", "withdraw"
_KINDS = ANSWER, SKIP, TEACH  # that are in force
_CODES = {kind: code for code, kind in enumerate(_KINDS)}


@dataclass(frozen=True, slots=True)
class Event:
    """An answer, a skip, or a label that nobody was asked for; or a revision of one of these.

    An undo takes back the last of them in force, a change gives another answer, a withdrawal takes it back.
    """

    kind: str
    number: int
    label: float | None = None


class Events:
    """The events in force in their order: there may be a hundred thousand, so each takes 17 bytes."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._kinds, self._numbers, self._labels = bytearray(), array("q"), array("d")
        for event in events:
            self.append(event)

    def __len__(self) -> int:
        return len(self._kinds)

    def append(self, event: Event) -> None:
        self._kinds.append(_CODES[event.kind])
        self._numbers.append(event.number)
        self._labels.append(math.nan if event.label is None else event.label)

    def pop(self) -> None:
        """Put the last event out of force."""
        self._delete(-1)

    def _delete(self, place: int) -> None:
        for column in (self._kinds, self._numbers, self._labels):
            del column[place]

    def revise(self, revision: Event) -> None:
        """Change or withdraw the entry of a question, wherever it stands."""
        place, *others = self._places(revision.number)
        for other in reversed(others):  # a label that was taught after a skip
            self._delete(other)
        taught = _KINDS[self._kinds[place]] == TEACH  # without a label, nothing is known about such a row
        if revision.kind == WITHDRAW or (taught and revision.label is None):
            self._delete(place)
        else:
            kind = TEACH if taught else SKIP if revision.label is None else ANSWER
            self._kinds[place] = _CODES[kind]
            self._labels[place] = math.nan if revision.label is None else revision.label

    def _places(self, number: int) -> list[int]:
        found = [place for place, own in enumerate(self._numbers) if own == number]
        if not found:
            raise LookupError(f"there is no entry of question {number} to revise")
        return found

    def of_kind(self, kind: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The numbers and labels of those of one kind."""
        own = np.array(self._kinds, np.uint8) == _CODES[kind]
        return np.array(self._numbers)[own], np.array(self._labels)[own]

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
        """The labels of all events, or of so many of the last; NaN where there is none."""
        return np.array(self._labels[-last:])
