"""Small random streams for tests."""

import os

import numpy as np
from scipy import sparse

from steelyard.losses import Loss, OneOf


def compiled(rows: int) -> int:
    """So many rows for kernels that are compiled, a fifth of them where they run as plain Python."""
    return rows if os.environ.get("NUMBA_DISABLE_JIT", "0") == "0" else rows // 5


def labels_for(loss: Loss, rng: np.random.Generator, count: int) -> np.ndarray:
    if isinstance(loss.labels, OneOf):
        return rng.choice(loss.labels.values, count)
    return rng.normal(size=count)


def stream(
    loss: Loss, seed: int = 0, rows: int = 60, features: int = 12, nonzeros: int = 5
) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Sparse rows in any index order, labels that fit the loss, weights of many sizes, some of them 0."""
    rng = np.random.default_rng(seed)
    indices = np.concatenate([rng.permutation(features)[:nonzeros] for _ in range(rows)])
    values = rng.normal(size=rows * nonzeros) * np.exp(rng.normal(size=features))[indices]
    values[rng.random(len(values)) < 0.05] = 0.0
    ends = np.arange(rows + 1, dtype=np.int32) * np.int32(nonzeros)
    # of 32 bits, as those of dense rows are: kernels for others would be compiled for these tests alone
    matrix = sparse.csr_array((values, indices.astype(np.int32), ends), (rows, features))
    sample_weight = np.exp(rng.normal(size=rows) * 1.5)
    sample_weight[rng.random(rows) < 0.1] = 0.0
    return matrix, labels_for(loss, rng, rows), sample_weight
