"""Sweeps over a grid of settings, on one shuffle of one data set; several studies use their rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from paper import data, feature_values
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


def load_shuffled(
    place: str, shuffle: int, most: int | None = None, features: str = feature_values.AS_PAPER
) -> Shuffled:
    """The rows of a data set, shuffled: all of them or the first `most`."""
    found = data.load(place)
    order, every = _order(found, shuffle, most)
    return Shuffled(feature_values.matrix(place, features)[order], found.labels[order], every)


def run_sweep(
    place: str,
    shuffle: int,
    classifier: OnlineClassifier,
    grid: Mapping[str, Sequence[Any]],
    *,
    most: int | None = None,
    features: str = feature_values.AS_PAPER,
    paired: bool = False,
) -> list[Row]:
    """A row for every point of the grid, after one pass, with the accuracy on the held-out rows.

    With `paired`, the best schedules are compared row by row, see `_pair`.
    """
    rows = load_shuffled(place, shuffle, most, features)
    matrix, labels, every = rows
    sweep = Sweep(classifier, grid, holdout=every, refit=False).fit(matrix, labels)
    tested = len(labels) // every
    common: Row = {
        "data": data.name(place),
        "loss": str(classifier.loss),
        "shuffle": shuffle,
        "tested": tested,
    }
    found: list[Row] = [
        {
            **common,
            **point,
            "accuracy": float(measured["held_out_accuracy"]),
            "progressive_loss": float(measured["progressive_loss"]),
            "progressive_error": float(measured["progressive_error"]),
            "diverged": bool(measured["diverged"]),
        }
        for point, measured in _points(sweep.cv_results_)
    ]
    if paired:
        _pair(found, rows, classifier, list(grid))
    return found


def _pair(found: list[Row], rows: Shuffled, classifier: OnlineClassifier, names: Sequence[str]) -> None:
    """The best schedule of each aware update beside the best explicit one, on the same test rows.

    Its row gets two counts: the test rows that only it classifies rightly, and those that only the explicit
    one does. They are all that a paired comparison needs.
    """
    best = {
        update: max((row for row in found if row["update"] == update), key=lambda row: float(row["accuracy"]))
        for update in UPDATES
    }
    held_out = np.arange(len(rows.labels)) % rows.every == rows.every - 1
    right = {}
    for update, row in best.items():
        fitted = clone(classifier).set_params(**{name: row[name] for name in names})
        fitted.fit(rows.matrix[~held_out], rows.labels[~held_out])
        right[update] = fitted.predict(rows.matrix[held_out]) == rows.labels[held_out]
    for update in ("implicit", "invariant"):
        best[update]["only_this"] = int((right[update] & ~right["explicit"]).sum())
        best[update]["only_explicit"] = int((right["explicit"] & ~right[update]).sum())


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
