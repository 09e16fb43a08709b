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

from steelyard import label_units, updates
from steelyard.examples import Examples
from steelyard.kernels import jit, linear, scaled
from steelyard.model import Model, Settings
from steelyard.schedules import PowerDecay


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
        linear.predict(*examples.arrays, self.model.coefficients(), bias, predictions)
        return predictions

    def learn(self, examples: Examples) -> NDArray[np.float64]:
        """Learn the rows in order; returns the prediction of each from just before it was learned.

        If the explicit update drives the weights beyond float range, a FloatingPointError is raised
        and the model is as before. (The other updates cannot.)
        """
        model, settings = self.model, self.model.settings
        explicit = settings.update == "explicit"
        before = {name: array.copy() for name, array in model._arrays().items()} if explicit else {}
        predictions = np.empty(len(examples))
        # a rate that does not decay stands still anyhow, and is quicker to compile
        push = settings.schedule(), "frozen" if explicit or settings.power_t == 0.0 else "integral"
        with np.errstate(all="ignore"):
            if len(model.label_state):
                self._learn_in_units(examples, predictions, push)
            else:
                self._learn_rows(examples, predictions, jit.pointer(*push))
        if explicit and not (np.isfinite(model.state).all() and np.isfinite(model.weights).all()):
            for name, array in before.items():
                setattr(model, name, array)
            raise FloatingPointError(
                f"the explicit update has left the range of {settings.dtype}: "
                "lower the learning rate, or use update='invariant', which cannot overshoot"
            )
        return predictions

    def _learn_in_units(
        self, examples: Examples, predictions: NDArray[np.float64], push: tuple[PowerDecay, str]
    ) -> None:
        """The learning rate is multiplied by the unit of the labels, which may change on the way."""
        model = self.model
        with scaled.pointer(*push) as (pointer, multiply_by):
            labels, importances = examples.labels, examples.importances
            for rows, unit in label_units.blocks(model.label_state, labels, importances, model.settings.bias):
                if model.clock == 0.0:
                    model.state[linear.BIAS] = model.label_state[label_units.ORIGIN]
                multiply_by(unit)
                self._learn_rows(examples.part(rows), predictions[rows], pointer)

    def _learn_rows(self, examples: Examples, predictions: NDArray[np.float64], push: Any) -> None:
        model, settings = self.model, self.model.settings
        common = (
            *examples.arrays, examples.labels, examples.importances,
            model.weights, model.state, predictions,
            settings.scaling == "row_norm", float(settings.bias), push,
            jit.step_pointer(settings.loss, updates.by_name(settings.update).step),
            jit.pointer(settings.loss, "value"),
        )  # fmt: skip
        if settings.adaptive or settings.l1 > 0.0 or settings.l2 > 0.0:
            linear.learn_general(*common, *self._general_arguments())
        else:
            linear.learn(*common)

    def _general_arguments(self) -> tuple[Any, ...]:
        model, settings = self.model, self.model.settings
        # L1 is an amount of weight, which comes in units of the labels; L2 is a share of it and does not
        l2 = settings.l2 / model.unit if model.unit > 0.0 else 0.0
        return (
            jit.pointer(settings.loss, "derivative"), settings.adaptive, settings.scaling == "normalized",
            model.squares, model.scales, settings.update == "explicit", settings.l1, l2, model.debts,
        )  # fmt: skip
