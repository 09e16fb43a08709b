"""The approaches to weighted rows: those of Section 2, and the paper's own.

    learned = learn("costing", matrix, labels, weights, rate=0.1, seed=0)
    learned.seconds, learned.odds(test)

A rate is meant for rows of mean weight 1: an approach that uses the weights gets it divided by their mean, so
that the same rate means the same total push everywhere. It is constant, and divided by x·x, as in the paper.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from steelyard import OnlineClassifier, WeightWarning

Floats = NDArray[np.float64]

RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
UPDATES = ("explicit", "implicit", "invariant")
MEMBERS = 10
"""The number of predictors in costing."""

_TOGETHER = 20_000_000  # values of copies held in memory at once


@dataclass
class LearnedModels:
    """One predictor or several, and the cost of learning them."""

    members: list[OnlineClassifier]
    seconds: float = 0.0
    """Processor time, for learning only."""
    updates: int = 0

    def odds(self, matrix: Any) -> Floats:
        """Log-odds of the label 1; with several predictors, of the mean of their probabilities."""
        each = np.array([member.decision_function(matrix) for member in self.members])
        if len(each) == 1:
            return np.asarray(each[0])
        positive, negative = (logsumexp(-np.logaddexp(0.0, sign * each), axis=0) for sign in (-1.0, 1.0))
        return np.asarray(positive - negative)


def classifier(update: str, rate: float) -> OnlineClassifier:
    return OnlineClassifier(
        "logistic",
        update=update,
        scaling="row_norm",
        learning_rate=rate,
        calibrate=False,  # the figures are about the probabilities of the loss
        weight_scale="as_given",
        passes=1,
        shuffle=False,
    )


def learn(
    approach: str, matrix: Any, labels: Floats, weights: Floats, *, rate: float, seed: int
) -> LearnedModels:
    """Learn with an approach: an update, which uses the weights, or one that works without them."""
    if approach == "ignored":
        return _learn_samples([classifier("explicit", rate)], [(matrix, labels, None)])
    if approach == "copies":
        return _learn_copies(matrix, labels, weights, rate / float(weights.mean()))
    if approach in ("rejection", "costing"):
        members = MEMBERS if approach == "costing" else 1
        kept = [_sample_rows(weights, [seed, member]) for member in range(members)]
        samples = [(matrix[rows], labels[rows], None) for rows in kept]
        return _learn_samples([classifier("explicit", rate) for _ in kept], samples)
    return _learn_samples([classifier(approach, rate / float(weights.mean()))], [(matrix, labels, weights)])


@contextmanager
def large_weights() -> Iterator[None]:
    """Silence the warnings about large weights: they are the subject here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeightWarning)
        yield


def _sample_rows(weights: Floats, seed: Sequence[int]) -> NDArray[np.intp]:
    """Sample rows, each with a probability of its weight over the largest weight."""
    random = np.random.default_rng(seed)
    return np.flatnonzero(random.uniform(size=len(weights)) * weights.max() < weights)


def _learn_copies(matrix: Any, labels: Floats, weights: Floats, rate: float) -> LearnedModels:
    """Learn each row as often as its weight says, a whole number, in parts that fit into memory."""
    copies = weights.astype(np.int64)
    learned = LearnedModels([classifier("explicit", rate)])
    rows = np.arange(len(copies)).repeat(copies)
    together = max(1, int(_TOGETHER * len(copies) / max(1, matrix.nnz)))
    for first in range(0, len(rows), together):
        part = rows[first : first + together]
        _teach(learned, 0, matrix[part], labels[part], None)
    return learned


def _learn_samples(
    members: list[OnlineClassifier], samples: Sequence[tuple[Any, Floats, Floats | None]]
) -> LearnedModels:
    learned = LearnedModels(members)
    for place, (matrix, labels, weights) in enumerate(samples):
        _teach(learned, place, matrix, labels, weights)
    return learned


def _teach(learned: LearnedModels, place: int, matrix: Any, labels: Floats, weights: Floats | None) -> None:
    with large_weights():
        start = time.process_time()
        learned.members[place].partial_fit(matrix, labels, classes=[-1.0, 1.0], sample_weight=weights)
        learned.seconds += time.process_time() - start
    learned.updates += len(labels)
