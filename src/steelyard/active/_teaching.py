"""Labels that nobody was asked for: seeds, old projects, the answers of attempts at certificates.

The model learns them. Their rows are not asked for any more, and are in no estimate: those are made from rows
that were drawn with known probabilities, and scored before their label was learned.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from steelyard.active._locking import Locked, locked
from steelyard.active.journal import ANSWER, TEACH, AskedRow, Event, Journal
from steelyard.active.labelled_rows import Labelled, sparse_row

if TYPE_CHECKING:
    from steelyard.examples import Examples


class Teaching(Locked):
    """For `ActiveLearner`."""

    journal: Journal
    labelled: Labelled
    _asked: dict[int, tuple[int, float]]
    _taught: dict[int, int]
    _events: list[Event]
    _state: dict[int, str]
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
        last = [event.label for event in self._events[-count:]]
        return label not in last and any(event.label == label for event in self._events)

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
            Event(ANSWER if number in self._asked and number not in self._state else TEACH, number, label)
            for number, label in labels.items()
            if number not in known
        ]
        new = [
            AskedRow(event.number, *sparse_row(examples, rows[event.number]))
            for event in events
            if event.number not in self._asked and event.number not in self._taught
        ]
        self.journal.teach(events, new, source, attempt)
        for row in new:
            self._store_taught(row)
        for event in events:
            self._apply(event)

    def _store_taught(self, row: AskedRow) -> None:
        self._taught[row.number] = len(self.labelled.rows)
        self.labelled.rows.add(row.indices, row.values, row.number)

    def _learn_taught(self, event: Event) -> None:
        assert event.label is not None
        place = self._taught[event.number] if event.number in self._taught else self._asked[event.number][0]
        self.labelled.answer(place, event.label, 1.0)
        self.taught += 1

    def _forget_taught(self) -> None:
        """The last label: its row is still not asked for, and can be taught again."""
        self.labelled.undo()
        self.taught -= 1

    @abstractmethod
    def _apply(self, event: Event) -> None: ...
