"""Relevance first, for screening: read what is probably relevant, so that little else has to be read."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard._array_types import Floats
from steelyard.active.converged_refit import minimum
from steelyard.active.labelled_rows import LabelledRows
from steelyard.active.strategies._base import Strategy
from steelyard.examples import Examples, join
from steelyard.learner import Learner
from steelyard.losses import decision_point
from steelyard.model import Model

PICKS, PRESUMED = 0.01, 100
_STRENGTH, _RELEVANT = 0.6, 10.0  # of the fit that ranks; the weight of the relevant, that of others being 1


@dataclass
class Relevance(Strategy):
    """Asks for the rows that are most probably of the positive class.

    A small share is picked at random from the unread rows of a pool: the proof of recall is made from those
    (see `RecallTest` in `active/sequential_tests.py`), and nothing relevant stays out of sight for ever.
    Until a relevant row is known, all rows are picked so; `teach` some to begin with. In a stream it asks for
    rows above a score that is set by the last 256 rows. Nothing can be estimated from these labels alone,
    except recall by the certificate.

    The model that ranks a pool is not the one that predicts. It takes some unread rows as not relevant, since
    nearly all of them are not: answers are about what looked relevant, and say little about the rest. And
    relevant rows weigh most, so that a few of a new kind count among many that were rejected.
    """

    picks: float = PICKS
    presumed: int = PRESUMED
    """How many unread rows are taken as not relevant, if refits are balanced."""
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

    def can_rank(self, labelled: LabelledRows, count: int) -> bool:
        if self._presumes(labelled):
            return labelled.codes[self.second] in labelled.kinds(count)
        return super().can_rank(labelled, count)

    def _presumes(self, labelled: LabelledRows) -> bool:
        return self.presumed > 0 and labelled.training.fit == "balanced"

    def rank_by(self, labelled: LabelledRows, count: int, unread: Examples) -> list[Model]:
        if not self._presumes(labelled):
            return labelled.refit(count)
        relevant, other = labelled.codes[self.second], labelled.codes[not self.second]
        rows = join([labelled.examples(0, count), replace(unread, labels=np.full(len(unread), other))])
        is_relevant, weights = rows.labels == relevant, rows.sample_weight
        shares = np.where(is_relevant, _RELEVANT, 1.0) / (1.0 + _RELEVANT)
        sums = np.where(is_relevant, weights[is_relevant].sum(), weights[~is_relevant].sum())
        return [minimum(labelled.settings, rows, _STRENGTH * weights.sum() * shares * weights / sums)]

    def score(self, model: Model, examples: Examples) -> tuple[Floats, Floats]:
        predictions = Learner(model=model).predict(examples)
        ahead = predictions - decision_point(model.settings.loss)
        return (-ahead if self.second else ahead), predictions

    def choose(self, scores: Floats, k: int | NDArray[np.int64], asked: int) -> Floats:
        return np.where(scores <= self.bound, 1.0, 0.0)

    def adjust(self, share: float, k: int) -> None:
        place = min(int(share * len(self.window)), len(self.window) - 1)
        self.bound = float(np.sort(self.window)[place])
