"""`replay`: a labelled stream, considered as if its labels had to be paid for."""

from collections.abc import Callable

import numpy as np

from steelyard.active.learner import ActiveLearner
from steelyard.examples import Examples

_FEWEST, _MOST = 16, 256  # rows that are scored ahead of the next question


def replay(learner: ActiveLearner, examples: Examples, label: Callable[[int], float]) -> None:
    """Consider a labelled stream in order, each question answered before the next row comes.

    `label(row)` is called for rows that are asked for, and for no others.
    """
    begin, plan = learner.seen, learner.plan
    size = _MOST if plan.c0 is not None else int(np.clip(2.0 / plan.share, _FEWEST, _MOST))
    while (row := learner.seen - begin) < len(examples):
        ahead = examples.take(np.arange(row, min(row + size, len(examples))))
        for query in learner.consider(ahead, first_only=True):
            learner.answer([query.id], [label(query.id - begin)])
