"""`OnlineClassifier`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d

from steelyard.engine import class_weights
from steelyard.engine.calibration import Calibration
from steelyard.engine.class_weights import ClassWeight
from steelyard.engine.progressive_calibration import ProgressiveCalibration
from steelyard.estimators import fit_passes, inputs
from steelyard.estimators.fitted import all_or_nothing, count_classes, fitted_state, state_of
from steelyard.estimators.online import OnlineEstimator
from steelyard.estimators.parameter_hints import hint_unknown
from steelyard.estimators.parameters import DEFAULT
from steelyard.estimators.predictions import ClassPredictions
from steelyard.examples import Examples
from steelyard.losses import Loss, class_labels
from steelyard.model import Model
from steelyard.settings import Settings


class OnlineClassifier(ClassifierMixin, OnlineEstimator, ClassPredictions):  # type: ignore[misc]
    """Linear classification into two classes or many, learned row by row; a weight of h counts as h copies.

    With more than two classes, each has a model that tells it from the rest; all learn in the same pass.
    See docs/estimators.md.

    Parameters
    ----------
    loss : str or Loss, default="modified_huber"
        A name from `steelyard.losses.names()`, or an instance, which may be your own.
    update : {"invariant", "implicit", "second_order", "explicit"}, default="invariant"
        How a row changes the model. "invariant": a weight of h is exactly h copies; "explicit": gradient
        times weight, as in most libraries, which overshoots.
    scaling : {"standardized", "normalized", "adaptive", "row_norm", "plain"}, default="standardized"
        How the learning rate depends on the feature. "standardized" needs no scaler: each feature has its own
        rate and unit (but rows of length 1, such as tf-idf, share one).
    learning_rate : float, "auto" or None, default=None
        How far a row may move its own prediction. None: the default of the loss; "auto": five models with
        different rates learn side by side, and their predictions are combined.
    initial_t : float, default=1.0
        The total weight after which the learning rate begins to fall; see `power_t`.
    power_t : float, default=0.0
        The rate falls as (initial_t / (t + initial_t)) ** power_t, where t is the weight learned so far.
    l1 : float, default=0.0
        L1 penalty on the coefficients, applied after each unit of weight; the intercept is left alone.
    l2 : float, default=0.0
        L2 penalty on the coefficients, applied after each unit of weight; the intercept is left alone.
    average : int or None, default=None
        Predict with an average of the coefficients over time, in which time t has weight t to this power.
        0: predict with the latest coefficients. None: 8 with "standardized" scaling, otherwise 0.
    fit_intercept : bool, default=True
        Whether to learn an intercept.
    passes : int or "auto", default="auto"
        How many times `fit` goes through the rows. "auto": three times for a total weight up to 20,000, once
        for more or with another scaling than "standardized"; and below 2,000 at least until that many are
        learned, at most 50 times. `partial_fit` learns rows once; so do files with "auto".
    shuffle : bool, default=True
        Whether `fit` shuffles the rows before each pass; it begins with a row close to the mean. False
        keeps the given order, for rows ordered by time. `partial_fit` and files always keep theirs.
    early_stopping : bool, default=False
        Whether `fit` holds out rows and stops after three passes without improvement on them, keeping the
        model of the best pass. `passes` is then the maximum ("auto": 50).
    validation_fraction : float, default=0.1
        The share of the rows held out for early stopping.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weight of each row by a factor for its class.
    calibrate : bool, default=True
        Whether probabilities are calibrated on the predictions of the first pass, each made before its row
        was learned. False: the probabilities implied by the loss.
    weight_scale : {"auto", "as_given", "mean_one"}, default="auto"
        "auto": weights that make no sense as counts are brought nearer to 1, with a warning. These are
        weights of 100 rows or more whose median and mean are both below 1/8 or both above 16, such as survey
        weights or weights that sum to 1.
    warm_start : bool, default=False
        Whether `fit` continues from the current model.
    dtype : {"float32", "float64"}, default="float32"
        The type of the coefficients.
    random_state : int, RandomState or None, default=0
        The seed of `shuffle`; None: a different order every time.
    verbose : int, default=0
        1 shows each pass on standard error.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_ : array of shape (1, n_features), or (n_classes, n_features) for more than two
        The coefficients, a copy.
    intercept_ : array
        The intercepts.
    progressive_loss_ : float
        The mean loss of predictions made before their row was learned, in the first pass.
    progressive_error_ : float
        The error rate of the same predictions.
    calibration_ : list
        For each model a, b and the bend of the sigmoid 1/(1 + exp(u/(1 + bend·|u|))), u = a·s + b, that turns
        predictions into probabilities.
    learning_rate_ : float
        The learning rate in use.
    power_t_ : float
        The decay of the learning rate in use.
    auto_results_ : dict of arrays
        With `learning_rate="auto"`: the rates, their figures and their shares.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        Names of the columns of X, if it was a frame.
    n_iter_ : int
        The number of passes `fit` made.
    validation_losses_ : array
        With `early_stopping`: the loss on the held-out rows after each pass.
    weight_summary_ : WeightSummary
        A summary of the weights: their sum, effective sample size and largest share.
    weight_factor_ : float
        The factor applied to all weights; 1 unless they made no sense as counts.
    held_out_loss_ : float
        After `fit_files`: the loss on the held-out rows.
    input_spec_ : InputSpec
        After `fit_files`: how files are read.
    model_ : Model
        Coefficients, accumulators and clock.
    models_ : list of Model
        The same as a list; with more than two classes, one for each class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steelyard import OnlineClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = OnlineClassifier().fit(X, y)
    >>> classifier.score(X, y) > 0.93
    True
    >>> classifier.predict_proba(X[:1]).shape
    (1, 3)

    Rows as they arrive, with weights:

    >>> chunk, labels = [[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"]
    >>> stream = OnlineClassifier().partial_fit(chunk, labels, classes=["ham", "spam"], sample_weight=[1, 2])
    >>> stream.predict(chunk)
    array(['ham', 'spam'], dtype='<U4')
    """

    @hint_unknown
    def __init__(
        self,
        loss: str | Loss = "modified_huber",
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
        class_weight: ClassWeight = None,
        calibrate: bool = True,
        weight_scale: str = "auto",
        warm_start: bool = False,
        dtype: str = DEFAULT.dtype,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            loss, update=update, scaling=scaling, learning_rate=learning_rate, initial_t=initial_t,
            power_t=power_t, l1=l1, l2=l2, fit_intercept=fit_intercept, passes=passes, shuffle=shuffle,
            weight_scale=weight_scale, warm_start=warm_start, dtype=dtype, random_state=random_state,
            average=average, early_stopping=early_stopping,
            validation_fraction=validation_fraction, verbose=verbose,
        )  # fmt: skip
        self.class_weight = class_weight
        self.calibrate = calibrate

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the rows in order, once, continuing from the current model.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Numbers.
        y : array of shape (n_samples,)
            The classes of the rows.
        classes : array, at the first call
            All classes that there will be.
        sample_weight : array of shape (n_samples,), optional
            A row of weight h is learned as h copies of it; one of weight 0 is left out.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            if self.class_weight == "balanced":
                raise ValueError(
                    "class_weight='balanced' needs all the labels, and partial_fit sees some of them: "
                    "give the weights as a dict, {class: weight}"
                )
            self._remember(classes)
            return self._partial_fit(X, y, sample_weight)

    def predict_files(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        text: str | None = None,
        on_error: str = "stop",
        threads: int | None = None,
    ) -> NDArray[Any]:
        """`predict`, for the rows of files, which are read as the estimator's own were.

        Parameters
        ----------
        paths : file, pattern or list of them
            In any format that has the same columns, or features of the same names; labels are not needed.
        text : str, optional
            The column with the text, if it is not called as in the files that were learned.
        on_error : {"stop", "skip"}
            What to do with a line that cannot be read.
        threads : int, optional
            Number of parsing threads. By default one for each core, at most 4.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._classes(self._file_predictions(paths, text, on_error, threads))

    def predict_proba_files(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        text: str | None = None,
        on_error: str = "stop",
        threads: int | None = None,
    ) -> NDArray[np.float64]:
        """`predict_proba`, for the rows of files, as for `predict_files`."""
        self._check_probabilities()
        return self._chances(self._file_predictions(paths, text, on_error, threads))

    @property
    def progressive_error_(self) -> float:
        """How many predictions made before their row was learned were wrong, by weight; first pass only."""
        engine = self._fitted("progressive_error_")
        return float(engine.progressive_error[engine.best])

    @property
    def calibration_(self) -> Calibration:
        """For each model a, b and bend of its sigmoid: p = 1/(1 + exp(u/(1 + bend·|u|))), u = a·w·x + b."""
        engine, state = self._fitted("calibration_"), fitted_state(self)
        sigmoids = state.held_out_calibration
        if sigmoids is None and state.calibration is not None:
            sigmoids = state.calibration.sigmoids(engine.shares)
        if sigmoids is None:
            raise AttributeError("there is no calibration_: probabilities are those of the loss")
        return sigmoids

    def _begin_calibration(self, settings: list[Settings]) -> ProgressiveCalibration | None:
        if not self.calibrate:
            return None
        return ProgressiveCalibration.begin(settings[0].loss, len(settings), count_classes(self))

    def _models(self, attribute: str) -> list[Model]:
        return self._fitted(attribute).models()

    def _learned_loss(self) -> Loss:
        return fitted_state(self).engine.settings[0].loss

    def _remember(self, given: ArrayLike | None) -> None:
        """Store the classes that the first call names; later calls may repeat but not change them."""
        begun = state_of(self) is not None
        if not begun and given is None:
            raise ValueError(
                "the first call of partial_fit must name all classes: partial_fit(X, y, classes=[…, …])"
            )
        if given is not None:
            named = inputs.check_classes(given)
            if begun and not np.array_equal(named, self.classes_):
                raise ValueError(
                    f"the classes are {self.classes_.tolist()} and cannot become {named.tolist()}: "
                    "fit a new classifier"
                )
            self.classes_ = named

    def _labels(self, y: Any, loss: Loss) -> NDArray[np.float64]:
        inputs.check_present(y)
        column = column_or_1d(y, warn=True)
        inputs.check_present(column)
        if not hasattr(self, "classes_"):
            self.classes_ = inputs.find_classes(column)
        pair = class_labels(loss)
        if count_classes(self) == 2:
            return inputs.encode_pair(column, self.classes_, pair)
        return inputs.encode_labels(column, self.classes_).astype(np.float64)

    def _class_weighted(self, chunk: Examples, loss: Loss, learned: NDArray[np.bool_]) -> NDArray[np.float64]:
        class_weights.check(self.class_weight)
        if self.class_weight is None:
            return chunk.sample_weight
        codes = chunk.labels == class_labels(loss)[1] if count_classes(self) == 2 else chunk.labels
        numbers = codes.astype(np.intp)
        totals = np.array(
            [
                float(chunk.sample_weight[learned & (numbers == number)].sum())
                for number in range(len(self.classes_))
            ]
        )
        factors = class_weights.factors(self.class_weight, self.classes_.tolist(), totals)
        return chunk.sample_weight * factors[numbers]
