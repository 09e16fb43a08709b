"""`LeftOut`: the learner once for each lane, on all answers but the lane's own, to score those honestly.

Question number i (of those asked, from 0) is left out by lane i mod K. With one lane nothing is left out:
that is the model itself, for rows that it never learns.

The rows of the answers have few features beside those that there are, so lanes know these few only: a
million weights ten times over would cost more than the learning.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.active.crossfit import LANES
from steelyard.active.labelled import Labelled, refitted
from steelyard.active.wealth import Array
from steelyard.examples import Examples
from steelyard.learner import Learner

Numbers = NDArray[np.int64]


class LeftOut:
    """Of the first `count` answers."""

    def __init__(self, labelled: Labelled, count: int, lanes: int = LANES) -> None:
        self._labelled, self._lanes = labelled, lanes
        rows = labelled.taken(0, count)
        self._features = np.unique(rows.indices)
        known = self._within(rows)
        own = labelled.places[:count] % lanes
        self._learners = [
            Learner(
                model=refitted(
                    labelled.settings, labelled.training, known, own == lane if lanes > 1 else None
                )
            )
            for lane in range(lanes)
        ]

    def predict(self, places: Numbers) -> Array:
        """w·x of rows that are kept, each by the lane that has not learned it."""
        nothing = np.zeros(len(places))
        rows = self._within(self._labelled.rows.take(places, nothing, nothing))
        predictions = np.empty(len(places))
        for lane, learner in enumerate(self._learners):
            own = np.flatnonzero(places % self._lanes == lane)
            predictions[own] = learner.predict(rows.take(own))
        return predictions

    def _within(self, rows: Examples) -> Examples:
        """The rows with the features that were learned, which are numbered anew."""
        found = np.searchsorted(self._features, rows.indices)
        known = np.append(self._features, -1)[found] == rows.indices
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])[rows.indptr]
        return Examples(
            indptr, found[known].astype(np.int32), rows.values[known], False, len(self._features),
            rows.labels, rows.sample_weight,
        )  # fmt: skip
