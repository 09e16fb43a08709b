"""Importance-weighted active learning: how likely an example's label should be asked for.

Beygelzimer, Hsu, Langford and Zhang (2010). The k-th example of the stream (all count, asked or not) has
a *flip importance*: the least weight with which the other label would carry the prediction to the decision
point. One k-th of it, G, says how sure the model is of what it predicts, and the less sure, the likelier
the question:

    b = C₀·log k/(k − 1)
    P = 1 if G ≤ √b + b, else the s with G = (c₁/√s − c₁ + 1)·√b + (c₂/s − c₂ + 1)·b

>>> float(query_probability(0.0, k=1000, c0=0.1)), float(query_probability(0.1, k=1000, c0=0.1).round(6))
(1.0, 0.082396)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard import updates
from steelyard._messages import did_you_mean
from steelyard.examples import Examples
from steelyard.learn import linear
from steelyard.learn import query_probability as kernels
from steelyard.losses import class_labels, decision_point
from steelyard.model import Model
from steelyard.numba_tools import jit

Column = NDArray[np.float64]

_none = np.zeros(0)


@dataclass(frozen=True)
class Constants:
    """c₁ and c₂ of the query probability."""

    c1: float
    c2: float


CONSTANTS = {
    "theory": Constants(5.0 + 2.0 * 2.0**0.5, 5.0),
    "practice": Constants(1.0, 1.0),
}


def constants(name: str) -> Constants:
    """Those with which the bounds are proved, or those that are common in practice."""
    if name not in CONSTANTS:
        hint = did_you_mean(name, CONSTANTS)
        raise ValueError(f"there are no constants {name!r}; they are {' or '.join(CONSTANTS)}{hint}")
    return CONSTANTS[name]


def flip_importances(model: Model, examples: Examples) -> tuple[Column, Column]:
    """The flip importance of each row, and its prediction.

    0 where the model knows nothing of a row, infinite where no weight would do. The clock goes on while a
    large weight is learned, and the rate falls with it, as in learning; the explicit update keeps the rate
    of the moment. Rates of their own are those which the row would have with weight 1.
    """
    settings = model.settings
    low, high = class_labels(settings.loss)
    flips, predictions = np.empty(len(examples)), np.empty(len(examples))
    inverse = "frozen_importance" if settings.update == "explicit" else "importance"
    common = (
        *examples.arrays, _none if examples.offsets is None else examples.offsets,
        model.coefficients(), model.bias if settings.bias else 0.0, float(settings.bias),
        model.clock, model.unit or 1.0, low, high, decision_point(settings.loss),
        jit.step_pointer(settings.loss, updates.by_name(settings.update).time),
        jit.pointer(settings.schedule(), inverse), predictions, flips,
    )  # fmt: skip
    with np.errstate(all="ignore"):  # of a push that no weight amounts to
        if settings.adaptive:
            kernels.flip_adaptive(
                *common, jit.pointer(settings.loss, "derivative"), model.squares, model.scales,
                *model.state[[linear.BIAS_SQUARES, linear.NORM, linear.SEEN]].tolist(),
            )  # fmt: skip
        else:
            kernels.flip_plain(*common, settings.scaling == "row_norm")
    return flips, predictions


def bound(k: ArrayLike, c0: float) -> Column:
    """b = C₀·log k/(k − 1); infinite for the first example, which is always asked for."""
    count = np.asarray(k, np.float64)
    later = np.maximum(count, 2.0)
    return np.where(count > 1.0, c0 * np.log(later) / (later - 1.0), np.inf)


def query_probability(confidence: ArrayLike, k: ArrayLike, c0: float, kind: str = "practice") -> Column:
    """P, where `confidence` is G: the flip importance divided by k."""
    return probability_within(confidence, bound(k, c0), constants(kind))


def probability_within(confidence: ArrayLike, b: ArrayLike, of: Constants) -> Column:
    """P for this b: 1 for G up to √b + b, then falling, and 0 where G is infinite."""
    shape = np.broadcast_shapes(np.shape(confidence), np.shape(b))
    g, bounds, out = np.empty(shape), np.empty(shape), np.empty(shape)
    g[...], bounds[...] = confidence, b
    kernels.fill_probabilities(g.ravel(), bounds.ravel(), of.c1, of.c2, out.ravel())
    return out
