"""Arithmetic with the vectors of `vectors`: number by number, as plain code would do it, without a loop.

The compiler vectorises a loop over lanes, too, but for many more lanes at once than most blocks have, and it
has to look each time whether the arrays overlap.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from steelyard.learn.levels import MASKS
from steelyard.learn.vectors import LANES, registers, spread_out
from steelyard.native.declare import intrinsic, overload
from steelyard.native.lazy import ir, types

_CONTRACT = ("contract",)


def filled(array, x):
    """A vector of the type of the array, all of whose numbers are x."""
    return np.full(LANES, x, array.dtype)


def times(a, b):
    return a * b


def over(a, b):
    return a / b


def plus(a, b):
    return a + b


def minus(a, b):
    return a - b


def plus_products(totals, a, b):
    """totals + a·b, as a fused operation if the processor has one."""
    return totals + a * b


def least(a, b):
    """The smaller ones."""
    return np.where(a < b, a, b)


def most(a, b):
    """The larger ones."""
    return np.where(a > b, a, b)


def root(a):
    return np.sqrt(a)


def absolute(a):
    return np.abs(a)


def rounded_down(a):
    return np.floor(a)


def chosen(a, b, x, y):
    """x where a > b, else y."""
    return np.where(a > b, x, y)


def any_above(a, b):
    """Whether any a > b."""
    return bool((a > b).any())


def middles(a):
    """The middle of the level of each number (see `levels`)."""
    kept, middle, kind = MASKS[a.dtype.name]
    return ((a.view(kind) & kept) | middle).view(a.dtype)


def converted(array, a):
    """In the type of the array."""
    return a.astype(array.dtype)


@intrinsic
def _filled(context, array, x):
    vectors = registers.Vectors(array.dtype, 1)

    def build(context, builder, signature, arguments):
        number = context.cast(builder, arguments[1], x, array.dtype)
        return builder.insert_value(context.get_constant_undef(vectors), spread_out(builder, number), 0)

    return vectors(array, x), build


@overload(filled)
def _compiled_filled(array, x):
    return lambda array, x: _filled(array, x)


@intrinsic
def _converted(context, array, a):
    vectors = registers.Vectors(array.dtype, a.count)
    wide = array.dtype.bitwidth - a.number.bitwidth

    def build(context, builder, signature, arguments):
        number = builder.extract_value(arguments[1], 0)
        if wide:
            change = builder.fpext if wide > 0 else builder.fptrunc
            number = change(number, ir.VectorType(context.get_value_type(array.dtype), LANES))
        return builder.insert_value(context.get_constant_undef(vectors), number, 0)

    return vectors(array, a), build


@overload(converted)
def _compiled_converted(array, a):
    return lambda array, a: _converted(array, a)


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
    """Let this function of vectors be this operation in compiled code."""

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


_compile(times, lambda builder, a, b: builder.fmul(a, b, flags=_CONTRACT))
_compile(over, lambda builder, a, b: builder.fdiv(a, b))
_compile(plus, lambda builder, a, b: builder.fadd(a, b, flags=_CONTRACT))
_compile(minus, lambda builder, a, b: builder.fsub(a, b, flags=_CONTRACT))
_compile(plus_products, _fused)
_compile(least, lambda builder, a, b: _choose(builder, "<", a, b, a, b))
_compile(most, lambda builder, a, b: _choose(builder, ">", a, b, a, b))
_compile(root, _called("llvm.sqrt"))
_compile(absolute, _called("llvm.fabs"))
_compile(rounded_down, _called("llvm.floor"))
_compile(chosen, lambda builder, a, b, x, y: _choose(builder, ">", a, b, x, y))
_compile(middles, _middles)
