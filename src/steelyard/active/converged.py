"""A refit that converges: the minimum of the loss of all answers, with both classes alike in weight.

The averaged refit of `labelled` passes over the answers once in each order. That resists wrong labels, but
with few answers of a rare class it stops far from the minimum. Here L-BFGS finds

    min over w, b of ½·|w|² + C·Σ cᵢ·ℓ(w·xᵢ + b, yᵢ),   cᵢ = n/(2·n_class),

over the features that the answers have.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from steelyard.examples import Examples
from steelyard.learn import linear
from steelyard.learn.rows import fill_pairs
from steelyard.learner import Learner
from steelyard.model import Model, Settings
from steelyard.numba_tools import jit

STRENGTH = 0.1  # C: how much the answers weigh against short coefficients
_MOST_STEPS = 200

Array = NDArray[np.float64]


def minimum(settings: Settings, rows: Examples) -> Model:
    """The model with the least loss; what decides its next steps is that of one pass over the rows."""
    learner = Learner(settings, rows.features)
    learner.learn(rows)
    model = learner.model
    features, places = np.unique(rows.indices, return_inverse=True)
    matrix = sparse.csr_matrix(
        (rows.values.astype(np.float64), places, rows.indptr), (len(rows), len(features))
    )
    found = _minimize(settings, matrix, rows.labels, _balanced(rows.labels, rows.sample_weight))
    model.raw_coefficients[...] = 0.0
    model.raw_coefficients[features] = found[:-1]
    model.state[[linear.SCALE, linear.L1_TOTAL, linear.BIAS, linear.BIAS_LAG]] = 1.0, 0.0, found[-1], 0.0
    return model


def _balanced(labels: Array, weights: Array) -> Array:
    """Weights with the same sum for each class."""
    sums = {label: weights[labels == label].sum() for label in np.unique(labels)}
    balanced: Array = weights * weights.sum() / (len(sums) * np.array([sums[label] for label in labels]))
    return balanced


def _minimize(settings: Settings, matrix: sparse.csr_matrix, labels: Array, weights: Array) -> Array:
    value, slope = (jit.pointer(settings.loss, name) for name in ("value", "derivative"))
    out, costs = np.empty(len(labels)), STRENGTH * weights
    turned = matrix.T.tocsr()

    def cost(at: Array) -> tuple[float, Array]:
        predictions = matrix @ at[:-1] + at[-1] * settings.bias
        fill_pairs(value, predictions, labels, out)
        total = float(costs @ out) + 0.5 * float(at[:-1] @ at[:-1])
        fill_pairs(slope, predictions, labels, out)
        pushes = costs * out
        return total, np.append(turned @ pushes + at[:-1], pushes.sum() * settings.bias)

    start = np.zeros(matrix.shape[1] + 1)
    found: Array = optimize.minimize(
        cost, start, jac=True, method="L-BFGS-B", options={"maxiter": _MOST_STEPS, "gtol": 1e-4}
    ).x
    return found
