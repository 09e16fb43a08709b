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

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from steelyard import class_balance, model_file, overflow, target_scale, updates
from steelyard.examples import Examples, check_labels, check_width, read_only
from steelyard.learn import (
    adaptive,
    joint_l2,
    joint_l2_solvers,
    linear,
    rate_panels,
    row_copies,
    standardized,
)
from steelyard.losses import Loss
from steelyard.model import Model, Settings
from steelyard.model_file import EngineState, ModelFile
from steelyard.numba_tools import jit

_as_they_come = read_only(np.empty(0, np.int64))
_one = np.ones(1)


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
        model.forget_answer()  # a tiny weight may change coefficients, but no number of the state
        kept = overflow.Kept(model, examples) if overflow.could_overflow(model, examples) else None
        predictions = np.empty(len(examples))
        if order is not None:
            _check_order(order, len(examples))
        if settings.scaling == "standardized" and model.clock == 0.0:
            turns = np.arange(len(examples)) if order is None else order
            for row in turns[examples.sample_weight[turns] > 0.0][:1]:
                model.columns.begin(examples, row, model.units)
        with np.errstate(all="ignore"):
            if not settings.adaptive:
                self._learn_plain(_rows(examples, order), predictions)
            elif len(model.label_state):
                self._learn_in_units(examples, order, predictions)
            elif len(model.class_state):
                self._learn_in_class_steps(examples, order, predictions)
            else:
                self._learn_adaptive(_rows(examples, order), predictions, 1.0)
        if kept is not None and not (kept.finite and np.isfinite(predictions).all()):
            kept.put_back()
            raise FloatingPointError(overflow.message(settings))
        return predictions

    def _joint_arguments(self) -> tuple[Any, ...]:
        loss = self.model.settings.loss
        nodes, lower, upper, probe, at_probe, at_end = joint_l2_solvers.radau_tables()
        return (
            jit.pointer(loss, "derivative"), jit.step_pointer(loss, updates.by_name("implicit").step),
            self.model.settings.l2,
            np.array(nodes), np.array(lower), np.array(upper), probe, np.array(at_probe), np.array(at_end),
        )  # fmt: skip

    def _learn_plain(self, rows: tuple[Any, ...], predictions: NDArray[np.float64]) -> None:
        model, settings = self.model, self.model.settings
        common = (
            *rows, model.raw_coefficients, model.state, predictions,
            settings.scaling == "row_norm", float(settings.bias), *self._pointers(),
        )  # fmt: skip
        if settings.l2_flow == "joint" and settings.l2 > 0.0:
            joint_l2.learn(*common, *self._joint_arguments())
        elif settings.l1 > 0.0 or settings.l2 > 0.0:
            linear.learn_regularised(*common, settings.l1, settings.l2, model.l1_applied)
        else:
            linear.learn(*common)

    def _learn_in_units(
        self, examples: Examples, order: NDArray[np.int64] | None, predictions: NDArray[np.float64]
    ) -> None:
        """The learning rate is multiplied by the unit of the labels, which may change on the way."""
        model = self.model
        turns = np.arange(len(examples)) if order is None else order
        labels, sample_weight = examples.labels[turns], examples.sample_weight[turns]
        for part, unit in target_scale.blocks(model.label_state, labels, sample_weight, model.settings.bias):
            if model.clock == 0.0:
                model.state[linear.BIAS] = model.label_state[target_scale.ORIGIN]
            self._learn_adaptive((*_columns(examples), read_only(turns[part])), predictions, unit)

    def _learn_in_class_steps(
        self, examples: Examples, order: NDArray[np.int64] | None, predictions: NDArray[np.float64]
    ) -> None:
        """The learning rate is multiplied by a factor that may change on the way."""
        if self.model.settings.rates == "flow":
            turns = np.arange(len(examples)) if order is None else order
            self._learn_parts(examples, turns, predictions)
            return
        labels, weights = examples.labels, examples.sample_weight
        if order is not None:
            labels, weights = labels[order], weights[order]
        parts = list(self._blocks(labels, weights))
        factors = np.array([steps for _, steps in parts])  # one for all, in most chunks
        if len(parts) > 1:
            factors = factors.repeat([part.stop - part.start for part, _ in parts])
        self._learn_adaptive(_rows(examples, order), predictions, 1.0, factors)

    def _learn_parts(
        self, examples: Examples, turns: NDArray[np.int64], predictions: NDArray[np.float64]
    ) -> None:
        """Rows are cut where the factor changes, as their copies would be.

        What a row cost, and what was predicted of it, is from before its first part.
        """
        model = self.model
        before = float(model.class_state[class_balance.WEIGHT])
        places, weights, totals = class_balance.parts_of_rows(before, examples.sample_weight[turns])
        rows, own = turns[places], examples.sample_weight.copy()
        further = np.append(False, places[1:] == places[:-1])
        value = model.settings.loss.value

        def learn(part: slice, steps: float) -> None:
            own[rows[part]] = weights[part]
            labels, _, base = examples.targets
            columns = (*examples.arrays, labels, read_only(own), base, read_only(rows[part]))
            self._learn_adaptive(columns, predictions, 1.0, np.array([steps]))

        for part, steps in self._blocks(examples.labels[rows], weights, totals):
            start, stop = part.start, part.stop
            if start < stop and further[start]:  # alone, so that chunks do not matter to the sum
                row, lost = rows[start], model.state[linear.LOSS]
                said = predictions[row]
                learn(slice(start, start + 1), steps)
                model.state[linear.LOSS] = lost + weights[start] * value(said, examples.labels[row])
                predictions[row] = said
                start += 1
            if start < stop:
                learn(slice(start, stop), steps)

    def _blocks(
        self,
        labels: NDArray[np.float64],
        weights: NDArray[np.float64],
        totals: NDArray[np.float64] | None = None,
    ) -> Iterator[tuple[slice, float]]:
        state = self.model.class_state.reshape(class_balance.SIZE, 1)
        shares = class_balance.shares(self.model.settings.loss, labels, weights)
        for part, steps in class_balance.blocks(state, shares[np.newaxis], weights[np.newaxis], totals):
            yield part, float(steps[0])

    def _learn_adaptive(
        self,
        rows: tuple[Any, ...],
        predictions: NDArray[np.float64],
        unit: float,
        steps: NDArray[np.float64] = _one,
    ) -> None:
        model, settings = self.model, self.model.settings
        # L1 is an amount of weight, which comes in units of the labels; L2 is a share of it and does not
        l2 = settings.l2 / unit if unit > 0.0 else 0.0
        pointers = (*self._pointers(), jit.pointer(settings.loss, "derivative"))
        explicit = settings.update == "explicit"
        if settings.scaling == "standardized":
            standardized.learn(
                *rows, model.pairs, model.sums, *model.columns.arrays,
                model.l1_applied, model.l1_lags, model.payments, model.state, predictions,
                float(settings.bias), *pointers, unit, read_only(self.rate_factor * steps),
                explicit, settings.l1, l2, settings.average_power, self._flow(),
                row_copies.rooms_for(rows[0], model.pairs, model.columns.arrays[0]),
            )  # fmt: skip
            return
        adaptive.learn(
            *rows, model.pairs, model.max_abs, model.l1_applied, model.state, predictions,
            float(settings.bias), *pointers, unit, settings.scaling == "normalized", explicit,
            settings.l1, l2, self._flow(),
        )  # fmt: skip

    def _flow(self) -> tuple[float, tuple[Any, ...]] | None:
        """What kernels need to follow the flow of rates."""
        settings = self.model.settings
        return (settings.rate, rate_panels.tables(settings.dtype)) if settings.rates == "flow" else None

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


def _rows(examples: Examples, order: NDArray[np.int64] | None) -> tuple[Any, ...]:
    return *_columns(examples), _as_they_come if order is None else read_only(order)


def _check_order(order: NDArray[np.int64], rows: int) -> None:
    """Kernels do not look whether there is such a row."""
    if len(order) != rows or (rows > 0 and not 0 <= order.min() <= order.max() < rows):
        raise ValueError(f"the order must hold the numbers of all {rows} rows, from 0")
