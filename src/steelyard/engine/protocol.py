"""`Engine`: what learns a stream chunk by chunk. Estimators, files, sweeps and commands know no other.

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
from steelyard.examples import Examples
from steelyard.losses import Loss
from steelyard.model import Model
from steelyard.model_file import EngineState, ModelFile
from steelyard.settings import Settings

Column = NDArray[np.float64]
Matrix = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Predicts(Protocol):
    """What predictions need of an engine."""

    settings: list[Settings]

    @property
    def classes(self) -> int:
        """More than two: a model for each class."""
        ...

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        """w·x of each row, by the setting that answers; with more than two classes a column for each."""
        ...


class Engine(Predicts, Protocol):
    """Labels are as the loss takes them; of more than two classes, and of `coded` ones, the numbers from 0.

    Columns have a place for each setting. Matrices of predictions have a row for each example and a column
    for each model: by setting, then by class.
    """

    features: int
    rate_factor: float
    """What learning rates are multiplied by: see `Learner.rate_factor`."""

    @property
    def shares(self) -> Column:
        """Of each setting in what answers: a mixture (see `auto_rate`), or the best alone."""
        ...

    @property
    def best(self) -> int:
        """The number of the setting that answers: the one with the least progressive loss."""
        ...

    def learn(
        self, examples: Examples, order: Numbers | None = None, *, predictions: bool = False
    ) -> Matrix | None:
        """Learn the rows in order, or in this one; returns, if asked to, the predictions made just before.

        They come in the order of learning.
        """
        ...

    def row_losses(self, predictions: Matrix, labels: Column) -> Matrix:
        """The loss of each prediction that `learn` returned, by row and setting."""
        ...

    def row_errors(self, predictions: Matrix, labels: Column) -> NDArray[np.bool_]:
        """Whether it was for the wrong class, by row and setting."""
        ...

    def models(self) -> list[Model]:
        """The model that answers, or those of its classes."""
        ...

    def each_model(self) -> Iterator[Model]:
        """The same one by one, for those who need each for a moment only."""
        ...

    @property
    def progressive_loss(self) -> Column:
        """The mean loss of predictions made before their row was learned, by weight."""
        ...

    @property
    def progressive_error(self) -> Column:
        """The share of those predictions that were for a wrong class, by weight."""
        ...

    @property
    def error(self) -> Any:
        """The weight of those predictions, of each setting; NaN where it was not counted."""
        ...

    @property
    def rare_class_factor(self) -> float:
        """How many times as long as the learning rate says the steps are, as one of two classes is rare."""
        ...

    def progress_sums(self) -> tuple[Column, Column]:
        """Of each setting: the sum of progressive losses, and of the weights that they have."""
        ...

    @property
    def progress(self) -> Any:
        """What the progressive figures are made of: put back after passes that shall not count."""
        ...

    @progress.setter
    def progress(self, before: Any) -> None: ...

    def reset_progress(self) -> None:
        """Count from here."""
        ...

    def fix_units(self, except_for: Numbers) -> None:
        """Before anything is learned: all features have the unit 1, but these have their own."""
        ...

    def unchanged_on_error(self, examples: Examples) -> AbstractContextManager[None]:
        """If anything goes wrong in here, while so many rows are learned, all is as before."""
        ...

    def with_settings(self, settings: Sequence[Settings]) -> Self:
        """The same models, going on under other settings."""
        ...

    def state(self) -> EngineState:
        """Everything that a model file keeps of it."""
        ...


def new_engine(settings: Sequence[Settings], classes: int, features: int) -> Engine:
    """An engine that has learned nothing. With two classes, labels are as the loss takes them."""
    from steelyard.engine.one_vs_rest import OneVsRest
    from steelyard.engine.selection import Selection
    from steelyard.engine.single_model import SingleModel

    if classes > 2:
        return OneVsRest(settings, classes, features, threads=1, must_answer=True)
    if len(settings) > 1:
        return Selection(settings, features, threads=1, must_answer=True)
    return SingleModel(Model(settings[0], features))


def load(path: str | Path, loss: Loss | type[Loss] | None = None) -> tuple[ModelFile, Engine]:
    """A model file and its engine, into which the models are read one by one."""
    with model_file.reading(path, loss) as content:
        engine = restore(content.engine)
    content.engine.models = engine.state().models
    return content, engine


def restore(state: EngineState) -> Engine:
    """The engine of a model file, which goes on as if never stopped."""
    from steelyard.engine.many_models import ManyModels
    from steelyard.engine.single_model import SingleModel

    if len(state.models) == 1:
        unknown = np.nan  # in files of the days before errors were counted
        return SingleModel(state.models[0], unknown if state.error is None else float(state.error[0]))
    engine = new_engine(state.settings, state.classes, state.features)
    assert isinstance(engine, ManyModels)
    engine.put(state)
    return engine
