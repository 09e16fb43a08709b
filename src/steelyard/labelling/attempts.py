"""`Attempts`: certificates that a page works towards. Their answers follow from people's labels.

The journal has them (see `steelyard.active.attempt`): an attempt survives a killed process, and its answers
are learned when it has failed. Until then an answer may be changed, and counts as it is now. The rows that an
attempt draws are items.
"""

from collections.abc import Mapping
from typing import Any

from steelyard.active.attempt import Attempt, best_of, past_attempts
from steelyard.active.identifiers import Item
from steelyard.active.label_store import LabelsByPerson, majority_label
from steelyard.estimators.active import ActiveClassifier

DRAWS_AHEAD = 256  # draws that others can answer while somebody has an earlier one open


class Attempts:
    """The attempts of one classifier; threads take turns by the session's lock."""

    def __init__(self, classifier: ActiveClassifier, measure: str) -> None:
        self._classifier, self._measure = classifier, measure
        self._latest = classifier.attempt_
        number = 0 if self._latest is None else self._latest.attempt
        ended = past_attempts(classifier.learner_.journal) if number > 1 else []
        self._earlier = [each for each in ended if each.attempt < number]

    @property
    def current(self) -> Attempt | None:
        """The attempt that is under way."""
        last = self._classifier.attempt_
        return None if last is None or last.over else last

    @property
    def last(self) -> dict[str, Any] | None:
        """The strongest certificate that holds now, or else the result of the last attempt that is over.

        Later labels change the model, which makes no difference to a certificate of recall.
        """
        last, ended = self._latest, self._earlier
        if last is not None and last.over:
            ended = [*ended, last]
        pool, known = self._classifier.pool_, len(self._classifier.learner_.labelled)
        assert pool is not None
        found = best_of(ended, self._measure, known, len(pool))
        if found is None:
            return None
        if not found.still_holds(known, len(pool)):
            found = ended[-1]
        return {
            "passed": found.passed, "says": str(found), "measure": found.measure, "target": found.target,
            "labels": found.model_answers, "added": len(pool) - found.pool_size,
            "learned_since": 0 if found.measure == "recall" else max(known - found.model_answers, 0),
        }  # fmt: skip

    def count_waiting(self, labels: Mapping[Item, LabelsByPerson]) -> int:
        """The number of draws with an answer that counts once an earlier draw has its own."""
        return sum(item in labels for item in self.upcoming())

    def upcoming(self) -> list[Item]:
        """The items that are drawn next, in their order."""
        return [] if self.current is None else [Item(row) for row in self.current.upcoming(DRAWS_AHEAD)]

    def recount_from(self, item: Item) -> None:
        """An item's label has changed: if it was drawn, take its answer and all later ones back."""
        attempt = self._classifier.attempt_
        if attempt is None:
            return
        with self._classifier.learner_.lock:
            while not attempt.learned and attempt.has_drawn(item):
                attempt.undo()

    def refresh(self, labels: Mapping[Item, LabelsByPerson]) -> None:
        """Answer the draws that have a label, also those of an attempt that has just begun."""
        if self._latest is not self._classifier.attempt_:
            if self._latest is not None:
                self._earlier.append(self._latest)
            self._latest = self._classifier.attempt_
        attempt = self.current
        while attempt is not None and (row := attempt.ask_next()) is not None and Item(row) in labels:
            attempt.answer(row, majority_label(labels[Item(row)]))

    def give_up(self) -> None:
        """End the attempt that is under way, if there is one."""
        if self.current is not None:
            self.current.give_up()
