"""Small problems for sweeps."""

import numpy as np

from steelyard.examples import Examples, examples

FEATURES = 12


def two_classes(rows: int = 300, seed: int = 0) -> Examples:
    """Sparse rows of the classes 0 and 1, of different weights."""
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(rows, FEATURES)) * (random.random((rows, FEATURES)) < 0.5)
    labels = (matrix @ np.linspace(-1.0, 1.0, FEATURES) + 0.3 * random.normal(size=rows) > 0.0).astype(float)
    return examples(matrix, labels, random.choice([0.5, 1.0, 3.0], rows))


def numbers(rows: int = 300, seed: int = 0) -> Examples:
    """Labels that are numbers."""
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(rows, FEATURES))
    return examples(matrix, matrix @ np.linspace(-1.0, 1.0, FEATURES) + 0.1 * random.normal(size=rows))


def many_classes(rows: int = 300, seed: int = 0) -> Examples:
    """Three classes, by number."""
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(rows, FEATURES))
    return examples(matrix, matrix[:, :3].argmax(axis=1).astype(float))
