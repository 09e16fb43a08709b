"""Rows as a sweep takes them: labels that are numbers as they are, classes by their numbers, from 0."""

import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import type_of_target

from steelyard.estimators.matrix import matrix
from steelyard.estimators.online import OnlineEstimator
from steelyard.estimators.parameters import settings_of
from steelyard.examples import Examples, examples
from steelyard.losses import two_classes


@dataclass(frozen=True)
class Prepared:
    """`classes`: how many; 0 for numbers."""

    examples: Examples
    classes: int


def prepared(
    template: OnlineEstimator, X: Any, y: Any, sample_weight: ArrayLike | None, *, anew: bool = True
) -> Prepared:
    """Checked and weighted as the estimator itself would; `template` gets to know classes and features."""
    settings = settings_of(template, None)
    if is_classifier(template) and not hasattr(template, "classes_") and _many(y):
        found = _of_many(template, X, y, sample_weight)
    else:
        chunk = template._examples(X, y, sample_weight, settings, anew=anew)
        found = Prepared(chunk, 0)
        if is_classifier(template):
            second = chunk.labels == two_classes.labels(settings.loss)[1]
            found = Prepared(replace(chunk, labels=second.astype(np.float64)), 2)
    if anew and not found.examples.importances.any():
        raise ValueError("all sample weights are zero (class weights included): there is nothing to learn")
    return found


def _many(y: Any) -> bool:
    """Whether there are more than two classes. (What is no column of classes, the estimator refuses.)"""
    column = np.asarray(y)
    strange = y is None or (column.dtype.kind == "f" and not np.isfinite(column).all())
    return not strange and type_of_target(y) == "multiclass"


def _of_many(template: Any, X: Any, y: Any, sample_weight: ArrayLike | None) -> Prepared:
    """More than two classes, one against the rest."""
    for name, usual in (("class_weight", None), ("weight_scale", "as_given")):
        if getattr(template, name) != usual:
            raise ValueError(
                f"a sweep over more than two classes has no {name}={getattr(template, name)!r}: "
                "give the weights as sample_weight"
            )
    column = column_or_1d(y, warn=True)
    template.classes_, codes = np.unique(column, return_inverse=True)
    rows = matrix(template, X, reset=True)
    return Prepared(examples(rows, codes.astype(np.float64), sample_weight), len(template.classes_))


def orders(template: OnlineEstimator, rows: int) -> list[NDArray[np.int64]] | None:
    """The order of the rows in each pass, by the same draws as in the estimator's `fit`."""
    if not template.shuffle:
        return None
    random = check_random_state(template.random_state)
    return [random.permutation(rows) for _ in range(template.passes)]


def identity(examples: Examples, shuffled: list[NDArray[np.int64]] | None) -> dict[str, Any]:
    """What a state has to agree with: the rows, and their order."""
    columns = (examples.indptr, examples.indices, examples.values, examples.labels, examples.importances)
    return {
        "rows": [_checksum(each) for each in columns],
        "order": [_checksum(each) for each in shuffled or ()],
    }


def _checksum(column: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(column).data)
