"""`LearnerWorker`: passes labels on to the learner, asks ahead and estimates, on a thread of its own."""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Mapping

from steelyard.active.identifiers import Item
from steelyard.active.label_store import LabelsByPerson
from steelyard.labelling.assignments import Assignments
from steelyard.labelling.attempts import Attempts
from steelyard.labelling.learner_feed import LearnerFeed

AHEAD = 2  # questions beyond those that people look at
_RETRY = 2.0  # seconds until the learner tries again what the disk did not take

News = Mapping[Item, LabelsByPerson]
"""Items with all people's labels now, perhaps none any more: what the learner is to know."""


class LearnerWorker:
    """The session's lock guards its state, and is not held while something is learned."""

    def __init__(
        self,
        lock: threading.RLock,
        feed: LearnerFeed,
        labels: News,
        attempts: Attempts,
        assignments: Assignments,
        complete_file: Callable[[], None],
    ) -> None:
        self.work = threading.Condition(lock)
        """Notified when there may be something to do for the worker, or to label for people."""
        self._lock, self._feed, self._labels = lock, feed, labels
        self._attempts, self._assignments, self._complete_file = attempts, assignments, complete_file
        self.wish: tuple[str, float] | None = None
        """The attempt at recall that begins as soon as every question has its answer."""
        self.trouble: str | None = None
        """Why the learner cannot go on, such as a full disk; it tries again."""
        self.exhausted = self.stopped = False
        self._pending: deque[News | None] = deque([None])  # in their order; None: all labels
        self._busy = True
        self._thread = threading.Thread(target=self._run, name="steelyard-learner", daemon=True)
        self._estimator = threading.Thread()

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Let the worker finish what it has begun."""
        with self.work:
            self.stopped = True
            self.work.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        self._join_estimator()  # the worker may have begun it last

    def tell(self, news: News | None) -> None:
        """Have these labels passed on to the learner; None: all labels."""
        with self.work:
            self._pending.append(news)
            self.work.notify_all()

    def begin_attempt(self, measure: str, target: float) -> None:
        """Begin an attempt, whose draws come first from now on."""
        self._feed.classifier.certify(measure, target)
        with self.work:
            self.wish = None
            self._assignments.forget_draws()
            self.count_draws()
            self.work.notify_all()

    def count_draws(self) -> None:
        """Answer the draws that have a label; once the attempt is over, nothing is withheld any more."""
        attempt = self._attempts.current
        self._attempts.refresh(self._labels)
        if attempt is not None and attempt.over:
            self.tell(None)

    def _run(self) -> None:
        while True:
            with self.work:
                while not (self.stopped or self._pending or self._wanted() > 0 or self._is_due()):
                    self._busy = False
                    self.work.notify_all()
                    self.work.wait()
                if self.stopped:
                    self._busy = False
                    self.work.notify_all()
                    return
                self._busy = True
            try:
                self.step()
                self.trouble = None
            except OSError as error:
                with self.work:
                    self.trouble = f"{error.filename}: {error.strerror}"
                    self.work.wait_for(lambda: self.stopped, _RETRY)

    def step(self) -> None:
        """Pass one entry on to the learner, ask ahead, and estimate if it is time.

        So the questions follow from the answers, however fast they come.
        """
        with self._lock:
            news = self._pending[0] if self._pending else {}
            if news is None:
                gone = [item for item in self._feed.known_items() if item not in self._labels]
                news = dict(self._labels) | {item: {} for item in gone}
        self._feed.tell(news)
        with self._lock:
            if self._pending:
                self._pending.popleft()  # now that it is in the journal
            if self._feed.may_release:
                self._pending.append(None)
                self._feed.may_release = False
            wanted, wish = self._wanted(), self.wish if self._is_due() else None
        if wish is not None:
            self.begin_attempt(*wish)
        self._ask(wanted)
        if not self._pending:
            self._complete_file()
        if not self._estimator.is_alive() and (snapshot := self._feed.snapshot()) is not None:
            # In a thread of its own: it takes long, and the next question does not wait for it.
            self._estimator = threading.Thread(target=self._feed.estimate, args=(snapshot,), daemon=True)
            self._estimator.start()

    def _ask(self, wanted: int) -> None:
        for _ in range(wanted):
            item = self._feed.ask()
            with self.work:
                if item is None:
                    self.exhausted = True
                elif item in self._labels:  # known from the file, or drawn for a certificate
                    self._pending.append({item: self._labels[item]})
                else:
                    self._assignments.queue.append(item)
                self.work.notify_all()
            if item is None:
                break

    def _wanted(self) -> int:
        """The number of questions to ask now."""
        if self.exhausted or self.wish is not None or self._attempts.current is not None:
            return 0
        clients = max(self._assignments.leases.count_clients(), 1)
        waiting = self._feed.open_count - self._assignments.count_abandoned()
        return max(clients + AHEAD - waiting, 0)

    def _is_due(self) -> bool:
        """Whether the attempt at recall may begin."""
        return self.wish is not None and not self._pending and not self._feed.open_count

    def wait(self, timeout: float = 60.0) -> bool:
        """Wait until the worker has nothing to do; False if it takes too long."""
        with self.work:
            self.work.notify_all()
            idle = self.work.wait_for(lambda: not (self._busy or self._pending), timeout)
        self._join_estimator(timeout)
        return idle

    def _join_estimator(self, timeout: float | None = None) -> None:
        with contextlib.suppress(RuntimeError):  # there was none yet
            self._estimator.join(timeout)
