"""What the classifier and the regressor share: parameters, fitting, weights, and what is known afterwards."""

import copy
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from steelyard import importance
from steelyard.estimators import files
from steelyard.estimators.matrix import matrix
from steelyard.estimators.parameters import DEFAULT, settings_of
from steelyard.examples import Examples, examples
from steelyard.importance import WeightSummary
from steelyard.kernels import linear
from steelyard.learner import Learner
from steelyard.losses import Loss
from steelyard.model import Model, Settings

_PROGRESS = [linear.LOSS, linear.WEIGHT]


class OnlineEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """Learns rows one after another, in order; a row of weight h counts as h copies of it."""

    _follow_labels = True  # whether the unit of the labels is to be found out, see `label_units`

    def __init__(
        self,
        loss: str | Loss = "squared",
        *,
        update: str = DEFAULT.update,
        scaling: str = DEFAULT.scaling,
        learning_rate: float | None = DEFAULT.learning_rate,
        initial_t: float = DEFAULT.initial_t,
        power_t: float = DEFAULT.power_t,
        l1: float = DEFAULT.l1,
        l2: float = DEFAULT.l2,
        l2_flow: str = DEFAULT.l2_flow,
        fit_intercept: bool = DEFAULT.bias,
        passes: int = 1,
        shuffle: bool = False,
        weight_scale: str = "as_given",
        warm_start: bool = False,
        dtype: str = DEFAULT.dtype,
        random_state: Any = 0,
    ) -> None:
        self.loss = loss
        self.update = update
        self.scaling = scaling
        self.learning_rate = learning_rate
        self.initial_t = initial_t
        self.power_t = power_t
        self.l1 = l1
        self.l2 = l2
        self.l2_flow = l2_flow
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.weight_scale = weight_scale
        self.warm_start = warm_start
        self.dtype = dtype
        self.random_state = random_state

    @abstractmethod
    def _labels(self, y: Any, loss: Loss) -> NDArray[np.float64]:
        """The labels as the loss takes them."""

    def _class_weighted(self, chunk: Examples, loss: Loss) -> NDArray[np.float64]:
        """The weights times those of the classes, where there are classes."""
        return chunk.importances

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the rows in order, `passes` times; from scratch unless `warm_start`."""
        with unchanged_on_error(self):
            begun = getattr(self, "model_", None) if self.warm_start else None
            if begun is None:
                self.__dict__.pop("classes_", None)  # they are found anew
            settings = settings_of(self, begun)
            chunk = self._examples(X, y, sample_weight, settings, anew=begun is None)
            if not chunk.importances.any():
                raise ValueError(
                    "all sample weights are zero (class weights included): there is nothing to learn"
                )
            self.weight_summary_ = importance.summarise(chunk.importances)
            importance.warn(self.weight_summary_, stacklevel=2)
            if self.weight_summary_.faint:
                warnings.warn(_faint(self.weight_summary_), importance.WeightWarning, stacklevel=2)
            model = copy.deepcopy(begun) or Model(settings, chunk.features)
            model.settings = settings
            self._learn(model, chunk)
            self.model_ = model
            self.n_iter_ = self.passes
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        if self.weight_scale == "mean_one":
            raise ValueError(
                "weight_scale='mean_one' needs all the weights, and partial_fit sees some of them: "
                "use 'as_given', and divide by their mean yourself if you know it"
            )
        begun = getattr(self, "model_", None)
        settings = settings_of(self, begun)
        chunk = self._examples(X, y, sample_weight, settings, anew=begun is None)
        if begun is not None and not chunk.importances.any():
            return self  # a chunk of absent rows
        before = getattr(self, "weight_summary_", importance.NOTHING)
        self.weight_summary_ = before.followed_by(importance.summarise(chunk.importances))
        importance.warn(self.weight_summary_, before, stacklevel=3)
        self.n_iter_ = getattr(self, "n_iter_", 1)
        model = begun or Model(settings, chunk.features)
        earlier, model.settings = model.settings, settings
        try:
            Learner(model=model).learn(chunk)
        except BaseException:
            model.settings = earlier
            raise
        self.model_ = model
        return self

    def _learn(self, model: Model, chunk: Examples) -> None:
        """All passes. The progressive loss is that of the first: later ones have seen their labels."""
        random = check_random_state(self.random_state)
        learner = Learner(model=model)
        model.state[_PROGRESS] = 0.0
        for done in range(self.passes):
            progress = model.state[_PROGRESS]
            learner.learn(chunk, random.permutation(len(chunk)) if self.shuffle else None)
            if done > 0:
                model.state[_PROGRESS] = progress

    def _examples(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        settings: Settings,
        *,
        anew: bool,
    ) -> Examples:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        rows = matrix(self, X, reset=anew)
        labels = self._labels(y, settings.loss)
        chunk = examples(rows, labels, sample_weight, loss=settings.loss)
        weights = self._class_weighted(chunk, settings.loss)
        if self.weight_scale == "mean_one" and weights.any():
            weights = weights * (np.count_nonzero(weights) / weights.sum())
        return replace(chunk, importances=weights)

    def _predictions(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "model_")
        rows = matrix(self, X, reset=False)
        return Learner(model=self.model_).predict(examples(rows, features=self.n_features_in_))

    def save(self, path: str | Path) -> None:
        """Write a model file. `load` reads it, and `partial_fit` then goes on as if never stopped."""
        check_is_fitted(self, "model_")
        files.save(self, self.model_, path)

    @classmethod
    def load(cls, path: str | Path, loss: Loss | None = None) -> Self:
        """Read an estimator; `loss` is needed only for one that learned with a loss of your own."""
        estimator: Self = files.load(cls, path, loss)
        return estimator

    @property
    def progressive_loss_(self) -> float:
        """The mean loss of predictions made before their row was learned, by weight; first pass only."""
        return self._fitted("progressive_loss_").progressive_loss

    def _fitted(self, attribute: str) -> Model:
        """The model; before there is one, the attribute does not exist."""
        if "model_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {attribute} before it is fitted")
        return self.model_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _faint(summary: WeightSummary) -> str:
    return (
        f"the weights of {summary.nonzero} rows sum to {summary.total:.3g}: a weight counts as copies, so "
        "next to nothing is learned. If they were made to sum to 1, as is usual elsewhere, say "
        "weight_scale='mean_one', which divides them by their mean. "
        "If all is as meant: warnings.simplefilter('ignore', steelyard.WeightWarning)"
    )


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Learning is all or nothing: whatever goes wrong, the estimator has the attributes it had."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
