"""A plain reader of Vowpal Wabbit's text for tests: labels, weights, namespaces, values."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse


def data_file(name: str) -> Path:
    """A file of the data folder, or skip the test."""
    path = Path(os.environ.get("STEELYARD_DATA", "../shared/data")) / name
    if not path.exists():
        pytest.skip(f"needs {name} in the folder named by STEELYARD_DATA")
    return path


def read(path: Path) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Features (a column for each namespace and name as they appear), labels and sample_weight."""
    columns: dict[tuple[str, str], int] = {}
    indptr, indices, values, labels, sample_weight = [0], [], [], [], []
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as lines:
        for line in lines:
            head, *namespaces = line.split("|")
            numbers = [part for part in head.split() if not part.startswith("'")]
            labels.append(float(numbers[0]))
            sample_weight.append(float(numbers[1]) if len(numbers) > 1 else 1.0)
            for text in namespaces:
                namespace = "" if text[:1] in (" ", "") else text.split()[0]
                for feature in text.split()[1 if namespace else 0 :]:
                    name, _, value = feature.partition(":")
                    indices.append(columns.setdefault((namespace, name), len(columns)))
                    values.append(float(value or 1.0))
            indptr.append(len(indices))
    matrix = sparse.csr_array((values, indices, indptr), (len(labels), len(columns)))
    return matrix, np.array(labels), np.array(sample_weight)
