"""`CrossFit`: the learner in several lanes, each of which leaves out rows of its own, to be scored by it.

Row t (numbered from 0 over the whole stream) is left out by lane t mod K, so every paid label has one lane
that never learned it, and every lane learns (K − 1)/K of the labels. The average risk of the lanes is what
the scores estimate. It is the risk of one who answers each row with a lane drawn at random; for a convex
loss the average prediction of all lanes, `predict`, is at least as good as that (Jensen), for errors
usually so.

What the scores do not see: *which* labels a lane learned from may depend on the label that is being scored,
if questions are chosen with a model that learned it. That leak is second-hand, flatters by a few hundredths
of the error, and fades with more labels (measured in docs/estimates.md). Rows of an audit, neither learned
nor used for choosing questions, have no leak at all; nor have two learners that ask on their own, each on
one half of the stream, and are scored on the other's.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.active.confidence import Array
from steelyard.engine.model_set import ModelSet
from steelyard.examples import Examples
from steelyard.model import Settings

LANES = 10


class CrossFit:
    """Learns one stream, or passes over parts of it, in K lanes abreast."""

    def __init__(self, settings: Settings, features: int, lanes: int = LANES) -> None:
        if lanes < 2:
            raise ValueError(
                f"it takes 2 lanes or more, so that one can leave out what others learn; got {lanes}"
            )
        self.lanes = lanes
        self.fleet = ModelSet([settings] * lanes, features)

    def learn(self, examples: Examples, numbers: NDArray[np.int64]) -> None:
        """Learn the rows, whose numbers in the stream are given, in all lanes but their own."""
        own = self._own(examples, numbers)
        sample_weight = np.repeat(examples.sample_weight[:, np.newaxis], self.lanes, axis=1)
        sample_weight[np.arange(len(own)), own] = 0.0
        self.fleet.learn(examples, sample_weight=sample_weight)

    def held_out(self, examples: Examples, numbers: NDArray[np.int64]) -> Array:
        """The prediction of each row by the lane that leaves it out."""
        own = self._own(examples, numbers)
        predictions: Array = self.fleet.predict(examples)[np.arange(len(own)), own]
        return predictions

    def predict(self, examples: Examples) -> Array:
        """The average prediction of all lanes."""
        predictions: Array = self.fleet.predict(examples).mean(axis=1)
        return predictions

    def _own(self, examples: Examples, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        if numbers.shape != (len(examples),):
            raise ValueError(
                f"there are {len(examples)} rows, but numbers of the stream in the shape {numbers.shape}"
            )
        return numbers % self.lanes
