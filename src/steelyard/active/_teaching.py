"""Labels that nobody was asked for: seeds, old projects, the answers of attempts at certificates.

The model learns them. Their rows are not asked for any more, and are in no estimate: those are made from rows
that were drawn with known probabilities, and scored before their label was learned.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from steelyard.active._locking import Locked, locked
from steelyard.active.events import ANSWER, TEACH, Event, Events
from steelyard.active.journal import AskedRow, Journal
from steelyard.active.labelled_rows import Labelled
from steelyard.active.stored_rows import OPEN, TAUGHT, ReadRows, sparse_row

if TYPE_CHECKING:
    from steelyard.examples import Examples


class Teaching(Locked):
    """For `ActiveLearner`."""

    journal: Journal
    labelled: Labelled
    _read: ReadRows
    _events: Events
    taught: int = 0
    """How many labels in force nobody was asked for."""

    @property
    @locked
    def labels(self) -> dict[int, float]:
        """All labels so far, by the number of the example."""
        return {event.number: event.label for event in self._events if event.label is not None}

    @locked
    def is_dry(self, label: float, count: int) -> bool:
        """Whether there are answers with this label, but none among so many of the last."""
        return label not in self._events.labels(count) and label in self._events.labels()

    @locked
    def teach(
        self,
        labels: Mapping[int, float],
        rows: "Mapping[int, int]",
        examples: "Examples",
        *,
        source: int | None = None,
        attempt: int | None = None,
    ) -> None:
        """Learn labels by the numbers of examples, which are `rows` of `examples`; the answer if one is open.

        What has a label keeps it. `source` is the random order from which an attempt drew them (see `turns`),
        and `attempt` the one whose labels they are.
        """
        codes = self.labelled.codes
        wrong = next((label for label in labels.values() if label not in codes), None)
        if wrong is not None:
            raise ValueError(f"the label {wrong} is neither {' nor '.join(map(str, codes))}")
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

    def _learn_taught(self, event: Event) -> None:
        assert event.label is not None
        self.labelled.answer(self._read.place(event.number), event.label, 1.0)
        self.taught += 1

    def _forget_taught(self) -> None:
        """The last label: its row is still not asked for, and can be taught again."""
        self.labelled.undo()
        self.taught -= 1

    @abstractmethod
    def _store(self, row: AskedRow, probability: float, state: int) -> None: ...

    @abstractmethod
    def _apply(self, event: Event) -> None: ...
