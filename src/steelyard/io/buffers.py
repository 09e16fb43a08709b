"""Arrow arrays as NumPy views of their buffers: nothing copied that need not be.

Arrow reads the offsets of a file as they stand there. Whoever follows them looks first: a damaged
file must not lead anywhere outside.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.io import extras


def nulls(array: Any) -> NDArray[np.bool_]:
    """Which places hold nothing."""
    if not array.null_count:
        return np.zeros(len(array), np.bool_)
    return array.is_null().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def plain(array: Any) -> Any:
    """Without a dictionary, and strings one after another in one buffer."""
    pyarrow = extras.pyarrow("a table")
    if pyarrow.types.is_dictionary(array.type):
        return plain(array.dictionary).take(array.indices)
    return array.cast(pyarrow.large_string()) if str(array.type) == "string_view" else array


def numbers(array: Any, null: float, *kinds: str) -> NDArray[Any]:
    """As numbers of one of these kinds, or else of the first; `null` in the place of nulls."""
    pyarrow = extras.pyarrow("a table")
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


def lists(array: Any, null: float, *kinds: str) -> Lists:
    """Of lists of numbers. A slice of a column begins somewhere within its entries."""
    pyarrow = extras.pyarrow("a table")
    if not (pyarrow.types.is_list(array.type) or pyarrow.types.is_large_list(array.type)):
        if not pyarrow.types.is_fixed_size_list(array.type):
            raise ValueError(f"lists are needed, not {array.type}")
        array = array.cast(pyarrow.large_list(array.type.value_type))
    offsets = array.offsets.to_numpy().astype(np.int64, copy=False) if len(array) else np.zeros(1, np.int64)
    _check(offsets, len(array.values))
    first, last = int(offsets[0]), int(offsets[-1])
    entries = numbers(array.values.slice(first, last - first), null, *kinds)
    return Lists(offsets - first if first else offsets, entries, nulls(array))


@dataclass(frozen=True)
class Texts:
    """A column of strings: that of row r is text[spans[r, 0]:spans[r, 1]], empty for a null."""

    text: NDArray[np.uint8]
    spans: NDArray[np.int32]
    nulls: NDArray[np.bool_]


def texts(array: Any) -> Texts:
    """Of strings or bytes; other things, such as numbers, as they are written."""
    pyarrow = extras.pyarrow("a table")
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
    _check(offsets, len(text))
    first, last = int(offsets[0]), int(offsets[-1])
    if last - first > np.iinfo(np.int32).max:
        raise ValueError("one chunk has more than 2 GB of text; write it in smaller batches")
    ends = (offsets - first).astype(np.int32)
    spans, missing = np.stack([ends[:-1], ends[1:]], axis=1), nulls(array)
    spans[missing, 1] = spans[missing, 0]
    return Texts(text[first:last], spans, missing)


def _check(offsets: NDArray[np.int64], end: int) -> None:
    if offsets[0] < 0 or offsets[-1] > end or np.any(offsets[1:] < offsets[:-1]):
        raise ValueError("the table is damaged: its offsets lead outside")
