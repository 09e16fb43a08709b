"""`SingleModel`: the engine of one model."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats, Integers, Matrix
from steelyard.engine.ordered_sums import add_in_order
from steelyard.engine.row_losses import row_errors, row_losses
from steelyard.examples import Examples
from steelyard.learn import linear
from steelyard.learner import Learner
from steelyard.model import Model
from steelyard.model_file import EngineState
from steelyard.settings import Settings

_TOGETHER = 1 << 14  # rows that are added at a time: memory beyond the caches is slow to get
_LOSS_AND_WEIGHT = [linear.LOSS, linear.WEIGHT]


class SingleModel:
    """A model, and the weight of its errors, which models do not count."""

    best = 0
    classes = 0
    shares = np.ones(1)

    def __init__(self, model: Model, error: float = 0.0) -> None:
        self.model = model
        self.settings = [model.settings]
        self.features = model.features
        self.error = error
        self.rate_factor = 1.0

    def learn(
        self, examples: Examples, order: Integers | None = None, *, predictions: bool = False
    ) -> Matrix:
        """Learn the rows in order; restores the model on error."""
        learner = Learner(model=self.model)
        learner.rate_factor = self.rate_factor
        before = learner.learn(examples, order)[:, np.newaxis]
        error, wrong = np.array(self.error), self.row_errors(before, examples.labels)[:, 0]
        for start in range(0, len(wrong), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            error = add_in_order(error, examples.sample_weight[part][wrong[part]])
        self.error = float(error)
        return before if order is None else before[order]

    def fix_units(self, except_for: Integers) -> None:
        self.model.fix_units(except_for)

    def unchanged_on_error(self, examples: Examples) -> AbstractContextManager[None]:
        """Do nothing: `Learner.learn` restores the model on error."""
        return nullcontext()

    def predict(self, examples: Examples) -> Floats:
        return Learner(model=self.model).predict(examples)

    def row_losses(self, predictions: Matrix, labels: Floats) -> Matrix:
        return row_losses(self.model.settings.loss, predictions, labels[:, np.newaxis])

    def row_errors(self, predictions: Matrix, labels: Floats) -> NDArray[np.bool_]:
        return row_errors(self.model.settings.loss, predictions, labels[:, np.newaxis])

    def models(self) -> list[Model]:
        return [self.model]

    def each_model(self) -> Iterator[Model]:
        return iter([self.model])

    @property
    def progressive_loss(self) -> Floats:
        return np.array([self.model.progressive_loss])

    @property
    def progressive_error(self) -> Floats:
        weight = self.model.total_weight
        return np.array([self.error / weight if weight > 0.0 else np.nan])

    @property
    def rare_class_factor(self) -> float:
        return self.model.rare_class_factor

    def progress_sums(self) -> tuple[Floats, Floats]:
        return self.model.state[[linear.LOSS]], self.model.state[[linear.WEIGHT]]

    @property
    def progress(self) -> tuple[Floats, float]:
        return self.model.state[_LOSS_AND_WEIGHT], self.error

    @progress.setter
    def progress(self, before: tuple[Floats, float]) -> None:
        self.model.state[_LOSS_AND_WEIGHT], self.error = before

    def reset_progress(self) -> None:
        self.progress = np.zeros(2), 0.0

    def with_settings(self, settings: Sequence[Settings]) -> "SingleModel":
        """Return an engine with the same numbers, not copied, under other settings."""
        other = copy.copy(self.model)
        (other.settings,) = settings
        return SingleModel(other, self.error)

    def state(self) -> EngineState:
        return EngineState(self.settings, [self.model], error=np.array([self.error]))
