"""scikit-learn's and river's linear learners: one pass in the order of the rows, a constant rate."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from sklearn.linear_model import SGDClassifier, SGDRegressor, _stochastic_gradient
from sklearn.svm import LinearSVC

from benchmarks.support.generate import DataSet
from benchmarks.support.timing import Contender, Stopwatch, clocked

INSIDE, FIT = "inside scikit-learn's fit", "scikit-learn's fit"
SVC = "LinearSVC"
RIVER = "river"

_COMPILED_LOOPS = ("_plain_sgd32", "_plain_sgd64")


def sgd(data: DataSet, loss: str, rate: float) -> Contender:
    """scikit-learn's SGD. Times the whole `fit`, and the part of it inside the compiled loop."""
    settings = {
        "penalty": None, "max_iter": 1, "tol": None, "shuffle": False,
        "learning_rate": "constant", "eta0": rate,
    }  # fmt: skip

    def run() -> dict[str, float]:
        model = SGDRegressor(**settings) if loss == "squared" else SGDClassifier(loss="log_loss", **settings)
        with _stopwatch() as inside:
            watch = Stopwatch()
            model.fit(data.rows, data.labels)
            whole = watch.times(FIT)
        return whole | inside

    return run


def linear_svc(data: DataSet) -> Contender:
    """The batch solver with its defaults, as many passes as it needs."""

    def fit() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it may stop before it has converged: that only helps it
            LinearSVC().fit(data.rows, data.labels)

    return clocked(SVC, fit)


def river(data: DataSet, loss: str, rate: float) -> Contender | None:
    """river learns one dictionary at a time; they are made beforehand, outside the clock. None if absent."""
    try:
        from river import linear_model, optim
    except ImportError:
        return None
    rows = [dict(zip(i, x, strict=True)) for i, x in _rows(data)]
    labels = data.labels.tolist() if loss == "squared" else (data.labels > 0.0).tolist()

    def learn() -> None:
        kind = linear_model.LinearRegression if loss == "squared" else linear_model.LogisticRegression
        model = kind(optimizer=optim.SGD(rate), intercept_lr=rate)
        for x, y in zip(rows, labels, strict=True):
            model.learn_one(x, y)

    return clocked(RIVER, learn)


def _rows(data: DataSet) -> Iterator[tuple[list[int], list[float]]]:
    indptr, indices, values = data.rows.indptr.tolist(), data.rows.indices.tolist(), data.rows.data.tolist()
    for start, end in pairwise(indptr):
        yield indices[start:end], values[start:end]


@contextmanager
def _stopwatch() -> Iterator[dict[str, float]]:
    """Seconds that scikit-learn's compiled loop took, known once the block has run `fit`."""
    seconds: dict[str, float] = {}
    originals = {name: getattr(_stochastic_gradient, name) for name in _COMPILED_LOOPS}

    def timed(loop: Any) -> Any:
        def run(*args: Any) -> Any:
            watch = Stopwatch()
            result = loop(*args)
            seconds.update(watch.times(INSIDE))
            return result

        return run

    try:
        for name, loop in originals.items():
            setattr(_stochastic_gradient, name, timed(loop))
        yield seconds
    finally:
        for name, loop in originals.items():
            setattr(_stochastic_gradient, name, loop)
