"""`CertifyMixin`: attempts to certify the present model of an `ActiveClassifier`, or what it has found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.active.attempt import Attempt
from steelyard.active.claim import Claim, Population
from steelyard.active.evaluation import Evaluation, last_look
from steelyard.active.learner import ActiveLearner
from steelyard.active.sequential_tests import ALPHA, attempt_alpha, planned
from steelyard.active.stopping import Certified, Verdict
from steelyard.examples import Examples
from steelyard.scoring import probabilities

_DRY = 50  # answers in a row that are not relevant, after which little is left to be found by ranking


@dataclass(frozen=True)
class ActiveQuestion:
    """A row whose label is wanted."""

    id: int
    """For `answer`: its number in the stream, from 0."""
    row: int
    """Its row in the matrix that was given, or in the pool."""
    probability: float
    """With which it was asked for."""
    prediction: Any
    """The class that the model expects."""


class CertifyMixin:
    """For classifiers that ask from a pool."""

    learner_: ActiveLearner
    pool_: Examples | None
    classes_: NDArray[Any]
    positive_: Any
    _order: NDArray[np.int64]
    _evaluation: Evaluation
    _attempt: Attempt | None = None
    _tried = 0
    """The number of answers at the look at which the last attempt began."""

    @property
    def attempt_(self) -> Attempt | None:
        """The last attempt at a certificate, under way or over; None before the first."""
        return self._attempt

    def certify(
        self,
        measure: str,
        target: float,
        *,
        label: Callable[[int], Any] | None = None,
        alpha: float = ALPHA,
        most: int | None = None,
        plan: float | None = None,
    ) -> Attempt:
        """Try to certify the present model on the rows of the pool that have no answer: docs/certify.md.

        If an attempt at the same claim is under way, perhaps from before the process was killed, it goes on.

        Parameters
        ----------
        measure : {"error", "precision", "recall"}
            The claim: the error is below the target, precision is at least the target, or the answers so far,
            with those of the attempt, have at least that share of all rows of the positive class.
        target : float
            Between 0 and 1.
        label : callable, optional
            Gives the class of a row of the pool, None if nobody knows it; it is called until the test has
            passed or the attempt is over. Without it, use the result's `ask_next()` and `answer(row, label)`.
        alpha : float, default=0.05
            The risk of a wrong certificate, for all attempts with this classifier or journal together.
        most : int, optional
            After so many labels the attempt is given up.
        plan : float, optional
            The error or precision that you expect. Then the number of labels is fixed beforehand, so that
            such a model passes with a probability of 90 %; the result's `test.plan` says how many.

        Returns
        -------
        Attempt
            `passed`, and `save(path)` writes the certificate. If it fails, its labels are learned.
        """
        attempt = self._begin_or_continue(measure, target, alpha, most, plan)
        while label is not None and (row := attempt.ask_next()) is not None:
            attempt.answer(row, label(row))
        return attempt

    def _begin_or_continue(
        self, measure: str, target: float, alpha: float, most: int | None, plan: float | None
    ) -> Attempt:
        if self.pool_ is None:
            raise ValueError("a certificate is about the rows of a pool: call pool(X) first")
        claim = Claim(measure, target, alpha, most, plan)
        with self.learner_.lock:
            read = {
                number: (int(self._order[number]), source)
                for number, source in self.learner_.journal.turns().items()
                if number >= 0
            }
            population = Population(
                self.pool_, np.argsort(self._order), read, self.classes_.tolist(), self.positive_
            )
            self._attempt = claim.attempt(
                self.learner_, population, self._attempt, to_end="attempt_.give_up()"
            )
            self._tried = last_look(self._attempt.model_answers)[0]
            return self._attempt

    def _resume_attempt(self, pool: Examples) -> None:
        """Go on with the attempt that the journal knows."""
        number = self.learner_.journal.count_attempts()
        if number:
            self._attempt = Attempt.resume(self.learner_, pool, np.argsort(self._order), number)
        if self._attempt is not None:
            self._tried = last_look(self._attempt.model_answers)[0]

    def _attempt_for(self, rule: Certified) -> Attempt | None:
        """The attempt that is under way, or one that begins now since it will probably pass."""
        if self._attempt is not None and not self._attempt.over:
            return self._attempt
        if not self._is_promising(rule):
            return None
        attempt = self._begin_or_continue(
            rule.measure, rule.target, rule.alpha, rule.most or self._likely_enough(rule), None
        )
        return None if attempt.over else attempt

    def _is_promising(self, rule: Certified) -> bool:
        learner = self.learner_
        if rule.measure == "recall":
            relevant = learner.labelled.codes[self.classes_.tolist().index(self.positive_)]
            return learner.is_dry(relevant, _DRY) and not learner.open
        look = last_look(len(learner.labelled))[0]
        if look == self._tried:
            return False
        self._tried = look
        found = self._own_estimate(rule.measure)
        missing, allowed = (found, rule.target) if rule.measure == "error" else (1 - found, 1 - rule.target)
        return bool(missing <= allowed / 2.0)

    def _own_estimate(self, measure: str) -> float:
        """From the answers; if they say nothing about other rows, from the model's own probabilities."""
        learner = self.learner_
        loss = learner.labelled.settings.loss
        if learner.strategy.randomized or learner.plan.audit or not probabilities.has_probabilities(loss):
            return self._evaluation.estimate(measure, "current").value
        assert self.pool_ is not None
        chances = probabilities.class_probabilities(loss, learner.predict(self.pool_))
        taken = chances.argmax(axis=1)
        if measure == "precision":
            chances = chances[(self.classes_ == self.positive_)[taken]]
            return float(chances.max(axis=1).mean()) if len(chances) else 0.0
        return float(1.0 - chances.max(axis=1).mean())

    def _likely_enough(self, rule: Certified) -> int | None:
        """Labels with which a model passes that is half as bad as the target allows, and twice as many."""
        if rule.measure == "recall" or self.pool_ is None:
            return None
        alpha = attempt_alpha(rule.alpha, self.learner_.journal.count_attempts() + 1)
        half = rule.target / 2.0 if rule.measure == "error" else (1.0 + rule.target) / 2.0
        try:
            return 2 * planned(rule.measure, rule.target, len(self.pool_), alpha, half).plan.labels
        except ValueError:  # too few rows for a plan: then all of them may be read
            return None

    def _drawn(self, attempt: Attempt) -> ActiveQuestion:
        row = attempt.ask_next()
        assert row is not None  # it is under way
        return ActiveQuestion(attempt.number_of(row), row, 1.0, attempt.prediction(row))

    def _answer_attempt(self, ids: list[int], label: Any) -> bool:
        """Whether this is the row that the attempt under way wants: then it has its answer."""
        attempt = self._attempt
        row = attempt.ask_next() if attempt is not None and len(ids) == 1 else None
        if attempt is None or row is None or attempt.number_of(row) != ids[0]:
            return False
        attempt.answer(row, label)
        return ids[0] not in self.learner_.open  # which the answer is for, too

    def _judge_certified(self, rule: Certified) -> Verdict:
        last = self._attempt
        same = last is not None and (last.measure, last.target, last.alpha) == (
            rule.measure, rule.target, rule.alpha,
        )  # fmt: skip
        if last is None or not same:
            return Verdict(False, f"continue: no attempt at {rule.measure} {rule.target:g} has begun yet")
        return Verdict(last.passed, f"{'stop' if last.passed else 'continue'}: {last}")
