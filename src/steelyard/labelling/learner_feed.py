"""`LearnerFeed`: passes labels to the learner, and the learner's questions back; one thread uses it.

The learner speaks of stream numbers, and everybody else of items: they are translated here.
"""

import ctypes
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.active.evaluation import FIRST_LOOK, Evaluation
from steelyard.active.identifiers import Item, StreamNumber
from steelyard.active.label_store import LabelsByPerson, majority_label
from steelyard.active.labelled_rows import last_refit
from steelyard.active.snapshot import LearnerSnapshot
from steelyard.active.stopping import ErrorBelow, RecallAbove, Rule
from steelyard.estimators.active import ActiveClassifier
from steelyard.labelling.attempts import DRAWS_AHEAD
from steelyard.labelling.project import Project
from steelyard.labelling.project_settings import RECALL
from steelyard.scoring.scores import Meaning

_OPEN, _SKIPPED = -2, -1  # what the learner knows about an item; otherwise the index of its class
_NO_ESTIMATE = (
    "The strategy {0.strategy} leaves nothing to chance, so its labels say nothing about other documents. "
    "Try for a certificate, or begin another journal with an audit of 0.01 or so, a random sample for "
    "evaluation, or with the strategy iwal or random."
)


class ShownModels(NamedTuple):
    """The models whose words the page marks: they may be some answers old."""

    coefficients: list[NDArray[Any]]
    biases: list[float]


class LearnerFeed:
    """Tells the learner labels, also when they change, and asks it what it wants to know."""

    def __init__(self, project: Project, classifier: ActiveClassifier) -> None:
        self.classifier, self._project = classifier, project
        self.withheld: set[Item] = set()
        """Draws with a label that the learner has not heard of: an attempt that passed keeps its model."""
        self.may_release = False
        """Whether the learner may be told now what was withheld for a certificate."""
        history, order = classifier.history_, classifier.pool_order_
        assert classifier.pool_ is not None
        self._pool = classifier.pool_
        self.items = len(self._pool)
        turns = np.fromiter(classifier.learner_.journal.turns(), np.int64)
        asked = order[turns[np.isin(turns, np.flatnonzero(history.asked))]]  # in the order of the questions
        taught = order[np.array(classifier.learner_.taught_rows, np.int64)]
        self.asked = np.zeros(self.items, bool)
        """By item, whether the learner has asked about it."""
        self.asked[asked] = True
        self._stream_numbers = np.argsort(order)  # by item
        names = classifier.classes_.tolist()
        self._codes = dict(zip(names, classifier.class_codes_.tolist(), strict=True))
        class_indices = {code: index for index, code in enumerate(self._codes.values())}
        self._known = np.full(self.items, _OPEN, np.int16)  # by item
        self._known[order[np.flatnonzero(history.skipped)]] = _SKIPPED
        for number, code in classifier.learner_.labels.items():
            self._known[order[number]] = class_indices[code]
        self.open = [Item(row) for row in (*asked.tolist(), *taught.tolist()) if self._known[row] == _OPEN]
        """Items that were asked about, or taught and taken back, and have no label."""
        self.estimates = [each | {"met": self._meets(each)} for each in project.store.estimates()]
        self._names = names
        self._positive = None if classifier.positive_ is None else names.index(classifier.positive_)
        self._shown = self._current_models()
        last = classifier.attempt_
        self._noted = last if last is not None and last.learned else None  # the attempt in `_known`

    @property
    def open_count(self) -> int:
        """The number of questions without an answer, as far as the learner knows."""
        return self.classifier.learner_.open_count

    def known_items(self) -> list[Item]:
        """The items with a label or skip that the learner knows; people may have taken it back since."""
        return [Item(row) for row in np.flatnonzero(self._known != _OPEN).tolist()]

    def tell(self, labels: Mapping[Item, LabelsByPerson]) -> None:
        """Pass on the labels that items have now, perhaps none any more.

        A draw of a certificate is withheld until the attempt has failed, or another label comes after it.
        Labels that nobody asked for are taught.
        """
        learner = self.classifier.learner_
        codes: dict[int, float] = {}  # of labels that nobody asked for, by stream number
        rows: dict[int, Item] = {}
        for item, by_person in labels.items():
            self._note_taught()
            if self._is_withheld(item):
                continue
            number, asked, label = self._number(item), bool(self.asked[item]), majority_label(by_person)
            now = self._class_index(label) if by_person and (asked or label is not None) else _OPEN
            before = self._known[item]
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
                codes[number], rows[number] = self._codes[label], item
                continue
            self._known[item] = now
        if rows:
            learner.teach(codes, rows, self._pool)
            for item in rows.values():
                self._known[item] = self._class_index(majority_label(labels[item]))

    def _number(self, item: Item) -> StreamNumber:
        return StreamNumber(int(self._stream_numbers[item]))

    def _class_index(self, label: str | None) -> int:
        return _SKIPPED if label is None else self._names.index(label)

    def withhold(self, draws: Iterable[Item]) -> None:
        """Withhold the draws that the learner does not know, as before the process ended."""
        attempt = self.classifier.attempt_
        if attempt is not None and not attempt.learned:
            self.withheld = {item for item in draws if self._known[item] == _OPEN}

    def _is_withheld(self, item: Item) -> bool:
        attempt = self.classifier.attempt_
        if attempt is None or attempt.learned:
            return False
        return item in self.withheld or attempt.has_drawn(item, DRAWS_AHEAD)

    def _learn_certified(self) -> None:
        """Let the model learn the draws, too: with this label it is not the certified one any more."""
        attempt = self.classifier.attempt_
        if attempt is not None and attempt.over:
            self.may_release = self.may_release or not attempt.learned
            attempt.learn()
            self._note_taught()

    def _note_taught(self) -> None:
        """Note the labels that an attempt has taught the learner."""
        attempt = self.classifier.attempt_
        if attempt is not None and attempt.learned and attempt is not self._noted:
            self._noted = attempt
            self.withheld = set()
            for row, label in attempt.drawn().items():
                if label is not None and self._known[row] == _OPEN:
                    self._known[row] = self._class_index(label)

    def ask(self) -> Item | None:
        """The next item that the learner wants to know about; None if there is none within the budget."""
        question = self.classifier.ask_next()
        self._shown = self._current_models()
        if question is None:
            return None
        self.asked[question.row] = True
        return Item(question.row)

    def _current_models(self) -> ShownModels:
        models = self.classifier.learner_.labelled.models
        return ShownModels([model.coefficients() for model in models], [model.bias for model in models])

    def explain(self, item: Item) -> tuple[NDArray[Any], str]:
        """How much each word speaks for a class, and for which class: the positive one of two.

        With several classes: how much it speaks for the likeliest rather than for the second.
        """
        weights = self.classifier.idf_ if self.classifier.tfidf else 1.0
        coefficients, biases = self._shown
        if len(coefficients) == 1:
            sign = -1.0 if self._positive == 0 else 1.0
            return sign * coefficients[0] * weights, self._project.settings.positive or self._names[1]
        row = self._pool.take(np.array([item]))
        predictions = [
            float(own[row.indices] @ row.values) + bias
            for own, bias in zip(coefficients, biases, strict=True)
        ]
        second, first = np.argsort(predictions, kind="stable")[-2:].tolist()
        return (coefficients[first] - coefficients[second]) * weights, self._names[first]

    def set_budget(self, budget: int) -> None:
        """Change the budget for the next question."""
        self.classifier.learner_.set_budget(min(budget, self.items))

    @property
    def answered(self) -> int:
        """The number of questions that were answered, as far as the learner knows."""
        return self.classifier.n_answered_

    @property
    def rule(self) -> Rule:
        """The goal, as a rule for stopping."""
        given = self._project.settings
        return RecallAbove(given.target) if given.measure == RECALL else ErrorBelow(given.target)

    def _meets(self, estimate: dict[str, Any]) -> bool:
        """Whether an earlier estimate meets the target, which may have changed since."""
        given = self._project.settings
        return bool(
            estimate["low"] >= given.target if given.measure == RECALL else estimate["high"] <= given.target
        )

    def snapshot(self) -> LearnerSnapshot | None:
        """The learner as it is, to be judged while it goes on; None unless there are a tenth more answers."""
        answers, last = self.answered, self.estimates[-1]["answers"] if self.estimates else 0
        if answers < FIRST_LOOK or (last <= answers and last_refit(answers) == last_refit(last)):
            return None
        return self.classifier.learner_.snapshot()

    def estimate(self, learner: LearnerSnapshot) -> None:
        """Estimate how good a snapshot is, and whether to stop; any thread may do so."""
        rule, answers = self.rule, learner.answered
        judge = Evaluation(learner, self.items, self.classifier.positive_, self._positive)
        if not (learner.strategy.randomized or learner.plan.audit):
            self.estimates = [{"answers": answers, "refused": _NO_ESTIMATE.format(self._project.settings)}]
            return
        estimate = judge.estimate(rule.measure, rule.of)
        verdict = rule.judge([estimate])
        value = None if np.isnan(estimate.value) else estimate.value  # JSON has no NaN
        entry = asdict(estimate) | {"value": value, "met": verdict.met, "why": verdict.why}
        with suppress(OSError):  # a full disk: people hear of it when they answer, and it is made again
            self._project.store.add_estimate(answers, entry)
        earlier = [each for each in self.estimates if each["answers"] < answers]
        self.estimates = [*earlier, {"answers": answers} | entry]
        with suppress(AttributeError, OSError, TypeError):  # of another C library
            ctypes.CDLL(None).malloc_trim(0)  # the estimate's memory, which grows with the answers, is free

    def predictions(self) -> Iterator[tuple[str, dict[str, float]]]:
        """For every item the class that the model expects, and the probability of each."""
        learner = self.classifier.learner_
        scores = Meaning(learner.labelled.settings.loss, self._names).of(learner.predict(self._pool))
        for label, row in zip(scores.labels.tolist(), scores.probabilities.tolist(), strict=True):
            yield label, dict(zip(self._names, row, strict=True))
