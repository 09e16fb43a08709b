"""What a sweep learns from: rows in memory, or files. Classes are numbered from 0."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from steelyard.estimators.online import OnlineEstimator
from steelyard.estimators.parameters import settings_of
from steelyard.examples import Examples
from steelyard.losses import Loss, class_labels


@dataclass(frozen=True)
class PreparedRows:
    """`classes`: how many; 0 for numbers."""

    examples: Examples
    classes: int


def prepare(
    template: OnlineEstimator, X: Any, y: Any, sample_weight: ArrayLike | None, *, anew: bool = True
) -> PreparedRows:
    """Checked and weighted as the estimator itself would; `template` gets to know classes and features."""
    (settings, *_) = settings_of(template, None)
    chunk = template._examples(X, y, sample_weight, settings, anew=anew)
    if anew and not chunk.sample_weight.any():
        raise ValueError("all sample weights are zero (class weights included): there is nothing to learn")
    classes = template._count_classes()
    if classes == 2:
        second = chunk.labels == class_labels(settings.loss)[1]
        chunk = replace(chunk, labels=second.astype(np.float64))
    return PreparedRows(chunk, classes)


def draw_orders(template: OnlineEstimator, rows: int) -> list[NDArray[np.int64]] | None:
    """The order of the rows in each pass, by the same draws as in the estimator's `fit`."""
    if not template.shuffle:
        return None
    random = check_random_state(template.random_state)
    return [random.permutation(rows) for _ in range(template.passes)]


def identify(examples: Examples, orders: list[NDArray[np.int64]] | None) -> dict[str, Any]:
    """What a state has to agree with: the rows, and their order."""
    columns = (examples.indptr, examples.indices, examples.values, examples.labels, examples.sample_weight)
    return {
        "rows": [_checksum(each) for each in columns],
        "order": [_checksum(each) for each in orders or ()],
    }


def _checksum(column: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(column).data)


def open_files(
    template: OnlineEstimator,
    paths: Sequence[str | Path],
    losses: Sequence[Loss],
    read_options: dict[str, Any],
    threads: int,
    *,
    refit: bool,
) -> Any:
    """The files of a sweep over these losses (a `sweep.files.SweepFiles`)."""
    from steelyard.engine.file_labels import CLASSES, NUMBERS  # not at the top: rows do without readers
    from steelyard.estimators import file_fitting
    from steelyard.io import sources
    from steelyard.io.read_options import ReadOptions
    from steelyard.sweep import files

    file_fitting.check_parameters(template)
    found = sources.expand(paths)
    if refit and any(map(sources.once_only, found)):
        raise ValueError(
            "the best is learned anew from all rows, and standard input and pipes can be read once only: "
            "save the rows to a file, or leave that out with refit=False"
        )
    return files.open_files(
        found,
        ReadOptions.from_keywords(**read_options),
        losses,
        dtype=np.dtype(template.dtype).name,
        task=CLASSES if is_classifier(template) else NUMBERS,
        class_weight=getattr(template, "class_weight", None),
        threads=threads,
    )


def refit_files(estimator: Any, files: Any) -> OnlineEstimator:
    """The estimator, learned from all rows of the files as `fit_files` would."""
    from steelyard.estimators import file_fitting

    training = files.train(settings_of(estimator, None), passes=estimator.passes)
    training.run()
    file_fitting.take_over(estimator, training)
    fitted: OnlineEstimator = estimator
    return fitted
