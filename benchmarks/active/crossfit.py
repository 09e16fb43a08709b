"""`CrossFit`: cross-validation of a stream: lanes each of which leaves out rows of its own, to score them.

Row t (numbered from 0 over the whole stream) is left out by lane t mod K, so every paid label has one lane
that never learned it, and every lane learns (K − 1)/K of the labels. The scores estimate the average risk of
the lanes. That is the risk of answering each row with a random lane; for a convex loss the average prediction
of all lanes, `predict`, is at least as good (Jensen), for errors usually.

The scores do not see one leak: *which* labels a lane learned from may depend on the label that is being
scored, if questions are chosen with a model that learned it. The leak makes the error look better by a few
hundredths of it, and fades with more labels (measured in docs/estimates.md). Rows of an audit, neither
learned nor used for choosing questions, have no leak; nor have two learners that ask on their own, each on
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
    """Learns one stream, or passes over parts of it, in K lanes side by side."""

    def __init__(self, settings: Settings, features: int, lanes: int = LANES) -> None:
        if lanes < 2:
            raise ValueError(f"cross-validation takes 2 lanes or more; got {lanes}")
        self.lanes = lanes
        self.models = ModelSet([settings] * lanes, features)

    def learn(self, examples: Examples, numbers: NDArray[np.int64]) -> None:
        """Learn rows, given their numbers in the stream, in all lanes but their own."""
        own = self._own(examples, numbers)
        sample_weight = np.repeat(examples.sample_weight[:, np.newaxis], self.lanes, axis=1)
        sample_weight[np.arange(len(own)), own] = 0.0
        self.models.learn(examples, sample_weight=sample_weight)

    def held_out(self, examples: Examples, numbers: NDArray[np.int64]) -> Array:
        """The prediction of each row by the lane that leaves it out."""
        own = self._own(examples, numbers)
        predictions: Array = self.models.predict(examples)[np.arange(len(own)), own]
        return predictions

    def predict(self, examples: Examples) -> Array:
        """The average prediction of all lanes."""
        predictions: Array = self.models.predict(examples).mean(axis=1)
        return predictions

    def _own(self, examples: Examples, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        if numbers.shape != (len(examples),):
            raise ValueError(
                f"there are {len(examples)} rows, but numbers of the stream in the shape {numbers.shape}"
            )
        return numbers % self.lanes
