"""What a model with two classes says of rows: decisions, classes, probabilities, and its weights."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.estimators.parameters import loss_of
from steelyard.kernels import jit, pointwise
from steelyard.losses import Loss, two_classes
from steelyard.model import Model


class TwoClassPredictions(ABC):
    """For estimators with a `model_` and two `classes_`."""

    classes_: NDArray[Any]

    @abstractmethod
    def _predictions(self, X: Any) -> NDArray[np.float64]:
        """w·x of each row."""

    @abstractmethod
    def _fitted(self, attribute: str) -> Model:
        """The model; before there is one, the attribute does not exist."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Positive for the second of `classes_`: w·x, or w·x − ½ where w·x is itself a probability."""
        return self._predictions(X) - two_classes.boundary(self._fitted("model_").settings.loss)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likelier class of each row."""
        second = self.decision_function(X) > 0.0
        return self.classes_[second.astype(np.intp)]

    @property
    def predict_proba(self) -> Callable[[Any], NDArray[np.float64]]:
        """predict_proba(X): the probability of each of `classes_`, one column a class.

        With a loss that has none there is no such method. (scikit-learn's `available_if` would hide why.)
        """
        loss = loss_of(self)
        if type(loss).probability is Loss.probability:
            raise AttributeError(
                f"there is no predict_proba: {type(loss).__name__} loss has no probabilities; use "
                "loss='logistic', or calibrate with sklearn.calibration.CalibratedClassifierCV"
            )
        return self._probabilities

    def _probabilities(self, X: Any) -> NDArray[np.float64]:
        predictions = self._predictions(X)
        loss = self._fitted("model_").settings.loss
        probabilities = np.empty((2, len(predictions)))
        for column, label in zip(probabilities, two_classes.labels(loss), strict=True):
            pointwise.fill(jit.pointer(loss, "probability"), predictions, label, column)
        return probabilities.T

    @property
    def coef_(self) -> NDArray[np.floating[Any]]:
        """The weight of each feature, in one row: a copy."""
        return self._fitted("coef_").coefficients().copy()[np.newaxis]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias; 0 without one."""
        return np.array([self._fitted("intercept_").bias])
