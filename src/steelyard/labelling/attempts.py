"""`Attempts`: certificates that a page works towards. What an attempt has found follows from the labels.

Predictions and the rows to draw from are stored when an attempt begins. Its answers are the labels in force
of the rows it draws, so it survives a killed process, and an answer may still be changed while it lasts.
"""

from typing import Any

import numpy as np

from steelyard.active.certification import Certification
from steelyard.active.label_store import Label, LabelStore, settled
from steelyard.engine import probabilities
from steelyard.estimators.active import ActiveClassifier

MEASURES = ("error", "precision")
_OWN = ("measure", "target", "alpha", "attempt", "seed")


class Attempts:
    """All attempts of a project: `current` goes on; `last` is the certificate of one that ended."""

    def __init__(self, store: LabelStore, classifier: ActiveClassifier) -> None:
        self._store, self._classifier = store, classifier
        self.current: Certification | None = None
        self.last: dict[str, Any] | None = None
        self._stored: tuple[int, dict[str, Any], bytes, bytes] | None = None
        self._drawn: set[int] = set()
        for number, about, predictions, among, certificate in store.attempts():
            self.last = certificate or self.last
            if certificate is None:
                self._stored = number, about, predictions, among

    def begin(self, measure: str, target: float) -> None:
        """Freeze the model's predictions, and begin to draw."""
        if self._stored is not None:
            raise ValueError("an attempt is under way: finish it or give it up first")
        classifier = self._classifier
        assert classifier.pool_ is not None
        with classifier.learner_.lock:
            begun = classifier.certify(measure, target)
            model = classifier.model_
            codes = probabilities.decide(
                model.settings.loss, classifier.learner_.predict(classifier.pool_)
            ).astype(np.int8)
            found = begun.certificate()
            begun.give_up()  # the labels are in the store: the journal only counts the attempt
        among = np.zeros(len(codes), bool)
        rows = found["rows"]
        among[rows["only"] if "only" in rows else np.setdiff1d(np.arange(len(codes)), rows["all_but"])] = True
        about = {name: found[name] for name in _OWN} | {"about": begun.about}
        self._stored = begun.attempt, about, codes.tobytes(), np.packbits(among).tobytes()
        self._store.save_attempt(*self._stored)

    def changed(self, item: int) -> None:
        """The label of an item is another one: if it was drawn, everything is counted anew."""
        if item in self._drawn:
            self.current = None

    def refresh(self, labels: dict[int, dict[str, Label]]) -> int | None:
        """Take the labels into account; returns the row that is wanted next. What is finished is written."""
        if self._stored is None:
            return None
        if self.current is None:
            self.current, self._drawn = self._restore(*self._stored[1:]), set()
        attempt = self.current
        while (row := attempt.ask_next()) is not None and row in labels:
            attempt.answer(row, settled(labels[row]))
            self._drawn.add(row)
        if row is None:
            self._finish(attempt)
        return row

    def _restore(self, about: dict[str, Any], predictions: bytes, among: bytes) -> Certification:
        classes = self._classifier.classes_.tolist()
        given: dict[str, Any] = {name: about[name] for name in ("alpha", "attempt", "seed", "about")}
        return Certification(
            about["measure"], about["target"], classes,
            [classes[code] for code in np.frombuffer(predictions, np.int8).tolist()],
            np.flatnonzero(np.unpackbits(np.frombuffer(among, np.uint8), count=len(predictions))), **given,
        )  # fmt: skip

    def give_up(self) -> None:
        if self.current is not None:
            self._finish(self.current)

    def _finish(self, attempt: Certification) -> None:
        assert self._stored is not None
        self.last = attempt.certificate()
        self._store.save_attempt(*self._stored, self.last)
        self.current = self._stored = None
