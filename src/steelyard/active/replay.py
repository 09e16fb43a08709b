"""A labelled stream as if its labels had to be paid for: none is read but those that are asked for."""

from collections.abc import Callable

import numpy as np

from steelyard.active.engine import Engine
from steelyard.examples import Examples

_FEWEST, _MOST = 16, 256  # rows that are scored before it is known which is the next question


def replay(engine: Engine, examples: Examples, label: Callable[[int], float]) -> None:
    """Consider all rows in order, each question answered before the next row comes.

    `label(row)` is called for rows that are asked for, and for no other.
    """
    begin = engine.seen
    size = _MOST if engine.plan.c0 is not None else int(np.clip(2.0 / engine.plan.share, _FEWEST, _MOST))
    while (row := engine.seen - begin) < len(examples):
        ahead = examples.take(np.arange(row, min(row + size, len(examples))))
        for question in engine.consider(ahead, first_only=True):
            engine.answer([question.id], [label(question.id - begin)])
