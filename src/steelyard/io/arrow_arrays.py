"""Arrow arrays as NumPy arrays: numbers, texts, lists and labels; views of Arrow's buffers where possible.

Arrow takes the offsets in a file as they are. They are checked here before use: a damaged file must
not lead to memory outside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._parameters import Message, Parameter
from steelyard.io.column_inference import WRITTEN_NUMBER, is_written_number
from steelyard.io.columns import BLANKS
from steelyard.io.errors import RowErrors
from steelyard.io.labels import LabelRule, plain


def import_pyarrow(what: str = "a table") -> Any:
    """pyarrow, which is optional and slow to import; `what` is to be read or written with it."""
    try:
        import pyarrow.compute
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f'{what}: Arrow and Parquet need pyarrow: pip install "steelyard[arrow]"') from None
    return pyarrow


def nulls(array: Any) -> NDArray[np.bool_]:
    """Which values are null."""
    if not array.null_count:
        return np.zeros(len(array), np.bool_)
    return array.is_null().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def decode(array: Any) -> Any:
    """The array without a dictionary, and with its strings one after another in one buffer."""
    pyarrow = import_pyarrow()
    if pyarrow.types.is_dictionary(array.type):
        return decode(array.dictionary).take(array.indices)
    return array.cast(pyarrow.large_string()) if str(array.type) == "string_view" else array


def to_numpy(array: Any, null: float, *kinds: str) -> NDArray[Any]:
    """Numbers of one of these types, or converted to the first; `null` in place of nulls."""
    pyarrow = import_pyarrow()
    kind = next((kind for kind in kinds if array.type == pyarrow.from_numpy_dtype(kind)), None)
    if kind is None:
        kind = kinds[0]
        array = array.cast(pyarrow.from_numpy_dtype(kind), safe=not kind.startswith("float"))
    if not len(array):
        return np.zeros(0, kind)
    dtype = np.dtype(kind)
    found = np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)
    return np.where(nulls(array), dtype.type(null), found) if array.null_count else found


@dataclass(frozen=True)
class Lists:
    """A column of lists: that of row r is entries[offsets[r]:offsets[r + 1]]. The offsets begin with 0."""

    offsets: NDArray[np.int64]
    entries: NDArray[Any]
    nulls: NDArray[np.bool_]


def read_lists(array: Any, null: float, *kinds: str) -> Lists:
    """Lists of numbers. A slice of a column begins somewhere within its entries."""
    pyarrow = import_pyarrow()
    if not (pyarrow.types.is_list(array.type) or pyarrow.types.is_large_list(array.type)):
        if not pyarrow.types.is_fixed_size_list(array.type):
            raise ValueError(f"lists are needed, not {array.type}")
        array = array.cast(pyarrow.large_list(array.type.value_type))
    offsets = array.offsets.to_numpy().astype(np.int64, copy=False) if len(array) else np.zeros(1, np.int64)
    _check_offsets(offsets, len(array.values))
    first, last = int(offsets[0]), int(offsets[-1])
    entries = to_numpy(array.values.slice(first, last - first), null, *kinds)
    return Lists(offsets - first if first else offsets, entries, nulls(array))


@dataclass(frozen=True)
class Texts:
    """A column of strings: that of row r is text[spans[r, 0]:spans[r, 1]], empty for a null."""

    text: NDArray[np.uint8]
    spans: NDArray[np.int32]
    nulls: NDArray[np.bool_]


def read_texts(array: Any) -> Texts:
    """Strings or bytes; other values, such as numbers, as they are written."""
    pyarrow = import_pyarrow()
    wide = array.type in (pyarrow.large_string(), pyarrow.large_binary())
    if not wide and array.type not in (pyarrow.string(), pyarrow.binary()):
        array, wide = array.cast(pyarrow.large_string()), True
    offsets = np.zeros(len(array) + 1, np.int64)
    text = np.zeros(0, np.uint8)
    if len(array):
        _, places, data = array.buffers()
        kind = np.dtype(np.int64 if wide else np.int32)
        offsets[:] = np.frombuffer(places, kind, len(array) + 1, array.offset * kind.itemsize)
        text = np.frombuffer(data, np.uint8) if data is not None and data.size else text
    _check_offsets(offsets, len(text))
    first, last = int(offsets[0]), int(offsets[-1])
    if last - first > np.iinfo(np.int32).max:
        raise ValueError("one chunk has more than 2 GB of text; write it in smaller batches")
    ends = (offsets - first).astype(np.int32)
    spans, missing = np.stack([ends[:-1], ends[1:]], axis=1), nulls(array)
    spans[missing, 1] = spans[missing, 0]
    return Texts(text[first:last], spans, missing)


def _check_offsets(offsets: NDArray[np.int64], end: int) -> None:
    if offsets[0] < 0 or offsets[-1] > end or np.any(offsets[1:] < offsets[:-1]):
        raise ValueError("the table is damaged: its offsets lead outside")


def gather(entries: NDArray[Any], starts: NDArray[Any], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """entries[start : start + length] for each start and length, one after another."""
    before = np.cumsum(lengths) - lengths
    places = np.arange(lengths.sum()) + np.repeat(starts - before, lengths)
    return entries[places]  # type: ignore[no-any-return]


def read_numbers(array: Any, name: str, missing: Sequence[str], errors: RowErrors) -> NDArray[np.float64]:
    """Integers, floats, decimals, booleans, or strings that are written numbers; NaN if missing."""
    types = import_pyarrow().types
    if _is_text(array):
        return _read_written(array, name, missing, errors)
    kinds = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
    if not any(kind(array.type) for kind in kinds):
        hint = "make a number of it first, or a category" if types.is_temporal(array.type) else "ignore it"
        raise ValueError(f"column {name!r} holds {array.type}, which is not a number; {hint}")
    return to_numpy(array, np.nan, "float64")


def _is_text(array: Any) -> bool:
    return str(array.type) in ("string", "large_string")


def _read_written(array: Any, name: str, missing: Sequence[str], errors: RowErrors) -> NDArray[np.float64]:
    """Numbers that are written as texts, with the words for a missing one that text tables have."""
    pyarrow = import_pyarrow()
    compute = pyarrow.compute
    bare = compute.utf8_trim(array, characters=BLANKS)
    good = compute.fill_null(compute.match_substring_regex(bare, f"^{WRITTEN_NUMBER}$"), False)
    words = pyarrow.array(["", *(word.lower() for word in missing)], array.type)
    known = compute.or_(good, compute.is_in(compute.utf8_lower(bare), words))
    bad = compute.and_(compute.invert(known), compute.is_valid(array))
    errors.add(
        bad.to_numpy(zero_copy_only=False),
        lambda row: f"column {name!r}: {array[row].as_py()!r} is not a number; is it a category or text?",
    )
    return to_numpy(compute.if_else(good, bare, None), np.nan, "float64")


def read_labels(
    array: Any, rule: LabelRule | None, missing: Sequence[str], errors: RowErrors
) -> NDArray[np.float64]:
    """Numbers, booleans or the names of classes, as the loss takes them; NaN if missing."""
    types = import_pyarrow().types
    if _is_text(array) or (types.is_boolean(array.type) and rule is not None):
        return _read_names(array, rule, missing, errors)
    if types.is_temporal(array.type) or types.is_nested(array.type):
        raise ValueError(f"the labels are {array.type}; they must be numbers or the names of classes")
    found = to_numpy(array, np.nan, "float64")
    if rule is not None:
        given, describe = found, rule.describe_unknown
        found, unknown = rule.numbers(given)
        errors.add(unknown, lambda row: describe(plain(float(given[row]))))
    errors.add_labels(found, np.isnan(found))
    return found


def _read_names(
    array: Any, rule: LabelRule | None, missing: Sequence[str], errors: RowErrors
) -> NDArray[np.float64]:
    """Numbers of the names of classes; each different name is looked up once."""
    coded = array.cast("large_string").dictionary_encode()
    names = coded.dictionary.to_pylist()
    found = [_label(name.strip(BLANKS), rule, missing) for name in names]
    numbers = np.array([*(np.nan if label is None else label for label in found), np.nan])
    unknown = np.array([*(label is None for label in found), False])
    places = to_numpy(coded.indices, len(names), "int32")

    def describe(row: int) -> str:
        name = names[places[row]]
        if rule is not None:
            return rule.describe_unknown(name)
        names_them = Parameter("labels", "a,b,c")
        return Message(f"the label {name!r} is not a number; ", names_them, " names the classes")

    errors.add(unknown[places], describe)
    return numbers[places]  # type: ignore[no-any-return]


def _label(name: str, rule: LabelRule | None, missing: Sequence[str]) -> float | None:
    """The number of a label; None if it cannot be one."""
    if rule is not None and (value := rule.value(name)) is not None:
        return value
    if not name or name.lower() in {word.lower() for word in missing}:
        return float("nan")
    if rule is None:
        return float(name) if is_written_number(name) and np.isfinite(float(name)) else None
    return rule.otherwise
