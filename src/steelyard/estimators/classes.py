"""Classes of an estimator: finding them in labels, and numbering labels by them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets


def find(column: NDArray[Any]) -> NDArray[Any]:
    """The classes in a column of labels, sorted."""
    return _two_numbers(column) if column.dtype.kind in "biuf" and len(column) else _any_kind(column)


def _two_numbers(column: NDArray[Any]) -> NDArray[Any]:
    """The common case, in a few passes over the column and without sorting it."""
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


def check_named(classes: Any) -> NDArray[Any]:
    """The classes that a user names."""
    column = column_or_1d(classes)
    if len(np.unique(column)) != len(column):
        raise ValueError(f"a class is named twice in {column.tolist()}")
    return _any_kind(column)


def encode(column: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """The number of each label's class."""
    codes = _encode(column, classes)
    strange = np.flatnonzero(codes < 0)
    if len(strange):
        given = column[strange[:1]].tolist()[0]
        raise ValueError(f"row {strange[0]} has the label {given!r}: the classes are {_list(classes)}")
    return codes


def _encode(column: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """As above, −1 for what is no class."""
    if len(classes) == 2:
        second = column == classes[1]
        return np.where(second, 1, np.where(column == classes[0], 0, -1))
    if column.dtype.kind in "biuf" and classes.dtype.kind in "biuf":
        places = np.searchsorted(classes, column).clip(max=len(classes) - 1)
        return np.where(classes[places] == column, places, -1)
    numbers = {name: number for number, name in enumerate(classes.tolist())}
    return np.array([numbers.get(label, -1) for label in column.tolist()], np.intp)


def _list(classes: NDArray[Any]) -> str:
    *others, last = map(repr, classes.tolist())
    return f"{', '.join(others)} and {last}" if len(others) < 10 else f"{', '.join(others[:9])}, … and {last}"
