"""Two classes: finding them, their labels in the eyes of a loss, and their weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from steelyard.losses import Loss, two_classes

ClassWeight = dict[Any, float] | str | None


def found(column: NDArray[Any]) -> NDArray[Any]:
    """The two classes in a column of labels, sorted."""
    return _two_numbers(column) if column.dtype.kind in "biuf" and len(column) else _two_of_any_kind(column)


def _two_numbers(column: NDArray[Any]) -> NDArray[Any]:
    """The common case, in a few passes over the column and without sorting it."""
    both = np.array([column.min(), column.max()])
    plain = both[0] < both[1] and np.all(both == np.rint(both))
    if plain and np.all((column == both[0]) | (column == both[1])):
        return both
    return _two_of_any_kind(column)


def _two_of_any_kind(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        strange = np.flatnonzero(~np.isfinite(column))
        raise ValueError(
            f"row {strange[0]} has the label {column[strange[0]]}: labels must not be NaN or infinite"
        )
    check_classification_targets(column)
    classes = np.unique(column)
    if len(classes) > 2:
        kind = f"{type_of_target(column, input_name='y')}, with {len(classes)} classes"
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}. For more than "
            "two, wrap it: sklearn.multiclass.OneVsRestClassifier(OnlineClassifier())"
        )
    if len(classes) < 2:
        raise ValueError(
            f"the labels are of {len(classes)} class: {classes.tolist()}; two classes are needed"
        )
    return classes


def named(classes: Any) -> NDArray[Any]:
    """The two classes that a user names."""
    column = column_or_1d(classes)
    if len(np.unique(column)) != len(column):
        raise ValueError(f"a class is named twice in {column.tolist()}")
    return _two_of_any_kind(column)


def labels(column: NDArray[Any], classes: NDArray[Any], loss: Loss) -> NDArray[np.float64]:
    """The column of classes as the loss takes them."""
    low, high = two_classes.labels(loss)
    second = column == classes[1]
    strange = np.flatnonzero(~(second | (column == classes[0])))
    if len(strange):
        first, other = classes.tolist()
        given = column[strange[:1]].tolist()[0]
        raise ValueError(f"row {strange[0]} has the label {given!r}: the classes are {first!r} and {other!r}")
    return np.where(second, high, low)


def weighted(
    class_weight: ClassWeight, classes: NDArray[Any], second: NDArray[np.bool_], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The weights times those of their classes; `second` marks the rows of the second class."""
    if class_weight is None:
        return weights
    if isinstance(class_weight, dict):
        low, high = _given(class_weight, classes.tolist())
    elif class_weight == "balanced":
        low, high = _balanced(float(weights[~second].sum()), float(weights[second].sum()))
    else:
        raise ValueError(f"class_weight must be None, a dict or 'balanced'; got {class_weight!r}")
    return weights * np.where(second, high, low)


def _given(class_weight: dict[Any, float], classes: list[Any]) -> tuple[float, float]:
    """As in the dict; a class it leaves out weighs 1."""
    for name, weight in class_weight.items():
        if name not in classes:
            raise ValueError(f"class_weight has {name!r}, which is not a class; the classes are {classes}")
        if not 0.0 <= weight < np.inf:
            raise ValueError(f"the class weight of {name!r} must be finite and not negative; got {weight!r}")
    return float(class_weight.get(classes[0], 1.0)), float(class_weight.get(classes[1], 1.0))


def _balanced(first: float, second: float) -> tuple[float, float]:
    """Both classes get half the total. Counted in weight, so that weights and copies agree here too."""
    if first == 0.0 or second == 0.0:
        return 1.0, 1.0
    half = 0.5 * (first + second)
    return half / first, half / second
