"""The steps on weights against copies under L2: a weighted row, and as many copies of it, learned both ways.

The paper splits a step: first the loss, then a division of all weights by 1 + hηλ. For squared loss it also
solves both together. Splitting once for each unit of weight, as the library does, needs no such solution.
"""

import math

import numpy as np
from scipy import sparse

from paper import data, sweeping
from paper.grids import FloatArray
from paper.study import Row, Scope, Step
from steelyard import Learner, Settings, losses, updates
from steelyard.examples import examples

COPIES = "regularisation_copies"
RATE = 0.5
SHUFFLE = 0
TIMES = (1, 10, 100)
STRENGTHS = (1e-4, 1e-2, 1.0)
EXPLICIT, INVARIANT, UNITS, JOINT = "explicit, split", "invariant, split", "invariant, in units", "joint"
WAYS = (EXPLICIT, INVARIANT, UNITS, JOINT)


def step(loss: str, scope: Scope) -> Step:
    """Learn the first of the data sets; a fifth of the rows have the weight, the rest weigh 1."""
    place, count = data.PLACES[0], scope.choose(1_000, 300)

    def compute() -> list[Row]:
        matrix, labels, _ = sweeping.load_shuffled(place, SHUFFLE, count)
        heavy = np.where(np.arange(len(labels)) % 5 == 0, 1.0, 0.0)
        return [
            {
                "data": data.name(place),
                "loss": loss,
                "way": way,
                "strength": strength,
                "times": times,
                "rows": len(labels),
                "deviation": _deviation(loss, way, strength, matrix, labels, 1.0 + (times - 1.0) * heavy),
            }
            for way in WAYS
            if way != JOINT or loss == "squared"
            for strength in STRENGTHS
            for times in TIMES
        ]

    return Step(COPIES, loss, sweeping.collect_inputs(place, rows=count, shuffle=SHUFFLE), compute)


def _deviation(
    loss: str, way: str, strength: float, matrix: sparse.csr_matrix, labels: FloatArray, weights: FloatArray
) -> float:
    """The largest difference of a prediction, over the largest prediction; infinite if one diverges."""
    order = np.repeat(np.arange(len(labels)), weights.astype(np.int64))
    learn = _learn_units if way == UNITS else _learn
    with np.errstate(all="ignore"):
        one = matrix @ learn(loss, way, strength, matrix, labels, weights)
        other = matrix @ learn(loss, way, strength, matrix[order], labels[order], np.ones(len(order)))
        found = float(np.abs(one - other).max() / np.abs(other).max())
    return found if math.isfinite(found) else math.inf


def _learn_units(
    loss: str, way: str, strength: float, matrix: sparse.csr_matrix, labels: FloatArray, weights: FloatArray
) -> FloatArray:
    """The weights of the library's learner, which pays L2 once for each unit of weight."""
    settings = Settings(
        loss=losses.by_name(loss), scaling="row_norm", learning_rate=RATE, l2=strength, bias=False,
        dtype="float64",
    )  # fmt: skip
    learner = Learner(settings, matrix.shape[1])
    learner.learn(examples(matrix, labels, weights))
    return np.asarray(learner.model.coefficients(), np.float64)


def _learn(
    loss: str, way: str, strength: float, matrix: sparse.csr_matrix, labels: FloatArray, weights: FloatArray
) -> FloatArray:
    """The weights after one pass, stored as scale · v, at a rate of `RATE` divided by x·x."""
    update, convex = updates.by_name("explicit" if way == EXPLICIT else "invariant"), losses.by_name(loss)
    v, scale = np.zeros(matrix.shape[1]), 1.0
    for row in range(len(labels)):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        places, x = matrix.indices[span], matrix.data[span].astype(np.float64)
        p, y, u = scale * float(v[places] @ x), float(labels[row]), RATE * float(weights[row])
        if way == JOINT:
            kept, end = solve_squared(p, y, u, strength)
        else:
            kept = 1.0 / (1.0 + u * strength)
            end = kept * (p + update.change(convex, p, y, u))
        scale *= kept
        if len(x) > 0:
            v[places] += (end - kept * p) / float(x @ x) / scale * x
        if scale < 1e-100:
            v, scale = scale * v, 1.0
    return scale * v


def solve_squared(p: float, y: float, u: float, strength: float) -> tuple[float, float]:
    """The share that is kept of all weights, and the prediction, after dp/du = y − p − λp.

    >>> solve_squared(p=0.0, y=1.0, u=1.0, strength=1.0)
    (0.36787944117144233, 0.43233235838169365)
    """
    rest = y / (1.0 + strength)
    return math.exp(-strength * u), rest + (p - rest) * math.exp(-(1.0 + strength) * u)
