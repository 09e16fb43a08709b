"""The learner: model + loss + update + schedule. It predicts and learns chunks; no scikit-learn, no files.

>>> import numpy as np
>>> from steelyard.examples import examples
>>> from steelyard.learner import Learner
>>> from steelyard.model import Settings
>>> learner = Learner(Settings(scaling="plain", learning_rate=0.5, bias=False), features=1)
>>> learner.learn(examples(np.ones((1, 1)), labels=[1.0], importances=[50.0]))
array([0.])
>>> learner.predict(examples(np.ones((1, 1))))
array([1.])
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import updates
from steelyard.examples import Examples
from steelyard.kernels import adaptive, jit, linear
from steelyard.model import Model, Settings

_none = np.zeros(0)
_as_they_come = np.empty(0, np.int64)


class Learner:
    """Learns examples one after another, in order."""

    def __init__(
        self, settings: Settings | None = None, features: int = 0, model: Model | None = None
    ) -> None:
        self.model = Model(settings or Settings(), features) if model is None else model

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        """w·x of each row."""
        predictions = np.empty(len(examples))
        bias = self.model.bias if self.model.settings.bias else 0.0
        weights = self.model.coefficients()
        if len(examples.values) > 8 * len(weights):  # read so often that they had better lie side by side
            weights = np.ascontiguousarray(weights)
        linear.predict(*examples.arrays, _bases(examples), weights, bias, predictions)
        return predictions

    def learn(self, examples: Examples, order: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Learn the rows in order; returns the prediction of each from just before it was learned.

        `order` holds the numbers of all rows if they are to be learned otherwise than they come; the
        prediction of a row is at its number all the same. If the explicit update drives the weights beyond
        float range, a FloatingPointError is raised and the model is as before. (The other updates cannot.)
        """
        model, settings = self.model, self.model.settings
        explicit = settings.update == "explicit"
        before = {name: array.copy() for name, array in model._arrays().items()} if explicit else {}
        predictions = np.empty(len(examples))
        rows = (
            *examples.arrays, examples.labels, examples.importances, _bases(examples),
            _as_they_come if order is None else _checked(order, len(examples)),
        )  # fmt: skip
        with np.errstate(all="ignore"):
            if settings.adaptive:
                self._learn_adaptive(rows, predictions)
            else:
                self._learn_plain(rows, predictions)
        if explicit and not (np.isfinite(model.state).all() and np.isfinite(model.weights).all()):
            for name, array in model._arrays().items():
                array[...] = before[name]
            raise FloatingPointError(
                f"the explicit update has left the range of {settings.dtype}: "
                "lower the learning rate, or use update='invariant', which cannot overshoot"
            )
        return predictions

    def _learn_plain(self, rows: tuple[Any, ...], predictions: NDArray[np.float64]) -> None:
        model, settings = self.model, self.model.settings
        common = (
            *rows, model.weights, model.state, predictions,
            settings.scaling == "row_norm", float(settings.bias), *self._pointers(),
        )  # fmt: skip
        if settings.l1 > 0.0 or settings.l2 > 0.0:
            linear.learn_regularised(*common, settings.l1, settings.l2, model.debts)
        else:
            linear.learn(*common)

    def _learn_adaptive(self, rows: tuple[Any, ...], predictions: NDArray[np.float64]) -> None:
        model, settings = self.model, self.model.settings
        adaptive.learn(
            *rows, model.pairs, model.scales, model.debts, model.state, predictions,
            float(settings.bias), *self._pointers(), jit.pointer(settings.loss, "derivative"),
            settings.scaling == "normalized", settings.update == "explicit", settings.l1, settings.l2,
        )  # fmt: skip

    def _pointers(self) -> tuple[Any, Any, Any]:
        settings = self.model.settings
        stands_still = settings.update == "explicit" or settings.power_t == 0.0  # and is quicker to compile
        return (
            jit.pointer(settings.schedule(), "frozen" if stands_still else "integral"),
            jit.step_pointer(settings.loss, updates.by_name(settings.update).step),
            jit.pointer(settings.loss, "value"),
        )


def _bases(examples: Examples) -> NDArray[np.float64]:
    return _none if examples.bases is None else examples.bases


def _checked(order: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    """Kernels do not look whether there is such a row."""
    if len(order) != rows or (rows > 0 and not 0 <= order.min() <= order.max() < rows):
        raise ValueError(f"the order must hold the numbers of all {rows} rows, from 0")
    return order
