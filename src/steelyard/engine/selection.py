"""`Selection`: several settings learn one stream side by side, and the best so far answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats, Integers, Matrix
from steelyard.engine.many_models import ManyModels
from steelyard.engine.row_losses import row_errors, row_losses
from steelyard.examples import Examples
from steelyard.learn import lanes
from steelyard.settings import Settings


class Selection(ManyModels):
    """One model for each setting, for numbers or for two classes.

    With `coded`, the labels of examples are 0 and 1, and every loss translates them into its own two labels.
    """

    def __init__(
        self,
        settings: Sequence[Settings],
        features: int,
        *,
        coded: bool = False,
        threads: int | None = None,
        must_answer: bool = False,
    ) -> None:
        super().__init__(settings, features, coded=coded, threads=threads, must_answer=must_answer)

    def _learn(self, examples: Examples, order: Integers, predictions: Matrix | None) -> None:
        self.model_set.learn(examples, order, predictions=predictions)

    def measure(self, examples: Examples, order: Integers) -> tuple[Floats, Floats]:
        return self.model_set.measure(examples, order)

    def row_losses(self, predictions: Matrix, labels: Floats) -> Matrix:
        columns = [
            row_losses(each.loss, predictions[:, [k]], labels[:, np.newaxis])
            for k, each in enumerate(self.settings)
        ]
        return np.hstack(columns)

    def row_errors(self, predictions: Matrix, labels: Floats) -> NDArray[np.bool_]:
        wrong = row_errors(self.settings[0].loss, predictions, labels[:, np.newaxis])
        return wrong | np.isnan(predictions)  # NaN: the model has diverged

    @property
    def progressive_loss(self) -> Floats:
        return self.model_set.progressive_loss

    @property
    def progressive_error(self) -> Floats:
        return self.model_set.progressive_error

    @property
    def diverged(self) -> NDArray[np.bool_]:
        return self.model_set.diverged

    @property
    def error(self) -> Floats:
        return self.model_set.scalars(lanes.ERROR)

    @error.setter
    def error(self, column: Floats) -> None:
        self.model_set.set_scalars(lanes.ERROR, column)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self.model_set.arrays()

    def _like(self, settings: Sequence[Settings]) -> "Selection":
        return Selection(settings, self.features, coded=self._coded, threads=1, must_answer=self._must_answer)
