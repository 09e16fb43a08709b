"""A generated text-like matrix: the shape of RCV1, made in a few seconds from a seed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Frequencies fall as 1/(rank + _HEAD): without the offset every row would hold the few first words.
_HEAD = 20.0


@dataclass(frozen=True)
class DataSet:
    """Rows with labels of −1 and 1."""

    name: str
    rows: Any  # a csr_array: float32 values, int32 indices, sorted and unique within a row
    labels: NDArray[np.float64]

    @property
    def entries(self) -> int:
        """The number of stored features: what speed is counted in."""
        return int(self.rows.nnz)

    def head(self, rows: int) -> "DataSet":
        return DataSet(self.name, self.rows[:rows], self.labels[:rows])


def generate(rows: int = 200_000, features: int = 47_000, per_row: int = 70, seed: int = 1) -> DataSet:
    """Zipf-like columns in random order, row lengths that vary, values of unit norm, labels one can learn."""
    random = np.random.default_rng(seed)
    lengths = np.maximum(1, (per_row * 1.09 * random.lognormal(-0.125, 0.5, rows)).astype(np.int64))
    total = int(lengths.sum())
    # the inverse of the cumulated 1/(rank + _HEAD) is an exponential: no search needed
    ranks = _HEAD * (np.exp(random.random(total) * np.log1p(features / _HEAD)) - 1.0)
    columns = random.permutation(features)[np.minimum(ranks.astype(np.int64), features - 1)]
    keys = np.repeat(np.arange(rows), lengths) * features + columns
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    owners = keys // features
    indices = (keys - owners * features).astype(np.int32)
    indptr = np.searchsorted(owners, np.arange(rows + 1)).astype(np.int32)
    values = np.exp(random.standard_normal(len(keys), np.float32) * np.float32(0.5))
    norms = np.sqrt(np.add.reduceat(values * values, indptr[:-1]))
    values /= np.repeat(norms, np.diff(indptr))
    matrix = sparse.csr_array((values, indices, indptr), (rows, features))
    truth = random.standard_normal(features).astype(np.float32)
    margins = matrix @ truth + 0.3 * random.standard_normal(rows)
    return DataSet("generated", matrix, np.where(margins > 0.0, 1.0, -1.0))
