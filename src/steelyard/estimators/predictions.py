"""What models of classes say of rows: decisions, classes, probabilities, and their weights."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.estimators.parameters import loss_of
from steelyard.learn.rows import fill_scalar
from steelyard.losses import Loss, class_labels, decision_point
from steelyard.model import Model
from steelyard.numba_tools import jit


class ClassPredictions(ABC):
    """For estimators with `classes_`: one model for two of them, else one for each."""

    classes_: NDArray[Any]

    @abstractmethod
    def _predictions(self, X: Any) -> NDArray[np.float64]:
        """w·x of each row; with more than two classes, a column for each."""

    @abstractmethod
    def _models(self, attribute: str) -> list[Model]:
        """The models; before there are any, the attribute does not exist."""

    @abstractmethod
    def _learned_loss(self) -> Loss:
        """The loss that they have learned with."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Positive for the second of `classes_`: w·x, or w·x − ½ where w·x is itself a probability.

        With more than two, a column for each, positive for that class.
        """
        return self._predictions(X) - decision_point(self._learned_loss())

    def predict(self, X: Any) -> NDArray[Any]:
        """The likelier class of each row."""
        decisions = self.decision_function(X)
        several = decisions.ndim == 2
        codes: NDArray[Any] = decisions.argmax(axis=1) if several else (decisions > 0.0).astype(np.intp)
        likelier: NDArray[Any] = self.classes_[codes]
        return likelier

    @property
    def predict_proba(self) -> Callable[[Any], NDArray[np.float64]]:
        """predict_proba(X): the probability of each of `classes_`, one column a class.

        With more than two classes, what each model says of its own, divided by the sum. With a loss that
        has no probabilities there is no such method. (scikit-learn's `available_if` would hide why.)
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
        loss = self._learned_loss()
        low, high = class_labels(loss)
        pairs = [(predictions, low), (predictions, high)]
        if predictions.ndim == 2:
            pairs = [(column, high) for column in predictions.T]
        probabilities = np.empty((len(pairs), len(predictions)))
        for place, (column, label) in zip(probabilities, pairs, strict=True):
            fill_scalar(jit.pointer(loss, "probability"), np.ascontiguousarray(column), label, place)
        return _summing_to_one(probabilities.T, predictions) if predictions.ndim == 2 else probabilities.T

    @property
    def coef_(self) -> NDArray[np.floating[Any]]:
        """The weight of each feature: a row for each class, one row for two classes; a copy."""
        return np.stack([model.coefficients() for model in self._models("coef_")])

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias, or that of each class; 0 without one."""
        return np.array([model.bias for model in self._models("intercept_")])


def _summing_to_one(
    probabilities: NDArray[np.float64], predictions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Each divided by the sum of its row. Where all are 0 the class that `predict` names has it all."""
    none = ~probabilities.any(axis=1)
    probabilities[none, predictions[none].argmax(axis=1)] = 1.0
    shares: NDArray[np.float64] = probabilities / probabilities.sum(axis=1, keepdims=True)
    return shares
