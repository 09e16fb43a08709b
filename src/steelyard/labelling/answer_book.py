"""`AnswerBook`: what people say about items by now, made small: there may be a hundred thousand answers."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator

from steelyard.active.label_store import CERTIFY, IN_FILE, WITHDRAWN, Label, Said, settled


class AnswerBook:
    """Of entries in their order. The store has them whole; here, items of which the same is said share it."""

    def __init__(self, entries: Iterable[Label], positive: str | None) -> None:
        self._positive = positive
        self.labels: dict[int, Said] = {}
        self.counts: Counter[str | None] = Counter()
        """How many items have each label; None: skipped."""
        self.by_person: Counter[str] = Counter()
        self.dry = 0
        """How many labels came since the last one of the positive class."""
        self.drawn: set[int] = set()
        """Items that were labelled for a certificate."""
        self._order: dict[str, array[int]] = {}  # by person what they labelled, perhaps several times
        self._shared: dict[tuple[tuple[str, str | None], ...], Said] = {}
        for each in entries:
            self.take(each)

    def take(self, label: Label) -> None:
        """One more entry."""
        before = self.labels.get(label.item, {})
        now = dict(before)
        if label.purpose == WITHDRAWN:
            now.pop(label.annotator, None)
        else:
            now[label.annotator] = label.label
            self._order.setdefault(label.annotator, array("q")).append(label.item)
        if before:
            self.counts[settled(before)] -= 1
        if now:
            self.labels[label.item] = self._shared.setdefault(tuple(now.items()), now)
            self.counts[settled(now)] += 1
        else:
            self.labels.pop(label.item, None)
        if label.purpose == CERTIFY:
            self.drawn.add(label.item)
        if label.annotator != IN_FILE:
            self.by_person[label.annotator] += len(now) - len(before)
        if label.label is not None:
            self.dry = 0 if label.label == self._positive else self.dry + 1

    def said_by(self, annotator: str) -> Iterator[int]:
        """The items that this person has labelled, the latest first."""
        seen: set[int] = set()
        for item in reversed(self._order.get(annotator, ())):
            if item not in seen and annotator in self.labels.get(item, {}):
                seen.add(item)
                yield item
