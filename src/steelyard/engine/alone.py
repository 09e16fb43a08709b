"""`Alone`: a model that cannot learn abreast of others, with the methods of a `Block`."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine import schedule_table
from steelyard.engine.lane_block import Matrix, sides
from steelyard.examples import Examples
from steelyard.learn import lanes, linear
from steelyard.learn.rows import fill_pairs
from steelyard.learner import Learner
from steelyard.model import Model, Settings
from steelyard.numba_tools import jit


class Alone:
    """One model with L1 or the joint flow, learned by the single kernel."""

    def __init__(self, settings: Settings, features: int) -> None:
        self.settings = [settings]
        self._learner = Learner(settings, features)
        self._error = np.zeros(1)
        self._alive = np.ones(1)
        self._weight = np.zeros(1)

    def learn(
        self,
        examples: Examples,
        rows: NDArray[np.int64],
        labels: Matrix,
        sample_weight: Matrix,
        predictions: Matrix | None = None,
    ) -> None:
        chunk = _chunk(examples, rows, labels, sample_weight)
        before = np.full(len(rows), np.nan)
        if self._alive[0]:
            try:
                before = self._learner.learn(chunk)
            except FloatingPointError:
                self._alive[0] = 0.0
        self._error += self._errors(before, chunk)
        self._weight[:] = schedule_table.after(self._weight, sample_weight)
        if predictions is not None:
            predictions[:, 0] = before

    def measure(
        self, examples: Examples, rows: NDArray[np.int64], labels: Matrix, sample_weight: Matrix
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        chunk = _chunk(examples, rows, labels, sample_weight)
        predictions = self.predict(chunk)[:, 0]
        value = jit.pointer(self.settings[0].loss, "value")
        losses = np.empty(len(chunk))
        fill_pairs(value, predictions, chunk.labels, losses)
        return np.array([losses @ chunk.sample_weight]), self._errors(predictions, chunk)

    def _errors(self, predictions: NDArray[np.float64], chunk: Examples) -> NDArray[np.float64]:
        middle, boundary = sides(self.settings[0].loss)
        wrong = ((predictions > boundary) != (chunk.labels > middle)) | np.isnan(predictions)
        return np.array([chunk.sample_weight @ wrong])

    def predict(self, examples: Examples) -> Matrix:
        if not self._alive[0]:
            return np.full((len(examples), 1), np.nan)
        return self._learner.predict(examples)[:, np.newaxis]

    def scalars(self, which: int) -> NDArray[np.float64]:
        """One that diverged has not learned its last chunk, so what it has seen is counted here."""
        own = {lanes.ERROR: self._error, lanes.ALIVE: self._alive, linear.WEIGHT: self._weight}
        return own[which] if which in own else self._learner.model.state[which : which + 1]

    def set_scalars(self, which: int, values: NDArray[np.float64]) -> None:
        self.scalars(which)[:] = values

    def model(self, number: int) -> Model:
        return copy.deepcopy(self._learner.model)

    def put(self, number: int, model: Model) -> None:
        self._learner.model = copy.deepcopy(model)
        self._learner.model.settings = self.settings[0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        own = {"error": self._error, "alive": self._alive, "weight": self._weight}
        return own | self._learner.model._arrays()


def _chunk(examples: Examples, rows: NDArray[np.int64], labels: Matrix, sample_weight: Matrix) -> Examples:
    return replace(examples.take(rows), labels=labels[:, 0], sample_weight=sample_weight[:, 0])
