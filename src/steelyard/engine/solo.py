"""`Solo`: one model that learns by itself, with the methods of a `Selection` that has no other contender."""

import copy
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.lane_block import sides
from steelyard.examples import Examples
from steelyard.learn import linear
from steelyard.learner import Learner
from steelyard.model import Model, Settings

Column = NDArray[np.float64]

_LOSS_AND_WEIGHT = [linear.LOSS, linear.WEIGHT]


class Solo:
    """The model, and the importance of its errors, for which a model has no place."""

    leader = 0

    def __init__(self, model: Model, error: float = 0.0) -> None:
        self.model = model
        self.error = error

    @property
    def settings(self) -> list[Settings]:
        return [self.model.settings]

    def learn(self, examples: Examples, order: NDArray[np.int64] | None = None) -> None:
        """Learn the rows in turn. If it fails, all is as before."""
        predictions = Learner(model=self.model).learn(examples, order)
        middle, boundary = sides(self.model.settings.loss)
        wrong = (predictions > boundary) != (examples.labels > middle)
        self.error += float(examples.sample_weight @ wrong)

    def unchanged_on_error(self, rows: int) -> AbstractContextManager[None]:
        """A learner is so by itself."""
        return nullcontext()

    def predict(self, examples: Examples) -> Column:
        return Learner(model=self.model).predict(examples)

    def models(self) -> list[Model]:
        return [self.model]

    @property
    def progressive_loss(self) -> Column:
        return np.array([self.model.progressive_loss])

    @property
    def progressive_error(self) -> Column:
        weight = self.model.weight
        return np.array([self.error / weight if weight > 0.0 else np.nan])

    @property
    def progress(self) -> tuple[Column, float]:
        """What the progressive figures are made from: may be put back, for passes that shall not count."""
        return self.model.state[_LOSS_AND_WEIGHT], self.error

    @progress.setter
    def progress(self, kept: tuple[Column, float]) -> None:
        self.model.state[_LOSS_AND_WEIGHT], self.error = kept

    def forget_progress(self) -> None:
        """Count from here."""
        self.progress = np.zeros(2), 0.0

    def with_settings(self, settings: Sequence[Settings]) -> "Solo":
        """The same numbers, not copied, going on under other settings."""
        other = copy.copy(self.model)
        (other.settings,) = settings
        return Solo(other, self.error)

    def save(self, path: str | Path, extra: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        known = np.isfinite(self.error)  # not so for a model from a file of the days before it was counted
        self.model.save(path, extra | {"errors": self.error if known else None}, arrays)
