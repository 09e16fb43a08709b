"""`OnlineEstimator`: the base class of the classifier and the regressor, a surface over one engine."""

import copy
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from steelyard import weight_summary
from steelyard.engine.passes import PassLoop
from steelyard.engine.progressive_calibration import ProgressiveCalibration
from steelyard.engine.protocol import Engine, new_engine
from steelyard.engine.row_sources import RowsInMemory
from steelyard.engine.single_model import SingleModel
from steelyard.estimators import fit_passes, saving
from steelyard.estimators.file_methods import FileMethods
from steelyard.estimators.fitted import (
    DocumentationLink,
    FittedAttributes,
    FittedState,
    count_classes,
    drop_state,
    fitted_state,
    set_state,
    state_of,
    unchanged_on_error,
)
from steelyard.estimators.inputs import check_matrix
from steelyard.estimators.parameter_hints import check_names, hint_unknown
from steelyard.estimators.parameters import DEFAULT, settings_of
from steelyard.examples import Examples, examples
from steelyard.losses import Loss
from steelyard.settings import Settings

_SILENCE = "If this is intended: warnings.simplefilter('ignore', steelyard.WeightWarning)"

AS_GIVEN = f"To learn each as that many copies: weight_scale='as_given'. {_SILENCE}"


class OnlineEstimator(DocumentationLink, FittedAttributes, FileMethods, BaseEstimator, ABC):  # type: ignore[misc]
    """Learns rows one after another, in order; a row of weight h counts as h copies of it."""

    @hint_unknown
    def __init__(
        self,
        loss: str | Loss = "squared",
        *,
        update: str = DEFAULT.update,
        scaling: str = DEFAULT.scaling,
        learning_rate: float | str | None = DEFAULT.learning_rate,
        initial_t: float = DEFAULT.initial_t,
        power_t: float = DEFAULT.power_t,
        l1: float = DEFAULT.l1,
        l2: float = DEFAULT.l2,
        average: int | None = DEFAULT.average,
        fit_intercept: bool = DEFAULT.bias,
        passes: int | str = fit_passes.AUTO,
        shuffle: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        weight_scale: str = "auto",
        warm_start: bool = False,
        dtype: str = DEFAULT.dtype,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.update = update
        self.scaling = scaling
        self.learning_rate = learning_rate
        self.initial_t = initial_t
        self.power_t = power_t
        self.l1 = l1
        self.l2 = l2
        self.average = average
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.weight_scale = weight_scale
        self.warm_start = warm_start
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    @abstractmethod
    def _labels(self, y: Any, loss: Loss) -> NDArray[np.float64]:
        """Return the labels as the loss takes them."""

    def _class_weighted(self, chunk: Examples, loss: Loss, learned: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the weights times those of the classes, if there are classes."""
        return chunk.sample_weight

    def _begin_calibration(self, settings: list[Settings]) -> ProgressiveCalibration | None:
        """Return a new calibration; None, as labels that are numbers need none."""
        return None

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the rows, shuffled unless `shuffle=False`, `passes` times; from scratch unless `warm_start`.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Numbers.
        y : array of shape (n_samples,)
            The labels.
        sample_weight : array of shape (n_samples,), optional
            A row of weight h is learned as h copies of it; one of weight 0 is left out.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            begun = state_of(self) if self.warm_start else None
            if begun is None:
                self._forget()
            settings = settings_of(self, None if begun is None else begun.engine.settings)
            chunk, learned = rows_to_learn(
                self, X, y, sample_weight, settings[0], lambda rows: ~fit_passes.held_out(self, rows),
                anew=begun is None,
            )  # fmt: skip
            rows = replace(chunk, sample_weight=np.where(learned, chunk.sample_weight, 0.0))
            if not rows.sample_weight.any():
                raise ValueError(
                    "all sample weights are zero (class weights included): there is nothing to learn"
                )
            self.weight_summary_ = weight_summary.summarise(rows.sample_weight)
            weight_summary.warn(self.weight_summary_, stacklevel=2)
            engine = self._ready(None if begun is None else copy.deepcopy(begun.engine), settings, chunk)
            engine.reset_progress()
            # rows of a fit that goes on may have been seen: their predictions calibrate nothing
            calibration = self._begin_calibration(settings) if begun is None else None
            order_of = fit_passes.order_of_passes(self, rows)
            source = RowsInMemory(rows, order_of=order_of, piece=_piece(engine))
            passes = fit_passes.in_memory(self, rows.sample_weight, several=self.scaling == "standardized")
            loop = PassLoop(engine, source, passes, calibration=calibration)
            losses = fit_passes.run(loop, chunk.take(np.flatnonzero(~learned)), self.verbose)
            if begun is None:
                set_state(self, FittedState(loop.engine, calibration=calibration))
            else:
                set_state(self, replace(begun, engine=loop.engine))
            self.n_iter_ = loop.position[0]
            if losses:
                self.validation_losses_ = np.array(losses)
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        if self.weight_scale == "mean_one":
            raise ValueError(
                "weight_scale='mean_one' needs all the weights, and partial_fit sees some of them: "
                "use 'as_given', and divide by their mean yourself if you know it"
            )
        begun = state_of(self)
        settings = settings_of(self, None if begun is None else begun.engine.settings)
        chunk, _ = rows_to_learn(
            self, X, y, sample_weight, settings[0], lambda rows: np.ones(len(rows), bool), anew=begun is None,
            stacklevel=4,
        )  # fmt: skip
        if begun is not None and not chunk.sample_weight.any():
            return self  # a chunk of absent rows
        before = getattr(self, "weight_summary_", weight_summary.NOTHING)
        self.weight_summary_ = before.followed_by(chunk.sample_weight)
        weight_summary.warn(self.weight_summary_, before, stacklevel=3)
        if self.weight_scale == "auto" and weight_summary.factor_for(chunk.sample_weight) != 1.0:
            # the first call decides, and had too few rows, or others than these
            remedy = f"Divide them yourself, from the first call on. {_SILENCE}"
            warn_of_scale(self.weight_summary_.scale_warning(remedy), stacklevel=4)
        self.n_iter_ = getattr(self, "n_iter_", 1)
        engine = self._ready(None if begun is None else begun.engine, settings, chunk)
        if begun is None:
            calibration = self._begin_calibration(settings)
        else:
            calibration = None if begun.calibration is None else begun.calibration.copy()
        with engine.unchanged_on_error(chunk):
            PassLoop(engine, RowsInMemory(chunk, piece=_piece(engine)), calibration=calibration).run()
        if begun is None:
            set_state(self, FittedState(engine, calibration=calibration))
        else:
            set_state(self, replace(begun, engine=engine, calibration=calibration))
        return self

    def _ready(self, begun: Engine | None, settings: list[Settings], chunk: Examples) -> Engine:
        """Return a new engine, or the one that was begun, under the present settings."""
        if begun is not None:
            return begun if begun.settings == settings else begun.with_settings(settings)
        return new_engine(settings, count_classes(self), chunk.features)

    def _forget(self) -> None:
        """Drop what the next fit finds out anew."""
        drop_state(self)
        for name in ("classes_", "input_spec_", "weight_factor_", "validation_losses_"):
            self.__dict__.pop(name, None)

    def _examples(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        settings: Settings,
        *,
        anew: bool,
        stacklevel: int,
    ) -> Examples:
        """Check rows; `anew` finds the features, the classes and the factor of weights, else checks them."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        rows = check_matrix(self, X, reset=anew)
        labels = self._labels(y, settings.loss)
        loss = settings.loss if count_classes(self) <= 2 else None  # else the labels are numbers of classes
        chunk = examples(rows, labels, sample_weight, loss=loss)
        if anew:
            self.weight_factor_ = self._find_weight_factor(chunk, stacklevel + 1)
        factor = getattr(self, "weight_factor_", 1.0)
        if factor != 1.0:
            chunk = replace(chunk, sample_weight=chunk.sample_weight * factor)
        return chunk

    def _weighted(self, chunk: Examples, loss: Loss, learned: NDArray[np.bool_]) -> Examples:
        """Return rows with the weights of learning. Only rows that are learned influence these."""
        weights = self._class_weighted(chunk, loss, learned)
        if self.weight_scale == "mean_one" and weights[learned].any():
            weights = weights * (np.count_nonzero(weights[learned]) / weights[learned].sum())
        return replace(chunk, sample_weight=weights)

    def _find_weight_factor(self, chunk: Examples, stacklevel: int) -> float:
        """Return the factor of weights from now on: 1, unless weights make no sense as counts."""
        factor = weight_summary.factor_for(chunk.sample_weight) if self.weight_scale == "auto" else 1.0
        if factor == 1.0:
            return 1.0
        summary = weight_summary.summarise(chunk.sample_weight)
        warn_of_scale(summary.scale_warning(AS_GIVEN, factor), stacklevel=stacklevel)
        return factor

    def _predictions(self, X: Any) -> NDArray[np.float64]:
        engine = fitted_state(self).engine
        if hasattr(self, "input_spec_"):
            from steelyard.estimators import named_rows  # not at the top: it has the readers

            if named_rows.are_named(X):
                return named_rows.predict(engine, self.input_spec_, X)
        rows = check_matrix(self, X, reset=False)
        return engine.predict(examples(rows, features=self.n_features_in_))

    def save(self, path: str | Path) -> None:
        """Write a model file. `load` reads it, and `partial_fit` then continues as if never stopped."""
        saving.save(self, path)

    @classmethod
    def load(cls, path: str | Path, loss: Loss | None = None) -> Self:
        """Read a model file, whoever wrote it: `save`, `steelyard train`, `steelyard sweep`, a `Learner`.

        `loss` is needed only for a model that learned with a loss of your own.
        """
        estimator: Self = saving.load(cls, path, loss)
        return estimator

    def set_params(self, **params: Any) -> Self:
        """Change parameters; the model that was learned stays."""
        check_names(self, params)
        changed: Self = super().set_params(**params)
        return changed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def rows_to_learn(
    estimator: OnlineEstimator,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    settings: Settings,
    mark_learned: Callable[[Examples], NDArray[np.bool_]],
    *,
    anew: bool,
    stacklevel: int = 3,
) -> tuple[Examples, NDArray[np.bool_]]:
    """Check and weight rows as the estimator's `fit` does; returns which of them are learned, too."""
    chunk = estimator._examples(X, y, sample_weight, settings, anew=anew, stacklevel=stacklevel + 2)
    learned = mark_learned(chunk)
    return estimator._weighted(chunk, settings.loss, learned), learned


def _piece(engine: Engine) -> int | None:
    """Return the rows of a piece: few for several models, so that predictions take little memory."""
    return None if isinstance(engine, SingleModel) else 0


def warn_of_scale(text: str, stacklevel: int) -> None:
    warnings.warn(text, weight_summary.WeightWarning, stacklevel=stacklevel)
