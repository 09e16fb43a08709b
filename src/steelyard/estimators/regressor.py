"""`OnlineRegressor`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d

from steelyard.estimators.fitted import unchanged_on_error
from steelyard.estimators.online import OnlineEstimator
from steelyard.losses import Loss


class OnlineRegressor(RegressorMixin, OnlineEstimator):  # type: ignore[misc]
    """Linear regression, one row after another; a row of weight h counts as h copies of it.

    `loss` is "squared" unless you say otherwise; docs/estimators.md explains every parameter.

    >>> import numpy as np
    >>> from steelyard import OnlineRegressor
    >>> regressor = OnlineRegressor(scaling="plain", fit_intercept=False)
    >>> regressor.fit(np.ones((1, 1)), [1.0], sample_weight=[50.0]).predict(np.ones((1, 1)))
    array([1.])
    """

    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the rows in order, once, going on from what is known."""
        with unchanged_on_error(self):
            return self._partial_fit(X, y, sample_weight)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """w·x, kept within the predictions that mean something to the loss."""
        return self._within_domain(self._predictions(X))

    def predict_files(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        on_error: str = "stop",
        threads: int | None = None,
    ) -> NDArray[np.float64]:
        """`predict`, for the rows of files, which are read as the estimator's own were."""
        return self._within_domain(self._file_predictions(paths, on_error, threads))

    def _within_domain(self, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        domain = self._engine.settings[0].loss.domain
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
