"""`Selection`: several settings learn one stream side by side; the one with the least loss so far answers.

With more than two classes every setting has a model for each of them (see `one_against_rest`).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine.model_set import Column, ModelSet, Numbers
from steelyard.engine.one_vs_rest import OneVsRest
from steelyard.examples import Examples
from steelyard.learn import lanes, linear
from steelyard.learner import Learner
from steelyard.model import Model, Settings

_SHORT = 4096  # rows, of a chunk that is learned in one go


class Selection:
    """The first of the settings leads until there is something to go by, and wherever it is as good.

    The labels of examples are as the loss takes them; with more than two classes, their numbers from 0.
    """

    def __init__(self, settings: Sequence[Settings], classes: int, features: int) -> None:
        self.settings = list(settings)
        self.classes = classes
        self.features = features
        several = classes > 2
        self._rest = OneVsRest(self.settings, classes, features, threads=1) if several else None
        self.fleet = self._rest.fleet if self._rest else ModelSet(self.settings, features, threads=1)
        self._front: ModelSet | Learner | None = None

    @property
    def models_each(self) -> int:
        """Of a setting: one for each class, or one in all."""
        return self.classes if self._rest else 1

    def learn(self, examples: Examples, order: Numbers | None = None) -> None:
        """Learn the rows in turn. If nobody is left to lead, that is an error."""
        self._front = None
        (self._rest or self.fleet).learn(examples, order)
        self._check()

    @contextmanager
    def unchanged_on_error(self, rows: int) -> Iterator[None]:
        """Whatever goes wrong in here, while so many rows are learned, all is as before."""
        # keeping a copy costs less than learning a long chunk, and much more than learning a short one
        risky = rows > _SHORT or self.settings[0].update == "explicit"
        before = {name: array.copy() for name, array in self.arrays().items()} if risky else {}
        try:
            yield
        except BaseException:
            for name, array in self.arrays().items():
                array[...] = before.get(name, array)
            self._front = None
            raise

    def _check(self) -> None:
        if self.settings[0].update == "explicit":  # the last row may have been too much
            models = [self.fleet.model(number) for number in range(len(self.fleet))]
            fine = [np.isfinite(each.weights).all() and np.isfinite(each.state).all() for each in models]
            self.fleet.set_scalars(lanes.ALIVE, np.where(fine, self.fleet.scalars(lanes.ALIVE), 0.0))
        if self.diverged.all():
            raise FloatingPointError(
                f"the explicit update has left the range of {self.settings[0].dtype}: "
                "lower the learning rate, or use update='invariant', which cannot overshoot"
            )

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        """w·x of each row by the leader; with more than two classes a column for each."""
        if self._front is None:
            self._front = self._leaders()
        return self._front.predict(examples)

    def _leaders(self) -> ModelSet | Learner:
        """The leader's models apart from all others, so that predictions cost what they cost it alone."""
        if self._rest is None:
            return Learner(model=self.models()[0])
        if len(self.settings) == 1:
            return self.fleet
        front = ModelSet(self.classes * [self.settings[self.leader]], self.features, threads=1)
        for number, model in enumerate(self.models()):
            front.put(number, model)
        return front

    @property
    def leader(self) -> int:
        """The number of the setting with the least progressive loss."""
        return int(np.argmin(np.nan_to_num(self.progressive_loss, nan=np.inf)))

    def models(self) -> list[Model]:
        """Those of the leader, as copies."""
        first = self.leader * self.models_each
        return [self.fleet.model(number) for number in range(first, first + self.models_each)]

    @property
    def progressive_loss(self) -> Column:
        """Of each setting: what predictions cost before their row was learned, on average."""
        return (self._rest or self.fleet).progressive_loss

    @property
    def progressive_error(self) -> Column:
        """Of each setting: how many of those were for a wrong class, by weight."""
        return (self._rest or self.fleet).progressive_error

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """The settings that have left the range of their numbers."""
        return (self._rest or self.fleet).diverged

    @property
    def error(self) -> Column:
        """Of each setting: the importance of the predictions that were for a wrong class."""
        return self._rest.error.copy() if self._rest else self.fleet.scalars(lanes.ERROR)

    @error.setter
    def error(self, column: Column) -> None:
        if self._rest:
            self._rest.error[:] = column
        else:
            self.fleet.set_scalars(lanes.ERROR, column)

    @property
    def progress(self) -> tuple[Column, Column, Column]:
        """What the progressive figures are made from: may be put back, for passes that shall not count."""
        return self.fleet.scalars(linear.LOSS), self.fleet.scalars(linear.WEIGHT), self.error

    @progress.setter
    def progress(self, kept: tuple[Column, Column, Column]) -> None:
        self.fleet.set_scalars(linear.LOSS, kept[0])
        self.fleet.set_scalars(linear.WEIGHT, kept[1])
        self.error = kept[2]

    def forget_progress(self) -> None:
        """Count from here."""
        self.progress = np.zeros(len(self.fleet)), np.zeros(len(self.fleet)), np.zeros(len(self.settings))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that changes, by name."""
        return self.fleet.arrays() | ({"error": self._rest.error} if self._rest else {})

    def with_settings(self, settings: Sequence[Settings]) -> "Selection":
        """The same models going on under others, as many and of the same kind."""
        other = Selection(settings, self.classes, self.features)
        for number in range(len(self.fleet)):
            other.fleet.put(number, self.fleet.model(number))
        other.fleet.set_scalars(lanes.ALIVE, self.fleet.scalars(lanes.ALIVE))
        other.error = self.error
        return other
