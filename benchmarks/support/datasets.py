"""The data sets of the benchmark: the generated one, and RCV1 where it is at hand."""

import lzma
import os
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.support.generate import DataSet

RCV1_FILE = "rcv1-ccat.svm.xz"


def rcv1() -> DataSet | None:
    """rcv1-ccat from the folder named by STEELYARD_DATA; None where it is absent."""
    folder = os.environ.get("STEELYARD_DATA")
    path = Path(folder) / RCV1_FILE if folder else None
    if path is None or not path.exists():
        return None
    from sklearn.datasets import load_svmlight_file

    with lzma.open(path) as file:
        matrix, labels = load_svmlight_file(file, dtype=np.float32)
    rows = sparse.csr_array(matrix)
    rows.sort_indices()
    rows.indptr, rows.indices = rows.indptr.astype(np.int32), rows.indices.astype(np.int32)
    order = np.random.default_rng(1).permutation(rows.shape[0])
    return DataSet("rcv1-ccat", rows[order], np.where(labels > 0.0, 1.0, -1.0)[order])
