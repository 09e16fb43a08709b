"""`LearnerFeed`: what the learner has been told, and what it wants to know; one thread uses it."""

import copy
import ctypes
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.active.evaluation import FIRST_LOOK, Evaluation
from steelyard.active.labelled_rows import last_refit
from steelyard.active.learner import ActiveLearner
from steelyard.active.stopping import ErrorBelow, RecallAbove, Rule
from steelyard.active.stored_rows import TAUGHT
from steelyard.engine import probabilities
from steelyard.estimators.active import ActiveClassifier
from steelyard.labelling.attempts import AHEAD
from steelyard.labelling.project import RECALL, Project

_OPEN, _SKIPPED = -2, -1  # of what the learner was told about an item; else the place of a class
_NO_ESTIMATE = (
    "The strategy {0.strategy} leaves nothing to chance, so its labels say nothing about other documents. "
    "Try for a certificate, or begin another journal with an audit of 0.01 or so, a random sample for "
    "evaluation, or with the strategy iwal or random."
)


class ModelView(NamedTuple):
    """The models as the page shows them: they may be some answers old."""

    coefficients: list[NDArray[Any]]
    biases: list[float]


class LearnerFeed:
    """The learner asks about items; their labels are passed on to it, also when they change."""

    def __init__(self, project: Project, classifier: ActiveClassifier) -> None:
        self.classifier, self._project = classifier, project
        self.kept_back: set[int] = set()
        """Draws with a label; an attempt that passed may not have needed all, and its model stays."""
        self.released = False
        """Whether labels that were kept back for a certificate may be told now."""
        history, order = classifier.history_, classifier._order
        assert classifier.pool_ is not None
        self._pool = classifier.pool_
        self.items = len(self._pool)
        turns = np.fromiter(classifier.learner_.journal.turns(), np.int64)
        asked = order[turns[np.isin(turns, np.flatnonzero(history.asked))]]  # as they were asked
        taught = order[np.array(classifier.learner_._read.in_state(TAUGHT), np.int64)]
        self.asked = np.zeros(self.items, bool)
        """Which items the learner has asked about."""
        self.asked[asked] = True
        self._by_item = np.argsort(order)
        names = classifier.classes_.tolist()
        self._codes = dict(zip(names, classifier._coded(np.asarray(names)).tolist(), strict=True))
        places = {code: place for place, code in enumerate(self._codes.values())}
        self._told = np.full(self.items, _OPEN, np.int16)
        self._told[order[np.flatnonzero(history.skipped)]] = _SKIPPED
        for number, code in classifier.learner_.labels.items():
            self._told[order[number]] = places[code]
        self.open = [item for item in (*asked.tolist(), *taught.tolist()) if self._told[item] == _OPEN]
        """What was asked for, or taught and taken back, and has no label."""
        self.estimates = [each | {"met": self._meets(each)} for each in project.store.estimates()]
        self._names = names
        self._place = None if classifier.positive_ is None else names.index(classifier.positive_)
        self._view = self._look()
        last = classifier.attempt_
        self._noted = last if last is not None and last.learned else None

    @property
    def open_count(self) -> int:
        """How many questions have no answer, as far as the learner was told."""
        return self.classifier.learner_.open_count

    def told(self) -> list[int]:
        """The items that the learner was told about; it may have been withdrawn since."""
        return np.flatnonzero(self._told != _OPEN).tolist()

    def tell(self, said: dict[int, tuple[bool, str | None]]) -> None:
        """What is known about items now: nothing, that nobody can tell (None), or a label.

        What was drawn for a certificate waits until the attempt has failed, or another label comes after it.
        Labels that nobody asked for are taught.
        """
        learner, nobody_asked, labels = self.classifier.learner_, {}, {}
        for item, (known, label) in said.items():
            self._note_learned()
            if self._is_kept_back(item):
                continue
            number, asked = int(self._by_item[item]), bool(self.asked[item])
            now = self._place_of(label) if known and (asked or label is not None) else _OPEN
            before = self._told[item]
            if now == before:
                continue
            self._learn_certified()
            if now == _OPEN:
                self.classifier.withdraw(number)
            elif before != _OPEN:
                self.classifier.change(number, label)
            elif label is None:
                self.classifier.skip(number)
            elif asked:
                learner.answer([number], [self._codes[label]])
            else:
                nobody_asked[number], labels[number] = item, self._codes[label]
                continue
            self._told[item] = now
        if nobody_asked:
            learner.teach(labels, nobody_asked, self._pool)
            for item in nobody_asked.values():
                self._told[item] = self._place_of(said[item][1])

    def _place_of(self, label: str | None) -> int:
        return _SKIPPED if label is None else self._names.index(label)

    def keep_back(self, drawn: Iterable[int]) -> None:
        """Those of the draws that the learner does not know: as before the process ended."""
        attempt = self.classifier.attempt_
        if attempt is not None and not attempt.learned:
            self.kept_back = {item for item in drawn if self._told[item] == _OPEN}

    def _is_kept_back(self, item: int) -> bool:
        attempt = self.classifier.attempt_
        if attempt is None or attempt.learned:
            return False
        return item in self.kept_back or attempt.has_drawn(item, AHEAD)

    def _learn_certified(self) -> None:
        """The model changes: it is not the certified one any more, so that it may learn those labels, too."""
        attempt = self.classifier.attempt_
        if attempt is not None and attempt.over:
            self.released = self.released or not attempt.learned
            attempt.learn()
            self._note_learned()

    def _note_learned(self) -> None:
        """What an attempt has taught the learner."""
        attempt = self.classifier.attempt_
        if attempt is not None and attempt.learned and attempt is not self._noted:
            self._noted = attempt
            self.kept_back = set()
            for row, label in attempt.drawn().items():
                if label is not None and self._told[row] == _OPEN:
                    self._told[row] = self._place_of(label)

    def ask(self) -> int | None:
        """One more item that the learner wants to know about; None if there is none within the budget."""
        question = self.classifier.ask_next()
        self._view = self._look()
        if question is None:
            return None
        self.asked[question.row] = True
        return question.row

    def _look(self) -> ModelView:
        models = self.classifier.learner_.labelled.models
        return ModelView([model.coefficients() for model in models], [model.bias for model in models])

    def explain(self, item: int) -> tuple[NDArray[Any], str]:
        """How much each word speaks for a class, and for which: the positive one, or the likeliest.

        Of several classes, that is how much it speaks for the likeliest rather than for the second.
        """
        weights = self.classifier._idf.idf_ if self.classifier.tfidf else 1.0
        coefficients, biases = self._view
        if len(coefficients) == 1:
            sign = -1.0 if self._place == 0 else 1.0
            return sign * coefficients[0] * weights, self._project.settings.positive or self._names[1]
        row = self._pool.take(np.array([item]))
        predictions = [
            float(own[row.indices] @ row.values) + bias
            for own, bias in zip(coefficients, biases, strict=True)
        ]
        second, first = np.argsort(predictions, kind="stable")[-2:].tolist()
        return (coefficients[first] - coefficients[second]) * weights, self._names[first]

    def set_budget(self, budget: int) -> None:
        """In force at once."""
        self.classifier.learner_.set_budget(min(budget, self.items))

    @property
    def answered(self) -> int:
        return self.classifier.n_answered_

    @property
    def rule(self) -> Rule:
        given = self._project.settings
        return RecallAbove(given.target) if given.measure == RECALL else ErrorBelow(given.target)

    def _meets(self, estimate: dict[str, Any]) -> bool:
        """Of one that was made earlier: the target may have changed since."""
        given = self._project.settings
        return bool(
            estimate["low"] >= given.target if given.measure == RECALL else estimate["high"] <= given.target
        )

    def snapshot(self) -> ActiveLearner | None:
        """The learner as it is, to be judged while it goes on; None unless there are a tenth more answers."""
        answers, last = self.answered, self.estimates[-1]["answers"] if self.estimates else 0
        if answers < FIRST_LOOK or (last <= answers and last_refit(answers) == last_refit(last)):
            return None
        learner = self.classifier.learner_
        with learner.lock:
            found = copy.copy(learner)
            history = learner.history()
            found.labelled = copy.copy(learner.labelled)
            for name in ("_places", "_labels", "_weights"):
                setattr(found.labelled, name, getattr(learner.labelled, name)[:])
            found._read = copy.deepcopy(learner._read)
            found.history = lambda: history  # type: ignore[method-assign]
        return found

    def estimate(self, learner: ActiveLearner) -> None:
        """How good is it, and may one stop? Any thread may ask; of a snapshot."""
        rule, answers = self.rule, learner.answered
        judge = Evaluation(learner, self.items, self.classifier.positive_, self._place)
        if not (learner.strategy.randomized or learner.plan.audit):
            self.estimates = [{"answers": answers, "refused": _NO_ESTIMATE.format(self._project.settings)}]
            return
        found = judge.estimate(rule.measure, rule.of)
        verdict = rule.judge([found])
        kept = asdict(found) | {"value": None if np.isnan(found.value) else found.value}
        entry = kept | {"met": verdict.met, "why": verdict.why}
        with suppress(OSError):  # a full disk, of which answers speak; it is made again then
            self._project.store.add_estimate(answers, entry)
        earlier = [each for each in self.estimates if each["answers"] < answers]
        self.estimates = [*earlier, {"answers": answers} | entry]
        with suppress(AttributeError, OSError, TypeError):  # of another C library
            ctypes.CDLL(None).malloc_trim(0)  # what the estimate needed is free, and grows with the answers

    def predictions(self) -> Iterator[tuple[str, dict[str, float]]]:
        """For every item the class that the model expects, and the probability of each."""
        learner = self.classifier.learner_
        raw, loss = learner.predict(self._pool), learner.labelled.settings.loss
        chances = probabilities.class_probabilities(loss, raw)
        for code, row in zip(probabilities.decide(loss, raw).tolist(), chances.tolist(), strict=True):
            yield self._names[code], dict(zip(self._names, row, strict=True))
