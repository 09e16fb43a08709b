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

from steelyard import radau, updates
from steelyard.examples import Examples
from steelyard.kernels import jit, joint, linear
from steelyard.model import Model, Settings


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
        pointers = (
            # a rate that does not decay stands still anyhow, and is quicker to compile
            jit.pointer(settings.schedule(), "frozen" if explicit or settings.power_t == 0.0 else "integral"),
            jit.step_pointer(settings.loss, updates.by_name(settings.update).step),
            jit.pointer(settings.loss, "value"),
        )
        common = (
            *examples.arrays, examples.labels, examples.importances,
            model.weights, model.state, predictions,
            settings.scaling == "row_norm", float(settings.bias), *pointers,
        )  # fmt: skip
        with np.errstate(all="ignore"):
            if settings.l2_flow == "joint" and settings.l2 > 0.0:
                joint.learn(*common, *self._joint_arguments())
            elif settings.adaptive or settings.l1 > 0.0 or settings.l2 > 0.0:
                linear.learn_general(*common, *self._general_arguments())
            else:
                linear.learn(*common)
        if explicit and not (np.isfinite(model.state).all() and np.isfinite(model.weights).all()):
            for name, array in before.items():
                setattr(model, name, array)
            raise FloatingPointError(
                f"the explicit update has left the range of {settings.dtype}: "
                "lower the learning rate, or use update='invariant', which cannot overshoot"
            )
        return predictions

    def _joint_arguments(self) -> tuple[Any, ...]:
        loss = self.model.settings.loss
        nodes, lower, upper, probe, at_probe = radau.tables()
        return (
            jit.pointer(loss, "derivative"), jit.step_pointer(loss, updates.by_name("implicit").step),
            self.model.settings.l2,
            np.array(nodes), np.array(lower), np.array(upper), probe, np.array(at_probe),
        )  # fmt: skip

    def _general_arguments(self) -> tuple[Any, ...]:
        model, settings = self.model, self.model.settings
        return (
            jit.pointer(settings.loss, "derivative"), settings.adaptive, settings.scaling == "normalized",
            model.squares, model.scales, settings.update == "explicit", settings.l1, settings.l2, model.debts,
        )  # fmt: skip
