"""Check types of values that users give or files hold: numbers other than bools, and fields of dataclasses."""

import math
import types
from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from functools import cache
from numbers import Real
from typing import Any, Union, cast, get_args, get_origin, get_type_hints


def is_number(value: Any) -> bool:
    """Return whether it is a real number. True and False are not, though Python counts with them."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check(read: Any) -> None:
    """Raise a TypeError that names the first field with a wrong type, here or in a dataclass inside."""
    for name, annotation in _declared(cast(Hashable, type(read))).items():
        value = getattr(read, name)
        if not _matches(value, annotation):
            raise TypeError(f"{type(read).__name__}.{name} is {str(value)[:60]!r}")


@cache
def _declared(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def _matches(value: Any, annotation: Any) -> bool:
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(_matches(value, part) for part in parts)
    if origin is tuple and parts[-1] is not Ellipsis:
        fits = isinstance(value, tuple) and len(value) == len(parts)
        return fits and all(map(_matches, value, parts))
    if origin in (tuple, list):
        return isinstance(value, origin) and all(_matches(each, parts[0]) for each in value)
    if isinstance(value, bool):
        return annotation is bool
    if annotation is float:
        return isinstance(value, int | float) and math.isfinite(value)
    if not isinstance(value, annotation):
        return False
    if is_dataclass(annotation):
        check(value)
    return True
