"""`Appraisal`: what an engine's own labels say of it. How good is it, and may one stop?

All of it follows from the journal, so whoever goes on with that, or takes an answer back, gets the figures
that would have come of it otherwise. Questions that are open or were skipped are taken at their worst.

- `progressive`: the predictions with which rows were considered.
- `pool`: these rows, with answers where there are answers.
- `current`: the model as it was at the last *look*: at 20 answers, and whenever there are a fifth more. Rows
  are scored by lanes that left them out (`leftout`), or, where there is an audit, its rows alone by the model
  itself. Looks are numbered by the answers, however often one asks, and the intervals of all of them
  hold at once.

Rows that could not be asked for, since the budget was spent, are in no estimate; in a pool, they may be
anything.
"""

from dataclasses import replace

import numpy as np

from steelyard.active.cross_validation import LeftOut, Numbers
from steelyard.active.crossfit import LANES
from steelyard.active.engine import Engine
from steelyard.active.estimates import LEVEL, Estimate, Running
from steelyard.active.estimates import current as of_current
from steelyard.active.journal import History
from steelyard.active.label_sample import Draws, of_labels, of_losses
from steelyard.active.stopping import Budget, Rule, Verdict
from steelyard.active.wealth import Array
from steelyard.learn.rows import fill_scalar
from steelyard.losses import Loss, class_labels, decision_point
from steelyard.numba_tools import jit

FIRST_LOOK = 20  # answers
_MORE = 5  # a fifth, until the next


class Appraisal:
    """Of an engine. `size` is that of the pool; without one, the rows so far are the pool."""

    def __init__(self, engine: Engine, size: int | None = None) -> None:
        self._engine, self._size = engine, size
        self._loss = engine.labelled.settings.loss
        self._low, self._high = class_labels(self._loss)
        self._boundary = decision_point(self._loss)
        self._looked: tuple[tuple[bytes, ...], LeftOut] | None = None

    def estimate(
        self, measure: str = "error", of: str = "current", level: float = LEVEL, largest: float | None = None
    ) -> Estimate:
        """One figure and its interval, which holds at every moment. `largest` is for the measure loss."""
        running = Running(of, measure, level)  # looks at the names
        if (measure == "loss") != (largest is not None):
            raise ValueError(
                "a loss has no bound of its own: say largest=…, and losses above count as that much"
                if largest is None
                else f"largest={largest} is for the measure 'loss', not for {measure!r}"
            )
        history = self._engine.history()
        if of == "current":
            return self._current(history, measure, level, largest)
        numbers = np.flatnonzero(history.probability > 0.0)
        if of == "pool":
            running = Running(of, measure, level, size=self._size or self._engine.seen)
        running.add(self._draws(history, numbers, history.prediction[numbers], largest))
        return running.estimate()

    def judge(self, rule: Rule, level: float = LEVEL, largest: float | None = None) -> Verdict:
        """Whether the rule says stop, and why or why not."""
        if isinstance(rule, Budget):
            nothing = Running(rule.of, rule.measure, level).estimate()
            return rule.judge([replace(nothing, rows=self._engine.seen, asked=self._engine.asked)])
        return rule.judge([self.estimate(rule.measure, rule.of, level, largest)])

    def _current(self, history: History, measure: str, level: float, largest: float | None) -> Estimate:
        audit = self._engine.plan.audit > 0.0
        count, look = last_look(len(self._engine.labelled))
        numbers = np.flatnonzero(history.probability > 0.0)
        if audit:
            numbers = np.flatnonzero(history.asked & self._engine.in_audit(np.arange(len(history.asked))))
        if look == 0:
            nothing = Running("current", measure, level).estimate()
            high = 1.0 if largest is None else largest
            asked = history.asked[numbers]
            silent = np.isnan(history.label[numbers]) & asked
            return replace(
                nothing, rows=len(numbers), asked=int(asked.sum()), skipped=int(silent.sum()), high=high
            )
        scored = np.flatnonzero(history.asked[numbers])
        places = np.array([self._engine.place(int(number)) for number in numbers[scored]], np.int64)
        predictions = np.full(len(numbers), np.nan)
        predictions[scored] = self._left_out(count, 1 if audit else LANES).predict(places)
        certain = replace(history, probability=np.ones_like(history.probability)) if audit else history
        draws = self._draws(certain, numbers, predictions, largest)
        return of_current(draws, np.zeros(len(draws)), measure, level, look)

    def _left_out(self, count: int, lanes: int) -> LeftOut:
        """The lanes of the first answers, kept as long as these are the same."""
        labelled = self._engine.labelled
        first = labelled.taken(0, count)
        answers = labelled.places[:count].tobytes(), first.labels.tobytes()
        if self._looked is None or self._looked[0] != answers:
            self._looked = answers, LeftOut(labelled, count, lanes)
        return self._looked[1]

    def _draws(self, history: History, numbers: Numbers, predictions: Array, largest: float | None) -> Draws:
        probability, asked = history.probability[numbers], history.asked[numbers]
        label = history.label[numbers]
        everywhere = not np.isnan(predictions).any()
        chance = self._chance(predictions) if everywhere else None
        if largest is None:
            yes = np.where(np.isnan(label), np.nan, label == self._high)
            taken = np.where(np.isnan(predictions), np.nan, predictions > self._boundary)
            return of_labels(probability, asked, yes, taken, chance)
        known = np.where(np.isnan(predictions), self._boundary, predictions)  # what stands there is not read
        costs = [np.minimum(self._values(known, y), largest) for y in (self._low, self._high)]
        loss = np.where(label == self._high, costs[1], costs[0])
        guess = None if chance is None else (1.0 - chance) * costs[0] + chance * costs[1]
        return of_losses(probability, asked, np.where(np.isnan(label), np.nan, loss), guess, largest)

    def _chance(self, predictions: Array) -> Array | None:
        """Of the second class, in the eyes of the model; None if its loss has no probabilities."""
        if type(self._loss).probability is Loss.probability:
            return None
        chances = np.empty(len(predictions))
        fill_scalar(jit.pointer(self._loss, "probability"), predictions, self._high, chances)
        return np.clip(chances, 0.0, 1.0)

    def _values(self, predictions: Array, label: float) -> Array:
        values = np.empty(len(predictions))
        with np.errstate(all="ignore"):  # infinite where a prediction is certain of the other class
            fill_scalar(jit.pointer(self._loss, "value"), predictions, label, values)
        return values


def last_look(answers: int) -> tuple[int, int]:
    """After how many of so many answers the model was last looked at, and the how many-eth look that was."""
    count = look = 0
    following = FIRST_LOOK
    while following <= answers:
        count, look = following, look + 1
        following += following // _MORE
    return count, look
