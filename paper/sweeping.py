"""Every setting of a grid on one shuffle of one data set: the rows that several studies are made of."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from paper import data
from paper.study import Row
from steelyard import OnlineClassifier, Sweep

LOSSES = ("squared", "logistic", "hinge", "quantile")
UPDATES = ("explicit", "implicit", "invariant")
SCHEDULES: Mapping[str, Sequence[float]] = {
    "learning_rate": [2.0**k for k in range(11)],
    "initial_t": [10.0**k for k in range(9)],
    "power_t": [0.5, 1.0],
}
"""The paper's 198."""

HOLDOUT = 5
"""Of so many rows, one is for the test."""


def shuffled(
    place: str, shuffle: int, most: int | None = None, unit: bool = False
) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    """The rows of a data set in random order, all or the first so many; `unit`: each of length 1."""
    found = data.load(place)
    order = np.random.default_rng(shuffle).permutation(len(found.labels))[:most]
    matrix = found.matrix[order]
    return normalize(matrix) if unit else matrix, found.labels[order]


def swept(
    place: str,
    shuffle: int,
    classifier: OnlineClassifier,
    grid: Mapping[str, Sequence[Any]],
    *,
    most: int | None = None,
    unit: bool = False,
) -> list[Row]:
    """A row for every point of the grid: one pass, and the accuracy on every fifth row, which is held out."""
    matrix, labels = shuffled(place, shuffle, most, unit)
    sweep = Sweep(classifier, grid, holdout=HOLDOUT, refit=False).fit(matrix, labels)
    tested = len(labels) // HOLDOUT
    common: Row = {
        "data": data.name(place),
        "loss": str(classifier.loss),
        "shuffle": shuffle,
        "tested": tested,
    }
    return [
        {
            **common,
            **point,
            "accuracy": float(found["held_out_accuracy"]),
            "progressive_loss": float(found["progressive_loss"]),
            "progressive_error": float(found["progressive_error"]),
            "diverged": bool(found["diverged"]),
        }
        for point, found in _points(sweep.cv_results_)
    ]


def inputs(place: str, **others: Any) -> dict[str, Any]:
    """What a step depends on that goes through this file."""
    return {"data": data.digest(place), "sweeping": data.file_digest(Path(__file__)), **others}


def _points(columns: Mapping[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    names = ("held_out_accuracy", "progressive_loss", "progressive_error", "diverged")
    return [
        (point, {name: columns[name][place] for name in names})
        for place, point in enumerate(columns["params"])
    ]
