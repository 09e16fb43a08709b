"""`AnswerBook`: what people say about items by now, made small: there may be a hundred thousand answers."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from steelyard.active.label_store import CERTIFY, IN_FILE, RESTORED, WITHDRAWN, Label, Said, settled


class SaidOfItems(Mapping[int, Said]):
    """What people say, by item, in the order of their first labels; where it is the same, they share it."""

    def __init__(self, items: int) -> None:
        self._said: list[Said] = [{}]
        self._places: dict[tuple[tuple[str, str | None], ...], int] = {(): 0}
        self._place = np.zeros(items, np.int32)  # by item, that of what is said about it; 0: nothing
        self._order = array("q")

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[int]:
        return iter(self._order[:])

    def __getitem__(self, item: int) -> Said:
        place = self._place[item] if 0 <= item < len(self._place) else 0
        if not place:
            raise KeyError(item)
        return self._said[place]

    def say(self, item: int, now: Said) -> None:
        """What is said from now on, perhaps nothing any more."""
        place = self._places.setdefault(tuple(now.items()), len(self._said))
        if place == len(self._said):
            self._said.append(now)
        if place and item not in self:
            self._order.append(item)
        elif not place and item in self:
            last = next(at for at in reversed(range(len(self))) if self._order[at] == item)
            del self._order[last]
        self._place[item] = place


class LastEntry(NamedTuple):
    """What a person did last, and can take back."""

    item: int
    again: bool
    """Whether they had said something about it before,"""
    before: str | None
    """and what."""


class AnswerBook:
    """Of entries in their order about so many items. The store has them whole."""

    def __init__(self, entries: Iterable[Label], positive: str | None, items: int) -> None:
        self._positive = positive
        self.labels = SaidOfItems(items)
        self.counts: Counter[str | None] = Counter()
        """How many items have each label; None: skipped."""
        self.by_person: Counter[str] = Counter()
        self.dry = 0
        """How many labels came since the last one of the positive class."""
        self.drawn: set[int] = set()
        """Items that were labelled for a certificate."""
        self._order: dict[str, array[int]] = {}  # by person what they labelled, perhaps several times
        self._before: dict[tuple[str, int], str | None] = {}  # by person and place in it, what they had said
        for each in entries:
            self.take(each)

    def take(self, label: Label) -> None:
        """One more entry."""
        before = self.labels.get(label.item, {})
        now = dict(before)
        order = self._order.setdefault(label.annotator, array("q"))
        if label.purpose == WITHDRAWN:
            now.pop(label.annotator, None)
        else:
            now[label.annotator] = label.label
        if label.purpose == RESTORED:  # nothing that came after the entry counts any more
            del order[next(at for at in reversed(range(len(order))) if order[at] == label.item) :]
        elif label.purpose != WITHDRAWN:
            place = label.annotator, len(order)
            self._before.pop(place, None)
            if label.annotator in before:
                self._before[place] = before[label.annotator]
            order.append(label.item)
        if before:
            self.counts[settled(before)] -= 1
        if now:
            self.counts[settled(now)] += 1
        self.labels.say(label.item, now)
        if label.purpose == CERTIFY:
            self.drawn.add(label.item)
        if label.annotator != IN_FILE:
            self.by_person[label.annotator] += len(now) - len(before)
        if label.label is not None and label.purpose != RESTORED:
            self.dry = 0 if label.label == self._positive else self.dry + 1

    def last_by(self, annotator: str) -> LastEntry | None:
        """What this person did last that still counts."""
        order = self._order.get(annotator, array("q"))
        for at in reversed(range(len(order))):
            if annotator in self.labels.get(order[at], {}):
                place = annotator, at
                return LastEntry(order[at], place in self._before, self._before.get(place))
        return None

    def said_by(self, annotator: str) -> Iterator[int]:
        """The items that this person has labelled, the latest first."""
        seen: set[int] = set()
        for item in reversed(self._order.get(annotator, ())):
            if item not in seen and annotator in self.labels.get(item, {}):
                seen.add(item)
                yield item
