"""Rows as a sweep takes them: labels that are numbers as they are, classes by their numbers, from 0."""

import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from steelyard.estimators.online import OnlineEstimator
from steelyard.estimators.parameters import settings_of
from steelyard.examples import Examples
from steelyard.losses import class_labels


@dataclass(frozen=True)
class Prepared:
    """`classes`: how many; 0 for numbers."""

    examples: Examples
    classes: int


def prepared(
    template: OnlineEstimator, X: Any, y: Any, sample_weight: ArrayLike | None, *, anew: bool = True
) -> Prepared:
    """Checked and weighted as the estimator itself would; `template` gets to know classes and features."""
    (settings, *_) = settings_of(template, None)
    chunk = template._examples(X, y, sample_weight, settings, anew=anew)
    if anew and not chunk.sample_weight.any():
        raise ValueError("all sample weights are zero (class weights included): there is nothing to learn")
    classes = template._count_classes()
    if classes == 2:
        second = chunk.labels == class_labels(settings.loss)[1]
        chunk = replace(chunk, labels=second.astype(np.float64))
    return Prepared(chunk, classes)


def orders(template: OnlineEstimator, rows: int) -> list[NDArray[np.int64]] | None:
    """The order of the rows in each pass, by the same draws as in the estimator's `fit`."""
    if not template.shuffle:
        return None
    random = check_random_state(template.random_state)
    return [random.permutation(rows) for _ in range(template.passes)]


def identity(examples: Examples, shuffled: list[NDArray[np.int64]] | None) -> dict[str, Any]:
    """What a state has to agree with: the rows, and their order."""
    columns = (examples.indptr, examples.indices, examples.values, examples.labels, examples.sample_weight)
    return {
        "rows": [_checksum(each) for each in columns],
        "order": [_checksum(each) for each in shuffled or ()],
    }


def _checksum(column: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(column).data)
