"""Classes: finding them, numbering them, and their weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

ClassWeight = dict[Any, float] | str | None


def found(column: NDArray[Any]) -> NDArray[Any]:
    """The classes in a column of labels, sorted."""
    return _two_numbers(column) if column.dtype.kind in "biuf" and len(column) else _of_any_kind(column)


def _two_numbers(column: NDArray[Any]) -> NDArray[Any]:
    """The common case, in a few passes over the column and without sorting it."""
    both = np.array([column.min(), column.max()])
    plain = both[0] < both[1] and np.all(both == np.rint(both))
    if plain and np.all((column == both[0]) | (column == both[1])):
        return both
    return _of_any_kind(column)


def _of_any_kind(column: NDArray[Any]) -> NDArray[Any]:
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


def named(classes: Any) -> NDArray[Any]:
    """The classes that a user names."""
    column = column_or_1d(classes)
    if len(np.unique(column)) != len(column):
        raise ValueError(f"a class is named twice in {column.tolist()}")
    return _of_any_kind(column)


def codes(column: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """The number of each label's class."""
    found = _codes(column, classes)
    strange = np.flatnonzero(found < 0)
    if len(strange):
        given = column[strange[:1]].tolist()[0]
        raise ValueError(f"row {strange[0]} has the label {given!r}: the classes are {_named(classes)}")
    return found


def _codes(column: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """As above, −1 for what is no class."""
    if len(classes) == 2:
        second = column == classes[1]
        return np.where(second, 1, np.where(column == classes[0], 0, -1))
    if column.dtype.kind in "biuf" and classes.dtype.kind in "biuf":
        places = np.searchsorted(classes, column).clip(max=len(classes) - 1)
        return np.where(classes[places] == column, places, -1)
    numbers = {name: number for number, name in enumerate(classes.tolist())}
    return np.array([numbers.get(label, -1) for label in column.tolist()], np.intp)


def _named(classes: NDArray[Any]) -> str:
    *others, last = map(repr, classes.tolist())
    return f"{', '.join(others)} and {last}" if len(others) < 10 else f"{', '.join(others[:9])}, … and {last}"


def weighted(
    class_weight: ClassWeight, classes: NDArray[Any], codes: NDArray[np.intp], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The weights times those of their classes; `codes` has the number of each row's class."""
    if class_weight is None:
        return weights
    if isinstance(class_weight, dict):
        factors = _given(class_weight, classes.tolist())
    elif class_weight == "balanced":
        factors = _balanced([float(weights[codes == number].sum()) for number in range(len(classes))])
    else:
        raise ValueError(f"class_weight must be None, a dict or 'balanced'; got {class_weight!r}")
    products: NDArray[np.float64] = weights * np.array(factors)[codes]
    return products


def _given(class_weight: dict[Any, float], classes: list[Any]) -> list[float]:
    """As in the dict; a class it leaves out weighs 1."""
    for name, weight in class_weight.items():
        if name not in classes:
            raise ValueError(f"class_weight has {name!r}, which is not a class; the classes are {classes}")
        if not 0.0 <= weight < np.inf:
            raise ValueError(f"the class weight of {name!r} must be finite and not negative; got {weight!r}")
    return [float(class_weight.get(name, 1.0)) for name in classes]


def _balanced(totals: list[float]) -> list[float]:
    """All classes that have any weight get the same of it; the sum stays.

    Counted in weight and not in rows, so that weights and copies agree here too.
    """
    present = [total for total in totals if total > 0.0]
    share = 1.0 / max(len(present), 1) * sum(totals)
    return [share / total if total > 0.0 else 1.0 for total in totals]
