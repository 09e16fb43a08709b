"""Sweeps over a grid of settings, on one shuffle of one data set; several studies use their rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

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
"""The paper's 198 schedules."""

HOLDOUT = 5
"""Every fifth row is a test row; with an official test set the share differs."""


class Shuffled(NamedTuple):
    """Rows in random order; the last of every `every` rows is a test row."""

    matrix: sparse.csr_matrix
    labels: NDArray[np.float64]
    every: int


def load_shuffled(place: str, shuffle: int, most: int | None = None, unit: bool = False) -> Shuffled:
    """The rows of a data set, shuffled: all of them or the first `most`; with `unit`, scaled to length 1."""
    found = data.load(place)
    order, every = _order(found, shuffle, most)
    matrix = found.matrix[order]
    return Shuffled(normalize(matrix) if unit else matrix, found.labels[order], every)


def run_sweep(
    place: str,
    shuffle: int,
    classifier: OnlineClassifier,
    grid: Mapping[str, Sequence[Any]],
    *,
    most: int | None = None,
    unit: bool = False,
) -> list[Row]:
    """A row for every point of the grid, after one pass, with the accuracy on the held-out rows."""
    matrix, labels, every = load_shuffled(place, shuffle, most, unit)
    sweep = Sweep(classifier, grid, holdout=every, refit=False).fit(matrix, labels)
    tested = len(labels) // every
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


def collect_inputs(place: str, **others: Any) -> dict[str, Any]:
    """The inputs of a step that uses this module."""
    return {"data": data.digest(place), "sweeping": data.file_digest(Path(__file__)), **others}


def _order(found: data.Data, shuffle: int, most: int | None) -> tuple[data.Indices, int]:
    """The order of rows. An official test set is spread evenly among training rows; leftovers are dropped."""
    if found.first_test is None:
        return np.random.default_rng(shuffle).permutation(len(found.labels))[:most], HOLDOUT
    learned, tested = found.split(shuffle)
    tested = np.random.default_rng(shuffle).permutation(tested)
    if most is not None:
        tested = tested[: most // HOLDOUT]
        learned = learned[: most - len(tested)]
    between = max(1, len(learned) // len(tested))
    groups = min(len(tested), len(learned) // between)
    rows = learned[: groups * between].reshape(groups, between)
    return np.column_stack([rows, tested[:groups]]).ravel(), between + 1


def _points(columns: Mapping[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    names = ("held_out_accuracy", "progressive_loss", "progressive_error", "diverged")
    return [
        (point, {name: columns[name][place] for name in names})
        for place, point in enumerate(columns["params"])
    ]
