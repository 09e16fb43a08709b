"""`StartMixin`: how an `ActiveClassifier` takes rows and labels, and starts its learner with the first."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from steelyard import model_file
from steelyard._field_types import is_number
from steelyard.active import counter_rng, strategies
from steelyard.active.attempt import fingerprint
from steelyard.active.evaluation import Evaluation
from steelyard.active.journal import IN_MEMORY, Journal
from steelyard.active.labelled_rows import RefitPlan
from steelyard.active.learner import ActiveLearner
from steelyard.active.strategies._base import BudgetPlan, Strategy
from steelyard.estimators import inputs
from steelyard.estimators._estimates_mixin import EstimatesMixin
from steelyard.estimators.inputs import check_matrix
from steelyard.estimators.parameters import learning_settings
from steelyard.examples import Examples, examples
from steelyard.model_file import EngineState, ModelFile

_DAMPED = "damped"
_POOL_ORDER = 1 << 40  # where the purposes of these random numbers begin
_NUMBERS = ("budget", "expected", "rate", "c0", "floor", "audit", "cap", "orders")
_STARTING = threading.Lock()  # two threads may bring the first rows of a stream


class StartMixin(EstimatesMixin):
    """The parameters are those of `ActiveClassifier`."""

    pool_: Examples | None
    _order: NDArray[np.int64]

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
            rows = np.asarray(X)
            if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
                raise ValueError("there is a pool: give the numbers of its rows, from 0, not the rows")
            outside = [row for row in rows.tolist() if not 0 <= row < len(self.pool_)]
            if outside:
                raise ValueError(f"row {outside[0]} is not in the pool, which has {len(self.pool_):,} rows")
            chunk, numbers = self.pool_, np.argsort(self._order)[rows].tolist()
        else:
            chunk = self._rows(X)
            rows = np.arange(len(chunk))
            first = -1 - sum(number < 0 for number in self.learner_.journal.turns())
            numbers = [first - row for row in rows.tolist()]
        if len(numbers) != len(column):
            raise ValueError(f"there are {len(numbers)} rows but {len(column)} labels")
        if len(set(numbers)) < len(numbers):
            raise ValueError("a row is there twice")
        codes = self._coded(column).tolist()
        with self.learner_.lock:
            known = self.learner_.labels
            for number, row, code in zip(numbers, rows.tolist(), codes, strict=True):
                if known.get(number, code) != code:
                    raise ValueError(f"row {row} has another label already; take that back first")
            self.learner_.teach(
                dict(zip(numbers, codes, strict=True)), dict(zip(numbers, rows.tolist(), strict=True)), chunk
            )
        return self

    @property
    def n_taught_(self) -> int:
        """The number of labels that it has learned and did not ask for."""
        return self.learner_.taught

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
        for name in _NUMBERS:
            value = getattr(self, name)
            if value is not None and not is_number(value):
                raise TypeError(f"{name} must be a number; got {value!r}")
        named = inputs.check_classes(self.classes)
        rows = None if self.budget is None else self.expected or expected
        plan = BudgetPlan(self.c0, self.rate, self.budget, rows, self.floor, self.constants, self.audit)
        settings = learning_settings(self)
        positive = choose_positive(self.positive, self.classes, named)
        place = None if positive is None else named.tolist().index(positive)
        about = {"classes": named.tolist(), "positive": positive, "pool": None}
        if self.tfidf and self._damped:
            about["tfidf"] = _DAMPED
        journal = self.journal if isinstance(self.journal, Journal) else Journal(self.journal or IN_MEMORY)
        try:
            kept = journal.about()
            strategy = find_strategy(self.strategy, kept).toward(second=place == 1)
            refit = self.refit or strategy.refit
            training = RefitPlan(self.training_weight, self.cap, self.orders, self.random_state, refit)
            parts = pool_parts(chunk, kept) if pool else []
            if pool:
                about |= {"pool": parts[0][1], "parts": parts}
                self._order = pool_order(self.random_state, [rows for rows, _ in parts])
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


def find_strategy(given: Any, kept: dict[str, Any] | None) -> Strategy:
    """An instance, or one by its name, with the parameters that a journal was started with."""
    if isinstance(given, str):
        if kept is not None and kept["strategy"]["name"] == given:
            return strategies.from_description(kept["strategy"])
        return strategies.by_name(given)
    if not isinstance(given, Strategy):
        hint = f"; give an instance, {given.__name__}()" if isinstance(given, type) else ""
        raise TypeError(f"strategy must be a name or an instance of Strategy; got {given!r}{hint}")
    return given


def choose_positive(given: Any, classes: Sequence[Any], known: NDArray[Any]) -> Any:
    """The class whose recall is meant: the one given, or the second of two in the user's own order."""
    if given is None and len(known) > 2:
        return None
    wanted = np.asarray(classes).ravel()[1] if given is None else given
    found = known[known == wanted]
    if len(found) != 1:
        raise ValueError(f"positive={given!r} is not one of the classes {known.tolist()}")
    return found.tolist()[0]


def pool_parts(chunk: Examples, kept: dict[str, Any] | None) -> list[list[int]]:
    """Rows and checksum of each part of a pool that has grown: those of the journal, then what is new."""
    sizes = [rows for rows, _ in (kept or {}).get("about", {}).get("parts") or []]
    if sum(sizes) < len(chunk):
        sizes.append(len(chunk) - sum(sizes))
    ends = np.cumsum([0, *sizes])
    return [
        [end - start, fingerprint(chunk if end - start == len(chunk) else chunk.take(np.arange(start, end)))]
        for start, end in zip(ends[:-1].tolist(), np.minimum(ends[1:], len(chunk)).tolist(), strict=True)
    ]


def pool_order(seed: int, sizes: list[int]) -> NDArray[np.int64]:
    """The rows in a random order, part by part."""
    firsts = np.cumsum([0, *sizes]).tolist()
    orders = [counter_rng.order(seed, _POOL_ORDER + k, rows) + firsts[k] for k, rows in enumerate(sizes)]
    return np.concatenate([np.zeros(0, np.int64), *orders])
