"""`Revisions`: answers that change after others were given, wherever they stand."""

from abc import abstractmethod
from dataclasses import asdict, replace

from steelyard.active._locking import Locked, locked
from steelyard.active.events import CHANGE, WITHDRAW, Event, Events
from steelyard.active.journal import Journal
from steelyard.active.labelled_rows import Labelled
from steelyard.active.stored_rows import ReadRows
from steelyard.active.strategies._base import BudgetPlan, Strategy


class Revisions(Locked):
    """Of an `ActiveLearner`. The model then is as if the answers in force were all that ever came."""

    journal: Journal
    plan: BudgetPlan
    strategy: Strategy
    labelled: Labelled
    _read: ReadRows
    _events: Events
    _audited: int
    taught: int

    def change(self, number: int, label: float | None) -> None:
        """Another label of what was answered, skipped or taught; None: nobody can tell it."""
        known = self.labelled.codes
        if label is not None and label not in known:
            raise ValueError(
                f"question {number} has the label {label}: it takes {' and '.join(map(str, known))}"
            )
        self._revise(Event(CHANGE, number, label))

    def withdraw(self, number: int) -> None:
        """Take back an answer or a skip: the question is open again. Or a label that was taught."""
        self._revise(Event(WITHDRAW, number))

    @locked
    def raise_budget(self, budget: int) -> None:
        """Ask for more labels than was planned, from the next question on."""
        if self.plan.budget is None or budget < self.plan.budget:
            raise ValueError(f"a budget of {self.plan.budget} cannot be raised to {budget}")
        self.plan = replace(self.plan, budget=budget)
        self.strategy.plan = self.plan
        self.journal.save_plan(asdict(self.plan))

    @locked
    def _revise(self, event: Event) -> None:
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

    @abstractmethod
    def _apply(self, event: Event) -> None: ...
