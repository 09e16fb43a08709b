"""Class weights: factors of the weights of rows, given by class or balanced."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._field_types import is_number
from steelyard._parameters import Message, bare

BALANCED = "balanced"
ClassWeight = Mapping[Any, float] | str | None


def check(class_weight: ClassWeight) -> None:
    if not (class_weight is None or isinstance(class_weight, Mapping) or _is_balanced(class_weight)):
        raise ValueError(f"class_weight must be None, a dict or 'balanced'; got {class_weight!r}")


def _is_balanced(class_weight: Any) -> bool:
    return isinstance(class_weight, str) and class_weight == BALANCED


def with_names_of(class_weight: ClassWeight, classes: Sequence[Any]) -> ClassWeight:
    """Replace names given as text, as on the command line, by the classes that are written like them."""
    if not isinstance(class_weight, Mapping):
        return class_weight
    written = {_written(name): name for name in classes}
    return {
        name if name in classes else written.get(_written(name), name): weight
        for name, weight in class_weight.items()
    }


def _written(name: Any) -> str:
    try:
        return f"{float(name):.17g}"
    except (TypeError, ValueError):
        return str(name)


def factors(
    class_weight: ClassWeight, classes: Sequence[Any], totals: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the factor of each class; `totals` is the weight of each in the data."""
    check(class_weight)
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        return _balanced(totals)
    for name, weight in class_weight.items():
        if name not in classes:
            raise ValueError(
                Message(
                    bare("class_weight"),
                    f" has {name!r}, which is not a class; the classes are {list(classes)}",
                )
            )
        if not (is_number(weight) and 0.0 <= weight < np.inf):
            raise ValueError(f"the class weight of {name!r} must be finite and not negative; got {weight!r}")
    return np.array([float(class_weight.get(name, 1.0)) for name in classes])


def _balanced(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return factors under which all classes that have any weight have the same, with an unchanged sum.

    Classes are counted in weight, not in rows, so that weights and copies agree here, too.
    """
    present = totals > 0.0
    share = 1.0 / max(int(present.sum()), 1) * sum(totals.tolist())
    return np.array([share / total if total > 0.0 else 1.0 for total in totals.tolist()])


def as_json(class_weight: ClassWeight) -> Any:
    """Return pairs, since the names of classes may be numbers, which JSON does not have as keys."""
    if not isinstance(class_weight, Mapping):
        return class_weight
    return [[_plain(name), float(weight)] for name, weight in class_weight.items()]


def from_json(stored: Any) -> ClassWeight:
    return dict(stored) if isinstance(stored, list) else stored


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
