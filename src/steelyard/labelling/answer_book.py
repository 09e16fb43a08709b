"""`AnswerBook`: people's labels as they are now, kept small: there may be a hundred thousand answers."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from steelyard.active.identifiers import Item
from steelyard.active.label_store import (
    CERTIFY,
    IN_FILE,
    RESTORED,
    WITHDRAWN,
    Label,
    LabelsByPerson,
    majority_label,
)  # fmt: skip


class LabelsByItem(Mapping[Item, LabelsByPerson]):
    """People's labels of each item, in the order of its first label. Items with the same labels share them."""

    def __init__(self, items: int) -> None:
        self._distinct: list[LabelsByPerson] = [{}]
        self._index: dict[tuple[tuple[str, str | None], ...], int] = {(): 0}
        self._index_of_item = np.zeros(items, np.int32)  # in `_distinct`; 0: without a label
        self._order = array("q")

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Item]:
        return map(Item, self._order[:])

    def __getitem__(self, item: Item) -> LabelsByPerson:
        index = self._index_of_item[item] if 0 <= item < len(self._index_of_item) else 0
        if not index:
            raise KeyError(item)
        return self._distinct[index]

    def replace(self, item: Item, labels: LabelsByPerson) -> None:
        """From now on the item has these labels, perhaps none any more."""
        index = self._index.setdefault(tuple(labels.items()), len(self._distinct))
        if index == len(self._distinct):
            self._distinct.append(labels)
        if index and item not in self:
            self._order.append(item)
        elif not index and item in self:
            last = next(at for at in reversed(range(len(self))) if self._order[at] == item)
            del self._order[last]
        self._index_of_item[item] = index


class LastEntry(NamedTuple):
    """A person's last entry that is still in force, which they can take back."""

    item: Item
    is_change: bool
    """Whether they had labelled the item before."""
    before: str | None
    """Their label before it, if they had."""


class AnswerBook:
    """The entries in their order, about a number of items. The store has them in full."""

    def __init__(self, entries: Iterable[Label], positive: str | None, items: int) -> None:
        self._positive = positive
        self.labels = LabelsByItem(items)
        self.counts: Counter[str | None] = Counter()
        """The number of items with each label; None: skipped."""
        self.by_person: Counter[str] = Counter()
        """The number of items that each person has labelled or skipped."""
        self.dry = 0
        """The number of labels since the last one of the positive class."""
        self.drawn: set[Item] = set()
        """Items that were labelled for a certificate."""
        self._order: dict[str, array[int]] = {}  # by person, the items of their entries
        self._before: dict[tuple[str, int], str | None] = {}  # by person and index there: the label replaced
        for entry in entries:
            self.add(entry)

    def add(self, entry: Label) -> None:
        before = self.labels.get(entry.item, {})
        now = dict(before)
        order = self._order.setdefault(entry.annotator, array("q"))
        if entry.purpose == WITHDRAWN:
            now.pop(entry.annotator, None)
        else:
            now[entry.annotator] = entry.label
        if entry.purpose == RESTORED:  # what came after the restored entry does not count any more
            del order[next(at for at in reversed(range(len(order))) if order[at] == entry.item) :]
        elif entry.purpose != WITHDRAWN:
            key = entry.annotator, len(order)
            self._before.pop(key, None)
            if entry.annotator in before:
                self._before[key] = before[entry.annotator]
            order.append(entry.item)
        if before:
            self.counts[majority_label(before)] -= 1
        if now:
            self.counts[majority_label(now)] += 1
        self.labels.replace(entry.item, now)
        if entry.purpose == CERTIFY:
            self.drawn.add(entry.item)
        if entry.annotator != IN_FILE:
            self.by_person[entry.annotator] += len(now) - len(before)
        if entry.label is not None and entry.purpose != RESTORED:
            self.dry = 0 if entry.label == self._positive else self.dry + 1

    def last_by(self, annotator: str) -> LastEntry | None:
        """The last entry of this person that is still in force."""
        order = self._order.get(annotator, array("q"))
        for at in reversed(range(len(order))):
            item = Item(order[at])
            if annotator in self.labels.get(item, {}):
                key = annotator, at
                return LastEntry(item, key in self._before, self._before.get(key))
        return None

    def items_of(self, annotator: str) -> Iterator[Item]:
        """The items that this person has labelled, the latest first."""
        seen: set[Item] = set()
        for item in map(Item, reversed(self._order.get(annotator, ()))):
            if item not in seen and annotator in self.labels.get(item, {}):
                seen.add(item)
                yield item
