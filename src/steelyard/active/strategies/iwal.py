"""Importance-weighted active learning (IWAL): the less sure the model is of a row, the likelier the question.

Beygelzimer, Hsu, Langford and Zhang (2010). The k-th example of the stream (all count, asked or not) has a
*flip importance*: the least weight with which the other label would move the prediction to the decision
boundary. G, the flip importance divided by k, says how sure the model is of its prediction:

    b = C₀·log k/(k − 1)
    P = 1 if G ≤ √b + b, else the s with G = (c₁/√s − c₁ + 1)·√b + (c₂/s − c₂ + 1)·b

Nobody can choose C₀ by hand, since most values ask for almost nothing or almost everything. So `Iwal` looks
at the flip importances of the last examples, and takes the b with which they would have been asked for as
often as the remaining labels allow; after every question and every 64 examples.

>>> float(query_probability(0.0, k=1000, c0=0.1)), float(query_probability(0.1, k=1000, c0=0.1).round(6))
(1.0, 0.082396)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard import updates
from steelyard._array_types import Floats
from steelyard._messages import did_you_mean
from steelyard.active import class_models
from steelyard.active.strategies._base import BudgetPlan, Strategy
from steelyard.examples import Examples
from steelyard.learn import linear, query_lanes
from steelyard.learn import query_probability as kernels
from steelyard.losses import class_labels, decision_point
from steelyard.model import Model
from steelyard.native import methods

_LEAST, _MOST = math.log(1e-24), math.log(1e4)  # of b
_HALVINGS = 30
_TOO_MANY = 1.01  # times the intended share: even the smallest bound asks for more


@dataclass(frozen=True)
class Constants:
    """c₁ and c₂ of the query probability."""

    c1: float
    c2: float


CONSTANTS = {
    "theory": Constants(5.0 + 2.0 * 2.0**0.5, 5.0),
    "practice": Constants(1.0, 1.0),
}


class Iwal(Strategy):
    """Asks with the probability P above. With a budget or a rate, b is set to match it."""

    summary = "importance-weighted active learning: the less sure the model, the likelier the question"
    randomized = True
    several = True
    lane_code: ClassVar[int | None] = query_lanes.BY_IMPORTANCE

    def check(self, plan: BudgetPlan) -> None:
        constants(plan.constants)

    def score(self, model: Model, examples: Examples) -> tuple[Floats, Floats]:
        return flip_importances(model, examples)

    def score_classes(self, models: Sequence[Model], examples: Examples) -> tuple[Floats, Floats]:
        """The flip importance of the decision between the two likeliest classes.

        The model that tells A from B is half the difference of theirs, and its prediction half the gap. With
        two classes that is their one model. Each row takes the learning rates of its likeliest class. P is
        known before the label whatever the score, so labels weighted by 1/P are unbiased for every class and
        for mistakes of any kind, and all models learn the row with the same weight. The bounds of the paper
        are proved for two classes, not for this.
        """
        predictions = class_models.predict(models, examples)
        winners = predictions.argmax(axis=1)
        second, first = np.partition(predictions, -2, axis=1)[:, -2:].T
        offsets = 0.5 * (first - second) - first  # the prediction becomes half the gap
        flips = np.empty(len(examples))
        for code, model in enumerate(models):
            own = np.flatnonzero(winners == code)
            if len(own):
                flips[own], _ = flip_importances(model, replace(examples.take(own), offsets=offsets[own]))
        return flips, predictions

    def choose(self, scores: Floats, k: int | NDArray[np.int64], asked: int) -> Floats:
        if self.plan.c0 is not None:
            return query_probability(scores / k, k, self.plan.c0, self.plan.constants)
        p = probability_within(scores / k, self.bound, constants(self.plan.constants))
        return np.maximum(self.thinning * p, self.plan.least)

    def adjust(self, share: float, k: int) -> None:
        of, confidences = constants(self.plan.constants), self.window / k
        self.bound = kernels.bound_for(
            share, confidences, self.plan.least, of.c1, of.c2, _LEAST, _MOST, _HALVINGS
        )
        asked = probability_within(confidences, self.bound, of).mean()
        # Where no b asks for few enough, as of rows that would flip at once, all P are reduced.
        self.thinning = min(share / asked, 1.0) if asked > _TOO_MANY * share else 1.0


def constants(name: str) -> Constants:
    """The constants with which the bounds are proved (theory), or those common in practice."""
    if name not in CONSTANTS:
        hint = did_you_mean(name, CONSTANTS)
        raise ValueError(f"there are no constants {name!r}; they are {' or '.join(CONSTANTS)}{hint}")
    return CONSTANTS[name]


def flip_importances(model: Model, examples: Examples) -> tuple[Floats, Floats]:
    """The flip importance of each row, and its prediction.

    It is 0 where the model knows nothing of a row, infinite where no weight would do. The clock advances
    while a large weight is learned, and the rate falls with it, as in learning; the explicit update keeps the
    current rate. Adaptive rates are those that the row would have with weight 1.
    """
    settings = model.settings
    low, high = class_labels(settings.loss)
    flips, predictions = np.empty(len(examples)), np.empty(len(examples))
    inverse = "frozen_importance" if settings.update == "explicit" else "importance"
    question = kernels.Question(
        *examples.arrays, examples.offsets_array,
        model.coefficients(), model.bias if settings.bias else 0.0, float(settings.bias),
        model.clock, model.unit or 1.0, low, high, decision_point(settings.loss),
        methods.step_pointer(settings.loss, updates.by_name(settings.update).time),
        methods.pointer(settings.schedule(), inverse),
    )  # fmt: skip
    with np.errstate(all="ignore"):  # some pushes are infinite
        if settings.adaptive:
            rates = kernels.Rates(
                methods.pointer(settings.loss, "derivative"), model.sum_squared_gradients, model.max_abs,
                *model.state[[linear.BIAS_SQUARES, linear.NORM, linear.SEEN]].tolist(),
            )  # fmt: skip
            kernels.flip_adaptive(question, rates, predictions, flips)
        else:
            kernels.flip_plain(question, settings.scaling == "row_norm", predictions, flips)
    return flips, predictions


def bound(k: ArrayLike, c0: float) -> Floats:
    """b = C₀·log k/(k − 1); infinite for the first example, which is always asked for."""
    count = np.asarray(k, np.float64)
    later = np.maximum(count, 2.0)
    return np.where(count > 1.0, c0 * np.log(later) / (later - 1.0), np.inf)


def query_probability(confidence: ArrayLike, k: ArrayLike, c0: float, kind: str = "practice") -> Floats:
    """P, where `confidence` is G: the flip importance divided by k."""
    return probability_within(confidence, bound(k, c0), constants(kind))


def probability_within(confidence: ArrayLike, b: ArrayLike, of: Constants) -> Floats:
    """P for this b: 1 for G up to √b + b, then falling; 0 where G is infinite."""
    shape = np.broadcast_shapes(np.shape(confidence), np.shape(b))
    g, bounds, out = np.empty(shape), np.empty(shape), np.empty(shape)
    g[...], bounds[...] = confidence, b
    kernels.fill_probabilities(g.ravel(), bounds.ravel(), of.c1, of.c2, out.ravel())
    return out
