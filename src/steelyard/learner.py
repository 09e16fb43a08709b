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
from steelyard.examples import Examples, check_labels, check_width
from steelyard.learn import adaptive, clock, epochs, linear, row_copies, standardized
from steelyard.learn.rows import Rows
from steelyard.losses import Loss
from steelyard.model import Model
from steelyard.model_file import EngineState, ModelFile
from steelyard.native import methods
from steelyard.settings import Settings

_as_they_come = np.empty(0, np.int64)


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
        if len(examples.values) > 8 * len(weights):  # they are read so often that a copy without gaps pays
            weights = np.ascontiguousarray(weights)
        linear.predict(*examples.arrays, examples.offsets_array, weights, bias, predictions)
        return predictions

    def learn(self, examples: Examples, order: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Learn the rows in order; returns the prediction of each from just before it was learned.

        `order` holds the numbers of all rows, to learn them in another order; predictions stay in the order
        of the rows. If numbers leave the range of floats, as explicit steps may, and others only with
        features, labels or weights beyond 1e9, a FloatingPointError is raised and the model is as before.
        """
        model, settings = self.model, self.model.settings
        if order is not None:
            order = _checked_order(order, len(examples))
        check_width(examples, model.features)
        check_labels(examples.labels, settings.loss, examples.sample_weight > 0.0)
        settings.check_weights(examples.sample_weight)
        in_epochs = settings.adaptive and settings.update == "invariant"
        if in_epochs and (model.state[linear.FRACTION] or broken(examples.sample_weight)):
            model.hold_gains()
        model.forget_answer()  # tiny weights may change coefficients while the state stays equal
        backup = overflow.ModelBackup(model, examples) if overflow.could_overflow(model, examples) else None
        predictions = np.empty(len(examples))
        if settings.scaling == "standardized" and model.clock == 0.0:
            first = np.arange(len(examples)) if order is None else order
            for row in first[examples.sample_weight[first] > 0.0][:1]:
                model.columns.begin(examples, row, model.units)
        turns = _as_they_come if order is None else order
        rows = Rows(*examples.arrays, *examples.targets, turns)
        with np.errstate(all="ignore"):
            (self._learn_adaptive if settings.adaptive else self._learn_plain)(rows, predictions)
        if backup is not None and not (backup.finite and np.isfinite(predictions).all()):
            backup.restore()
            raise FloatingPointError(overflow.message(settings))
        return predictions

    def _learn_plain(self, rows: Rows, predictions: NDArray[np.float64]) -> None:
        model, settings = self.model, self.model.settings
        numbers = linear.PlainModel(model.raw_coefficients, model.state, model.l1_applied)
        rule = linear.Rule(
            settings.scaling == "row_norm", float(settings.bias), *self._pointers(),
            settings.update == "invariant", settings.l1, settings.l2,
        )  # fmt: skip
        learn = linear.learn_regularised if settings.l1 > 0.0 or settings.l2 > 0.0 else linear.learn
        learn(rows, numbers, rule, predictions)

    def _learn_adaptive(self, rows: Rows, predictions: NDArray[np.float64]) -> None:
        model, settings = self.model, self.model.settings
        low, high = losses.class_labels(settings.loss) if len(model.class_state) else (0.0, 1.0)
        rule = epochs.Rule(
            float(settings.bias), low, high, *self._pointers()[1:], methods.pointer(settings.loss, "derivative"),
            settings.update == "invariant", settings.update == "explicit", settings.l1, settings.l2,
        )  # fmt: skip
        states = model.state, model.label_state, model.class_state
        factor = self.rate_factor if settings.scaling == "standardized" else 1.0
        schedule = replace(settings.schedule(), learning_rate=settings.rate * factor)
        moment = clock.new_moment(settings.loss, settings.dtype, schedule, settings.average_power)
        common = model.l1_applied, model.l1_lags, model.payments, *states
        first = model.pairs, model.sums, model.gained, model.touched
        if settings.scaling == "standardized":
            scratch = row_copies.scratch_for(rows.indptr, model.pairs, model.columns.arrays[0], moment)
            numbers = standardized.Model(*first, *model.columns.arrays, *common)
            standardized.learn(rows, numbers, rule, predictions, scratch)
        else:
            buffers = row_copies.adaptive_scratch_for(rows.indptr, model.pairs, model.max_abs, moment)
            normalized = settings.scaling == "normalized"
            adaptive.learn(
                rows, adaptive.Model(*first, model.max_abs, *common), rule, normalized, predictions, buffers
            )

    def _pointers(self) -> tuple[Any, Any, Any]:
        settings = self.model.settings
        constant = settings.update == "explicit" or settings.power_t == 0.0  # this form compiles faster
        return (
            methods.pointer(settings.schedule(), "frozen" if constant else "integral"),
            methods.step_pointer(settings.loss, updates.by_name(settings.update).step),
            methods.pointer(settings.loss, "value"),
        )


def broken(weights: NDArray[np.float64]) -> bool:
    """Return whether some weight is not a whole number."""
    return not np.array_equal(weights, np.floor(weights))


def _checked_order(order: Any, rows: int) -> NDArray[np.int64]:
    """Return the order as kernels take it, which do not check that there are such rows."""
    numbers = np.asarray(order)
    whole = numbers.dtype.kind in "iu" or not numbers.size
    if not whole or numbers.shape != (rows,) or (rows > 0 and not 0 <= numbers.min() <= numbers.max() < rows):
        raise ValueError(f"the order must hold the numbers of all {rows} rows, from 0")
    return np.ascontiguousarray(numbers, np.int64)
