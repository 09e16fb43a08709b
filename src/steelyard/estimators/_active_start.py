"""How an `ActiveClassifier` starts: its learner, made from its parameters or continued from its journal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from steelyard._field_types import is_number
from steelyard.active import strategies
from steelyard.active.evaluation import Evaluation
from steelyard.active.journal import IN_MEMORY, Journal
from steelyard.active.labelled_rows import RefitPlan
from steelyard.active.learner import ActiveLearner
from steelyard.active.pool_parts import pool_order, pool_parts
from steelyard.active.strategies._base import BudgetPlan, Strategy
from steelyard.estimators import inputs
from steelyard.estimators.parameters import learning_settings
from steelyard.examples import Examples

if TYPE_CHECKING:
    from steelyard.estimators.active import ActiveClassifier

_DAMPED = "damped"
_NUMBERS = ("budget", "expected", "rate", "c0", "floor", "audit", "cap", "orders")


class StartedLearner(NamedTuple):
    """The learner of a classifier that has started, with its classes and the order of its pool."""

    learner: ActiveLearner
    evaluation: Evaluation
    classes: NDArray[Any]
    """Sorted."""
    positive: Any
    pool_order: NDArray[np.int64] | None
    """The rows of the pool in the order of their numbers; None for a stream."""


class PoolTfidf:
    """Weights counts of words by the inverse document frequency of the pool, as it was before it grew.

    The counts are damped: ten times the same word says less than ten words. (Not in older journals.)
    """

    def __init__(self, rows: Any, about: dict[str, Any] | None) -> None:
        self.damped = about is None or about.get("tfidf") == _DAMPED
        first = None if about is None or not about.get("parts") else about["parts"][0][0]
        self._transformer = TfidfTransformer().fit(rows[:first])

    @property
    def idf(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._transformer.idf_
        return found

    def weight(self, rows: Any) -> Any:
        if self.damped:
            rows = sparse.csr_matrix(rows, dtype=np.float64)
            rows.data = np.copysign(np.log1p(np.abs(rows.data)), rows.data)
        return self._transformer.transform(rows)


def start(
    given: "ActiveClassifier", rows: Examples, expected: int | None, tfidf: PoolTfidf | None, *, pool: bool
) -> StartedLearner:
    """Open or continue the journal; `rows` are the first of a stream, or the pool."""
    if given.classes is None:
        raise ValueError("name the classes beforehand: ActiveClassifier(classes=[…, …])")
    for name in _NUMBERS:
        value = getattr(given, name)
        if value is not None and not is_number(value):
            raise TypeError(f"{name} must be a number; got {value!r}")
    classes = inputs.check_classes(given.classes)
    size = None if given.budget is None else given.expected or expected
    plan = BudgetPlan(given.c0, given.rate, given.budget, size, given.floor, given.constants, given.audit)
    settings = learning_settings(given)
    positive = _choose_positive(given.positive, given.classes, classes)
    place = None if positive is None else classes.tolist().index(positive)
    about = {"classes": classes.tolist(), "positive": positive, "pool": None}
    if tfidf is not None and tfidf.damped:
        about["tfidf"] = _DAMPED
    journal = given.journal if isinstance(given.journal, Journal) else Journal(given.journal or IN_MEMORY)
    try:
        kept = journal.about.read() or {}
        strategy = _find_strategy(given.strategy, kept.get("strategy")).toward(second=place == 1)
        fit = given.refit or strategy.refit
        training = RefitPlan(given.training_weight, given.cap, given.orders, given.random_state, fit)
        order = None
        if pool:
            parts = pool_parts(rows, kept.get("about"))
            about |= {"pool": parts[0][1], "parts": parts}
            order = pool_order(given.random_state, [size for size, _ in parts])
        learner = ActiveLearner(
            settings, rows.features, plan, training, journal, about, strategy, len(classes),
            None if order is None else (rows, order),
        )  # fmt: skip
    except BaseException:
        journal.close()
        raise
    evaluation = Evaluation(learner, len(rows) if pool else None, positive, place)
    return StartedLearner(learner, evaluation, classes, positive, order)


def about_pool(journal: str | Path | Journal | None) -> dict[str, Any] | None:
    """The entry of a journal about the pool; None if the journal is new."""
    if isinstance(journal, Journal):
        return (journal.about.read() or {}).get("about")
    if journal is None or not Path(journal).exists():
        return None
    with Journal(journal) as opened:
        return about_pool(opened)


def _find_strategy(given: Any, kept: dict[str, Any] | None) -> Strategy:
    """An instance, or one by its name, with the parameters that a journal was started with."""
    if isinstance(given, str):
        if kept is not None and kept["name"] == given:
            return strategies.from_description(kept)
        return strategies.by_name(given)
    if not isinstance(given, Strategy):
        hint = f"; give an instance, {given.__name__}()" if isinstance(given, type) else ""
        raise TypeError(f"strategy must be a name or an instance of Strategy; got {given!r}{hint}")
    return given


def _choose_positive(given: Any, classes: Sequence[Any], known: NDArray[Any]) -> Any:
    """The positive class: the one given, or the second of two in the user's own order."""
    if given is None and len(known) > 2:
        return None
    wanted = np.asarray(classes).ravel()[1] if given is None else given
    found = known[known == wanted]
    if len(found) != 1:
        raise ValueError(f"positive={given!r} is not one of the classes {known.tolist()}")
    return found.tolist()[0]
