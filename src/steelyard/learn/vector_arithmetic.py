"""Arithmetic with the vectors of `vectors`, number by number, under the names of NumPy.

The compiler vectorises loops over lanes, too, but for many more lanes at once than most blocks have, and such
a loop first checks whether its arrays overlap.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from steelyard.learn.levels import MASKS
from steelyard.learn.vectors import LANES, registers, spread_out
from steelyard.native.declare import intrinsic, overload
from steelyard.native.lazy import ir, types

_CONTRACT = ("contract",)


def full_like(array, x):
    """Return a vector of the type of the array, all of whose numbers are x."""
    return np.full(LANES, x, array.dtype)


def multiply(a, b):
    return a * b


def divide(a, b):
    return a / b


def add(a, b):
    return a + b


def subtract(a, b):
    return a - b


def add_products(totals, a, b):
    """Return totals + a·b, by a fused operation if the processor has one."""
    return totals + a * b


def minimum(a, b):
    return np.where(a < b, a, b)


def maximum(a, b):
    return np.where(a > b, a, b)


def sqrt(a):
    return np.sqrt(a)


def absolute(a):
    return np.abs(a)


def floor(a):
    return np.floor(a)


def where(a, b, x, y):
    """Return x where a > b, else y."""
    return np.where(a > b, x, y)


def any_above(a, b):
    """Return whether any a > b."""
    return bool((a > b).any())


def middles(a):
    """Return the middle of the level of each number (see `levels`)."""
    kept, middle, kind = MASKS[a.dtype.name]
    return ((a.view(kind) & kept) | middle).view(a.dtype)


def convert_like(array, a):
    """Convert numbers to the type of the array."""
    return a.astype(array.dtype)


@intrinsic
def _full_like(context, array, x):
    vectors = registers.Vectors(array.dtype, 1)

    def build(context, builder, signature, arguments):
        number = context.cast(builder, arguments[1], x, array.dtype)
        return builder.insert_value(context.get_constant_undef(vectors), spread_out(builder, number), 0)

    return vectors(array, x), build


@overload(full_like)
def _compiled_full_like(array, x):
    return lambda array, x: _full_like(array, x)


@intrinsic
def _convert_like(context, array, a):
    vectors = registers.Vectors(array.dtype, a.count)
    wide = array.dtype.bitwidth - a.number.bitwidth

    def build(context, builder, signature, arguments):
        number = builder.extract_value(arguments[1], 0)
        if wide:
            change = builder.fpext if wide > 0 else builder.fptrunc
            number = change(number, ir.VectorType(context.get_value_type(array.dtype), LANES))
        return builder.insert_value(context.get_constant_undef(vectors), number, 0)

    return vectors(array, a), build


@overload(convert_like)
def _compiled_convert_like(array, a):
    return lambda array, a: _convert_like(array, a)


@intrinsic
def _any_above(context, a, b):
    def build(context, builder, signature, arguments):
        first, second = (builder.extract_value(each, 0) for each in arguments)
        bits = builder.bitcast(builder.fcmp_ordered(">", first, second), ir.IntType(LANES))
        return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(a, b), build


@overload(any_above)
def _compiled_any_above(a, b):
    return lambda a, b: _any_above(a, b)


def _choose(builder: Any, sign: str, a: Any, b: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.fcmp_ordered(sign, a, b), x, y)


def _called(name: str) -> Callable[..., Any]:
    def build(builder: Any, a: Any) -> Any:
        full = f"{name}.v{LANES}f{_bits(a)}"
        found = builder.module.globals.get(full)
        found = found or ir.Function(builder.module, ir.FunctionType(a.type, [a.type]), full)
        return builder.call(found, [a])

    return build


def _bits(a: Any) -> int:
    return 32 if a.type.element == ir.FloatType() else 64


def _middles(builder: Any, a: Any) -> Any:
    bits = _bits(a)
    kept, middle, _ = MASKS[f"float{bits}"]
    whole = ir.VectorType(ir.IntType(bits), LANES)
    first, second = (ir.Constant(whole, [int(mask)] * LANES) for mask in (kept, middle))
    numbers = builder.and_(builder.bitcast(a, whole), first)
    return builder.bitcast(builder.or_(numbers, second), a.type)


def _fused(builder: Any, total: Any, a: Any, b: Any) -> Any:
    return builder.fadd(total, builder.fmul(a, b, flags=_CONTRACT), flags=_CONTRACT)


def _compile(function: Callable[..., Any], operation: Callable[..., Any]) -> None:
    """Make this operation the compiled form of this function of vectors."""

    def build(context, builder, signature, arguments):
        numbers = [builder.extract_value(each, 0) for each in arguments]
        return builder.insert_value(arguments[0], operation(builder, *numbers), 0)

    match function.__code__.co_argcount:
        case 1:
            one = intrinsic(lambda context, a: (a(a), build))
            overload(function)(lambda a: lambda a: one(a))
        case 2:
            two = intrinsic(lambda context, a, b: (a(a, b), build))
            overload(function)(lambda a, b: lambda a, b: two(a, b))
        case 3:
            three = intrinsic(lambda context, a, b, c: (a(a, b, c), build))
            overload(function)(lambda totals, a, b: lambda totals, a, b: three(totals, a, b))
        case _:
            four = intrinsic(lambda context, a, b, x, y: (a(a, b, x, y), build))
            overload(function)(lambda a, b, x, y: lambda a, b, x, y: four(a, b, x, y))


_compile(multiply, lambda builder, a, b: builder.fmul(a, b, flags=_CONTRACT))
_compile(divide, lambda builder, a, b: builder.fdiv(a, b))
_compile(add, lambda builder, a, b: builder.fadd(a, b, flags=_CONTRACT))
_compile(subtract, lambda builder, a, b: builder.fsub(a, b, flags=_CONTRACT))
_compile(add_products, _fused)
_compile(minimum, lambda builder, a, b: _choose(builder, "<", a, b, a, b))
_compile(maximum, lambda builder, a, b: _choose(builder, ">", a, b, a, b))
_compile(sqrt, _called("llvm.sqrt"))
_compile(absolute, _called("llvm.fabs"))
_compile(floor, _called("llvm.floor"))
_compile(where, lambda builder, a, b, x, y: _choose(builder, ">", a, b, x, y))
_compile(middles, _middles)
