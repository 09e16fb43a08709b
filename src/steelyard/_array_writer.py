"""Write arrays as a safetensors file one by one: none need be in memory while another is written.

The bytes are those of safetensors' own `save`, which takes all arrays at once, and copies them twice.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Arrays = Iterable[tuple[str, NDArray[Any]]]

# In the order of safetensors, which puts the arrays of wide types first so that all of them are aligned
_CODES = {
    "uint64": "U64", "int64": "I64", "float64": "F64", "float32": "F32", "uint32": "U32", "int32": "I32",
    "uint16": "U16", "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
_ORDER = list(_CODES)
_ALIGNED = 8  # bytes: the header is filled up with blanks


def write(file: BinaryIO, arrays: Callable[[], Arrays], metadata: dict[str, str]) -> None:
    """`arrays` is called twice: to see how large they are, and to write them. The file must be seekable."""
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
