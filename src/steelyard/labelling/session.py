"""`LabellingSession`: hands documents to people, takes their labels, and keeps the learner busy behind them.

People's state (labels, who has which document) is guarded by one lock that is never held while something is
learned. A worker passes labels on to the learner, asks ahead, and estimates. So an answer is on disk and the
next document is there within milliseconds, whatever the learner does.
"""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np

from steelyard.active import counter_rng
from steelyard.active.certification import MEASURES
from steelyard.active.label_store import CERTIFY, IN_FILE, LABEL, RESTORED, WITHDRAWN, Label, settled
from steelyard.io.errors import InputError
from steelyard.labelling.answer_book import AnswerBook
from steelyard.labelling.attempts import Attempts
from steelyard.labelling.holders import DRAW_LEASE, Holders
from steelyard.labelling.learner_feed import LearnerFeed
from steelyard.labelling.project import RECALL, Project

AHEAD = 2  # questions beyond those that people look at
_SECONDS = 1 << 41  # the purpose of the random numbers that say what is labelled twice
_RETRY = 2.0  # seconds until the learner tries again what the disk did not take
_PATIENCE = 10.0  # seconds that somebody waits for the learner at most

News = dict[int, tuple[bool, str | None]]
"""What the learner is to know of items: whether somebody said something, and the label; None is a skip."""


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
        self.feed.keep_back(self.book.drawn)
        self.wish: tuple[str, float] | None = None
        """The attempt at recall that begins as soon as every question has its answer."""
        self._queue = [item for item in self.feed.open if item not in self.labels]  # asked, in their order
        self.holders = Holders(clock)
        self._draws: set[int] = set()  # of the last attempt, that people were given
        self._twice = [item for item in self.labels if self._is_drawn_twice(item)]
        self._pending: deque[News | None] = deque([None])  # in their order; None: all that is known then
        self._work = threading.Condition(self.lock)
        self._exhausted = self._stopped = False
        self.trouble: str | None = None
        """Why the learner cannot go on, such as a full disk; it tries again."""
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

    def next(self, client: str, annotator: str) -> tuple[int, str] | None:
        """The item that this client is to label, and for what; None if there is none now."""
        deadline = time.monotonic() + _PATIENCE
        with self._work:
            self.holders.see(client)
            while (found := self._choose(client, annotator)) is None and not self._exhausted:
                self._work.notify_all()
                if self._stopped or not self._work.wait(deadline - time.monotonic()):
                    break
            if found is not None:
                self.holders.give(found[0], client)
                if found[1] == CERTIFY:
                    self._draws.add(found[0])
            return found

    def label(self, client: str, annotator: str, item: int, label: str | None) -> None:
        """Write down what somebody says; the same person may say something else later. None skips."""
        if label is not None and label not in self.project.settings.classes:
            raise InputError(f"the label {label!r} is neither {' nor '.join(self.project.settings.classes)}")
        if not 0 <= item < self.feed.items:
            raise InputError(f"there is no document {item!r}")
        if not annotator or annotator == IN_FILE:
            raise InputError(f"{annotator!r} is not the name of a person")
        with self._work:
            self.holders.see(client)
            # also a draw that somebody had open when the attempt ended
            drawn = item in self.attempts.wanted() or (item in self._draws and item not in self.labels)
            if drawn:
                self.feed.kept_back.add(item)
            self._record(Label(item, label, annotator, self._clock(), CERTIFY if drawn else LABEL))
            self.holders.take_back(item)
            if self._is_drawn_twice(item):
                self._twice.append(item)

    def leave(self, client: str) -> None:
        """A page was closed: its document goes to whoever comes next."""
        with self._work:
            self.holders.leave(client)
            self._work.notify_all()

    def see(self, client: str) -> None:
        """A page is open and looked at."""
        with self.lock:
            self.holders.see(client)

    def undo(self, client: str, annotator: str) -> int:
        """Take back what this person did last: what they said before counts again, or the document comes."""
        with self._work:
            self.holders.see(client)
            last = self.book.last_by(annotator)
            if last is None:
                raise InputError("there is nothing to undo: you have not labelled anything")
            purpose = RESTORED if last.again else WITHDRAWN
            self._record(Label(last.item, last.before, annotator, self._clock(), purpose))
            if not last.again:
                self._queue = [last.item, *(item for item in self._queue if item != last.item)]
                self.holders.give(last.item, client)
            return last.item

    def _record(self, label: Label) -> None:
        self.project.store.add(label)
        self.book.take(label)
        self.attempts.changed(label.item)
        self._count_draws()
        own = self.labels.get(label.item, {})
        self._pending.append({label.item: (bool(own), settled(own))})
        self._work.notify_all()

    def _count_draws(self) -> None:
        attempt = self.attempts.current
        self.attempts.refresh(self.labels)
        if attempt is not None and attempt.over:  # what was kept back for it, such as skips
            self._pending.append(None)

    def certify(self, measure: str, target: float) -> None:
        """Begin an attempt: from now on its draws come first.

        Recall is about all that was read, so before that every question that is open gets its answer.
        """
        if measure not in MEASURES or not 0.0 < target < 1.0:
            raise InputError(f"a certificate is of {', '.join(MEASURES)}, with a target between 0 and 1")
        with self._work:
            if self.attempts.current is not None or self.wish is not None:
                raise ValueError("an attempt is under way: finish it or give it up first")
            if measure == RECALL:
                self.wish = measure, target
                self._work.notify_all()
        if measure != RECALL:
            self._begin_attempt(measure, target)

    def _begin_attempt(self, measure: str, target: float) -> None:
        self.feed.classifier.certify(measure, target)
        with self._work:
            self.wish = None
            self._draws.clear()
            self._count_draws()
            self._work.notify_all()

    def _is_due(self) -> bool:
        return self.wish is not None and not self._pending and not self.feed.open_count

    def give_up(self) -> None:
        with self._work:
            self.wish = None
            self.attempts.give_up()
            self._pending.append(None)
            self._work.notify_all()

    def set_budget(self, budget: int) -> None:
        self.project.set_budget(budget)
        self.feed.set_budget(budget)
        with self._work:
            self._exhausted = False
            self._work.notify_all()

    # Which document comes next

    def _choose(self, client: str, annotator: str) -> tuple[int, str] | None:
        for drawn in self.attempts.wanted():
            if drawn not in self.labels and self.holders.is_free(drawn, client, DRAW_LEASE):
                return drawn, CERTIFY
        self._twice = [item for item in self._twice if self._has_one(item)]
        for item in self._twice:
            if annotator not in self.labels[item] and self.holders.is_free(item, client):
                return item, LABEL
        self._queue = [item for item in self._queue if item not in self.labels]
        own = [item for item in self._queue if self.holders.has(client, item)]
        waiting = own or [item for item in self._queue if self.holders.is_free(item, client)]
        if not waiting:  # nothing else is left
            waiting = [item for item in self._queue if self.holders.is_silent(item)]
        return (waiting[0], LABEL) if waiting else None

    def _is_drawn_twice(self, item: int) -> bool:
        """Whether the item is among those that two people label, and one of them has."""
        share = self.project.settings.twice
        if share == 0.0 or not self._has_one(item):
            return False
        return bool(counter_rng.uniform(self.project.settings.seed, _SECONDS, np.array([item]))[0] < share)

    def _has_one(self, item: int) -> bool:
        return len([name for name in self.labels.get(item, {}) if name != IN_FILE]) == 1

    # What the worker does

    def _run(self) -> None:
        while True:
            with self._work:
                while not (self._stopped or self._pending or self._wanted() > 0 or self._is_due()):
                    self._busy = False
                    self._work.notify_all()
                    self._work.wait()
                if self._stopped:
                    self._busy = False
                    self._work.notify_all()
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
        """Pass on one thing that somebody said, ask ahead, and estimate if it is time.

        So the questions follow from the answers, however fast they come.
        """
        with self.lock:
            news = self._pending[0] if self._pending else {}
            if news is None:
                told = ((item, (False, None)) for item in self.feed.told() if item not in self.labels)
                news = {item: (True, settled(own)) for item, own in self.labels.items()} | dict(told)
        self.feed.tell(news)
        with self.lock:
            if self._pending:
                self._pending.popleft()  # now that it is in the journal
            if self.feed.released:  # what was kept back for the certificate
                self._pending.append(None)
                self.feed.released = False
            wanted, wish = self._wanted(), self.wish if self._is_due() else None
        if wish is not None:
            self._begin_attempt(*wish)
        for _ in range(wanted):
            asked = self.feed.ask()
            with self._work:
                if asked is None:
                    self._exhausted = True
                elif asked in self.labels:  # known from the file, or drawn for a certificate
                    self._pending.append({asked: (True, settled(self.labels[asked]))})
                else:
                    self._queue.append(asked)
                self._work.notify_all()
            if asked is None:
                break
        if not self._pending:
            self.project.store.complete_file()
        if not self._estimator.is_alive() and (snapshot := self.feed.snapshot()) is not None:
            # In a thread of its own: it takes long, and the next question does not wait for it.
            self._estimator = threading.Thread(target=self.feed.estimate, args=(snapshot,), daemon=True)
            self._estimator.start()

    def _wanted(self) -> int:
        """How many questions to ask now."""
        if self._exhausted or self.wish is not None or self.attempts.current is not None:
            return 0
        stuck = self.holders.count_stuck(item for item in self._queue if item not in self.labels)
        return max(max(self.holders.count_here(), 1) + AHEAD - (self.feed.open_count - stuck), 0)

    def wait(self, timeout: float = 60.0) -> bool:
        """Until the worker has nothing to do; False if it takes too long."""
        with self._work:
            self._work.notify_all()
            idle = self._work.wait_for(lambda: not (self._busy or self._pending), timeout)
        self._join_estimator(timeout)
        return idle

    def _join_estimator(self, timeout: float | None = None) -> None:
        with contextlib.suppress(RuntimeError):  # there was none yet
            self._estimator.join(timeout)
