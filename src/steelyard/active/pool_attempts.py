"""`PoolAttempts`: attempts to certify the present model on a pool, or the answers so far."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.active.attempt import Attempt
from steelyard.active.claim import Claim, Population
from steelyard.active.evaluation import Evaluation, last_look
from steelyard.active.learner import ActiveLearner
from steelyard.active.sequential_tests import attempt_alpha, planned
from steelyard.active.stopping import Certified, Verdict
from steelyard.examples import Examples
from steelyard.scoring import probabilities

_DRY = 50  # answers in a row that are not relevant, after which little is left to be found by ranking


class PoolAttempts:
    """One attempt goes on at a time: the `last`, which may be from before the process was killed."""

    def __init__(
        self,
        learner: ActiveLearner,
        evaluation: Evaluation,
        pool: Examples,
        order: NDArray[np.int64],
        classes: Sequence[Any],
        positive: Any,
    ) -> None:
        self._learner, self._evaluation, self._pool, self._order = learner, evaluation, pool, order
        self._numbers = np.argsort(order)
        self._classes, self._positive = classes, positive
        number = learner.journal.attempts.count()
        self.last = Attempt.resume(learner, pool, self._numbers, number) if number else None
        self._tried = 0  # answers at the look at which the last attempt began
        self._note_look()

    def _note_look(self) -> None:
        if self.last is not None:
            self._tried = last_look(self.last.model_answers)[0]

    def begin(self, claim: Claim) -> Attempt:
        """A new attempt at this claim, or the last one if it goes on or has proved it."""
        learner = self._learner
        with learner.lock:
            turns = learner.journal.turns().items()
            read = {number: (int(self._order[number]), source) for number, source in turns if number >= 0}
            population = Population(self._pool, self._numbers, read, self._classes, self._positive)
            self.last = claim.attempt(learner, population, self.last, to_end="attempt_.give_up()")
            self._note_look()
            return self.last

    def go_on(self, rule: Certified) -> Attempt | None:
        """The attempt that is under way, or one that begins now since it will probably pass."""
        if self.last is not None and not self.last.over:
            return self.last
        if not self._is_promising(rule):
            return None
        most = rule.most or self.likely_enough(rule)
        attempt = self.begin(Claim(rule.measure, rule.target, rule.alpha, most))
        return None if attempt.over else attempt

    def _is_promising(self, rule: Certified) -> bool:
        learner = self._learner
        if rule.measure == "recall":
            relevant = learner.labelled.codes[self._classes.index(self._positive)]
            return learner.is_dry(relevant, _DRY) and not learner.open
        look = last_look(len(learner.labelled))[0]
        if look == self._tried:
            return False
        self._tried = look
        found = self.own_estimate(rule.measure)
        missing, allowed = (found, rule.target) if rule.measure == "error" else (1 - found, 1 - rule.target)
        return bool(missing <= allowed / 2.0)

    def own_estimate(self, measure: str) -> float:
        """The estimate from the answers or, if they say nothing about other rows, from the probabilities."""
        learner = self._learner
        loss = learner.labelled.settings.loss
        if learner.strategy.randomized or learner.plan.audit or not probabilities.has_probabilities(loss):
            return self._evaluation.estimate(measure, "current").value
        chances = probabilities.class_probabilities(loss, learner.predict(self._pool))
        if measure == "precision":
            chances = chances[chances.argmax(axis=1) == self._classes.index(self._positive)]
            return float(chances.max(axis=1).mean()) if len(chances) else 0.0
        return float(1.0 - chances.max(axis=1).mean())

    def likely_enough(self, rule: Certified) -> int | None:
        """Twice the labels with which a model passes that is half as bad as the target allows."""
        if rule.measure == "recall":
            return None
        alpha = attempt_alpha(rule.alpha, self._learner.journal.attempts.count() + 1)
        half = rule.target / 2.0 if rule.measure == "error" else (1.0 + rule.target) / 2.0
        try:
            return 2 * planned(rule.measure, rule.target, len(self._pool), alpha, half).plan.labels
        except ValueError:  # too few rows for a plan: then all of them may be read
            return None

    def answer(self, numbers: list[int], label: Any) -> bool:
        """Answer the attempt under way, if this is the row that it wants; returns whether that was all."""
        attempt = self.last
        row = attempt.ask_next() if attempt is not None and len(numbers) == 1 else None
        if attempt is None or row is None or attempt.number_of(row) != numbers[0]:
            return False
        attempt.answer(row, label)
        return numbers[0] not in self._learner.open  # which the answer is for, too

    def undo(self) -> int | None:
        """Take back the last answer of the attempt, and return its number; None if there is none to undo."""
        attempt = self.last
        if attempt is None or not attempt.answers or attempt.learned:
            return None
        return attempt.number_of(attempt.undo())

    def judge(self, rule: Certified) -> Verdict:
        """Whether the last attempt was at this claim, and has passed."""
        last, wanted = self.last, (rule.measure, rule.target, rule.alpha)
        if last is None or (last.measure, last.target, last.alpha) != wanted:
            return Verdict(False, f"continue: no attempt at {rule.measure} {rule.target:g} has begun yet")
        return Verdict(last.passed, f"{'stop' if last.passed else 'continue'}: {last}")
