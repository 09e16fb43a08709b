"""A float as an integer of the same bits, and back."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_INTEGERS = {types.float32: types.uint32, types.float64: types.uint64}
_FLOATS = {integer: number for number, integer in _INTEGERS.items()}
_KINDS = {
    types.float32: ir.FloatType(), types.float64: ir.DoubleType(),
    types.uint32: ir.IntType(32), types.uint64: ir.IntType(64),
}  # fmt: skip


def _cast(to: Any, x: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], _KINDS[to])

    return to(x), build


@intrinsic
def bits_of(context, x):
    """The bits of a float."""
    return _cast(_INTEGERS[x], x)


@intrinsic
def float_of(context, x):
    """The float with these bits."""
    return _cast(_FLOATS[x], x)
