"""`Attempts`: certificates that a page works towards. Their answers follow from what people said.

The journal has them (see `steelyard.active.attempt`): an attempt survives a killed process, and its answers
are learned when it has failed. Until then an answer may be changed, and counts as it is now.
"""

from collections.abc import Mapping
from typing import Any

from steelyard.active.attempt import Attempt
from steelyard.active.label_store import Said, settled
from steelyard.estimators.active import ActiveClassifier

AHEAD = 16  # draws that people can have at the same time


class Attempts:
    """Of one classifier; threads take turns by the session's lock."""

    def __init__(self, classifier: ActiveClassifier) -> None:
        self._classifier = classifier
        self._ended: Attempt | None = None

    @property
    def current(self) -> Attempt | None:
        """The attempt that goes on."""
        last = self._classifier.attempt_
        return None if last is None or last.over else last

    @property
    def last(self) -> dict[str, Any] | None:
        """What the last attempt that is over has shown, and what has happened since.

        Labels that come later change the model, which makes no difference to a certificate of recall.
        """
        last = self._classifier.attempt_
        if last is not None and last.over:
            self._ended = last
        if (ended := self._ended) is None:
            return None
        pool, known = self._classifier.pool_, len(self._classifier.learner_.labelled)
        assert pool is not None
        return {
            "passed": ended.passed, "says": str(ended), "measure": ended.measure, "target": ended.target,
            "labels": ended.model_answers, "added": len(pool) - ended.pool_size,
            "learned_since": 0 if ended.measure == "recall" else max(known - ended.model_answers, 0),
        }  # fmt: skip

    def wanted(self) -> list[int]:
        """The rows that are drawn next, in their order."""
        return [] if self.current is None else self.current.upcoming(AHEAD)

    def changed(self, item: int) -> None:
        """Somebody says something else about an item: if it was drawn, draws are counted anew from there."""
        attempt = self._classifier.attempt_
        if attempt is None:
            return
        with self._classifier.learner_.lock:
            while not attempt.learned and attempt.has_drawn(item):
                attempt.undo()

    def refresh(self, labels: Mapping[int, Said]) -> None:
        """Take the labels of drawn rows into account."""
        attempt = self.current
        while attempt is not None and (row := attempt.ask_next()) is not None and row in labels:
            attempt.answer(row, settled(labels[row]))

    def give_up(self) -> None:
        if self.current is not None:
            self.current.give_up()
