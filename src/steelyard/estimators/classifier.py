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
    """Linear classification, one row after another; weight h counts as h copies.

    More than two classes: for each a model that tells it from the rest, all learned in one pass.
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
        learning_rate: float | str | None = DEFAULT.learning_rate,
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
        """Learn the rows in order, once, going on from what is known. The first call names the classes."""
        with unchanged_on_error(self):
            if self.class_weight == "balanced":
                raise ValueError(
                    "class_weight='balanced' needs all the labels, and partial_fit sees some of them: "
                    "give the weights as a dict, {class: weight}"
                )
            self._remember(classes)
            return self._partial_fit(X, y, sample_weight)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Positive for the second of `classes_`: w·x, or w·x − ½ where w·x is itself a probability.

        With more than two, a column for each, positive for that class.
        """
        return self._predictions(X) - two_classes.boundary(self._engine.settings[0].loss)

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
        loss = self._engine.settings[0].loss
        low, high = two_classes.labels(loss)
        pairs = [(predictions, low), (predictions, high)]
        if predictions.ndim == 2:
            pairs = [(column, high) for column in predictions.T]
        probabilities = np.empty((len(pairs), len(predictions)))
        for place, (column, label) in zip(probabilities, pairs, strict=True):
            pointwise.fill(jit.pointer(loss, "probability"), np.ascontiguousarray(column), label, place)
        return _summing_to_one(probabilities.T, predictions) if predictions.ndim == 2 else probabilities.T

    @property
    def coef_(self) -> NDArray[np.floating[Any]]:
        """The weight of each feature: a row for each class, one row for two classes; a copy."""
        return np.stack([model.coefficients() for model in self._fitted("coef_").models()])

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias, or that of each class; 0 without one."""
        return np.array([model.bias for model in self._fitted("intercept_").models()])

    @property
    def progressive_error_(self) -> float:
        """How many predictions made before their row was learned were wrong, by weight; first pass only."""
        engine = self._fitted("progressive_error_")
        return float(engine.progressive_error[engine.leader])

    def _remember(self, given: ArrayLike | None) -> None:
        """The classes, from the call that begins a model; later calls may repeat but not change them."""
        begun = hasattr(self, "_engine")
        if not begun and given is None:
            raise ValueError(
                "the first call of partial_fit must name all classes: partial_fit(X, y, classes=[…, …])"
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
        codes = classes.codes(column, self.classes_)
        pair = two_classes.labels(loss)
        return np.array(pair)[codes] if self._count_classes() == 2 else codes.astype(np.float64)

    def _count_classes(self) -> int:
        return len(self.classes_)

    def _class_weighted(self, chunk: Examples, loss: Loss) -> NDArray[np.float64]:
        codes = chunk.labels == two_classes.labels(loss)[1] if self._count_classes() == 2 else chunk.labels
        return classes.weighted(self.class_weight, self.classes_, codes.astype(np.intp), chunk.importances)


def _summing_to_one(
    probabilities: NDArray[np.float64], predictions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Each divided by the sum of its row. Where all are 0 the class that `predict` names has it all."""
    none = ~probabilities.any(axis=1)
    probabilities[none, predictions[none].argmax(axis=1)] = 1.0
    shares: NDArray[np.float64] = probabilities / probabilities.sum(axis=1, keepdims=True)
    return shares
