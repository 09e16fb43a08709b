"""`ClassPredictions`: decisions, classes, probabilities and coefficients of models of classes."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.estimators.fitted import state_of
from steelyard.estimators.parameters import loss_of
from steelyard.losses import Loss, decision_point
from steelyard.model import Model
from steelyard.scoring import probabilities


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
        """The likelier class of each row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Numbers. Of a model that has learned a table from files: a frame with its columns, a list of dicts
            by their names or, where the only feature is a text, a list of texts.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._classes(self._predictions(X))

    def _classes(self, predictions: NDArray[np.float64]) -> NDArray[Any]:
        likelier: NDArray[Any] = self.classes_[probabilities.decide(self._learned_loss(), predictions)]
        return likelier

    @property
    def predict_proba(self) -> Callable[[Any], NDArray[np.float64]]:
        """predict_proba(X): the probability of each of `classes_`, an array of (n_samples, n_classes).

        With more than two classes, the probabilities of their models, divided by the sum. They come from a
        sigmoid with `calibrate`, otherwise from the loss; if the loss has none, there is no such method.
        """
        self._check_probabilities()
        return self._predict_proba

    def _check_probabilities(self) -> None:
        loss = loss_of(self)
        if not probabilities.has_probabilities(loss) and not self._calibrates():
            raise AttributeError(
                f"there is no predict_proba: {type(loss).__name__} loss has no probabilities; "
                "use loss='logistic', or fit with calibrate=True"
            )

    def _calibrates(self) -> bool:
        """Whether there is a calibration, or will be one after `fit`."""
        if state_of(self) is not None:
            return hasattr(self, "calibration_")
        return bool(getattr(self, "calibrate", False))

    def _predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each of `classes_`, one column a class."""
        return self._chances(self._predictions(X))

    _predict_proba.__name__ = "predict_proba"  # scikit-learn's tools look at the name

    @property
    def predict_log_proba(self) -> Callable[[Any], NDArray[np.float64]]:
        """predict_log_proba(X): the logarithms of `predict_proba`."""
        self._check_probabilities()
        return self._predict_log_proba

    def _predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the probability of each of `classes_`, one column a class."""
        with np.errstate(divide="ignore"):  # losses may have probabilities of 0
            logarithms: NDArray[np.float64] = np.log(self._predict_proba(X))
        return logarithms

    _predict_log_proba.__name__ = "predict_log_proba"

    def _chances(self, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        calibration = getattr(self, "calibration_", None)
        return probabilities.class_probabilities(self._learned_loss(), predictions, calibration)

    @property
    def coef_(self) -> NDArray[np.floating[Any]]:
        """The weight of each feature: a row for each class, one row for two classes; a copy."""
        return np.stack([model.coefficients() for model in self._models("coef_")])

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias, or that of each class; 0 without one."""
        return np.array([model.bias for model in self._models("intercept_")])
