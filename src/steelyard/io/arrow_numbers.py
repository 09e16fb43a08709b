"""Numbers of a typed column: integers, floats, decimals, booleans; or strings that are written numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.io import buffers, extras
from steelyard.io.faults import Faults

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_BLANKS = " \t\n\v\f\r"


def numbers(array: Any, name: str, missing: Sequence[str], faults: Faults) -> NDArray[np.float64]:
    """NaN where the number is missing."""
    pyarrow = extras.pyarrow("a table")
    types = pyarrow.types
    if types.is_string(array.type) or types.is_large_string(array.type):
        return _written(pyarrow.compute, array, name, missing, faults)
    kinds = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
    if not any(kind(array.type) for kind in kinds):
        hint = "make a number of it first, or a category" if types.is_temporal(array.type) else "ignore it"
        raise ValueError(f"column {name!r} holds {array.type}, which is no number; {hint}")
    return buffers.numbers(array, np.nan, "float64")


def _written(
    compute: Any, array: Any, name: str, missing: Sequence[str], faults: Faults
) -> NDArray[np.float64]:
    """Read as they are in text tables, with the same words for a missing one."""
    bare = compute.utf8_trim(array, characters=_BLANKS)
    good = compute.fill_null(compute.match_substring_regex(bare, _NUMBER), False)
    words = extras.pyarrow("a table").array(["", *(word.lower() for word in missing)], array.type)
    known = compute.or_(good, compute.is_in(compute.utf8_lower(bare), words))
    bad = compute.and_(compute.invert(known), compute.is_valid(array))
    faults.add(
        bad.to_numpy(zero_copy_only=False),
        lambda row: f"column {name!r}: {array[row].as_py()!r} is not a number; is it a category or text?",
    )
    return buffers.numbers(compute.if_else(good, bare, None), np.nan, "float64")
