"""Neighbouring numbers of an array as one value that stays in registers.

A loop over lanes inside a loop over features loads and stores its sums at every feature, because the compiler
cannot know that they do not overlap with the weights. These functions keep them in registers. They work on
`count` vectors of `LANES` numbers at once; `count` must be a constant. All numbers are computed alike, to the
last bit, however the processor executes such vectors.
"""

from typing import Any

import numpy as np

from steelyard.native.declare import intrinsic, overload
from steelyard.native.lazy import LazyModule, ir, types

registers: Any = LazyModule("steelyard.learn.vector_registers")

LANES = 16  # a cache line of float32
_BITS_A_LINE = 512
_TO_READ, _SECOND_CACHE, _DATA = 0, 2, 1  # arguments of llvm.prefetch


def load(array, i, count):
    """Load the numbers from array[i] on."""
    return array[i : i + np.uint64(count * LANES)].copy()


def store(array, i, numbers):
    """Store the numbers from array[i] on."""
    array[i : i + np.uint64(len(numbers))] = numbers


def zeros(array, count):
    """Return zeros of the type of the array."""
    return np.zeros(count * LANES, array.dtype)


def add_product(totals, numbers, x):
    """Return totals + numbers·x, by a fused operation if the processor has one."""
    return totals + numbers * x


def fetch_ahead(array, i, count):
    """Prefetch the numbers from array[i] on."""


@intrinsic(prefer_literal=True)
def _load(context, array, i, count):
    vectors = registers.Vectors(array.dtype, count.literal_value)

    def build(context, builder, signature, arguments):
        where = _places(context, builder, signature, arguments)
        numbers = context.get_constant_undef(vectors)
        for place in range(vectors.count):
            vector = builder.load(builder.gep(where, [_int32(place)]), align=vectors.number.bitwidth // 8)
            numbers = builder.insert_value(numbers, vector, place)
        return numbers

    return vectors(array, i, count), build


@intrinsic
def _store(context, array, i, numbers):
    def build(context, builder, signature, arguments):
        where = _places(context, builder, signature, arguments)
        for place in range(numbers.count):
            vector = builder.extract_value(arguments[2], place)
            builder.store(vector, builder.gep(where, [_int32(place)]), align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.none(array, i, numbers), build


@intrinsic(prefer_literal=True)
def _zeros(context, array, count):
    vectors = registers.Vectors(array.dtype, count.literal_value)

    def build(context, builder, signature, arguments):
        return context.get_value_type(vectors)(None)

    return vectors(array, count), build


@intrinsic
def _add_product(context, totals, numbers, x):
    def build(context, builder, signature, arguments):
        total, factors, x = arguments
        same = spread_out(builder, x)
        for place in range(totals.count):
            product = builder.fmul(builder.extract_value(factors, place), same, flags=("contract",))
            sum_ = builder.fadd(builder.extract_value(total, place), product, flags=("contract",))
            total = builder.insert_value(total, sum_, place)
        return total

    return totals(totals, numbers, x), build


@intrinsic(prefer_literal=True)
def _fetch_ahead(context, array, i, count):
    def build(context, builder, signature, arguments):
        where = _places(context, builder, signature, arguments)
        byte, int32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        prefetch = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, int32, int32, int32])
        )
        lines = -(-count.literal_value * LANES * array.dtype.bitwidth // _BITS_A_LINE)
        first = builder.bitcast(where, byte)
        for line in range(lines):
            place = builder.gep(first, [_int32(line * _BITS_A_LINE // 8)])
            builder.call(prefetch, [place, _int32(_TO_READ), _int32(_SECOND_CACHE), _int32(_DATA)])
        return context.get_dummy_value()

    return types.none(array, i, count), build


def _places(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return a pointer to the vectors from array[i] on."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    first = builder.gep(array.data, [arguments[1]])
    return builder.bitcast(first, ir.VectorType(array.data.type.pointee, LANES).as_pointer())


def spread_out(builder: Any, x: Any) -> Any:
    """Return a vector with all numbers equal to x."""
    nothing = ir.Constant(ir.VectorType(x.type, LANES), ir.Undefined)
    first = builder.insert_element(nothing, x, _int32(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))


def _int32(number: int) -> Any:
    return ir.Constant(ir.IntType(32), number)


@overload(load, prefer_literal=True)
def _compiled_load(array, i, count):
    return lambda array, i, count: _load(array, i, count)


@overload(store)
def _compiled_store(array, i, numbers):
    return lambda array, i, numbers: _store(array, i, numbers)


@overload(zeros, prefer_literal=True)
def _compiled_zeros(array, count):
    return lambda array, count: _zeros(array, count)


@overload(add_product)
def _compiled_add_product(totals, numbers, x):
    return lambda totals, numbers, x: _add_product(totals, numbers, x)


@overload(fetch_ahead, prefer_literal=True)
def _compiled_fetch_ahead(array, i, count):
    return lambda array, i, count: _fetch_ahead(array, i, count)
