"""`OnlineRegressor`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d

from steelyard.estimators.fitted import all_or_nothing, fitted_state
from steelyard.estimators.online import OnlineEstimator
from steelyard.losses import Loss


class OnlineRegressor(RegressorMixin, OnlineEstimator):  # type: ignore[misc]
    """Linear regression, learned row by row; a row of weight h counts as h copies of it.

    Neither the features nor the target need a scaler. See docs/estimators.md.

    Parameters
    ----------
    loss : str or Loss, default="squared"
        "squared", "quantile", or an instance: `losses.Quantile(tau=0.9)`, or your own.
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
    coef_ : array of shape (n_features,)
        The coefficients, a copy.
    intercept_ : float
        The intercept.
    progressive_loss_ : float
        The mean loss of predictions made before their row was learned, in the first pass.
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
    >>> from sklearn.datasets import load_diabetes
    >>> from steelyard import OnlineRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> OnlineRegressor().fit(X, y).score(X, y) > 0.45
    True

    A weight of 50 is 50 copies of the row:

    >>> regressor = OnlineRegressor(scaling="plain", fit_intercept=False, passes=1)
    >>> regressor.fit([[1.0]], [1.0], sample_weight=[50.0]).predict([[1.0]])
    array([1.])
    """

    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the rows in order, once, continuing from the current model.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Numbers.
        y : array of shape (n_samples,)
            The targets.
        sample_weight : array of shape (n_samples,), optional
            A row of weight h is learned as h copies of it; one of weight 0 is left out.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return self._partial_fit(X, y, sample_weight)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """w·x, kept within the predictions that mean something to the loss.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Numbers. Of a model that has learned a table from files: a frame with its columns, a list of dicts
            by their names or, where the only feature is a text, a list of texts.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._within_domain(self._predictions(X))

    def predict_files(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        text: str | None = None,
        on_error: str = "stop",
        threads: int | None = None,
    ) -> NDArray[np.float64]:
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
        return self._within_domain(self._file_predictions(paths, text, on_error, threads))

    def _within_domain(self, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        domain = fitted_state(self).engine.settings[0].loss.domain
        return np.clip(predictions, domain.low, domain.high, out=predictions)

    @property
    def coef_(self) -> NDArray[np.floating[Any]]:
        """The weight of each feature: a copy."""
        return self._fitted("coef_").models()[0].coefficients().copy()

    @property
    def intercept_(self) -> float:
        """The bias; 0 without one."""
        return self._fitted("intercept_").models()[0].bias

    def _labels(self, y: Any, loss: Loss) -> NDArray[np.float64]:
        column: NDArray[Any] = column_or_1d(y, warn=True)
        return column.astype(np.float64, copy=False)
