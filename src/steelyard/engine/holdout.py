"""Which rows are held out: every Nth, or a share drawn from a seed. Both depend on the row's number only.

So the same rows of the same files are held out whatever the size of blocks, the threads or the pass, and they
can be found again after training.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._parameters import Message, bare

_PURPOSE = 1  # added to the seed, so that shuffling with the same seed draws other numbers


class Share(NamedTuple):
    """Each row is held out with this probability."""

    share: float
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.share:g} (seed {self.seed})"


Holdout = int | Share | None


def parse(value: Any, seed: int = 0) -> Holdout:
    """Make a holdout from what a user gives: 10 for every tenth row, 0.1 for a random tenth."""
    if value is None or (isinstance(value, Integral) and int(value) >= 2):
        return None if value is None else int(value)
    if isinstance(value, Real) and 0.0 < float(value) < 1.0:
        return Share(float(value), seed)
    raise ValueError(
        Message(
            bare("holdout"), " must be 2 or more, for every Nth row, or between 0 and 1, for a random share of the "
            f"rows; got {value!r}",
        )
    )  # fmt: skip


def from_json(value: Any) -> Holdout:
    return Share(float(value[0]), int(value[1])) if isinstance(value, list) else value


def marker(holdout: Holdout) -> Callable[[int], NDArray[np.bool_]]:
    """Make a function that takes the number of rows that come next, and marks those held out."""
    row = 0
    random = np.random.default_rng([holdout.seed, _PURPOSE]) if isinstance(holdout, Share) else None

    def mark(count: int) -> NDArray[np.bool_]:
        nonlocal row
        if holdout is None:
            return np.zeros(count, bool)
        if isinstance(holdout, Share):
            assert random is not None
            drawn: NDArray[np.bool_] = random.random(count) < holdout.share
            return drawn
        numbers = np.arange(row + 1, row + count + 1)
        row += count
        every: NDArray[np.bool_] = numbers % holdout == 0
        return every

    return mark
