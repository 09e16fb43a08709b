"""Check what users pass to estimators: X as a matrix of numbers, and the classes in a column of labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data


def check_present(y: Any) -> None:
    """Refuse missing labels. (In a list with strings, NumPy would turn NaN into the string "nan".)"""
    if isinstance(y, list | tuple) or (isinstance(y, np.ndarray) and y.dtype == object):
        for row, label in enumerate(y):
            if label is None or type(label).__name__ in ("NAType", "NaTType") or _is_nan(label):
                raise ValueError(
                    f"row {row} has the label {label}: leave out rows without a label, or name their class"
                )


def _is_nan(label: Any) -> bool:
    return isinstance(label, float | np.floating) and bool(np.isnan(label))


def find_classes(column: NDArray[Any]) -> NDArray[Any]:
    """Return the classes in a column of labels, sorted."""
    return _two_numbers(column) if column.dtype.kind in "biuf" and len(column) else _any_kind(column)


def _two_numbers(column: NDArray[Any]) -> NDArray[Any]:
    """Find two whole numbers, the common case, in a few passes over the column and without sorting it."""
    both = np.array([column.min(), column.max()])
    plain = both[0] < both[1] and np.all(both == np.rint(both))
    if plain and np.all((column == both[0]) | (column == both[1])):
        return both
    return _any_kind(column)


def _any_kind(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        strange = np.flatnonzero(~np.isfinite(column))
        raise ValueError(
            f"row {strange[0]} has the label {column[strange[0]]}: labels must not be NaN or infinite"
        )
    check_classification_targets(column)
    classes = np.unique(column)
    if len(classes) < 2:
        raise ValueError(
            f"the labels are of {len(classes)} class: {classes.tolist()}; two classes or more are needed"
        )
    return classes


def check_classes(classes: Any) -> NDArray[Any]:
    """Check the classes that a user names."""
    column = column_or_1d(classes)
    if len(np.unique(column)) != len(column):
        raise ValueError(f"a class is named twice in {column.tolist()}")
    return _any_kind(column)


def encode_labels(column: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of each label's class."""
    codes = _encode(column, classes)
    _check_known(codes >= 0, column, classes)
    return codes


def encode_pair(
    column: NDArray[Any], classes: NDArray[Any], pair: tuple[float, float]
) -> NDArray[np.float64]:
    """Return the labels of two classes as the loss takes them, without a copy if they are so already."""
    second = column == classes[1]
    _check_known(second | (column == classes[0]), column, classes)
    if column.dtype == np.float64 and column.flags.carray and classes.tolist() == [*pair]:
        return column
    return np.where(second, pair[1], pair[0])


def _check_known(known: NDArray[np.bool_], column: NDArray[Any], classes: NDArray[Any]) -> None:
    if not known.all():
        row = int(np.argmin(known))
        given = column[row : row + 1].tolist()[0]
        raise ValueError(f"row {row} has the label {given!r}: the classes are {_list(classes)}")


def _encode(column: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of each label's class, −1 for others."""
    if column.dtype.kind in "biuf" and classes.dtype.kind in "biuf":
        places = np.searchsorted(classes, column).clip(max=len(classes) - 1)
        return np.where(classes[places] == column, places, -1)
    numbers = {name: number for number, name in enumerate(classes.tolist())}
    return np.array([numbers.get(label, -1) for label in column.tolist()], np.intp)


def _list(classes: NDArray[Any]) -> str:
    *others, last = map(repr, classes.tolist())
    return f"{', '.join(others)} and {last}" if len(others) < 10 else f"{', '.join(others[:9])}, … and {last}"


def check_matrix(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X as a NumPy array or SciPy matrix of numbers; `reset` stores its width and names, else checks them.

    `examples` checks the values, in one pass. scikit-learn's own check reads a sparse matrix several times: it is
    used only if X has to be converted, or is wrong.
    """
    checked = X if _is_matrix_of_numbers(X) else _converted(estimator, X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return checked


def _is_matrix_of_numbers(X: Any) -> bool:
    known = type(X) in (np.ndarray, np.memmap) or sparse.issparse(X)
    return known and X.ndim == 2 and min(X.shape) > 0 and X.dtype.kind in "fiub"


def _converted(estimator: Any, X: Any) -> Any:
    try:
        checked = check_array(
            X, accept_sparse=True, dtype="numeric", ensure_all_finite=False, estimator=estimator
        )
        return checked if checked.dtype.kind in "fiub" else checked.astype(np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(X, Sequence) and X and isinstance(X[0], str):
            raise ValueError(
                "X holds texts, and these are rows of numbers: a pipeline makes them of texts, "
                "make_pipeline(CountVectorizer(), OnlineClassifier()), and fit_files learns texts from files"
            ) from error
        name = _column_of_no_numbers(X) if hasattr(X, "columns") else None
        if name is None:
            raise
        raise ValueError(
            f"column {name!r} holds not only numbers ({X[name].dtype}; {error}): encode it, or leave it out"
        ) from error


def _column_of_no_numbers(frame: Any) -> Any:
    for name in frame.columns:
        try:
            np.asarray(frame[name]).astype(np.float64)
        except (TypeError, ValueError):
            return name
    return None
