"""Rows with weights, the same rows as copies and in parts, and how far their models are apart."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from steelyard.examples import Examples, examples
from steelyard.learn import linear
from steelyard.learner import Learner
from steelyard.losses import Loss
from steelyard.settings import Settings
from tests.support.streams import labels_for

Numbers = NDArray[np.float64]
FEATURES = 10


def rows(loss: Loss, seed: int, count: int = 16) -> tuple[sparse.csr_array, Numbers, np.random.Generator]:
    """Counts, heavy tails, features that come late or never, and a column that is never absent."""
    rng = np.random.default_rng(seed)
    dense = np.round(3.0 * rng.random((count, FEATURES))) * (rng.random((count, FEATURES)) < 0.4)
    dense[:, 0] = rng.normal(50.0, 3.0, count)
    dense[:, 1] *= rng.normal(size=count)
    dense[:, 2] *= rng.exponential(size=count) ** 3
    return sparse.csr_array(dense), labels_for(loss, rng, count), rng


def whole(rng: np.random.Generator, count: int) -> Numbers:
    return rng.integers(1, 12, count).astype(float)


def broken(rng: np.random.Generator, count: int) -> Numbers:
    return np.where(rng.random(count) < 0.2, 1.0, rng.uniform(0.01, 4.0, count))


def of_all_sizes(rng: np.random.Generator, count: int) -> Numbers:
    weights: Numbers = 10.0 ** rng.uniform(-3.0, 6.0, count)
    return weights


def cut(weights: Numbers, rng: np.random.Generator) -> tuple[NDArray[np.int64], Numbers]:
    """Each weight in one to four random parts: the number of the row, and the part."""
    counts = rng.integers(1, 5, len(weights))
    parts = [rng.dirichlet(np.ones(count)) * weight for count, weight in zip(counts, weights, strict=True)]
    return np.repeat(np.arange(len(weights)), counts), np.concatenate(parts)


def learner(settings: Settings, clock: float = 0.0) -> Learner:
    """A new model, or one that was taught so much that it did not learn from."""
    new = Learner(settings, FEATURES)
    state, seen = new.model.state, new.model.class_state
    state[linear.CLOCK] = clock
    state[linear.SEEN] = state[linear.SEEN_START] = clock
    state[linear.NORM] = state[linear.NORM_START] = 3.0 * clock
    seen[:2] = (clock, clock / 3.0)[: len(seen)]
    return new


def taught(settings: Settings, rows: Examples, clock: float = 0.0) -> Learner:
    new = learner(settings, clock)
    new.learn(rows)
    return new


def apart(one: Learner, other: Learner, matrix: Any) -> float:
    """The difference of predictions relative to their size; in float32 the root mean square of it."""
    p, q = (each.predict(examples(matrix)) for each in (one, other))
    if one.model.settings.dtype == "float32":
        return float(np.sqrt(np.square(p - q).mean() / np.square(p).mean()))
    return float(np.abs(p - q).max() / np.abs(p).max())
