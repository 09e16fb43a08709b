"""Relevance first, for screening: read what is probably relevant, so that little else has to be read."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.active.strategies._base import Column, Strategy
from steelyard.examples import Examples
from steelyard.learner import Learner
from steelyard.losses import decision_point
from steelyard.model import Model

PICKS = 0.05


@dataclass
class Relevance(Strategy):
    """Asks for the rows that are most probably of the positive class.

    A small share is picked at random from the unread rows of a pool: the proof of recall is made from those
    (see `steelyard.active.certificates.RecallTest`), and nothing relevant stays out of sight for ever. Until
    answers of both classes are there, all rows are picked so; `teach` some relevant ones to begin with. In a
    stream it asks for rows above a score that is set by the last 256 rows. Nothing can be estimated from
    these labels alone, except recall by the certificate.
    """

    picks: float = PICKS
    second: bool = True
    """Whether the second class is the positive one; `ActiveClassifier` sets it."""

    summary = "the rows that are most probably relevant, for screening; a few at random"
    randomized = False
    ranks_pool = True
    refit = "balanced"

    def __post_init__(self) -> None:
        if not 0.0 < self.picks < 1.0:
            raise ValueError(f"the share of random picks lies between 0 and 1; got {self.picks!r}")

    def toward(self, *, second: bool) -> "Relevance":
        return replace(self, second=second)

    def score(self, model: Model, examples: Examples) -> tuple[Column, Column]:
        predictions = Learner(model=model).predict(examples)
        ahead = predictions - decision_point(model.settings.loss)
        return (-ahead if self.second else ahead), predictions

    def choose(self, scores: Column, k: int | NDArray[np.int64], asked: int) -> Column:
        return np.where(scores <= self.bound, 1.0, 0.0)

    def adjust(self, share: float, k: int) -> None:
        place = min(int(share * len(self.window)), len(self.window) - 1)
        self.bound = float(np.sort(self.window)[place])
