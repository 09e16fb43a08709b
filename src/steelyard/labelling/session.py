"""`LabellingSession`: hands documents to people, takes their labels, and keeps the learner busy behind them.

One lock guards people's state (labels, who has which document), and is never held while something is learned: a
worker thread passes labels on to the learner, asks ahead and estimates. So an answer is on disk and the next
document is there within milliseconds, whatever the learner does.
"""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping

from steelyard.active.certification import MEASURES
from steelyard.active.identifiers import Item
from steelyard.active.label_store import CERTIFY, IN_FILE, LABEL, RESTORED, WITHDRAWN, Label, LabelsByPerson
from steelyard.io.errors import InputError
from steelyard.labelling.answer_book import AnswerBook
from steelyard.labelling.assignments import Assignment, Assignments
from steelyard.labelling.attempts import Attempts
from steelyard.labelling.learner_feed import LearnerFeed
from steelyard.labelling.project import Project
from steelyard.labelling.project_settings import RECALL

QUESTIONS_AHEAD = 2  # questions beyond those that people look at
_RETRY = 2.0  # seconds until the learner tries again what the disk did not take
_PATIENCE = 10.0  # seconds that somebody waits for the learner at most

News = Mapping[Item, LabelsByPerson]
"""Items with all people's labels now, perhaps none any more: what the learner is to know."""


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
        self._work = threading.Condition(self.lock)  # there may be something to do, or to label
        self.wish: tuple[str, float] | None = None
        """The attempt at recall that begins as soon as every question has its answer."""
        self.trouble: str | None = None
        """Why the learner cannot go on, such as a full disk; it tries again."""
        self.exhausted = self._stopped = False
        self._pending: deque[News | None] = deque([None])  # in their order; None: all labels
        self._busy = True
        self._worker = threading.Thread(target=self._run, name="steelyard-learner", daemon=True)
        self._estimator = threading.Thread()

    def start(self) -> None:
        self._worker.start()

    def close(self) -> None:
        """Let the worker finish what it has begun."""
        with self._work:
            self._stopped = True
            self._work.notify_all()
        if self._worker.is_alive():
            self._worker.join()
        self._join_estimator()  # the worker may have begun it last

    # What people do

    def next(self, client: str, annotator: str) -> Assignment | None:
        """The document that this client is to label; None if there is none now."""
        deadline = time.monotonic() + _PATIENCE
        with self._work:
            self.assignments.leases.see(client)
            while (chosen := self.assignments.choose(client, annotator)) is None and not self.exhausted:
                self._work.notify_all()
                if self._stopped or not self._work.wait(deadline - time.monotonic()):
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
        self._count_draws()
        self._tell({entry.item: self.labels.get(entry.item, {})})

    def certify(self, measure: str, target: float) -> None:
        """Begin an attempt: from now on its draws come first.

        Recall is about all that was read, so that every open question gets its answer before.
        """
        if measure not in MEASURES or not 0.0 < target < 1.0:
            raise InputError(f"a certificate is of {', '.join(MEASURES)}, with a target between 0 and 1")
        with self.lock:
            if self.attempts.current is not None or self.wish is not None:
                raise ValueError("an attempt is under way: finish it or give it up first")
            if measure == RECALL:
                self.wish = measure, target
                self._work.notify_all()
        if measure != RECALL:
            self.begin_attempt(measure, target)

    def give_up(self) -> None:
        """End the attempt that is under way, or is to begin."""
        with self.lock:
            self.wish = None
            self.attempts.give_up()
            self._tell(None)

    def set_budget(self, budget: int) -> None:
        """Change the budget, in the project's file and for the learner."""
        self.project.set_budget(budget)
        self.feed.set_budget(budget)
        with self._work:
            self.exhausted = False
            self._work.notify_all()

    # What the worker does

    def _tell(self, news: News | None) -> None:
        """Have these labels passed on to the learner; None: all labels."""
        with self._work:
            self._pending.append(news)
            self._work.notify_all()

    def begin_attempt(self, measure: str, target: float) -> None:
        """Begin an attempt, whose draws come first from now on."""
        self.feed.classifier.certify(measure, target)
        with self._work:
            self.wish = None
            self.assignments.forget_draws()
            self._count_draws()
            self._work.notify_all()

    def _count_draws(self) -> None:
        """Answer the draws that have a label; once the attempt is over, nothing is withheld any more."""
        attempt = self.attempts.current
        self.attempts.refresh(self.labels)
        if attempt is not None and attempt.over:
            self._tell(None)

    def _run(self) -> None:
        while True:
            with self._work:
                self._busy = False
                self._work.notify_all()
                self._work.wait_for(
                    lambda: self._stopped or self._pending or self._wanted() > 0 or self._is_due()
                )
                if self._stopped:
                    return
                self._busy = True
            try:
                self.step()
                self.trouble = None
            except OSError as error:
                with self._work:
                    self.trouble = f"{error.filename}: {error.strerror}"
                    self._work.wait_for(lambda: self._stopped, _RETRY)

    def step(self) -> None:
        """Pass one entry on to the learner, ask ahead, and estimate if it is time.

        So the questions follow from the answers, however fast they come.
        """
        with self.lock:
            news = self._pending[0] if self._pending else {}
            if news is None:
                gone = [item for item in self.feed.known_items() if item not in self.labels]
                news = dict(self.labels) | {item: {} for item in gone}
        self.feed.tell(news)
        with self.lock:
            if self._pending:
                self._pending.popleft()  # now that it is in the journal
            if self.feed.may_release:
                self._pending.append(None)
                self.feed.may_release = False
            wanted, wish = self._wanted(), self.wish if self._is_due() else None
        if wish is not None:
            self.begin_attempt(*wish)
        self._ask(wanted)
        if not self._pending:
            self.project.store.complete_file()
        if not self._estimator.is_alive() and (snapshot := self.feed.snapshot()) is not None:
            # In a thread of its own: it takes long, and the next question does not wait for it.
            self._estimator = threading.Thread(target=self.feed.estimate, args=(snapshot,), daemon=True)
            self._estimator.start()

    def _ask(self, wanted: int) -> None:
        for _ in range(wanted):
            item = self.feed.ask()
            with self._work:
                if item is None:
                    self.exhausted = True
                elif item in self.labels:  # known from the file, or drawn for a certificate
                    self._pending.append({item: self.labels[item]})
                else:
                    self.assignments.queue.append(item)
                self._work.notify_all()
            if item is None:
                break

    def _wanted(self) -> int:
        """The number of questions to ask now."""
        if self.exhausted or self.wish is not None or self.attempts.current is not None:
            return 0
        clients = max(self.assignments.leases.count_clients(), 1)
        waiting = self.feed.open_count - self.assignments.count_abandoned()
        return max(clients + QUESTIONS_AHEAD - waiting, 0)

    def _is_due(self) -> bool:
        """Whether the attempt at recall may begin."""
        return self.wish is not None and not self._pending and not self.feed.open_count

    def wait(self, timeout: float = 60.0) -> bool:
        """Wait until the worker has nothing to do; False if it takes too long."""
        with self._work:
            self._work.notify_all()
            idle = self._work.wait_for(lambda: not (self._busy or self._pending), timeout)
        self._join_estimator(timeout)
        return idle

    def _join_estimator(self, timeout: float | None = None) -> None:
        with contextlib.suppress(RuntimeError):  # there was none yet
            self._estimator.join(timeout)
