"""A stream with two classes that can be learned, and a learner that is answered at once."""

from typing import Any

import numpy as np
from scipy import sparse

from steelyard import losses
from steelyard.active import strategies
from steelyard.active.journal import Journal
from steelyard.active.labelled_rows import RefitPlan
from steelyard.active.learner import ActiveLearner
from steelyard.active.strategies._base import BudgetPlan
from steelyard.examples import Examples, examples
from steelyard.model import Settings

SETTINGS = Settings(losses.by_name("modified_huber"), scaling="normalized", follow_labels=False)
FEATURES = 40


def rows(count: int, seed: int = 0, noise: float = 0.0) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Sparse rows, and labels −1 and 1 by a hidden weight of each feature."""
    rng = np.random.default_rng(seed)
    matrix = sparse.random(count, FEATURES, 0.2, "csr", np.float32, random_state=rng)
    hidden = np.random.default_rng(99).normal(size=FEATURES)
    labels = np.where(matrix @ hidden + noise * rng.normal(size=count) > 0.0, 1.0, -1.0)
    return matrix, labels


def learner(journal: Journal | None = None, *, settings: Settings = SETTINGS, **given: Any) -> ActiveLearner:
    training = RefitPlan(**{name: given.pop(name) for name in ("weights", "orders", "seed") if name in given})
    strategy = strategies.by_name(given.pop("strategy", "iwal"))
    chunk = given.pop("pool", None)
    pool = None if chunk is None else (chunk, np.arange(len(chunk)))
    plan = BudgetPlan(**(given or {"rate": 0.1}))
    return ActiveLearner(settings, FEATURES, plan, training, journal, strategy=strategy, pool=pool)


def answered(asking: ActiveLearner, chunk: Examples, labels: np.ndarray) -> ActiveLearner:
    """Every question answered before the next example comes."""
    begin = asking.seen
    while (at := asking.seen - begin) < len(chunk):
        ahead = chunk.take(np.arange(at, min(at + 50, len(chunk))))
        for question in asking.consider(ahead, first_only=True):
            asking.answer([question.id], [labels[question.id - begin]])
    return asking


def answered_from(asking: ActiveLearner, labels: np.ndarray, most: int = 10_000) -> list[int]:
    """Ask from a ranked pool, and answer at once; returns the rows in their order."""
    asked: list[int] = []
    while len(asked) < most and (query := asking.ask_from_pool()) is not None:
        asked.append(query.id)
        asking.answer([query.id], [labels[query.id]])
    return asked


def stream(count: int, seed: int = 0, noise: float = 0.0) -> tuple[Examples, np.ndarray]:
    matrix, labels = rows(count, seed, noise)
    return examples(matrix), labels
