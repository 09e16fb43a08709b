"""`OnlineEstimator`: what the classifier and the regressor share. Both are a surface over one engine."""

import copy
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from steelyard import weight_summary
from steelyard.engine.passes import PassLoop
from steelyard.engine.progressive_calibration import ProgressiveCalibration
from steelyard.engine.protocol import Engine, new_engine
from steelyard.engine.row_sources import RowsInMemory
from steelyard.engine.single_model import SingleModel
from steelyard.estimators import saving
from steelyard.estimators.inputs import check_matrix
from steelyard.estimators.parameters import DEFAULT, settings_of
from steelyard.examples import Examples, examples
from steelyard.losses import Loss
from steelyard.model import Model, Settings

_SILENCE = "If all is as meant: warnings.simplefilter('ignore', steelyard.WeightWarning)"

AS_GIVEN = f"If each shall be learned as so many copies: weight_scale='as_given'. {_SILENCE}"


class OnlineEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """Learns rows one after another, in order; a row of weight h counts as h copies of it."""

    _follow_labels = True  # whether the unit of the labels is to be found out, see `label_units`
    _engine: Engine
    _calibration: ProgressiveCalibration | None = None

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
        l2_flow: str = DEFAULT.l2_flow,
        average: int | None = DEFAULT.average,
        rates: str = DEFAULT.rates,
        fit_intercept: bool = DEFAULT.bias,
        passes: int = 1,
        shuffle: bool = False,
        weight_scale: str = "auto",
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
        self.average = average
        self.rates = rates
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

    def _count_classes(self) -> int:
        """0 where labels are numbers."""
        return 0

    def _class_weighted(self, chunk: Examples, loss: Loss) -> NDArray[np.float64]:
        """The weights times those of the classes, where there are classes."""
        return chunk.sample_weight

    def _begin_calibration(self, settings: list[Settings]) -> ProgressiveCalibration | None:
        """Numbers need none."""
        return None

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the rows in order, `passes` times; from scratch unless `warm_start`."""
        with unchanged_on_error(self):
            begun: Engine | None = getattr(self, "_engine", None) if self.warm_start else None
            if begun is None:
                self._forget()
            settings = settings_of(self, None if begun is None else begun.settings)
            chunk = self._examples(X, y, sample_weight, settings[0], anew=begun is None)
            if not chunk.sample_weight.any():
                raise ValueError(
                    "all sample weights are zero (class weights included): there is nothing to learn"
                )
            self.weight_summary_ = weight_summary.summarise(chunk.sample_weight)
            weight_summary.warn(self.weight_summary_, stacklevel=2)
            engine = self._ready(copy.deepcopy(begun), settings, chunk.features)
            engine.reset_progress()
            # rows of a fit that goes on may have been seen: their predictions calibrate nothing
            calibration = self._begin_calibration(settings) if begun is None else None
            rows = RowsInMemory(chunk, order_of=self._order(len(chunk)), piece=_piece(engine))
            PassLoop(engine, rows, self.passes, calibration=calibration).run()
            self._engine = engine
            if calibration is not None:
                self._calibration = calibration
            self.n_iter_ = self.passes
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        if self.weight_scale == "mean_one":
            raise ValueError(
                "weight_scale='mean_one' needs all the weights, and partial_fit sees some of them: "
                "use 'as_given', and divide by their mean yourself if you know it"
            )
        begun: Engine | None = getattr(self, "_engine", None)
        settings = settings_of(self, None if begun is None else begun.settings)
        chunk = self._examples(X, y, sample_weight, settings[0], anew=begun is None, stacklevel=5)
        if begun is not None and not chunk.sample_weight.any():
            return self  # a chunk of absent rows
        before = getattr(self, "weight_summary_", weight_summary.NOTHING)
        self.weight_summary_ = before.followed_by(weight_summary.summarise(chunk.sample_weight))
        weight_summary.warn(self.weight_summary_, before, stacklevel=3)
        if self.weight_scale == "auto" and weight_summary.no_counts(chunk.sample_weight):
            # the first call decides, and had too few rows, or others than these
            remedy = f"Divide them yourself, from the first call on. {_SILENCE}"
            warn_of_scale(self.weight_summary_.scale_warning(divided=False, remedy=remedy), stacklevel=4)
        self.n_iter_ = getattr(self, "n_iter_", 1)
        engine = self._ready(begun, settings, chunk.features)
        if begun is None:
            calibration = self._begin_calibration(settings)
        else:
            calibration = None if self._calibration is None else self._calibration.copy()
        with engine.unchanged_on_error(len(chunk)):
            PassLoop(engine, RowsInMemory(chunk, piece=_piece(engine)), calibration=calibration).run()
        self._engine = engine
        if calibration is not None:
            self._calibration = calibration
        return self

    def _ready(self, begun: Engine | None, settings: list[Settings], features: int) -> Engine:
        """A new engine, or the one that was begun, under the settings of now."""
        if begun is not None:
            return begun if begun.settings == settings else begun.with_settings(settings)
        return new_engine(settings, self._count_classes(), features)

    def _order(self, rows: int) -> Callable[[int], NDArray[np.int64]] | None:
        """Draws the order of the rows for one pass after another, where they are shuffled."""
        if not self.shuffle:
            return None
        random = check_random_state(self.random_state)
        return lambda pass_number: random.permutation(rows)

    def _forget(self) -> None:
        """What the next fit finds out anew."""
        found = (
            "classes_",
            "input_spec_",
            "weight_factor_",
            "_calibration",
            "_held_out_calibration",
            "_names",
        )
        for name in found:
            self.__dict__.pop(name, None)

    def _examples(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        settings: Settings,
        *,
        anew: bool,
        stacklevel: int = 4,
    ) -> Examples:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        rows = check_matrix(self, X, reset=anew)
        labels = self._labels(y, settings.loss)
        loss = settings.loss if self._count_classes() <= 2 else None  # else the labels are numbers of classes
        chunk = examples(rows, labels, sample_weight, loss=loss)
        if anew:
            self.weight_factor_ = self._find_weight_factor(chunk, stacklevel + 1)
        factor = getattr(self, "weight_factor_", 1.0)
        if factor != 1.0:
            chunk = replace(chunk, sample_weight=chunk.sample_weight * factor)
        weights = self._class_weighted(chunk, settings.loss)
        if self.weight_scale == "mean_one" and weights.any():
            weights = weights * (np.count_nonzero(weights) / weights.sum())
        return replace(chunk, sample_weight=weights)

    def _find_weight_factor(self, chunk: Examples, stacklevel: int) -> float:
        """What weights are multiplied by from now on: 1, unless they make no sense as counts."""
        if self.weight_scale != "auto" or not weight_summary.no_counts(chunk.sample_weight):
            return 1.0
        summary = weight_summary.summarise(chunk.sample_weight)
        warn_of_scale(summary.scale_warning(divided=True, remedy=AS_GIVEN), stacklevel=stacklevel)
        return 1.0 / summary.mean

    def _predictions(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "_engine")
        rows = check_matrix(self, X, reset=False)
        return self._engine.predict(examples(rows, features=self.n_features_in_))

    def save(self, path: str | Path) -> None:
        """Write a model file. `load` reads it, and `partial_fit` then goes on as if never stopped."""
        check_is_fitted(self, "_engine")
        saving.save(self, self._engine, path)

    @classmethod
    def load(cls, path: str | Path, loss: Loss | None = None) -> Self:
        """Read a model file, whoever wrote it: `save`, `steelyard train`, `steelyard sweep`, a `Learner`.

        `loss` is needed only for a model that learned with a loss of your own.
        """
        estimator: Self = saving.load(cls, path, loss)
        return estimator

    def fit_files(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        holdout: int | None = None,
        on_error: str = "stop",
        threads: int | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | None = None,
        calibrate: bool = False,
        verbose: int = 0,
        **read_options: Any,
    ) -> Self:
        """Learn files in order, `passes` times, from scratch: what `steelyard train` does, bit for bit.

        Parameters
        ----------
        paths : file, pattern or list of them
            Vowpal Wabbit text, svmlight, CSV, TSV, JSON lines, Parquet or Arrow, plain or compressed.
        holdout : int, optional
            Do not learn every Nth row; its loss is `held_out_loss_`.
        on_error : {"stop", "skip"}
            What to do at a line that cannot be read.
        threads : int, optional
            Threads that parse. By default one for each core, at most 4.
        checkpoint : path, optional
            Save the run there every `checkpoint_every` rows, by default a million. If the file exists, go on
            from it; it is removed when the run succeeds.
        calibrate : bool
            Fit the probabilities of `predict_proba` to the rows held out, not to progressive predictions.
        verbose : int
            1 shows a progress bar on standard error.
        **read_options
            How to read the files, as the options of `steelyard train`: `format`, `label`, `weight`, `text`,
            `category`, `number`, `ignore`, `tag`, `offset`, `propensity`, `labels`, `interactions`, `bits`,
            `words`, `characters`, `repeated`, `separator`, `header`, `weight_factor`, `names`. The rest is
            inferred from the first rows.
        """
        from steelyard.estimators import file_fitting

        with unchanged_on_error(self):
            self._forget()
            options = file_fitting.FileOptions(
                holdout, on_error, threads, checkpoint, checkpoint_every, verbose
            )
            file_fitting.fit(self, paths, options, read_options, calibrate=calibrate)
        return self

    def partial_fit_files(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        holdout: int | None = None,
        on_error: str = "stop",
        threads: int | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | None = None,
        verbose: int = 0,
        **read_options: Any,
    ) -> Self:
        """Learn more files in order, once, going on from what is known; parameters as for `fit_files`.

        Files are read as the first ones were, so `read_options` are for the first call only. If anything goes
        wrong, the estimator is as before. Probabilities calibrated on held-out rows stay as they are.
        """
        from steelyard.estimators import file_fitting

        with unchanged_on_error(self):
            options = file_fitting.FileOptions(
                holdout, on_error, threads, checkpoint, checkpoint_every, verbose
            )
            file_fitting.partial_fit(self, paths, options, read_options)
        return self

    def _file_predictions(
        self, paths: str | Path | Sequence[str | Path], on_error: str, threads: int | None
    ) -> NDArray[np.float64]:
        from steelyard.estimators import file_fitting

        return file_fitting.predict(self, paths, on_error, threads)

    @property
    def progressive_loss_(self) -> float:
        """The mean loss of predictions made before their row was learned, by weight; first pass only."""
        engine = self._fitted("progressive_loss_")
        return float(engine.progressive_loss[engine.best])

    @property
    def model_(self) -> Model:
        """The model: coefficients, accumulators and clock."""
        models = self._fitted("model_").models()
        if len(models) > 1:
            raise AttributeError(
                f"there is no one model_: there are {len(models)} models_, one for each class"
            )
        return models[0]

    @property
    def models_(self) -> list[Model]:
        """One for each class; for two classes, or numbers, one in all."""
        return self._fitted("models_").models()

    @property
    def learning_rate_(self) -> float:
        """The learning rate of the model: as given, that of the loss, or of several the best one's."""
        engine = self._fitted("learning_rate_")
        return engine.settings[engine.best].rate

    @property
    def power_t_(self) -> float:
        """How that rate decays."""
        engine = self._fitted("power_t_")
        return engine.settings[engine.best].power_t

    @property
    def auto_results_(self) -> dict[str, NDArray[np.float64]]:
        """With `learning_rate="auto"`: the rates that competed, one a row, their figures and their shares."""
        engine = self._fitted("auto_results_")
        if len(engine.settings) == 1:
            raise AttributeError("there are no auto_results_ without learning_rate='auto'")
        results = {
            "learning_rate": np.array([each.rate for each in engine.settings]),
            "power_t": np.array([each.power_t for each in engine.settings]),
            "initial_t": np.array([each.initial_t for each in engine.settings]),
            "progressive_loss": engine.progressive_loss,
        }
        if self._count_classes():
            results["progressive_error"] = engine.progressive_error
        return results | {"share": engine.shares}

    def _fitted(self, attribute: str) -> Engine:
        """What has learned; before there is any, the attribute does not exist."""
        if "_engine" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {attribute} before it is fitted")
        return self._engine

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _piece(engine: Engine) -> int | None:
    """Rows at a time: of several models, as many as leave little memory to their predictions."""
    return None if isinstance(engine, SingleModel) else 0


def warn_of_scale(text: str, stacklevel: int) -> None:
    warnings.warn(text, weight_summary.WeightWarning, stacklevel=stacklevel)


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
