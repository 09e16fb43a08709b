"""Arrays and addresses: the address of an array, and the array at an address."""

from typing import Any

from steelyard.native.declare import PLAIN, intrinsic, part
from steelyard.native.lazy import arrayobj, cgutils, ir, types


@intrinsic
def _compiled_address(context: Any, array: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(own.data, ir.IntType(64))

    return types.int64(array), build


@part
def itself(array):
    return array


address_of = itself if PLAIN else _compiled_address


@intrinsic
def _compiled_flat(context: Any, array: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own = context.make_array(signature.args[0])(context, builder, arguments[0])
        return array_at(context, builder, signature.return_type, own.data, [own.nitems])

    return types.Array(array.dtype, 1, "C")(array), build


def _plain_flat(array: Any) -> Any:
    return array.reshape(-1)


# `flat_view(array)` is a C-contiguous array as one of one dimension, in the same memory.
flat_view = _plain_flat if PLAIN else _compiled_flat


def array_at(
    context: Any, builder: Any, kind: Any, pointer: Any, shape: list[Any], strides: list[Any] | None = None
) -> Any:
    """Build an array of this type within an intrinsic; without strides, it has no gaps."""
    array = context.make_array(kind)(context, builder)
    word = ir.IntType(64)
    shape = [ir.Constant(word, length) if isinstance(length, int) else length for length in shape]
    size = ir.Constant(word, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    if strides is None:
        strides = [size]
        for length in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
    arrayobj.populate_array(
        array, data=builder.bitcast(pointer, array.data.type), shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides), itemsize=size, meminfo=None,
    )  # fmt: skip
    return array._getvalue()
