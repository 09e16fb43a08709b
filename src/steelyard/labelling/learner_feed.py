"""`LearnerFeed`: what the learner has been told, and what it wants to know; one thread uses it."""

import copy
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.active.evaluation import FIRST_LOOK, Evaluation
from steelyard.active.labelled import last_refit
from steelyard.active.learner import ActiveLearner
from steelyard.active.stopping import ErrorBelow, RecallAbove, Rule
from steelyard.engine import probabilities
from steelyard.estimators.active import ActiveClassifier
from steelyard.labelling.project import RECALL, Project

_OPEN = object()


class ModelView(NamedTuple):
    """The model as the page shows it: it may be some answers old."""

    coefficients: NDArray[Any]
    sign: float
    """−1 if the positive class is the first as the loss has them."""


class LearnerFeed:
    """The learner asks about items; their labels are passed on to it, also when they change."""

    def __init__(self, project: Project, classifier: ActiveClassifier) -> None:
        self.classifier, self._project = classifier, project
        history, order = classifier.history_, classifier._order
        asked = np.flatnonzero(history.asked)
        self._numbers = dict(zip(order[asked].tolist(), asked.tolist(), strict=True))
        names = classifier.classes_.tolist()
        codes = classifier._coded(np.asarray(names)).tolist()
        by_code = dict(zip(codes, names, strict=True))
        self._told: dict[int, Any] = {}
        for number in asked.tolist():
            if history.skipped[number]:
                self._told[int(order[number])] = None
            elif not np.isnan(history.label[number]):
                self._told[int(order[number])] = by_code[float(history.label[number])]
        assert classifier.pool_ is not None
        self.items = len(classifier.pool_)
        self.open = [item for item in self._numbers if item not in self._told]
        self.estimates = project.store.estimates()
        self._sign = 1.0 if classifier.positive_ == names[1] else -1.0
        self.view = self._look()

    def tell(self, item: int, known: bool, label: str | None) -> None:
        """What is known about an item now: nothing, that nobody can tell (None), or its label."""
        number = self._numbers.get(item)
        if number is None:
            return  # the learner has not asked: labels nobody asked for would spoil its estimates
        now, before = label if known else _OPEN, self._told.get(item, _OPEN)
        if now is before or now == before:
            return
        if now is _OPEN:
            self.classifier.withdraw(number)
            del self._told[item]
            return
        if before is not _OPEN:
            self.classifier.change(number, now)
        elif now is None:
            self.classifier.skip(number)
        else:
            self.classifier.answer(number, now)
        self._told[item] = now

    def ask(self) -> int | None:
        """One more item that the learner wants to know about; None if there is none within the budget."""
        question = self.classifier.ask_next()
        self.view = self._look()
        if question is None:
            return None
        self._numbers[question.row] = question.id
        return question.row

    def _look(self) -> ModelView:
        model = self.classifier.learner_.labelled.model
        return ModelView(model.coefficients().copy(), self._sign)

    def raise_budget(self, budget: int) -> None:
        """In force at once; the journal has it with the next start."""
        learner = self.classifier.learner_
        with learner.lock:
            learner.raise_budget(min(budget, self.items))

    @property
    def answered(self) -> int:
        return self.classifier.n_answered_

    @property
    def rule(self) -> Rule:
        given = self._project.settings
        return RecallAbove(given.target) if given.measure == RECALL else ErrorBelow(given.target)

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
            found.labelled.rows = copy.copy(learner.labelled.rows)  # rows are only ever added behind its end
            for name in ("_places", "_labels", "_weights"):
                setattr(found.labelled, name, list(getattr(learner.labelled, name)))
            found._asked = dict(learner._asked)
            found.history = lambda: history  # type: ignore[method-assign]
        return found

    def estimate(self, learner: ActiveLearner) -> None:
        """How good is it, and may one stop? Any thread may ask; of a snapshot."""
        rule, answers = self.rule, learner.answered
        judge = Evaluation(learner, self.items, self.classifier.positive_, flipped=self._sign < 0.0)
        try:
            found = judge.estimate(rule.measure, rule.of)
        except ValueError as error:  # the strategy allows none
            self.estimates = [{"answers": answers, "refused": str(error)}]
            return
        verdict = rule.judge([found])
        kept = asdict(found) | {"value": None if np.isnan(found.value) else found.value}
        entry = kept | {"met": verdict.met, "why": verdict.why}
        self._project.store.add_estimate(answers, entry)
        earlier = [each for each in self.estimates if each["answers"] < answers]
        self.estimates = [*earlier, {"answers": answers} | entry]

    def predictions(self) -> tuple[list[str], NDArray[np.float64]]:
        """For every item the class that the model expects, and the probability of the positive one."""
        classifier = self.classifier
        assert classifier.pool_ is not None
        raw = classifier.learner_.predict(classifier.pool_)
        loss = classifier.model_.settings.loss
        names = classifier.classes_.tolist()
        chances = probabilities.class_probabilities(loss, raw, None)[:, 1 if self._sign > 0.0 else 0]
        return [names[code] for code in probabilities.decide(loss, raw).tolist()], chances
