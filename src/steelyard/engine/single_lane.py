"""`SingleLane`: a model that cannot learn side by side with others, with `LaneBlock`'s interface."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats, Integers, Matrix
from steelyard.engine import lane_layout
from steelyard.engine.lane_block import EVERY, Predict
from steelyard.engine.ordered_sums import add_in_order
from steelyard.engine.row_losses import row_errors, row_losses
from steelyard.examples import Examples
from steelyard.learn import lanes, linear
from steelyard.learner import Learner
from steelyard.model import Model
from steelyard.settings import Settings


class SingleLane:
    """One model that learns alone, because it has L1."""

    def __init__(self, settings: Settings, features: int) -> None:
        self.settings = [settings]
        self._learner = Learner(settings, features)
        self.rate_factor = 1.0
        self._error = np.zeros(1)
        self._alive = np.ones(1)
        self._weight = np.zeros(1)

    def learn(
        self,
        examples: Examples,
        rows: Integers,
        labels: Matrix,
        sample_weight: Matrix,
        predictions: Matrix | None = None,
    ) -> None:
        chunk = _chunk(examples, rows, labels, sample_weight)
        before = np.full(len(rows), np.nan)
        self._learner.rate_factor = self.rate_factor
        if self._alive[0]:
            try:
                before = self._learner.learn(chunk)
            except FloatingPointError:
                self._alive[0] = 0.0
        self._error[:] = add_in_order(
            self._error, chunk.sample_weight[self._wrong(before, chunk), np.newaxis]
        )
        self._weight[:] = lane_layout.after(self._weight, sample_weight)
        if predictions is not None:
            predictions[:, 0] = before

    def measure(
        self, examples: Examples, rows: Integers, labels: Matrix, sample_weight: Matrix
    ) -> tuple[Matrix, Matrix]:
        chunk = _chunk(examples, rows, labels, sample_weight)
        predictions = self.predict(chunk)
        losses = row_losses(self.settings[0].loss, predictions, chunk.labels[:, np.newaxis])[:, 0]
        wrong = self._wrong(predictions[:, 0], chunk)
        return np.array([losses @ chunk.sample_weight]), np.array([chunk.sample_weight @ wrong])

    def _wrong(self, predictions: Floats, chunk: Examples) -> NDArray[np.bool_]:
        wrong = row_errors(self.settings[0].loss, predictions, chunk.labels)
        return np.asarray(wrong | np.isnan(predictions))  # NaN: it has diverged

    def predict(self, examples: Examples) -> Matrix:
        if not self._alive[0]:
            return np.full((len(examples), 1), np.nan)
        return self._learner.predict(examples)[:, np.newaxis]

    def as_it_is(self) -> Predict:
        return self.predict

    def fix_units(self, except_for: Integers) -> None:
        self._learner.model.fix_units(except_for)

    def hold_gains(self) -> None:
        self._learner.model.hold_gains()

    def list_gains(self) -> None:
        self._learner.model.list_gains()

    def scalars(self, which: int) -> Floats:
        """Return one scalar; weights are counted here, as a model that diverged did not learn its last chunk."""
        own = {lanes.ERROR: self._error, lanes.ALIVE: self._alive, linear.WEIGHT: self._weight}
        return own[which] if which in own else self._learner.model.state[which : which + 1]

    def set_scalars(self, which: int, values: Floats) -> None:
        self.scalars(which)[:] = values

    def met(self) -> slice:
        return EVERY

    def model(self, number: int, met: Integers | slice = EVERY) -> Model:
        own = copy.deepcopy(self._learner.model)
        own.state[linear.WEIGHT] = self._weight[0]
        return own

    def put(self, number: int, model: Model) -> None:
        self._learner.model = copy.deepcopy(model)
        self._learner.model.settings = self.settings[0]
        self._weight[:] = model.total_weight

    def arrays(self) -> dict[str, NDArray[Any]]:
        own = {"error": self._error, "alive": self._alive, "weight": self._weight}
        return own | self._learner.model.arrays()


def _chunk(examples: Examples, rows: Integers, labels: Matrix, sample_weight: Matrix) -> Examples:
    # kernels take columns without gaps
    own = np.ascontiguousarray(labels[:, 0]), np.ascontiguousarray(sample_weight[:, 0])
    return replace(examples.take(rows), labels=own[0], sample_weight=own[1])
