"""`StartMixin`: how an `ActiveClassifier` takes rows and classes, and starts its learner with the first."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from steelyard import model_file
from steelyard.active.evaluation import Evaluation
from steelyard.active.journal import IN_MEMORY, Journal
from steelyard.active.labelled_rows import RefitPlan
from steelyard.active.learner import ActiveLearner
from steelyard.active.strategies._base import BudgetPlan, Strategy
from steelyard.estimators import _active_questions as questions
from steelyard.estimators import inputs
from steelyard.estimators._estimates_mixin import EstimatesMixin
from steelyard.estimators._teach_mixin import TeachMixin
from steelyard.estimators.inputs import check_matrix
from steelyard.estimators.parameters import learning_settings
from steelyard.examples import Examples, examples
from steelyard.model_file import EngineState, ModelFile

_DAMPED = "damped"
_STARTING = threading.Lock()  # two threads may bring the first rows of a stream


class StartMixin(EstimatesMixin, TeachMixin):
    """The parameters are those of `ActiveClassifier`."""

    n_features_in_: int
    classes: Sequence[Any] | None
    positive: Any
    strategy: str | Strategy
    budget: int | None
    expected: int | None
    rate: float | None
    c0: float | None
    floor: float
    audit: float
    constants: str
    training_weight: str
    cap: float
    orders: int
    refit: str | None
    tfidf: bool
    _damped: bool
    journal: str | Path | Journal | None
    random_state: int

    def _coded(self, column: NDArray[Any]) -> NDArray[np.float64]:
        """Classes as the loss takes them."""
        codes = np.array(self.learner_.labelled.codes)
        labels: NDArray[np.float64] = codes[inputs.encode_labels(column, self.classes_)]
        return labels

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
        rows = check_matrix(self, X, reset=anew)
        if self.tfidf:
            rows = self._weighted(rows, anew=anew)
        return examples(rows, features=None if anew else self.n_features_in_)

    def _weighted(self, rows: Any, *, anew: bool) -> Any:
        """Counts weighted by the inverse document frequency of the pool, as it was before it grew.

        The counts are damped: ten times the same word says less than ten words. (Not in older journals.)
        """
        if anew:
            kept = self._kept()
            self._damped = kept is None or kept.get("tfidf") == _DAMPED
            first = None if kept is None or not kept.get("parts") else kept["parts"][0][0]
            self._idf = TfidfTransformer().fit(rows[:first])
        if self._damped:
            rows = sparse.csr_matrix(rows, dtype=np.float64)
            rows.data = np.copysign(np.log1p(np.abs(rows.data)), rows.data)
        return self._idf.transform(rows)

    def _kept(self) -> dict[str, Any] | None:
        """What the journal says about the pool; None if it is a new one."""
        if not isinstance(self.journal, Journal):
            if self.journal is None or not Path(self.journal).exists():
                return None
            with Journal(self.journal) as kept:
                return _pool_of(kept)
        return _pool_of(self.journal)

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
        content = ModelFile(engine, class_names=self.classes_, feature_names=names)
        model_file.save(path, content)

    def _start(self, chunk: Examples, expected: int | None, *, pool: bool = True) -> None:
        """Open or continue the journal."""
        if self.classes is None:
            raise ValueError("name the classes beforehand: ActiveClassifier(classes=[…, …])")
        named = inputs.check_classes(self.classes)
        rows = None if self.budget is None else self.expected or expected
        plan = BudgetPlan(self.c0, self.rate, self.budget, rows, self.floor, self.constants, self.audit)
        settings = learning_settings(self)
        positive = questions.choose_positive(self.positive, self.classes, named)
        place = None if positive is None else named.tolist().index(positive)
        about = {"classes": named.tolist(), "positive": positive, "pool": None}
        if self.tfidf and self._damped:
            about["tfidf"] = _DAMPED
        journal = self.journal if isinstance(self.journal, Journal) else Journal(self.journal or IN_MEMORY)
        try:
            kept = journal.about()
            strategy = questions.find_strategy(self.strategy, kept).toward(second=place == 1)
            refit = self.refit or strategy.refit
            training = RefitPlan(self.training_weight, self.cap, self.orders, self.random_state, refit)
            parts = questions.pool_parts(chunk, kept) if pool else []
            if pool:
                about |= {"pool": parts[0][1], "parts": parts}
                self._order = questions.pool_order(self.random_state, [rows for rows, _ in parts])
            self.learner_ = ActiveLearner(
                settings, chunk.features, plan, training, journal, about, strategy, len(named),
                (chunk, self._order) if pool else None,
            )  # fmt: skip
        except BaseException:
            journal.close()
            raise
        self.classes_, self.positive_ = named, positive
        self._evaluation = Evaluation(self.learner_, len(chunk) if pool else None, positive, place)


def _pool_of(journal: Journal) -> dict[str, Any] | None:
    return (journal.about() or {}).get("about")
