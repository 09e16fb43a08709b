"""Write a safetensors file array by array: while one is written, the others need not be in memory.

The bytes equal those of safetensors' own `save`, which takes all arrays at once and copies them twice.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

NamedArrays = Iterable[tuple[str, NDArray[Any]]]

# The order of safetensors: arrays of wide types come first, so that all of them are aligned
_CODES = {
    "uint64": "U64", "int64": "I64", "float64": "F64", "float32": "F32", "uint32": "U32", "int32": "I32",
    "uint16": "U16", "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
_ORDER = list(_CODES)
_ALIGNED = 8  # bytes: the header is padded with spaces


def write(file: BinaryIO, arrays: Callable[[], NamedArrays], metadata: dict[str, str]) -> None:
    """Write arrays and metadata. `arrays` is called twice: for sizes, and to write. The file must be seekable."""
    shapes = {name: (array.dtype, array.shape) for name, array in arrays()}
    header: dict[str, Any] = {"__metadata__": metadata}
    starts: dict[str, int] = {}
    end = 0
    for name in sorted(shapes, key=lambda name: (_ORDER.index(shapes[name][0].name), name)):
        dtype, shape = shapes[name]
        starts[name], end = end, end + dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        header[name] = {
            "dtype": _CODES[dtype.name],
            "shape": list(shape),
            "data_offsets": [starts[name], end],
        }
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _ALIGNED)
    file.write(len(text).to_bytes(8, "little") + text)
    first = 8 + len(text)
    for name, array in arrays():
        file.seek(first + starts[name])
        file.write(np.ascontiguousarray(array).data)
    file.seek(first + end)
