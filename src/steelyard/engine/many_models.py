"""`ManyModels`: the base class of `Selection` and `OneVsRest`, whose models learn in one `ModelSet`."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from steelyard import overflow
from steelyard._array_types import Floats, Integers, Matrix
from steelyard.engine import auto_rate
from steelyard.engine.lane_block import Predict
from steelyard.engine.model_set import ModelSet
from steelyard.engine.single_model import SingleModel
from steelyard.examples import Examples
from steelyard.learn import lanes, linear
from steelyard.learner import Learner
from steelyard.losses import OneOf
from steelyard.model import Model
from steelyard.model_file import EngineState
from steelyard.settings import Settings

_SHORT = 4096  # for chunks with fewer rows no copy of the models is made
_separation = threading.Lock()


class ManyModels(ABC):
    """Settings that learn one stream side by side; the one with the least loss so far answers.

    The first answers until there is something to compare, and wherever it is as good. With `must_answer` it
    is an error if all of them diverge.
    """

    def __init__(
        self,
        settings: Sequence[Settings],
        features: int,
        *,
        classes: int = 0,
        coded: bool = False,
        threads: int | None = None,
        must_answer: bool = False,
    ) -> None:
        self.settings = list(settings)
        self.classes = classes
        self.features = features
        self.rate_factor = 1.0
        self._must_answer = must_answer
        self._coded = coded
        self.models_each = classes if classes > 2 else 1
        of_models = [each for each in self.settings for _ in range(self.models_each)]
        self.model_set = ModelSet(of_models, features, threads, coded=coded)
        self._answering: Predict | None = None
        self._known_in_range = all(each.rate <= overflow.ORDINARY_RATE for each in self.settings)

    @abstractmethod
    def _learn(self, examples: Examples, order: Integers, predictions: Matrix | None) -> None:
        """Learn the rows in this order, and count the errors."""

    @abstractmethod
    def measure(self, examples: Examples, order: Integers) -> tuple[Floats, Floats]:
        """Return two sums for each setting over rows that it does not learn: losses, and weights of errors."""

    @abstractmethod
    def row_losses(self, predictions: Matrix, labels: Floats) -> Matrix: ...

    @abstractmethod
    def row_errors(self, predictions: Matrix, labels: Floats) -> NDArray[np.bool_]: ...

    @property
    @abstractmethod
    def progressive_loss(self) -> Floats: ...

    @property
    @abstractmethod
    def progressive_error(self) -> Floats: ...

    @property
    @abstractmethod
    def diverged(self) -> NDArray[np.bool_]:
        """The settings that left the range of their numbers."""

    @property
    @abstractmethod
    def error(self) -> Floats:
        """The weight of predictions for a wrong class, for each setting."""

    @error.setter
    @abstractmethod
    def error(self, column: Floats) -> None: ...

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays that change, by name: once filled, an engine of the same settings continues from there."""

    @abstractmethod
    def _like(self, settings: Sequence[Settings]) -> Self:
        """Return an engine of the same kind for these settings that has learned nothing."""

    def learn(
        self, examples: Examples, order: Integers | None = None, *, predictions: bool = False
    ) -> Matrix | None:
        self._answering = None
        rows = np.arange(len(examples)) if order is None else order
        before = np.empty((len(rows), len(self.model_set))) if predictions else None
        self.model_set.set_rate_factor(self.rate_factor)
        self._learn(examples, rows, before)
        self._answering = None  # another thread may have asked on the way
        if self._must_answer:
            self._check(examples)
        return before

    def fix_units(self, except_for: Integers) -> None:
        self.model_set.fix_units(except_for)

    @contextmanager
    def unchanged_on_error(self, examples: Examples) -> Iterator[None]:
        # a copy costs less than learning a long chunk, and much more than learning a short one
        risky = len(examples) > _SHORT or self._could_overflow(examples)
        before = {name: array.copy() for name, array in self.arrays().items()} if risky else {}
        try:
            yield
        except BaseException:
            for name, array in self.arrays().items():
                backup = before.get(name, array)
                array[...] = backup if backup.shape == array.shape else 0.0  # no gains were held before
            self.model_set.list_gains()
            self._answering = None
            raise

    def _could_overflow(self, examples: Examples) -> bool:
        self._known_in_range = self._known_in_range and overflow.ordinary(examples)
        return not self._known_in_range or self.settings[0].update == "explicit"

    def _check(self, examples: Examples) -> None:
        if self._could_overflow(examples):  # the last row may have been too much
            fine = [self.model_set.model(number).finite for number in range(len(self.model_set))]
            alive = np.where(fine, self.model_set.scalars(lanes.ALIVE), 0.0)
            self.model_set.set_scalars(lanes.ALIVE, alive)
        if self.diverged.all():
            raise FloatingPointError(overflow.message(self.settings[0]))

    def __getstate__(self) -> dict[str, Any]:
        """Leave the cached predictor out of pickles and copies."""
        return self.__dict__ | {"_answering": None}

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        with _separation:  # several threads may ask at once, and it takes much memory
            if self._answering is None:
                self._answering = self._separate_best()
            answering = self._answering
        return answering(examples)

    def _separate_best(self) -> Predict:
        """Separate the answering models from all others, so that predictions cost no more than alone."""
        if self.models_each == 1:
            return Learner(model=self.models()[0]).predict
        if len(self.settings) == 1:
            return self.model_set.as_it_is()
        models = self.models()
        best = ModelSet([model.settings for model in models], self.features, threads=1)
        for number, model in enumerate(models):
            best.put(number, model)
        return best.as_it_is()

    @property
    def best(self) -> int:
        return int(np.argmin(np.nan_to_num(self.progressive_loss, nan=np.inf)))

    def models(self, setting: int | None = None) -> list[Model]:
        """Return the models of one setting, by default those that answer: the mixture, or the best; as copies."""
        return list(self.each_model(setting))

    def each_model(self, setting: int | None = None) -> Iterator[Model]:
        """Yield the same models one by one: together they take as much memory as what they are copied from."""
        each, first = self.models_each, (self.best if setting is None else setting) * self.models_each
        parts = self.shares if setting is None and self.mixes else None
        for number, own in enumerate(self.model_set.models(range(first, first + each))):
            if parts is None:
                yield own
            else:
                competing = self.model_set.models(range(number, len(self.model_set), each))
                yield auto_rate.mixed(list(competing), parts, own)

    @property
    def rare_class_factor(self) -> float:
        """The factor, which is the same for all settings; 1 with more than two classes."""
        if self.models_each > 1 or not self.settings[0].has_class_factor:
            return 1.0
        (first,) = self.model_set.models(range(1))
        return first.rare_class_factor

    @property
    def mixes(self) -> bool:
        """Whether all settings answer together; those of a sweep do not."""
        return self._must_answer and len(self.settings) > 1 and self.settings[0].scaling == "standardized"

    @property
    def shares(self) -> Floats:
        """The share of each setting in the answer."""
        if not self.mixes:
            return np.asarray(np.eye(len(self.settings))[self.best])
        by_setting = len(self.settings), self.models_each
        alive = self.model_set.scalars(lanes.ALIVE).reshape(by_setting).min(axis=1)
        loss, weight = self.progress_sums()
        if isinstance(self.settings[0].loss.labels, OneOf):
            return auto_rate.shares(self.error, alive)
        return auto_rate.shares(
            auto_rate.in_rows(np.where(alive > 0.0, loss, np.nan), float(weight.max())), alive
        )

    def progress_sums(self) -> tuple[Floats, Floats]:
        loss, weight = self.model_set.scalars(linear.LOSS), self.model_set.scalars(linear.WEIGHT)
        by_setting = len(self.settings), self.models_each
        return loss.reshape(by_setting).mean(axis=1), weight.reshape(by_setting).max(axis=1)

    @property
    def progress(self) -> tuple[Floats, Floats, Floats]:
        return self.model_set.scalars(linear.LOSS), self.model_set.scalars(linear.WEIGHT), self.error.copy()

    @progress.setter
    def progress(self, before: tuple[Floats, Floats, Floats]) -> None:
        loss, weight, error = before
        self.model_set.set_scalars(linear.LOSS, loss)
        self.model_set.set_scalars(linear.WEIGHT, weight)
        self.error = error

    def reset_progress(self) -> None:
        none = np.zeros(len(self.model_set))
        self.progress = none, none, np.zeros(len(self.settings))

    def with_settings(self, settings: Sequence[Settings]) -> Self:
        other = self._like(settings)
        other.put(self.state())
        return other

    def separate(self, setting: int) -> "SingleModel | Self":
        """Return one of the settings as an engine of its own."""
        models = self.models(setting)
        if self.models_each == 1:
            return SingleModel(models[0], float(self.progressive_error[setting]) * models[0].total_weight)
        alone = self._like([self.settings[setting]])
        alone._must_answer = True
        first = setting * self.models_each
        alive = self.model_set.scalars(lanes.ALIVE)[first : first + self.models_each]
        alone.put(EngineState(alone.settings, models, self.classes, 0, self.error[[setting]], alive))
        return alone

    def put(self, state: EngineState) -> None:
        """Continue from the state of another engine with as many settings of the same kind."""
        assert state.error is not None
        assert state.alive is not None
        for number, model in enumerate(state.models):
            self.model_set.put(number, model)
        self.model_set.set_scalars(lanes.ALIVE, state.alive)
        self.error = state.error
        self._answering = None

    def state(self) -> EngineState:
        """Return the state; its models are made one by one when they are asked for, as they are then."""
        return EngineState(
            self.settings, _Models(self.model_set), self.classes, self.best, self.error.copy(),
            self.model_set.scalars(lanes.ALIVE), self.features,
        )  # fmt: skip


class _Models(Sequence[Model]):
    """The models of a set, by number: copies, none of which is kept."""

    def __init__(self, model_set: ModelSet) -> None:
        self._set = model_set

    def __len__(self) -> int:
        return len(self._set)

    def __getitem__(self, number: Any) -> Any:
        return self._set.model(range(len(self._set))[number])

    def __iter__(self) -> Iterator[Model]:
        return self._set.models(range(len(self._set)))
