"""`Engine`: the interface of whatever learns a stream chunk by chunk, for estimators, files, sweeps and commands.

There are three: `SingleModel`; `Selection`, several settings of which the best so far answers; and
`OneVsRest`, a model for each class.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from steelyard import model_file
from steelyard._array_types import Floats, Integers, Matrix
from steelyard.examples import Examples
from steelyard.losses import Loss
from steelyard.model import Model
from steelyard.model_file import EngineState, ModelFile
from steelyard.settings import Settings


class Predicts(Protocol):
    """The part of an engine that predictions need."""

    settings: list[Settings]

    @property
    def classes(self) -> int:
        """More than two: a model for each class."""
        ...

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        """Return w·x of each row, by the setting that answers; with more than two classes a column for each."""
        ...


class Engine(Predicts, Protocol):
    """One or more settings that learn side by side, each with one model, or one for each class.

    Labels are as the loss takes them; more than two classes, and `coded` ones, are numbers from 0. Columns have
    a number for each setting. Matrices of predictions have a row for each example and a column for each model:
    by setting, then by class.
    """

    features: int
    rate_factor: float
    """The factor of learning rates: see `Learner.rate_factor`."""

    @property
    def shares(self) -> Floats:
        """The share of each setting in the answer: of a mixture (see `auto_rate`), or 1 for the best."""
        ...

    @property
    def best(self) -> int:
        """The number of the setting that answers: the one with the least progressive loss."""
        ...

    def learn(
        self, examples: Examples, order: Integers | None = None, *, predictions: bool = False
    ) -> Matrix | None:
        """Learn the rows as they come, or in this order.

        Returns, if asked to, the predictions from just before each row was learned, in the order of learning.
        """
        ...

    def row_losses(self, predictions: Matrix, labels: Floats) -> Matrix:
        """Return the loss of each prediction that `learn` returned, by row and setting."""
        ...

    def row_errors(self, predictions: Matrix, labels: Floats) -> NDArray[np.bool_]:
        """Return whether each prediction was for the wrong class, by row and setting."""
        ...

    def models(self) -> list[Model]:
        """Return the model that answers, or those of its classes."""
        ...

    def each_model(self) -> Iterator[Model]:
        """Yield the same models one by one, which takes less memory."""
        ...

    @property
    def progressive_loss(self) -> Floats:
        """The mean loss of predictions made before their row was learned, by weight."""
        ...

    @property
    def progressive_error(self) -> Floats:
        """The share of those predictions that were for a wrong class, by weight."""
        ...

    @property
    def error(self) -> Any:
        """The weight of those predictions, for each setting; NaN where it was not counted."""
        ...

    @property
    def rare_class_factor(self) -> float:
        """The factor of the learning rate where one of two classes is rare; see `learn.rare_classes`."""
        ...

    def progress_sums(self) -> tuple[Floats, Floats]:
        """Return the sum of progressive losses and the sum of weights, for each setting."""
        ...

    @property
    def progress(self) -> Any:
        """The sums behind the progressive figures: they are put back after passes that do not count."""
        ...

    @progress.setter
    def progress(self, before: Any) -> None: ...

    def reset_progress(self) -> None:
        """Begin the progressive figures anew."""
        ...

    def fix_units(self, except_for: Integers) -> None:
        """Fix the unit of all features at 1, except for these; call this before anything is learned."""
        ...

    def unchanged_on_error(self, examples: Examples) -> AbstractContextManager[None]:
        """Restore the engine if learning these rows fails within this context."""
        ...

    def with_settings(self, settings: Sequence[Settings]) -> Self:
        """Return an engine with the same models that continues under other settings."""
        ...

    def state(self) -> EngineState:
        """Return its state, as model files store it."""
        ...


def new_engine(settings: Sequence[Settings], classes: int, features: int) -> Engine:
    """Make an engine that has learned nothing. With two classes, labels are as the loss takes them."""
    from steelyard.engine.one_vs_rest import OneVsRest
    from steelyard.engine.selection import Selection
    from steelyard.engine.single_model import SingleModel

    if classes > 2:
        return OneVsRest(settings, classes, features, threads=1, must_answer=True)
    if len(settings) > 1:
        return Selection(settings, features, threads=1, must_answer=True)
    return SingleModel(Model(settings[0], features))


def load(path: str | Path, loss: Loss | type[Loss] | None = None) -> tuple[ModelFile, Engine]:
    """Read a model file and its engine; models are read one by one."""
    with model_file.reading(path, loss) as content:
        engine = restore(content.engine)
    content.engine.models = engine.state().models
    return content, engine


def restore(state: EngineState) -> Engine:
    """Return the engine of a model file, which continues as if it had never stopped."""
    from steelyard.engine.many_models import ManyModels
    from steelyard.engine.single_model import SingleModel

    if len(state.models) == 1:
        unknown = np.nan  # older files do not count errors
        return SingleModel(state.models[0], unknown if state.error is None else float(state.error[0]))
    engine = new_engine(state.settings, state.classes, state.features)
    assert isinstance(engine, ManyModels)
    engine.put(state)
    return engine
