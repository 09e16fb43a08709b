"""`Learner`: model + loss + update + schedule. It learns and predicts chunks of rows, without scikit-learn.

>>> import numpy as np
>>> from steelyard.examples import examples
>>> from steelyard.learner import Learner
>>> from steelyard.model import Settings
>>> learner = Learner(Settings(scaling="plain", learning_rate=0.5, bias=False), features=1)
>>> learner.learn(examples(np.ones((1, 1)), labels=[1.0], sample_weight=[50.0]))
array([0.])
>>> learner.predict(examples(np.ones((1, 1))))
array([1.])
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from steelyard import losses, model_file, overflow, updates
from steelyard.examples import Examples, check_labels, check_width, read_only
from steelyard.learn import adaptive, clock, linear, row_copies, standardized
from steelyard.losses import Loss
from steelyard.model import Model, Settings
from steelyard.model_file import EngineState, ModelFile
from steelyard.numba_tools import jit

_as_they_come = read_only(np.empty(0, np.int64))


class Learner:
    """Learns examples one after another, in order: one model, without scikit-learn.

    Parameters
    ----------
    settings : Settings, optional
        How the model learns.
    features : int
        The number of features.
    model : Model, optional
        A model to continue with, instead of a new one.

    Attributes
    ----------
    model : Model
        The numbers.
    rate_factor : float
        What the rate of standardized scaling is multiplied by: later passes take smaller steps.

    Examples
    --------
    >>> from steelyard import Learner, Settings, losses
    >>> from steelyard.examples import examples
    >>> learner = Learner(Settings(losses.by_name("logistic")), features=2)
    >>> rows = examples([[0.0, 1.0], [1.0, 0.0]], labels=[-1.0, 1.0], sample_weight=[1.0, 2.0])
    >>> before = learner.learn(rows)                     # predictions made just before each row was learned
    >>> learner.predict(rows) > 0.0
    array([False,  True])
    """

    def __init__(
        self, settings: Settings | None = None, features: int = 0, model: Model | None = None
    ) -> None:
        self.model = Model(settings or Settings(), features) if model is None else model
        self.rate_factor = 1.0
        """What the rate of standardized scaling is multiplied by: later passes take smaller steps."""

    def save(self, path: str | Path) -> None:
        """Write a model file; `load` reads it, and training continues bit for bit."""
        model_file.save(path, ModelFile(EngineState([self.model.settings], [self.model])))

    @classmethod
    def load(cls, path: str | Path, loss: Loss | type[Loss] | None = None, class_name: Any = None) -> Self:
        """Read any model file; of one with a model for each class, the model of `class_name`.

        `loss` is needed only for a model that learned with a loss of your own.
        """
        return cls(model=model_file.load_one(path, loss, class_name))

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        """w·x of each row."""
        check_width(examples, self.model.features)
        predictions = np.empty(len(examples))
        bias = self.model.bias if self.model.settings.bias else 0.0
        weights = self.model.coefficients()
        if len(examples.values) > 8 * len(weights):  # read so often that they had better lie side by side
            weights = np.ascontiguousarray(weights)
        linear.predict(*examples.arrays, examples.base, weights, bias, predictions)
        return predictions

    def learn(self, examples: Examples, order: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Learn the rows in order; returns the prediction of each from just before it was learned.

        `order` holds the numbers of all rows, to learn them in another order; predictions stay in the order
        of the rows. If numbers leave the range of floats, as explicit steps may, and others only with
        features, labels or weights beyond 1e9, a FloatingPointError is raised and the model is as before.
        """
        model, settings = self.model, self.model.settings
        check_width(examples, model.features)
        check_labels(examples.labels, settings.loss, examples.sample_weight > 0.0)
        settings.check_weights(examples.sample_weight)
        epochs = settings.adaptive and settings.update == "invariant"
        if epochs and (model.state[linear.FRACTION] or broken(examples.sample_weight)):
            model.hold_gains()
        model.forget_answer()  # a tiny weight may change coefficients, but no number of the state
        kept = overflow.Kept(model, examples) if overflow.could_overflow(model, examples) else None
        predictions = np.empty(len(examples))
        if order is not None:
            _check_order(order, len(examples))
        if settings.scaling == "standardized" and model.clock == 0.0:
            turns = np.arange(len(examples)) if order is None else order
            for row in turns[examples.sample_weight[turns] > 0.0][:1]:
                model.columns.begin(examples, row, model.units)
        rows = *_columns(examples), _as_they_come if order is None else read_only(order)
        with np.errstate(all="ignore"):
            (self._learn_adaptive if settings.adaptive else self._learn_plain)(rows, predictions)
        if kept is not None and not (kept.finite and np.isfinite(predictions).all()):
            kept.put_back()
            raise FloatingPointError(overflow.message(settings))
        return predictions

    def _learn_plain(self, rows: tuple[Any, ...], predictions: NDArray[np.float64]) -> None:
        model, settings = self.model, self.model.settings
        common = (
            *rows, model.raw_coefficients, model.state, predictions,
            settings.scaling == "row_norm", float(settings.bias), *self._pointers(),
        )  # fmt: skip
        if settings.l1 > 0.0 or settings.l2 > 0.0:
            linear.learn_regularised(
                *common, settings.update == "invariant", settings.l1, settings.l2, model.l1_applied
            )
        else:
            linear.learn(*common)

    def _learn_adaptive(self, rows: tuple[Any, ...], predictions: NDArray[np.float64]) -> None:
        model, settings = self.model, self.model.settings
        cut = settings.update == "invariant"
        low, high = losses.class_labels(settings.loss) if len(model.class_state) else (0.0, 1.0)
        numbers = (
            model.state, model.label_state, model.class_state, predictions, float(settings.bias), low, high,
            *self._pointers()[1:], jit.pointer(settings.loss, "derivative"),
        )  # fmt: skip
        factor = self.rate_factor if settings.scaling == "standardized" else 1.0
        schedule = replace(settings.schedule(), learning_rate=settings.rate * factor)
        moment = clock.new_moment(settings.loss, settings.dtype, schedule, settings.average_power)
        how = cut, settings.update == "explicit", settings.l1, settings.l2
        if settings.scaling == "standardized":
            standardized.learn(
                *rows, model.pairs, model.sums, model.gained, model.touched,
                *model.columns.arrays, model.l1_applied, model.l1_lags, model.payments, *numbers,
                *how, row_copies.rooms_for(rows[0], model.pairs, model.columns.arrays[0], moment),
            )  # fmt: skip
        else:
            adaptive.learn(
                *rows, model.pairs, model.gained, model.touched, model.max_abs,
                model.l1_applied, model.sums, model.l1_lags, model.payments, *numbers, *how,
                settings.scaling == "normalized",
                row_copies.adaptive_rooms(rows[0], model.pairs, model.max_abs, moment),
            )  # fmt: skip

    def _pointers(self) -> tuple[Any, Any, Any]:
        settings = self.model.settings
        stands_still = settings.update == "explicit" or settings.power_t == 0.0  # and is quicker to compile
        return (
            jit.pointer(settings.schedule(), "frozen" if stands_still else "integral"),
            jit.step_pointer(settings.loss, updates.by_name(settings.update).step),
            jit.pointer(settings.loss, "value"),
        )


def _columns(examples: Examples) -> tuple[Any, ...]:
    """What an example is made of, as kernels take it."""
    return *examples.arrays, *examples.targets


def broken(weights: NDArray[np.float64]) -> bool:
    """Whether some weight is no whole number."""
    return not np.array_equal(weights, np.floor(weights))


def _check_order(order: NDArray[np.int64], rows: int) -> None:
    """Kernels do not look whether there is such a row."""
    if len(order) != rows or (rows > 0 and not 0 <= order.min() <= order.max() < rows):
        raise ValueError(f"the order must hold the numbers of all {rows} rows, from 0")
