"""`ActiveClassifier`: a classifier that asks for the labels it needs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from steelyard.active import strategies
from steelyard.active.journal import Journal
from steelyard.active.labelled_rows import DEFAULT_SETTINGS, last_refit
from steelyard.active.learner import Query, replay
from steelyard.active.stopping import Budget, Certified, Rule
from steelyard.active.strategies._base import Strategy
from steelyard.estimators._active_start import StartMixin
from steelyard.estimators._certify_mixin import ActiveQuestion
from steelyard.estimators.fitted import DocumentationLink
from steelyard.estimators.parameter_hints import hint_unknown
from steelyard.estimators.parameters import DEFAULT
from steelyard.estimators.predictions import ClassPredictions
from steelyard.examples import Examples
from steelyard.losses import Loss, decision_point
from steelyard.model import Model

_FEWEST, _MOST = 64, 4096  # rows of a pool that are scored at a time


class ActiveClassifier(
    DocumentationLink,
    ClassifierMixin,  # type: ignore[misc]
    StartMixin,
    ClassPredictions,
    BaseEstimator,  # type: ignore[misc]
):
    """Linear classification that asks for few labels; docs/active.md explains everything.

    Say how much to ask: a `budget`, a `rate`, or the paper's `c0`.

    Parameters
    ----------
    loss : str or Loss, default="modified_huber"
        A name from `steelyard.losses.names()`, or an instance.
    classes : list of two or more
        The classes. Of more than two, each has a model that tells it from the rest, and learns all answers.
    positive : class, default=the second of two `classes` as they are given
        The class whose precision and recall are estimated.
    strategy : {"iwal", "margin", "random", "relevance"} or Strategy, default="iwal"
        Which rows are asked for; "relevance" is for two classes.
    budget, expected : int, optional
        The number of labels, out of so many rows (by default, the rows of the pool).
    rate : float, optional
        The share of rows to ask for.
    c0 : float, optional
        The constant of the paper's rule.
    floor : float, default=0.01
        The least probability of asking.
    audit : float, default=0.0
        The share of questions that are drawn at random, for estimates.
    constants : {"practice", "theory"}, default="practice"
        Those of the rule for asking.
    training_weight : {"none", "capped", "importance"}, default="none"
        Which weights answers have when the model learns them.
    cap : float, default=10.0
        The most such a weight may be.
    orders : int, default=8
        In how many orders the answers are learned; the model is their mean.
    refit : {"averaged", "balanced"}, default=by the strategy
        "averaged": that mean. "balanced": a fit that converges, in which both classes (of several: each and
        all the others) weigh the same, for rare classes. The default of the strategy "relevance" is
        "balanced", of others "averaged".
    tfidf : bool, default=False
        Weight the logarithms of counts of words by inverse document frequency, computed on the pool, in rows
        of length 1.
    journal : path or Journal, optional
        A file in which nothing is lost if the process is killed.
    update, scaling, learning_rate, initial_t, power_t, l1, l2, fit_intercept, dtype
        As for `OnlineClassifier`.
    random_state : int, default=0
        The seed of everything that is drawn.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    positive_ : class
        The class whose precision and recall are estimated; None if there are several and none was named.
    coef_, intercept_ : arrays
        Of the model, refitted on all answers.
    n_seen_, n_asked_, n_answered_, n_skipped_ : int
        Rows considered, questions, answers, and questions that nobody could answer.
    n_taught_ : int
        Labels that it has learned and did not ask for.
    attempt_ : Attempt or None
        The last attempt at a certificate.
    open_questions_ : list of int
        Questions that wait for an answer.
    missing_share_ : float
        The share of settled questions that were skipped.
    history_ : History
        What became of every row so far.
    model_, models_ : Model, list of Model
        The model of two classes; the list has it, or one for each of several.

    Examples
    --------
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
    current error: 0.0... (95 % interval 0.000–0.3..., valid at any stopping time; ... of ... rows asked)
    >>> bool(np.mean((classifier.predict(X) == "spam") == (X[:, 0] > 0.0)) > 0.95)
    True
    """

    _page = "active"
    _follow_labels = False
    pool_: Examples | None = None
    """The rows to ask from; None for a stream."""

    @hint_unknown
    def __init__(
        self,
        loss: str | Loss = "modified_huber",
        *,
        classes: Sequence[Any] | None = None,
        positive: Any = None,
        strategy: str | Strategy = strategies.DEFAULT,
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
        refit: str | None = None,
        tfidf: bool = False,
        journal: str | Path | Journal | None = None,
        update: str = DEFAULT_SETTINGS.update,
        scaling: str = DEFAULT_SETTINGS.scaling,
        learning_rate: float | None = DEFAULT.learning_rate,
        initial_t: float = DEFAULT.initial_t,
        power_t: float = DEFAULT.power_t,
        l1: float = DEFAULT.l1,
        l2: float = DEFAULT.l2,
        fit_intercept: bool = DEFAULT.bias,
        dtype: str = DEFAULT.dtype,
        random_state: int = 0,
    ) -> None:
        self.loss = loss
        self.classes = classes
        self.positive = positive
        self.strategy = strategy
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
        self.refit = refit
        self.tfidf = tfidf
        self.journal = journal
        self.update = update
        self.scaling = scaling
        self.learning_rate = learning_rate
        self.initial_t = initial_t
        self.power_t = power_t
        self.l1 = l1
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.dtype = dtype
        self.random_state = random_state

    def query_probability(self, X: Any) -> NDArray[np.float64]:
        """The probability with which each row would be asked for if it came next. This decides nothing."""
        if self.pool_ is not None and self.learner_.strategy.ranks_pool:
            raise ValueError(
                f"the strategy {strategies.name_of(self.learner_.strategy)!r} ranks the whole pool: its rows "
                "have no probabilities"
            )
        chunk = self._rows(X)
        return self.learner_.probabilities(chunk)

    def ask(self, X: Any) -> list[ActiveQuestion]:
        """Consider the next rows of the stream, one or many; returns the questions among them, often none.

        Parameters
        ----------
        X : array, sparse matrix or frame
            Numbers.
        """
        if self.pool_ is not None:
            raise ValueError("this classifier asks from its pool: use ask_next()")
        chunk = self._rows(X)
        return [self._question(query, query.place) for query in self.learner_.consider(chunk)]

    def pool(self, X: Any) -> Self:
        """Ask from these rows, in a random order. With a journal of them, or of the first, continue it."""
        if hasattr(self, "learner_"):
            raise ValueError("this classifier was started with other rows: make a new one for the pool")
        chunk = self._checked(X, anew=True)
        self._start(chunk, len(chunk))
        self.pool_ = chunk
        self._resume_attempt(chunk)
        return self

    def ask_next(self, stop: Rule | None = None) -> ActiveQuestion | None:
        """The next question from the pool; None when all of it was considered, or the budget is spent.

        It is also None when the rule says stop. The rule is checked whenever there are a tenth more answers
        (`Budget`: always); `should_stop` says why. With the rule `Certified`, an attempt at a certificate
        begins by itself once it is likely to pass, and its draws are the next questions.
        """
        if self.pool_ is None:
            raise ValueError("there is no pool to ask from: call pool(X) first, or ask(X) for a stream")
        with self.learner_.lock:
            return self._next(self.pool_, stop)

    def _next(self, pool: Examples, stop: Rule | None) -> ActiveQuestion | None:
        learner = self.learner_
        if isinstance(stop, Certified):
            if self.should_stop(stop):
                return None
            if (attempt := self._attempt_for(stop)) is not None:
                return self._drawn(attempt)
            stop = None
        due = isinstance(stop, Budget) or last_refit(learner.answered) == learner.answered
        if stop is not None and due and self.should_stop(stop):
            return None
        if learner.strategy.ranks_pool:
            query = learner.ask_from(pool, self._order)
            return None if query is None else self._question(query, query.place)
        ahead = int(np.clip(2.0 / learner.plan.share, _FEWEST, _MOST))
        while learner.seen < len(pool) and not learner.spent:
            rows = self._order[learner.seen : learner.seen + ahead]
            for query in learner.consider(pool.take(rows), first_only=True):
                return self._question(query, int(self._order[query.id]))
        return None

    def waiting(self) -> list[ActiveQuestion]:
        """The questions without an answer, for example after a process was killed.

        In a stream their `row` counts from its first row, as their `id` does.
        """
        with self._started().lock:
            history, numbers = self.learner_.history(), self.learner_.open
        return [
            self._question(
                Query(number, float(history.probability[number]), float(history.prediction[number]), 0),
                number if self.pool_ is None else int(self._order[number]),
            )
            for number in numbers
        ]

    def answer(self, id: Any, y: Any) -> None:  # noqa: A002
        """Answer a question with its class, or several with theirs; in any order.

        Parameters
        ----------
        id : int, or list of int
            Of `ActiveQuestion`.
        y : class, or list of classes
            One of the `classes` for each.
        """
        learner = self._started()
        ids, labels = ([id], [y]) if np.ndim(id) == 0 else (id, y)
        column = np.asarray(labels)
        if len(column) != len(ids):
            raise ValueError(f"there are {len(ids)} questions but {len(column)} answers")
        codes, numbers = self._coded(column).tolist(), [int(each) for each in ids]
        with learner.lock:
            if not self._answer_attempt(numbers, labels[0] if len(numbers) == 1 else None):
                learner.answer(numbers, codes)

    def replay(self, X: Any, y: Any) -> Self:
        """Ask from a labelled stream as if labels had to be paid for: y is read only where asked for."""
        chunk = self._rows(X, expected=len(y))
        column = getattr(y, "iloc", y)
        replay(self.learner_, chunk, lambda row: float(self._coded(np.asarray([column[row]]))[0]))
        return self

    def _question(self, query: Query, row: int) -> ActiveQuestion:
        code = query.prediction
        if len(self.classes_) == 2:
            code = query.prediction > decision_point(self.learner_.labelled.settings.loss)
        expected = self.classes_.tolist()[int(code)]  # JSON takes no NumPy numbers
        return ActiveQuestion(query.id, row, query.probability, expected)

    def _predictions(self, X: Any) -> NDArray[np.float64]:
        return self._started().predict(self._checked(X, anew=False))

    def _models(self, attribute: str) -> list[Model]:
        return self._learner(attribute).models

    def _learned_loss(self) -> Loss:
        return self.learner_.labelled.settings.loss

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
