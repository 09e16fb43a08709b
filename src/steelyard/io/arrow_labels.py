"""Labels of a typed column: numbers, booleans, or the names of classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.io import buffers, extras
from steelyard.io.column_roles import is_number
from steelyard.io.faults import Faults
from steelyard.io.labels import LabelRule, plain

_BLANKS = " \t\n\v\f\r"


def labels(array: Any, rule: LabelRule | None, missing: Sequence[str], faults: Faults) -> NDArray[np.float64]:
    """As the loss takes them; NaN where there is none."""
    pyarrow = extras.pyarrow("a table")
    types = pyarrow.types
    if (
        types.is_string(array.type)
        or types.is_large_string(array.type)
        or (types.is_boolean(array.type) and rule is not None)
    ):
        return _named(pyarrow, array, rule, missing, faults)
    if types.is_temporal(array.type) or types.is_nested(array.type):
        raise ValueError(f"the labels are {array.type}; they must be numbers or the names of classes")
    found = buffers.numbers(array, np.nan, "float64")
    if rule is not None:
        given, describe = found, rule.describe_unknown
        found, unknown = rule.numbers(given)
        faults.add(unknown, lambda row: describe(plain(float(given[row]))))
    faults.add_labels(found, np.isnan(found))
    return found


def _named(
    pyarrow: Any, array: Any, rule: LabelRule | None, missing: Sequence[str], faults: Faults
) -> NDArray[np.float64]:
    """Each different name is looked at once."""
    coded = array.cast(pyarrow.large_string()).dictionary_encode()
    names = coded.dictionary.to_pylist()
    found = [_label(name.strip(_BLANKS), rule, missing) for name in names]
    numbers = np.array([*(np.nan if label is None else label for label in found), np.nan])
    unknown = np.array([*(label is None for label in found), False])
    places = buffers.numbers(coded.indices, len(names), "int32")
    what = rule.describe_unknown if rule is not None else _no_number
    faults.add(unknown[places], lambda row: what(names[places[row]]))
    return numbers[places]  # type: ignore[no-any-return]


def _label(name: str, rule: LabelRule | None, missing: Sequence[str]) -> float | None:
    """None if it cannot be one."""
    if rule is not None and (value := rule.value(name)) is not None:
        return value
    if not name or name.lower() in {word.lower() for word in missing}:
        return float("nan")
    if rule is None:
        return float(name) if is_number(name) and np.isfinite(float(name)) else None
    return rule.otherwise


def _no_number(name: str) -> str:
    return f"the label {name!r} is not a number; --labels a,b,c names the classes"
