"""`Evaluation`: how good is an active learner, judged by the labels it asked for; and may one stop?

Everything follows from the journal, so a resumed run or an undo gives the figures that would have come
otherwise. Questions that are open or were skipped count at their worst.

- `progressive`: the predictions with which rows were considered.
- `pool`: these rows, with answers where there are answers.
- `current`: the model at the last *look*: at 20 answers, and whenever there are a fifth more. Rows are scored
  by models that left them out, or, with an audit, its rows alone by the model itself. Looks are numbered by
  the answers, however often one asks, and the intervals of all looks are valid at once.

Rows that could not be asked for, since the budget was spent, are in no estimate; in a pool, they may be
anything. A strategy that leaves nothing to chance gives no estimates without an audit.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._array_types import Integers
from steelyard._parameters import Message, Parameter
from steelyard.active import class_models, estimates, strategies
from steelyard.active.confidence import Array
from steelyard.active.estimates import LEVEL, Estimate, RunningEstimate
from steelyard.active.journal import History
from steelyard.active.label_sample import LabelSample, from_labels, from_losses
from steelyard.active.labelled_rows import LabelledRows
from steelyard.active.snapshot import LearnerSnapshot
from steelyard.active.stopping import Budget, Rule, Verdict
from steelyard.active.stored_rows import PoolRows, SparseRows
from steelyard.examples import Examples
from steelyard.learn.rows import fill_scalar
from steelyard.losses import Loss, class_labels, decision_point
from steelyard.native import methods

if TYPE_CHECKING:
    from steelyard.active.learner import ActiveLearner

FOLDS = 10
FIRST_LOOK = 20  # answers
_MORE = 5  # the next look comes with a fifth more


class Evaluation:
    """Judges a learner. `size` is that of the pool; without one, the rows so far are the pool.

    Precision and recall are of the class that is called `positive` and is number `class_index`, by default the
    second of two; of several classes none.
    """

    def __init__(
        self,
        learner: "ActiveLearner | LearnerSnapshot",
        size: int | None = None,
        positive: Any = None,
        class_index: int | None = None,
    ) -> None:
        self._learner, self._size, self._positive = learner, size, positive
        self._several = learner.labelled.classes > 2
        self._class_index = 1 if class_index is None and not self._several else class_index
        self._flipped = self._class_index == 0
        self._loss = learner.labelled.settings.loss
        self._low, self._high = class_labels(self._loss)
        self._boundary = decision_point(self._loss)
        self._looked: tuple[tuple[bytes, bytes], CrossValidation] | None = None

    def estimate(
        self, measure: str = "error", of: str = "current", level: float = LEVEL, largest: float | None = None
    ) -> Estimate:
        """A figure with an interval that is valid at any stopping time. `largest` is for the measure loss."""
        running = RunningEstimate(of, measure, level)  # checks the names
        if self._several:
            self._check_classes(measure)
        if (measure == "loss") != (largest is not None):
            raise ValueError(
                Message(
                    "a loss has no bound of its own: give ", Parameter("largest", in_python="largest=…"),
                    ", and larger losses count as that much",
                )
                if largest is None
                else Message(Parameter("largest", largest), f" is for the measure 'loss', not for {measure!r}")
            )  # fmt: skip
        self._check_possible(of)
        found = self._estimate(self._learner.snapshot(), running, largest)
        return replace(found, positive=self._positive) if measure in ("precision", "recall") else found

    def _estimate(
        self, learner: LearnerSnapshot, running: RunningEstimate, largest: float | None
    ) -> Estimate:
        of, measure, level, history = running.of, running.measure, running.level, learner.history
        if of == "current":
            return self._current(learner, measure, level, largest)
        numbers = np.flatnonzero(history.probability > 0.0)
        if of == "pool":
            running = RunningEstimate(of, measure, level, size=self._size or learner.seen)
        running.add(self._sample(history, numbers, history.prediction[numbers], measure, largest))
        return running.estimate()

    def judge(self, rule: Rule, level: float = LEVEL, largest: float | None = None) -> Verdict:
        """Whether the rule says stop, and why or why not."""
        if isinstance(rule, Budget):
            nothing = RunningEstimate(rule.of, rule.measure, level).estimate()
            return rule.judge([replace(nothing, rows=self._learner.seen, asked=self._learner.asked)])
        return rule.judge([self.estimate(rule.measure, rule.of, level, largest)])

    def _check_classes(self, measure: str) -> None:
        if measure == "loss":
            raise ValueError("a loss is that of two classes: of several, estimate the error")
        if measure != "error" and self._class_index is None:
            raise ValueError(f"of several classes, {measure} is that of one: name it as the positive class")

    def _check_possible(self, of: str) -> None:
        """Labels can be weighted only if every row had a known probability above 0 of being asked for."""
        strategy = self._learner.strategy
        if strategy.randomized:
            return
        name = strategies.name_of(strategy)
        if not self._learner.plan.audit:
            raise ValueError(
                Message(
                    f"the strategy {name!r} leaves nothing to chance, so its labels say nothing about rows it "
                    "does not ask for: give ", Parameter("audit", 0.01), " or so, a random sample for evaluation, "
                    "or use strategy 'iwal' or 'random'",
                )
            )  # fmt: skip
        if of != "current" and strategy.ranks_pool and self._size is not None:
            raise ValueError(
                Message(
                    f"the strategy {name!r} ranks the whole pool, and only its audit is a random sample of it: "
                    "estimate ", Parameter("of", "current"), ", not ", Parameter("of", of),
                )
            )  # fmt: skip

    def _current(
        self, learner: LearnerSnapshot, measure: str, level: float, largest: float | None
    ) -> Estimate:
        history, audit = learner.history, learner.plan.audit > 0.0
        count, look = last_look(len(learner.labelled))
        numbers = np.flatnonzero(history.probability > 0.0)
        if audit:
            numbers = np.flatnonzero(history.asked & learner.audit.includes(np.arange(len(history.asked))))
        if look == 0:
            nothing = RunningEstimate("current", measure, level).estimate()
            high = 1.0 if largest is None else largest
            asked = history.asked[numbers]
            silent = np.isnan(history.label[numbers]) & asked
            return replace(
                nothing, rows=len(numbers), asked=int(asked.sum()), skipped=int(silent.sum()), high=high
            )
        scored = np.flatnonzero(history.asked[numbers])
        places = learner.read.places(numbers[scored])
        predictions = np.full(len(numbers), np.nan)
        models = self._cross_validate(learner.labelled, count, 1 if audit else FOLDS)
        predictions[scored] = models.predict(learner.labelled.rows, places)
        certain = replace(history, probability=np.ones_like(history.probability)) if audit else history
        sample = self._sample(certain, numbers, predictions, measure, largest)
        return estimates.current(sample, np.zeros(len(sample)), measure, level, look)

    def _cross_validate(self, labelled: LabelledRows, count: int, folds: int) -> "CrossValidation":
        """The models of the first answers, cached as long as these are the same."""
        answers, looked = labelled.fingerprint(count), self._looked
        if looked is None or looked[0] != answers:
            looked = self._looked = answers, CrossValidation(labelled, count, folds)
        return looked[1]

    def _sample(
        self, history: History, numbers: Integers, predictions: Array, measure: str, largest: float | None
    ) -> LabelSample:
        probability, asked = history.probability[numbers], history.asked[numbers]
        label = history.label[numbers]
        everywhere = not np.isnan(predictions).any()
        if self._several:
            codes, unknown = class_models.decided_class(predictions), np.isnan(label)
            if measure == "error":
                guess = class_models.doubt(self._loss, predictions) if everywhere else None
                return from_losses(probability, asked, np.where(unknown, np.nan, codes != label), guess)
            own = np.where(unknown, np.nan, label == self._class_index)
            found = np.where(np.isnan(codes), np.nan, codes == self._class_index)
            return from_labels(probability, asked, own, found)
        chance = self._chance(predictions) if everywhere else None
        if largest is None:
            yes = np.where(np.isnan(label), np.nan, (label == self._high) != self._flipped)
            taken = np.where(np.isnan(predictions), np.nan, (predictions > self._boundary) != self._flipped)
            likely = 1.0 - chance if self._flipped and chance is not None else chance
            return from_labels(probability, asked, yes, taken, likely)
        known = np.where(np.isnan(predictions), self._boundary, predictions)  # not used where it was NaN
        costs = [np.minimum(self._values(known, y), largest) for y in (self._low, self._high)]
        loss = np.where(label == self._high, costs[1], costs[0])
        guess = None if chance is None else (1.0 - chance) * costs[0] + chance * costs[1]
        return from_losses(probability, asked, np.where(np.isnan(label), np.nan, loss), guess, largest)

    def _chance(self, predictions: Array) -> Array | None:
        """The model's probability of the second class; None if its loss has no probabilities."""
        if type(self._loss).probability is Loss.probability:
            return None
        chances = np.empty(len(predictions))
        fill_scalar(methods.pointer(self._loss, "probability"), predictions, self._high, chances)
        return np.clip(chances, 0.0, 1.0)

    def _values(self, predictions: Array, label: float) -> Array:
        values = np.empty(len(predictions))
        with np.errstate(all="ignore"):  # infinite where a prediction is certain of the other class
            fill_scalar(methods.pointer(self._loss, "value"), predictions, label, values)
        return values


class CrossValidation:
    """A model for each fold, learned from the first `count` answers without the fold's own, to score those.

    Question number i (of those asked, from 0) is in fold i mod K. With one fold nothing is left out: that is
    the model itself, for rows that it never learns. The answered rows have few of all features, so these
    models have only those: ten times a million weights would cost more than the learning.
    """

    def __init__(self, labelled: LabelledRows, count: int, folds: int = FOLDS) -> None:
        self._loss, self._folds = labelled.settings.loss, folds
        rows = labelled.examples(0, count)
        self._features = np.unique(rows.indices)
        known = self._renumber(rows)
        own = labelled.places[:count] % folds
        left_out = [own == fold for fold in range(folds)] if folds > 1 else [None]
        self._models = [labelled.fit(known, rows) for rows in left_out]

    def predict(self, stored: SparseRows | PoolRows, places: Integers) -> Array:
        """The decisions about stored rows, each by the model that has not learned it."""
        nothing = np.zeros(len(places))
        rows = self._renumber(stored.take(places, nothing, nothing))
        predictions = np.empty(len(places))
        for fold, models in enumerate(self._models):
            own = np.flatnonzero(places % self._folds == fold)
            predictions[own] = class_models.decisions(
                self._loss, class_models.predict(models, rows.take(own))
            )
        return predictions

    def _renumber(self, rows: Examples) -> Examples:
        """The rows with only the learned features, which get new numbers."""
        found = np.searchsorted(self._features, rows.indices)
        known = np.append(self._features, -1)[found] == rows.indices
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])[rows.indptr]
        return replace(
            rows, indptr=indptr, indices=found[known].astype(np.int32), values=rows.values[known],
            features=len(self._features),
        )  # fmt: skip


def last_look(answers: int) -> tuple[int, int]:
    """The number of answers at the last look, and the number of that look."""
    count = look = 0
    following = FIRST_LOOK
    while following <= answers:
        count, look = following, look + 1
        following += following // _MORE
    return count, look
