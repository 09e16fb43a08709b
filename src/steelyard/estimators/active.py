"""`ActiveClassifier`: it asks for the labels it needs."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from steelyard.active import counter_rng
from steelyard.active.budget import Plan
from steelyard.active.engine import Engine
from steelyard.active.engine import Question as Raw
from steelyard.active.evaluation import Appraisal
from steelyard.active.journal import IN_MEMORY, Journal
from steelyard.active.labelled import USUAL, Training, last_refit
from steelyard.active.replay import replay
from steelyard.active.stopping import Budget, Rule
from steelyard.estimators import classes as class_names
from steelyard.estimators._estimates_mixin import Standing
from steelyard.estimators.matrix import matrix
from steelyard.estimators.parameters import DEFAULT, learning_settings
from steelyard.estimators.predictions import ClassPredictions
from steelyard.examples import Examples, examples
from steelyard.losses import Loss, class_labels, decision_point
from steelyard.model import Model

_POOL_ORDER = 1 << 40  # what is drawn for it
_FEWEST, _MOST = 64, 4096  # rows of a pool that are scored at a time


@dataclass(frozen=True)
class Question:
    """A row whose label is wanted."""

    id: int
    """By which it is answered: its number in the stream, from 0."""
    row: int
    """In the matrix that was given, or in the pool."""
    probability: float
    """With which it was to be asked for."""
    prediction: Any
    """The class that the model expects."""


class ActiveClassifier(ClassifierMixin, Standing, ClassPredictions, BaseEstimator):  # type: ignore[misc]
    """Linear classification into two classes that asks for few labels; docs/active.md explains everything.

    Say how much may be asked: a `budget` of labels out of so many `expected` rows (of a pool: its own), a
    `rate`, or the paper's `c0`. With a `journal`, a file, nothing is lost if the process is. `estimate()`
    says how good the model is, and `should_stop()` whether that is enough.

    >>> import numpy as np
    >>> from steelyard import ActiveClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 5))
    >>> classifier = ActiveClassifier(classes=["ham", "spam"], budget=100).pool(X)
    >>> while (question := classifier.ask_next()) is not None:
    ...     label = "spam" if X[question.row, 0] > 0.0 else "ham"      # somebody is asked
    ...     classifier.answer(question.id, label)
    >>> 90 <= classifier.n_answered_ <= 100
    True
    >>> print(classifier.estimate("error", of="current"))
    current error: 0.0... (0.000 to 0.3... at every moment, with 95 % confidence; ... of ... rows asked)
    >>> bool(np.mean((classifier.predict(X) == "spam") == (X[:, 0] > 0.0)) > 0.95)
    True
    """

    _follow_labels = False
    pool_: Examples | None = None
    """The rows it asks from; None for a stream."""

    def __init__(
        self,
        loss: str | Loss = "modified_huber",
        *,
        classes: Sequence[Any] | None = None,
        budget: int | None = None,
        expected: int | None = None,
        rate: float | None = None,
        c0: float | None = None,
        floor: float = 0.01,
        audit: float = 0.0,
        constants: str = "practice",
        training_weight: str = "none",
        cap: float = 10.0,
        orders: int = 8,
        journal: str | Path | None = None,
        update: str = USUAL.update,
        scaling: str = DEFAULT.scaling,
        learning_rate: float | None = DEFAULT.learning_rate,
        initial_t: float = DEFAULT.initial_t,
        power_t: float = DEFAULT.power_t,
        l1: float = DEFAULT.l1,
        l2: float = DEFAULT.l2,
        l2_flow: str = DEFAULT.l2_flow,
        fit_intercept: bool = DEFAULT.bias,
        dtype: str = DEFAULT.dtype,
        random_state: int = 0,
    ) -> None:
        self.loss = loss
        self.classes = classes
        self.budget = budget
        self.expected = expected
        self.rate = rate
        self.c0 = c0
        self.floor = floor
        self.audit = audit
        self.constants = constants
        self.training_weight = training_weight
        self.cap = cap
        self.orders = orders
        self.journal = journal
        self.update = update
        self.scaling = scaling
        self.learning_rate = learning_rate
        self.initial_t = initial_t
        self.power_t = power_t
        self.l1 = l1
        self.l2 = l2
        self.l2_flow = l2_flow
        self.fit_intercept = fit_intercept
        self.dtype = dtype
        self.random_state = random_state

    def query_probability(self, X: Any) -> NDArray[np.float64]:
        """With which each row would be asked for, if it came next. Nothing is decided by that."""
        chunk = self._rows(X)
        return self.engine_.probabilities(chunk)

    def ask(self, X: Any) -> list[Question]:
        """Go on in the stream by these rows, one or many; returns the questions among them, often none."""
        if self.pool_ is not None:
            raise ValueError("this classifier asks from its pool: ask_next()")
        chunk = self._rows(X)
        return [self._question(question, question.place) for question in self.engine_.consider(chunk)]

    def pool(self, X: Any) -> Self:
        """Ask from these rows, in a random order. With a journal of theirs, from where it ends."""
        if hasattr(self, "engine_"):
            raise ValueError("this classifier has begun with other rows: make a new one for the pool")
        chunk = self._checked(X, anew=True)
        self._begin(chunk, len(chunk))
        self.pool_ = chunk
        self._order = counter_rng.order(self.random_state, _POOL_ORDER, len(chunk))
        return self

    def ask_next(self, stop: Rule | None = None) -> Question | None:
        """The next question from the pool; None when all of it was considered, or the budget is spent.

        It is also None when the rule says stop. That is looked at whenever there are a tenth more answers,
        a budget always; `should_stop` says why.
        """
        if self.pool_ is None:
            raise ValueError("there is no pool to ask from: pool(X) first, or ask(X) for a stream")
        engine = self.engine_
        due = isinstance(stop, Budget) or last_refit(engine.answered) == engine.answered
        if stop is not None and due and self.should_stop(stop):
            return None
        ahead = int(np.clip(2.0 / engine.plan.share, _FEWEST, _MOST))
        while engine.seen < len(self.pool_) and not engine.spent:
            rows = self._order[engine.seen : engine.seen + ahead]
            for question in engine.consider(self.pool_.take(rows), first_only=True):
                return self._question(question, int(self._order[question.id]))
        return None

    def waiting(self) -> list[Question]:
        """The questions without an answer, as after a process was killed.

        In a stream their `row` counts from its first row, as their `id` does.
        """
        history = self._begun().history()
        return [
            self._question(
                Raw(number, float(history.probability[number]), float(history.prediction[number]), 0),
                number if self.pool_ is None else int(self._order[number]),
            )
            for number in self.engine_.open
        ]

    def answer(self, id: Any, y: Any) -> None:  # noqa: A002
        """The class of a question, or the classes of several, when they are known; in any order."""
        engine = self._begun()
        ids, labels = ([id], [y]) if np.ndim(id) == 0 else (id, y)
        column = np.asarray(labels)
        if len(column) != len(ids):
            raise ValueError(f"there are {len(ids)} questions but {len(column)} answers")
        engine.answer([int(each) for each in ids], self._coded(column).tolist())

    def skip(self, id: Any) -> None:  # noqa: A002
        """A question, or several, that nobody can answer: recorded as missing, and at no cost."""
        self._begun().skip([int(each) for each in ([id] if np.ndim(id) == 0 else id)])

    def undo(self) -> int:
        """Take back the last answer or skip; returns the id of its question, which is open again."""
        return self._begun().undo()

    def replay(self, X: Any, y: Any) -> Self:
        """Ask from a labelled stream as if its labels had to be paid for: y is read where it is asked."""
        chunk = self._rows(X, expected=len(y))
        column = getattr(y, "iloc", y)
        replay(self.engine_, chunk, lambda row: float(self._coded(np.asarray([column[row]]))[0]))
        return self

    def _coded(self, column: NDArray[Any]) -> NDArray[np.float64]:
        """Classes as the loss takes them."""
        pair = np.array(class_labels(self.engine_.labelled.settings.loss))
        labels: NDArray[np.float64] = pair[class_names.codes(column, self.classes_)]
        return labels

    def close(self) -> None:
        """Close the journal, so that another process can go on with it."""
        self._begun().journal.close()

    def _rows(self, X: Any, expected: int | None = None) -> Examples:
        """The rows; the first of all begin the engine."""
        begun = hasattr(self, "engine_")
        chunk = self._checked(X, anew=not begun)
        if not begun:
            self._begin(chunk, expected, pool=False)
        return chunk

    def _checked(self, X: Any, *, anew: bool) -> Examples:
        return examples(matrix(self, X, reset=anew), features=None if anew else self.n_features_in_)

    def _begin(self, chunk: Examples, expected: int | None, *, pool: bool = True) -> None:
        if self.classes is None:
            raise ValueError("name both classes, before any label is known: ActiveClassifier(classes=[…, …])")
        named = class_names.named(self.classes)
        if len(named) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"ActiveClassifier asks about two classes, and {len(named)} are named"
            )
        rows = None if self.budget is None else self.expected or expected
        plan = Plan(self.c0, self.rate, self.budget, rows, self.floor, self.constants, self.audit)
        training = Training(self.training_weight, self.cap, self.orders, self.random_state)
        settings = learning_settings(self)
        about = {"classes": named.tolist(), "pool": _fingerprint(chunk) if pool else None}
        journal = Journal(IN_MEMORY if self.journal is None else self.journal)
        try:
            self.engine_ = Engine(settings, chunk.features, plan, training, journal, about)
        except BaseException:
            journal.close()
            raise
        self.classes_ = named
        self._appraisal = Appraisal(self.engine_, len(chunk) if pool else None)

    def _question(self, question: Raw, row: int) -> Question:
        boundary = decision_point(self.engine_.labelled.settings.loss)
        expects = self.classes_[int(question.prediction > boundary)]
        return Question(question.id, row, question.probability, expects)

    def _predictions(self, X: Any) -> NDArray[np.float64]:
        return self._begun().predict(self._checked(X, anew=False))

    def _models(self, attribute: str) -> list[Model]:
        return [self._engine(attribute).model]

    def _learned_loss(self) -> Loss:
        return self.model_.settings.loss

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def _fingerprint(chunk: Examples) -> int:
    """Of a pool, whose rows go by their numbers."""
    found = 0
    for array in (chunk.indptr, chunk.indices, chunk.values):
        found = zlib.crc32(np.ascontiguousarray(array).data, found)
    return found
