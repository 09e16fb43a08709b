"""A float as an integer of the same bits, and back."""

from typing import Any

from steelyard.native.declare import intrinsic
from steelyard.native.lazy import types


def _cast(to: Any, x: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(to))

    return to(x), build


@intrinsic
def bits_of(context: Any, x: Any) -> Any:
    """Return the bits of a float, as an unsigned integer."""
    return _cast(getattr(types, f"uint{x.bitwidth}"), x)


@intrinsic
def float_of(context: Any, x: Any) -> Any:
    """Return the float that has these bits."""
    return _cast(getattr(types, f"float{x.bitwidth}"), x)
