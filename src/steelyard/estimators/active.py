"""`ActiveClassifier`: a classifier that asks for the labels it needs."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from steelyard import model_file
from steelyard.active import strategies
from steelyard.active.attempt import Attempt
from steelyard.active.claim import Claim
from steelyard.active.estimates import LEVEL, Estimate
from steelyard.active.evaluation import Evaluation
from steelyard.active.journal import History, Journal
from steelyard.active.labelled_rows import DEFAULT_SETTINGS, last_refit
from steelyard.active.learner import ActiveLearner, Query, replay
from steelyard.active.pool_attempts import PoolAttempts
from steelyard.active.sequential_tests import ALPHA
from steelyard.active.stopping import Budget, Certified, Rule, Verdict
from steelyard.active.strategies._base import Strategy
from steelyard.estimators import _active_start, inputs
from steelyard.estimators._active_start import PoolTfidf
from steelyard.estimators.fitted import DocumentationLink, only_model
from steelyard.estimators.parameter_hints import hint_unknown
from steelyard.estimators.parameters import DEFAULT
from steelyard.estimators.predictions import ClassPredictions
from steelyard.examples import Examples, examples
from steelyard.losses import Loss, decision_point
from steelyard.model import Model
from steelyard.model_file import EngineState, ModelFile

_STARTING = threading.Lock()  # two threads may bring the first rows of a stream


@dataclass(frozen=True)
class ActiveQuestion:
    """A row whose label is wanted."""

    id: int
    """The number in the stream, from 0; `answer` takes it."""
    row: int
    """The row in the matrix that was given, or in the pool."""
    probability: float
    """The probability with which it was asked for."""
    prediction: Any
    """The class that the model expects."""


class ActiveClassifier(
    DocumentationLink,
    ClassifierMixin,  # type: ignore[misc]
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
    class_codes_ : array
        The label that the loss takes for each of `classes_`.
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
        The share of skips among answers and skips.
    history_ : History
        What became of every row so far.
    model_, models_ : Model, list of Model
        The model of two classes; the list has it, or one for each of several.
    pool_ : Examples or None
        The rows to ask from; None for a stream.
    pool_order_ : array
        The row of the pool that each id stands for.
    idf_ : array
        With `tfidf`, the inverse document frequency by which each word is weighted.

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
    pool_: Examples | None = None
    pool_order_: NDArray[np.int64]
    _attempts: PoolAttempts | None = None
    _tfidf: PoolTfidf | None = None

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

    # Asking

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
        return list(map(self._question, self.learner_.consider(chunk)))

    def pool(self, X: Any) -> Self:
        """Ask from these rows, in a random order. With a journal of them, or of the first, continue it."""
        if hasattr(self, "learner_"):
            raise ValueError("this classifier was started with other rows: make a new one for the pool")
        chunk = self._checked(X, anew=True)
        self._start(chunk, len(chunk), pool=True)
        self.pool_ = chunk
        self._attempts = PoolAttempts(
            self.learner_, self._evaluation, chunk, self.pool_order_, self.classes_.tolist(), self.positive_
        )
        return self

    def ask_next(self, stop: Rule | None = None) -> ActiveQuestion | None:
        """The next question from the pool; None when all of it was considered, or the budget is spent.

        It is also None when the rule says stop. The rule is checked whenever there are a tenth more answers
        (`Budget`: always); `should_stop` says why. With the rule `Certified`, an attempt at a certificate
        begins by itself once it is likely to pass, and its draws are the next questions.
        """
        if self.pool_ is None or self._attempts is None:
            raise ValueError("there is no pool to ask from: call pool(X) first, or ask(X) for a stream")
        learner = self.learner_
        with learner.lock:
            due = isinstance(stop, Budget | Certified) or last_refit(learner.answered) == learner.answered
            if stop is not None and due and self.should_stop(stop):
                return None
            attempt = self._attempts.go_on(stop) if isinstance(stop, Certified) else None
            if attempt is not None and (row := attempt.ask_next()) is not None:
                return ActiveQuestion(attempt.number_of(row), row, 1.0, attempt.prediction(row))
            query = learner.ask_from_pool()
            return None if query is None else self._question(query)

    def waiting(self) -> list[ActiveQuestion]:
        """The questions without an answer, for example after a process was killed.

        In a stream their `row` counts from its first row, as their `id` does.
        """
        return list(map(self._question, self._started().waiting()))

    def _question(self, query: Query) -> ActiveQuestion:
        code = query.prediction
        if len(self.classes_) == 2:
            code = query.prediction > decision_point(self._learned_loss())
        return ActiveQuestion(query.id, query.row, query.probability, self.classes_.tolist()[int(code)])

    def query_probability(self, X: Any) -> NDArray[np.float64]:
        """The probability with which each row would be asked for if it came next. This decides nothing."""
        if self.pool_ is not None and self.learner_.strategy.ranks_pool:
            raise ValueError(
                f"the strategy {strategies.name_of(self.learner_.strategy)!r} ranks the whole pool: its rows "
                "have no probabilities"
            )
        chunk = self._rows(X)
        return self.learner_.probabilities(chunk)

    def replay(self, X: Any, y: Any) -> Self:
        """Ask from a labelled stream as if labels had to be paid for: y is read only where asked for."""
        chunk = self._rows(X, expected=len(y))
        column = getattr(y, "iloc", y)
        replay(self.learner_, chunk, lambda row: self._encode([column[row]])[0])
        return self

    # Answering

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
        codes, numbers = self._encode(column), [int(each) for each in ids]
        with learner.lock:
            if not self._answer_attempt(numbers, labels[0] if len(numbers) == 1 else None):
                learner.answer(numbers, codes)

    def skip(self, id: Any) -> None:  # noqa: A002
        """Skip a question, or several, that nobody can answer: recorded as missing, at no cost."""
        learner, ids = self._started(), [int(each) for each in ([id] if np.ndim(id) == 0 else id)]
        with learner.lock:
            if not self._answer_attempt(ids, None):
                learner.skip(ids)

    def _answer_attempt(self, ids: list[int], label: Any) -> bool:
        return self._attempts is not None and self._attempts.answer(ids, label)

    def undo(self) -> int:
        """Take back the last answer or skip; returns the id of its question, which is open again.

        While an attempt at a certificate is under way and has answers, the last of those is taken back.
        """
        learner = self._started()
        with learner.lock:
            number = None if self._attempts is None else self._attempts.undo()
            return learner.undo() if number is None else number

    def change(self, id: int, y: Any) -> None:  # noqa: A002
        """Answer a question otherwise than before, however long ago that was; None: nobody can answer it."""
        self._started().change(int(id), None if y is None else self._encode([y])[0])

    def withdraw(self, id: int) -> None:  # noqa: A002
        """Take back the answer or skip of one question, however long ago; the question is open again."""
        self._started().withdraw(int(id))

    def teach(self, X: Any, y: Any) -> Self:
        """Learn labels that it did not ask for: relevant examples to begin with, or those of an old project.

        They cost no budget. The rows are not asked for any more, and are in no estimate, which are made from
        rows that were drawn. A row that has a label keeps it, and must not get another one.

        Parameters
        ----------
        X : list of int; array, sparse matrix or frame
            Rows of the pool, by their number in it; in a stream, the rows themselves.
        y : list of classes
            One for each.
        """
        column = np.asarray(y)
        if self.pool_ is not None:
            given = np.asarray(X)
            if given.ndim != 1 or (len(given) and given.dtype.kind not in "iu"):
                raise ValueError("there is a pool: give the numbers of its rows, from 0, not the rows")
            rows = given.tolist()
            outside = [row for row in rows if not 0 <= row < len(self.pool_)]
            if outside:
                raise ValueError(f"row {outside[0]} is not in the pool, which has {len(self.pool_):,} rows")
            chunk, numbers = self.pool_, np.argsort(self.pool_order_)[given].tolist()
        else:
            chunk = self._rows(X)
            rows = list(range(len(chunk)))
            first = -1 - sum(number < 0 for number in self.learner_.journal.turns())
            numbers = [first - row for row in rows]
        if len(numbers) != len(column):
            raise ValueError(f"there are {len(numbers)} rows but {len(column)} labels")
        if len(set(numbers)) < len(numbers):
            raise ValueError("a row is there twice")
        codes = self._encode(column)
        with self.learner_.lock:
            known = self.learner_.labels
            for number, row, code in zip(numbers, rows, codes, strict=True):
                if known.get(number, code) != code:
                    raise ValueError(f"row {row} has another label already; take that back first")
            labels = dict(zip(numbers, codes, strict=True))
            self.learner_.teach(labels, dict(zip(numbers, rows, strict=True)), chunk)
        return self

    # Estimates and certificates

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
        self._started()
        return self._evaluation.estimate(measure, of, level, largest)

    def should_stop(self, rule: Rule, *, level: float = LEVEL, largest: float | None = None) -> Verdict:
        """May I stop? Judges a rule of `steelyard.active.stopping` by the estimate it needs.

        The verdict is true or false, and has a sentence that says `why`.
        """
        if not isinstance(rule, Rule):
            raise TypeError(
                f"a rule is wanted, such as steelyard.active.stopping.ErrorBelow(0.05); got {rule!r}"
            )
        if isinstance(rule, Certified) and self._attempts is not None:
            return self._attempts.judge(rule)
        self._started()
        return self._evaluation.judge(rule, level, largest)

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
        if self._attempts is None:
            raise ValueError("a certificate is about the rows of a pool: call pool(X) first")
        attempt = self._attempts.begin(Claim(measure, target, alpha, most, plan))
        while label is not None and (row := attempt.ask_next()) is not None:
            attempt.answer(row, label(row))
        return attempt

    # Files

    def save(self, path: str | Path) -> None:
        """Save the learned model, for `OnlineClassifier.load`; all that was asked for is in the journal.

        A model file has no place for the weights of words that `tfidf=True` counts on the pool.
        """
        models = self._learner("model to save").models
        if self.tfidf:
            raise ValueError(
                "a model file cannot weight words as tfidf=True does: predict with this classifier, which "
                "continues from its journal, or fit OnlineClassifier on the labelled rows"
            )
        several = len(self.classes_) if len(self.classes_) > 2 else 0
        engine = EngineState([models[0].settings], models, several)
        if several:
            engine.alive, engine.error = np.ones(several), np.zeros(1)
        names = getattr(self, "feature_names_in_", None)
        model_file.save(path, ModelFile(engine, class_names=self.classes_, feature_names=names))

    def close(self) -> None:
        """Close the journal, so that another process can continue with it."""
        learner = self._started()
        with learner.lock:
            learner.journal.close()

    # Fitted attributes

    @property
    def model_(self) -> Model:
        """The model, refitted on all answers; of several classes, `models_` has one for each."""
        return only_model(self._learner("model_").models)

    @property
    def models_(self) -> list[Model]:
        """The model, or of several classes one for each, refitted on all answers."""
        return self._learner("models_").models

    @property
    def class_codes_(self) -> NDArray[np.float64]:
        """The label that the loss takes for each of `classes_`."""
        return np.array(self._learner("class_codes_").labelled.codes)

    @property
    def idf_(self) -> NDArray[np.float64]:
        """The inverse document frequency by which each word is weighted."""
        if self._tfidf is None:
            raise AttributeError("ActiveClassifier has no idf_ without tfidf=True, and before pool(X)")
        return self._tfidf.idf

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
        """The number of answers to questions."""
        return self._learner("n_answered_").answered

    @property
    def n_skipped_(self) -> int:
        """The number of questions that nobody could answer."""
        return self._learner("n_skipped_").skipped

    @property
    def n_taught_(self) -> int:
        """The number of labels that it has learned and did not ask for."""
        return self._learner("n_taught_").taught

    @property
    def open_questions_(self) -> list[int]:
        """The ids of questions that wait for an answer."""
        return self._learner("open_questions_").open

    @property
    def missing_share_(self) -> float:
        """The share of skips among answers and skips."""
        return self._learner("missing_share_").missing

    @property
    def history_(self) -> History:
        """The probability, prediction and label of every row so far, and whether it was asked for."""
        return self._learner("history_").history()

    @property
    def attempt_(self) -> Attempt | None:
        """The last attempt at a certificate, under way or over; None before the first."""
        return None if self._attempts is None else self._attempts.last

    # Rows, labels and the start

    def _rows(self, X: Any, expected: int | None = None) -> Examples:
        """The rows as examples; the first ones start the learner."""
        with _STARTING:
            started = hasattr(self, "learner_")
            if self.tfidf and not started:
                raise ValueError("tfidf=True needs a pool, whose words are counted: call pool(X) first")
            chunk = self._checked(X, anew=not started)
            if not started:
                self._start(chunk, expected, pool=False)
        return chunk

    def _checked(self, X: Any, *, anew: bool) -> Examples:
        rows = inputs.check_matrix(self, X, reset=anew)
        if self.tfidf:
            if anew:
                self._tfidf = PoolTfidf(rows, _active_start.about_pool(self.journal))
            assert self._tfidf is not None  # there is a pool
            rows = self._tfidf.weight(rows)
        return examples(rows, features=None if anew else self.n_features_in_)

    def _start(self, chunk: Examples, expected: int | None, *, pool: bool) -> None:
        begun = _active_start.start(self, chunk, expected, self._tfidf, pool=pool)
        self.learner_: ActiveLearner = begun.learner
        self._evaluation: Evaluation = begun.evaluation
        self.classes_, self.positive_ = begun.classes, begun.positive
        if begun.pool_order is not None:
            self.pool_order_ = begun.pool_order

    def _encode(self, labels: Any) -> list[float]:
        """Classes as the loss takes them."""
        codes: list[float] = self.class_codes_[
            inputs.encode_labels(np.asarray(labels), self.classes_)
        ].tolist()
        return codes

    def _started(self) -> ActiveLearner:
        if "learner_" not in vars(self):
            raise NotFittedError(
                "this ActiveClassifier has not asked anything yet: call ask(X) or pool(X) first"
            )
        return self.learner_

    def _learner(self, attribute: str) -> ActiveLearner:
        if "learner_" not in vars(self):
            raise AttributeError(f"ActiveClassifier has no {attribute} before it has asked")
        return self.learner_

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
