"""`OnlineClassifier`."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d

from steelyard.estimators import classes
from steelyard.estimators.classes import ClassWeight
from steelyard.estimators.online import OnlineEstimator, unchanged_on_error
from steelyard.estimators.parameters import DEFAULT, loss_of
from steelyard.examples import Examples
from steelyard.kernels import jit, pointwise
from steelyard.losses import Loss, two_classes


class OnlineClassifier(ClassifierMixin, OnlineEstimator):  # type: ignore[misc]
    """Linear classification into two classes, one row after another; weight h counts as h copies.

    `loss` is "modified_huber" unless you say otherwise; docs/estimators.md explains every parameter.

    >>> import numpy as np
    >>> from steelyard import OnlineClassifier
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), ["ham", "spam"]
    >>> classifier = OnlineClassifier().fit(X, y, sample_weight=[1.0, 2.0])
    >>> classifier.predict(X)
    array(['ham', 'spam'], dtype='<U4')
    """

    _follow_labels = False  # they are codes
    classes_: NDArray[Any]

    def __init__(
        self,
        loss: str | Loss = "modified_huber",
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
        class_weight: ClassWeight = None,
        weight_scale: str = "as_given",
        warm_start: bool = False,
        dtype: str = DEFAULT.dtype,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            loss, update=update, scaling=scaling, learning_rate=learning_rate, initial_t=initial_t,
            power_t=power_t, l1=l1, l2=l2, fit_intercept=fit_intercept, passes=passes, shuffle=shuffle,
            weight_scale=weight_scale, warm_start=warm_start, dtype=dtype, random_state=random_state,
            l2_flow=l2_flow,
        )  # fmt: skip
        self.class_weight = class_weight

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the rows in order, once, going on from what is known. The first call names both classes."""
        with unchanged_on_error(self):
            if self.class_weight == "balanced":
                raise ValueError(
                    "class_weight='balanced' needs all the labels, and partial_fit sees some of them: "
                    "give the weights as a dict, {class: weight}"
                )
            self._remember(classes)
            return self._partial_fit(X, y, sample_weight)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Positive for the second of `classes_`: w·x, or w·x − ½ where w·x is itself a probability."""
        return self._predictions(X) - two_classes.boundary(self.model_.settings.loss)

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
        loss = self.model_.settings.loss
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

    def _remember(self, given: ArrayLike | None) -> None:
        """The classes, from the call that begins a model; later calls may repeat but not change them."""
        begun = hasattr(self, "model_")
        if not begun and given is None:
            raise ValueError(
                "the first call of partial_fit must name both classes: partial_fit(X, y, classes=[…, …])"
            )
        if given is not None:
            named = classes.named(given)
            if begun and not np.array_equal(named, self.classes_):
                raise ValueError(
                    f"the classes are {self.classes_.tolist()} and cannot become {named.tolist()}: fit anew"
                )
            self.classes_ = named

    def _labels(self, y: Any, loss: Loss) -> NDArray[np.float64]:
        column = column_or_1d(y, warn=True)
        if not hasattr(self, "classes_"):
            self.classes_ = classes.found(column)
        return classes.labels(column, self.classes_, loss)

    def _class_weighted(self, chunk: Examples, loss: Loss) -> NDArray[np.float64]:
        second = chunk.labels == two_classes.labels(loss)[1]
        return classes.weighted(self.class_weight, self.classes_, second, chunk.importances)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
