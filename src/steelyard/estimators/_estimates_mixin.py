"""`EstimatesMixin`: all of an `ActiveClassifier` that needs its journal only, and no rows."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from steelyard.active.estimates import LEVEL, Estimate
from steelyard.active.evaluation import Evaluation
from steelyard.active.journal import History
from steelyard.active.learner import ActiveLearner
from steelyard.active.stopping import Certified, Rule, Verdict
from steelyard.estimators._certify_mixin import CertifyMixin
from steelyard.estimators.fitted import only_model
from steelyard.model import Model


class EstimatesMixin(CertifyMixin):
    """All of this follows from the journal."""

    @abstractmethod
    def _coded(self, column: NDArray[Any]) -> NDArray[np.float64]: ...

    def skip(self, id: Any) -> None:  # noqa: A002
        """Skip a question, or several, that nobody can answer: recorded as missing, at no cost."""
        learner, ids = self._started(), [int(each) for each in ([id] if np.ndim(id) == 0 else id)]
        with learner.lock:
            if not self._answer_attempt(ids, None):
                learner.skip(ids)

    def undo(self) -> int:
        """Take back the last answer or skip; returns the id of its question, which is open again.

        While an attempt at a certificate is under way and has answers, the last of those is taken back.
        """
        learner, attempt = self._started(), self.attempt_
        with learner.lock:
            if attempt is not None and attempt.answers and not attempt.learned:
                return attempt.number_of(attempt.undo())
            return learner.undo()

    def change(self, id: int, y: Any) -> None:  # noqa: A002
        """Another answer to a question that was settled, however long ago; None: nobody can answer it."""
        self._started().change(int(id), None if y is None else float(self._coded(np.asarray([y]))[0]))

    def withdraw(self, id: int) -> None:  # noqa: A002
        """Take back the answer or skip of one question, however long ago; the question is open again."""
        self._started().withdraw(int(id))

    def close(self) -> None:
        """Close the journal, so that another process can continue with it."""
        learner = self._started()
        with learner.lock:
            learner.journal.close()

    def estimate(
        self,
        measure: str = "error",
        of: str = "current",
        *,
        level: float = LEVEL,
        largest: float | None = None,
    ) -> Estimate:
        """How good is the model? A figure with an interval that is valid at any stopping time.

        `measure` is error, precision or recall (of `positive_`), or loss; losses above `largest`
        count as `largest`. Of several classes, an error is any wrong class, and there is no loss. `of` is

        - `"current"`: the present model, as it was at 20 answers or whenever there were a fifth more since
          then. No row is scored by a model that learned it: each label by a model learned without it and a
          tenth of the others; with an `audit`, only its labels, by the model itself.
        - `"progressive"`: the models so far on average, each row scored before it was learned.
        - `"pool"`: the pool (in a stream, the rows so far) with the answers there are, and earlier
          predictions elsewhere.

        The strategy "margin" leaves nothing to chance, and needs an `audit` for any of these.
        """
        return self._evaluated().estimate(measure, of, level, largest)

    def should_stop(self, rule: Rule, *, level: float = LEVEL, largest: float | None = None) -> Verdict:
        """May I stop? Judges a rule of `steelyard.active.stopping` by the estimate it needs.

        The verdict is true or false, and has a sentence that says `why`.
        """
        if not isinstance(rule, Rule):
            raise TypeError(
                f"a rule is wanted, such as steelyard.active.stopping.ErrorBelow(0.05); got {rule!r}"
            )
        return (
            self._judge_certified(rule)
            if isinstance(rule, Certified) and self.pool_ is not None
            else self._evaluated().judge(rule, level, largest)
        )

    @property
    def model_(self) -> Model:
        """The model, refitted on all answers; of several classes, `models_` has one for each."""
        return only_model(self._learner("model_").models)

    @property
    def models_(self) -> list[Model]:
        """The model, or of several classes one for each, refitted on all answers."""
        return self._learner("models_").models

    @property
    def n_seen_(self) -> int:
        """The number of rows considered so far."""
        return self._learner("n_seen_").seen

    @property
    def n_asked_(self) -> int:
        """The number of questions so far."""
        return self._learner("n_asked_").asked

    @property
    def n_answered_(self) -> int:
        return self._learner("n_answered_").answered

    @property
    def n_skipped_(self) -> int:
        """The number of questions that nobody could answer."""
        return self._learner("n_skipped_").skipped

    @property
    def open_questions_(self) -> list[int]:
        """The ids of questions that wait for an answer."""
        return self._learner("open_questions_").open

    @property
    def missing_share_(self) -> float:
        """The share of settled questions that were skipped."""
        return self._learner("missing_share_").missing

    @property
    def history_(self) -> History:
        """For every row so far: the probability, whether it was asked for, the prediction and the label."""
        return self._learner("history_").history()

    def _started(self) -> ActiveLearner:
        if "learner_" not in vars(self):
            raise NotFittedError(
                "this ActiveClassifier has not asked anything yet: call ask(X) or pool(X) first"
            )
        return self.learner_

    def _evaluated(self) -> Evaluation:
        self._started()
        return self._evaluation

    def _learner(self, attribute: str) -> ActiveLearner:
        if "learner_" not in vars(self):
            raise AttributeError(f"ActiveClassifier has no {attribute} before it has asked")
        return self.learner_
