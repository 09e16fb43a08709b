"""Our own contenders: the kernel on checked rows, and the estimators' whole `fit`."""

from benchmarks.support.generate import DataSet
from benchmarks.support.timing import Contender, clocked
from steelyard import losses
from steelyard.estimators import OnlineClassifier, OnlineRegressor
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.model import Settings

KERNEL, FIT = "kernel", "fit"


def kernel(data: DataSet, loss: str, rate: float, scaling: str = "plain", name: str = KERNEL) -> Contender:
    """One pass of `Learner.learn` from zero; the rows were checked beforehand."""
    settings = Settings(loss=losses.by_name(loss), scaling=scaling, learning_rate=rate)
    checked = examples(data.rows, data.labels, loss=settings.loss)
    return clocked(name, lambda: Learner(settings, checked.features).learn(checked))


def fit(data: DataSet, loss: str, rate: float) -> Contender:
    """The estimator's `fit` with plain scaling: checks, labels, diagnostics and all."""

    def run() -> None:
        kind = OnlineRegressor if loss == "squared" else OnlineClassifier
        kind(loss=loss, scaling="plain", learning_rate=rate, passes=1, shuffle=False).fit(
            data.rows, data.labels
        )

    return clocked(FIT, run)
