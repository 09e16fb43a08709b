"""The labelled rows: few, and paid for, so they are stored and learned again and again.

The model is a function of the answers in their order, and of nothing else: whenever there are a tenth more of
them it is refitted, once in each of several seeded orders, and the resulting models are averaged; answers
since then are learned once, one after another. So it can be rebuilt from the answers, bit for bit.

Orders are averaged rather than passed over one after another: a model that learns its rows twice overfits
them, wrong labels first of all (docs/active.md has the figures). Of several classes each has a model.
"""

import copy
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard._parameters import Message, Parameter
from steelyard.active import class_models, counter_rng
from steelyard.active.converged_refit import minimum
from steelyard.active.identifiers import ReadPlace
from steelyard.active.stored_rows import PoolRows, SparseRows, stored
from steelyard.array_table import ARRAYS
from steelyard.examples import Examples
from steelyard.learn import linear
from steelyard.learner import Learner
from steelyard.model import Model, Settings

# The implicit update makes the shortest steps, so wrong labels do the least harm (docs/active.md).
DEFAULT_SETTINGS = Settings(losses.by_name("modified_huber"), "implicit", "normalized", follow_labels=False)
TRAINING_WEIGHTS = ("none", "capped", "importance")
FITS = ("averaged", "balanced")
_MOST_ORDERS = 64
_REFIT_ORDERS = 1 << 32  # where the purposes of these random numbers begin: those of questions are below


@dataclass(frozen=True)
class RefitPlan:
    """How the answers are learned."""

    weights: str = "none"
    """`importance`: 1/P, as in the paper; `capped`: 1/P, but at most `cap`; `none`: all alike."""
    cap: float = 10.0
    orders: int = 8
    """The number of orders of a refit; 0: never refit, learn each answer once as it comes."""
    seed: int = 0
    fit: str = "averaged"
    """A refit averages over orders, or is `balanced`: it converges, and both classes weigh the same."""

    def __post_init__(self) -> None:
        if self.fit not in FITS:
            raise ValueError(f"a refit is {' or '.join(map(repr, FITS))}; got {self.fit!r}")
        if self.weights not in TRAINING_WEIGHTS:
            known = ", ".join(map(repr, TRAINING_WEIGHTS))
            raise ValueError(f"training weights are one of {known}; got {self.weights!r}")
        if not 1.0 <= self.cap < np.inf:
            raise ValueError(f"the cap of training weights is 1 or more; got {self.cap!r}")
        if not 0 <= self.orders <= _MOST_ORDERS:
            raise ValueError(f"a refit averages over 0 to {_MOST_ORDERS} orders; got {self.orders!r}")

    def weight(self, probability: float) -> float:
        if self.weights == "none":
            return 1.0
        return 1.0 / probability if self.weights == "importance" else min(1.0 / probability, self.cap)


class LabelledRows:
    """Answers in their order, and the models learned from them: one for two classes, else one for each."""

    def __init__(
        self,
        settings: Settings,
        features: int,
        training: RefitPlan,
        classes: int = 2,
        rows: SparseRows | PoolRows | None = None,
    ) -> None:
        if settings.scaling == "standardized":
            raise ValueError(
                Message(
                    "active learning averages models that learned the answers in several orders, and those with ",
                    Parameter("scaling", "standardized"), " have units of their own: use ",
                    Parameter("scaling", "normalized"),
                )
            )  # fmt: skip
        self.settings, self.training, self.classes = settings, training, classes
        self.codes = class_models.codes(settings.loss, classes)
        """The labels that the classes have."""
        self.rows = rows or SparseRows(features)
        """All that were read, by their places."""
        self._features = features
        self._places, self._labels, self._weights = array("q"), array("d"), array("d")
        self._learners = [Learner(model=model) for model in self.refit(0)]
        self._learned = 0  # answers that they have learned
        self._stale = False
        self._final: tuple[int, list[Model]] | None = None

    def __len__(self) -> int:
        return len(self._places)

    def kinds(self, count: int) -> set[float]:
        """The labels among the first answers."""
        return set(self._labels[:count])

    def answer(self, place: ReadPlace, label: float, probability: float) -> None:
        """Add the label of a row; it is learned when the model is next needed."""
        self._places.append(place)
        self._labels.append(label)
        self._weights.append(self.training.weight(probability))

    def undo(self, count: int = 1) -> None:
        """Forget the last answers; models are learned anew when they are next needed."""
        for column in (self._places, self._labels, self._weights):
            del column[len(column) - count :]
        self._learned, self._stale, self._final = 0, True, None

    def copy(self) -> "LabelledRows":
        """A copy with the same answers and rows; it learns models of its own when they are needed."""
        found = copy.copy(self)
        found.rows = self.rows.copy()
        found._places, found._labels, found._weights = self._places[:], self._labels[:], self._weights[:]
        found.undo(0)
        return found

    @property
    def models(self) -> list[Model]:
        """The models that ask: refitted now and then, with the answers since then learned once."""
        count = len(self)
        refitted = last_refit(count) if self.training.orders else 0
        if self._learned < refitted or self._stale:
            self._learners = [Learner(model=model) for model in self.refit(refitted)]
            self._learned, self._stale = refitted, False
        if self._learned < count:
            rows = self.examples(self._learned, count)
            own = class_models.targets(self.settings.loss, self.classes, rows.labels)
            for learner, labels in zip(self._learners, own, strict=True):
                learner.learn(replace(rows, labels=labels))
            self._learned = count
        return [learner.model for learner in self._learners]

    @property
    def final(self) -> list[Model]:
        """The models refitted on all answers: the best ones to predict with."""
        if not self.training.orders:
            return self.models
        if self._final is None or self._final[0] != len(self):
            self._final = len(self), self.refit(len(self))
        return self._final[1]

    def refit(self, count: int) -> list[Model]:
        """Models of the first `count` answers."""
        if count == 0:
            models = len(self.codes) if self.classes > 2 else 1
            return [Model(self.settings, self._features) for _ in range(models)]
        return self.fit(self.examples(0, count))

    def fit(self, rows: Examples, left_out: NDArray[np.bool_] | None = None) -> list[Model]:
        """Models of labelled rows, without those left out."""
        own = class_models.targets(self.settings.loss, self.classes, rows.labels)
        return [refit(self.settings, self.training, replace(rows, labels=labels), left_out) for labels in own]

    @property
    def places(self) -> NDArray[np.int64]:
        """The places of the rows that were answered, in the order of the answers."""
        return np.array(self._places[:])

    def examples(self, start: int, end: int) -> Examples:
        """The answered rows from answer `start` to before `end`, with labels and weights."""
        columns = (np.array(column[start:end]) for column in (self._places, self._labels, self._weights))
        return self.rows.take(*columns)

    def unlabelled(self, pool: Examples, rows: NDArray[np.int64]) -> Examples:
        """Rows of a pool, stored as the labelled ones are."""
        return replace(stored(pool, rows), labels=np.zeros(len(rows)), sample_weight=np.ones(len(rows)))

    def fingerprint(self, count: int) -> tuple[bytes, bytes]:
        """Bytes that identify the first `count` answers."""
        return self.places[:count].tobytes(), np.array(self._labels[:count]).tobytes()


def refit(
    settings: Settings, training: RefitPlan, rows: Examples, left_out: NDArray[np.bool_] | None = None
) -> Model:
    """A model of the rows without those left out: averaged over orders, in one pass, or converged."""
    if training.fit == "balanced":
        return minimum(settings, rows if left_out is None else rows.take(np.flatnonzero(~left_out)))
    count, whole = len(rows), rows.features
    features, rows = with_own_features(rows) if training.orders and not rows.dense else (None, rows)
    models = []
    for number in range(max(training.orders, 1)):
        learner = Learner(settings, rows.features)
        purpose = _REFIT_ORDERS + count * _MOST_ORDERS + number
        order = counter_rng.order(training.seed, purpose, count) if training.orders else np.arange(count)
        if left_out is None:
            learner.learn(rows, order)
        else:
            learner.learn(rows.take(order[~left_out[order]]))
        models.append(learner.model)
    if not training.orders:
        return models[0]
    return average(models) if features is None else _spread(average(models), features, whole)


def with_own_features(rows: Examples) -> tuple[NDArray[np.int32], Examples]:
    """The features of the rows, and the rows with those numbered anew: few of all, and several models."""
    features, places = np.unique(rows.indices, return_inverse=True)
    return features, replace(rows, indices=places.astype(np.int32), features=len(features))


def _spread(model: Model, features: NDArray[np.int32], count: int) -> Model:
    """The model of all features, from a model of those given."""
    whole = Model(model.settings, count)
    for each in ARRAYS:
        if each.by_feature and len(own := each.of(model)):
            each.of(whole)[features] = own
    whole.state[...] = model.state
    return whole


def average(models: Sequence[Model]) -> Model:
    """One model with the mean of their weights, and of everything that decides their next steps."""
    mean = Model(models[0].settings, models[0].features)
    # coefficients() applies lazy L1 and L2, so the scale is 1 and no L1 is pending
    mean.raw_coefficients[...] = np.mean([model.coefficients() for model in models], axis=0)
    mean.sum_squared_gradients[...] = np.mean([model.sum_squared_gradients for model in models], axis=0)
    mean.max_abs[...] = np.max([model.max_abs for model in models], axis=0)
    mean.state[...] = np.mean([model.state for model in models], axis=0)
    mean.state[[linear.SCALE, linear.L1_TOTAL]] = 1.0, 0.0
    mean.set_clock(float(np.mean([model.clock for model in models])))
    return mean


def last_refit(count: int) -> int:
    """The number of answers at the last refit, given how many there are now."""
    point = min(count, 1)
    while point and (following := point + max(1, point // 10)) <= count:
        point = following
    return point
