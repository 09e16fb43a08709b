"""`LabellingSession`: hands documents to people, takes their labels, and keeps the learner busy behind them.

One lock guards people's state (labels, who has which document), and is never held while something is learned;
for that there is a `LearnerWorker`. So an answer is on disk and the next document is there within milliseconds,
whatever the learner does.
"""

import threading
import time
from collections.abc import Callable

from steelyard.active.certification import MEASURES
from steelyard.active.identifiers import Item
from steelyard.active.label_store import CERTIFY, IN_FILE, LABEL, RESTORED, WITHDRAWN, Label
from steelyard.io.errors import InputError
from steelyard.labelling.answer_book import AnswerBook
from steelyard.labelling.assignments import Assignment, Assignments
from steelyard.labelling.attempts import Attempts
from steelyard.labelling.learner_feed import LearnerFeed
from steelyard.labelling.learner_worker import LearnerWorker
from steelyard.labelling.project import Project
from steelyard.labelling.project_settings import RECALL

_PATIENCE = 10.0  # seconds that somebody waits for the learner at most


class LabellingSession:
    """A client is one page in one browser; an annotator is a person, who may have several."""

    def __init__(self, project: Project, clock: Callable[[], float] = time.time) -> None:
        self.project, self._clock = project, clock
        self.lock = threading.RLock()
        self.feed = LearnerFeed(project, project.classifier())
        self.book = AnswerBook(project.store.labels(), project.settings.positive, self.feed.items)
        self.labels = self.book.labels
        self.attempts = Attempts(self.feed.classifier, project.settings.measure)
        self.attempts.refresh(self.labels)
        self.feed.withhold(self.book.drawn)
        self.assignments = Assignments(project.settings, self.labels, self.attempts, self.feed.open, clock)
        self.worker = LearnerWorker(
            self.lock, self.feed, self.labels, self.attempts, self.assignments, project.store.complete_file
        )
        self._work = self.worker.work

    def start(self) -> None:
        self.worker.start()

    def close(self) -> None:
        """Let the worker finish what it has begun."""
        self.worker.close()

    def next(self, client: str, annotator: str) -> Assignment | None:
        """The document that this client is to label; None if there is none now."""
        deadline = time.monotonic() + _PATIENCE
        with self._work:
            self.assignments.leases.see(client)
            while (
                chosen := self.assignments.choose(client, annotator)
            ) is None and not self.worker.exhausted:
                self._work.notify_all()
                if self.worker.stopped or not self._work.wait(deadline - time.monotonic()):
                    break
            if chosen is not None:
                self.assignments.give(chosen, client)
            return chosen

    def label(self, client: str, annotator: str, item: Item, label: str | None) -> None:
        """Store a person's label of an item; they may change it later. None skips."""
        if label is not None and label not in self.project.settings.classes:
            raise InputError(f"the label {label!r} is neither {' nor '.join(self.project.settings.classes)}")
        if not 0 <= item < self.feed.items:
            raise InputError(f"there is no document {item!r}")
        if not annotator or annotator == IN_FILE:
            raise InputError(f"{annotator!r} is not the name of a person")
        with self._work:
            self.assignments.leases.see(client)
            is_draw = self.assignments.is_draw(item)
            if is_draw:
                self.feed.withheld.add(item)
            self._record(Label(item, label, annotator, self._clock(), CERTIFY if is_draw else LABEL))
            self.assignments.finish(item)

    def leave(self, client: str) -> None:
        """Give the document of a page that was closed to whoever comes next."""
        with self._work:
            self.assignments.leases.leave(client)
            self._work.notify_all()

    def see(self, client: str) -> None:
        """Note that a page is open and looked at."""
        with self.lock:
            self.assignments.leases.see(client)

    def undo(self, client: str, annotator: str) -> Item:
        """Take back a person's last entry: their label before it counts again, or the document comes again."""
        with self._work:
            self.assignments.leases.see(client)
            last = self.book.last_by(annotator)
            if last is None:
                raise InputError("there is nothing to undo: you have not labelled anything")
            purpose = RESTORED if last.is_change else WITHDRAWN
            self._record(Label(last.item, last.before, annotator, self._clock(), purpose))
            if not last.is_change:
                self.assignments.give_again(last.item, client)
            return last.item

    def _record(self, entry: Label) -> None:
        self.project.store.add(entry)
        self.book.add(entry)
        self.attempts.recount_from(entry.item)
        self.worker.count_draws()
        self.worker.tell({entry.item: self.labels.get(entry.item, {})})

    def certify(self, measure: str, target: float) -> None:
        """Begin an attempt: from now on its draws come first.

        Recall is about all that was read, so that every open question gets its answer before.
        """
        if measure not in MEASURES or not 0.0 < target < 1.0:
            raise InputError(f"a certificate is of {', '.join(MEASURES)}, with a target between 0 and 1")
        with self.lock:
            if self.attempts.current is not None or self.worker.wish is not None:
                raise ValueError("an attempt is under way: finish it or give it up first")
            if measure == RECALL:
                self.worker.wish = measure, target
                self._work.notify_all()
        if measure != RECALL:
            self.worker.begin_attempt(measure, target)

    def give_up(self) -> None:
        """End the attempt that is under way, or is to begin."""
        with self.lock:
            self.worker.wish = None
            self.attempts.give_up()
            self.worker.tell(None)

    def set_budget(self, budget: int) -> None:
        """Change the budget, in the project's file and for the learner."""
        self.project.set_budget(budget)
        self.feed.set_budget(budget)
        with self._work:
            self.worker.exhausted = False
            self._work.notify_all()
