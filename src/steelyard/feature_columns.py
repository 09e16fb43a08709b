"""`FeatureColumns`: which features are columns of numbers, measured from an origin (see `learn.units`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import Examples
from steelyard.learn import origins

MOST = 4096  # columns: those beyond are measured from 0


class FeatureColumns:
    """The columns that were found, with their origins, and the candidates that may yet become columns."""

    def __init__(self, features: int, dtype: str) -> None:
        self.origins = np.zeros(features, dtype)
        self.columns = np.zeros(min(features, MOST), np.int64)
        self.candidates = np.zeros((min(features, MOST), origins.CANDIDATE_SIZE))
        self.counts = np.zeros(2, np.int64)
        """The numbers of columns and of candidates: the rest of their arrays means nothing."""

    @property
    def found(self) -> NDArray[np.int64]:
        """The features that have an origin."""
        return self.columns[: self.counts[0]]

    def begin(self, examples: Examples, row: int, known_units: NDArray[Any]) -> None:
        """Begin with the first row: its features are the candidates, unless their units are known beforehand."""
        if len(self.origins):
            here = slice(examples.indptr[row], examples.indptr[row + 1])
            features = examples.indices if examples.dense else examples.indices[here]
            candidates = origins.candidates(features, examples.values[here], known_units)[:MOST]
            self.candidates[: len(candidates)] = candidates
            self.counts[1] = len(candidates)

    @property
    def arrays(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
        """The arrays that kernels take."""
        return self.origins, self.columns, self.candidates, self.counts


def bytes_needed(features: int, dtype: str) -> int:
    """The bytes that all arrays take."""
    return features * np.dtype(dtype).itemsize + min(features, MOST) * 8 * (1 + origins.CANDIDATE_SIZE)
