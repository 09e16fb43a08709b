"""A call's block of arguments in compiled code: entries of kernels unpack arguments, and write results behind them.

`calls` packs the block and reads the results, in Python; it describes the layout.
"""

import importlib
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, errors, typing
from numba.extending import intrinsic, lower_builtin, models, register_model

from steelyard.native.calls import INTEGER, REAL, RESULTS, TRUTH, UNSIGNED
from steelyard.native.memory import array_at

_WORD = ir.IntType(64)
_DOUBLE = ir.DoubleType()
_NUMBERS = (types.Integer, types.Float, types.Boolean)  # the types that a kernel may return


class FunctionType(types.Callable):  # type: ignore[misc]
    """Code at some address, with the address of its parameters, as an argument of a kernel."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(f"Function({code})")

    def get_call_type(self, context: Any, arguments: Any, keywords: Any) -> Any:
        return self._signature()

    def get_call_signatures(self) -> Any:
        return [self._signature()], False

    def get_impl_key(self, signature: Any) -> Any:
        return FunctionType

    def _signature(self) -> Any:
        return typing.signature(*signature_of(self.code), recvr=self)


def signature_of(code: str) -> tuple[Any, ...]:
    """Return the types of a function with this code: of its result, then of its arguments."""
    if code == "Fboard":
        return types.none, types.int64, types.int64, types.int64, types.int64
    if code == "Fmoments":
        return types.none, types.int64, types.int64, types.float64, types.float64
    return (types.float64,) * (1 + int(code[1:]))


@register_model(FunctionType)
class _FunctionModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("address", types.int64), ("parameters", types.int64)])


@lower_builtin(FunctionType, types.VarArg(types.Any))
def _call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    function = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
    returned = ir.VoidType() if signature.return_type == types.none else _DOUBLE
    kind = ir.FunctionType(returned, [_WORD, *(value.type for value in arguments[1:])])
    called = builder.inttoptr(function.address, kind.as_pointer())
    result = builder.call(called, [function.parameters, *arguments[1:]])
    return context.get_dummy_value() if signature.return_type == types.none else result


def types_of(kinds: Iterator[str], struct: str = "") -> Any:
    """Return Numba's type of a tuple of arguments, or of a struct."""
    items: list[Any] = []
    for kind in kinds:
        if kind == ")":
            break
        if kind[-1] == "(":
            items.append(types_of(kinds, kind[:-1]))
        elif kind[0] == "F":
            items.append(FunctionType(kind))
        else:
            code, bracket, dimensions = kind.partition("[")
            number = types.boolean if code == "b1" else getattr(types, np.dtype(code).name)
            layout, count = "A" if ":" in dimensions else "C", 1 + dimensions.count(",")
            items.append(types.Array(number, count, layout) if bracket else number)
    return types.BaseTuple.from_types(tuple(items), _struct(struct) if struct else None)


def _struct(name: str) -> Any:
    module, _, own = name.partition(":")
    return operator.attrgetter(own)(importlib.import_module(module))


def unpacker(unpacked: Any) -> Any:
    """Make a function that unpacks the words of a block into arguments."""

    @intrinsic
    def unpack(context: Any, block: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            words = _words(builder, arguments[0])

            def value(kind: Any) -> Any:
                if isinstance(kind, types.BaseTuple):
                    return context.make_tuple(builder, kind, [value(each) for each in kind.types])
                word = next(words)
                if isinstance(kind, FunctionType):
                    made = cgutils.create_struct_proxy(kind)(context, builder)
                    made.address, made.parameters = word, next(words)
                    return made._getvalue()
                if isinstance(kind, types.Array):
                    shape = [next(words) for _ in range(kind.ndim)]
                    strides = [next(words) for _ in range(kind.ndim)] if kind.layout == "A" else None
                    return array_at(context, builder, kind, _pointer(builder, word), shape, strides)
                if kind == types.boolean:
                    return builder.trunc(word, context.get_value_type(kind))
                if isinstance(kind, types.Float):
                    number = builder.bitcast(word, _DOUBLE)
                    return number if kind.bitwidth == 64 else builder.fptrunc(number, ir.FloatType())
                return word if kind.bitwidth == 64 else builder.trunc(word, ir.IntType(kind.bitwidth))

            return value(signature.return_type)

        return unpacked(block), build

    return unpack


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, ir.IntType(8).as_pointer())


def result_writer(place: int) -> Any:
    """Make a function that writes the results of a kernel into a block, from word `place` on."""

    @intrinsic
    def write(context: Any, block: Any, results: Any) -> Any:
        several = isinstance(results, types.BaseTuple)
        kinds = [] if results == types.none else list(results.types) if several else [results]
        if len(kinds) > RESULTS or not all(isinstance(kind, _NUMBERS) for kind in kinds):
            raise errors.TypingError(f"kernels return up to {RESULTS} numbers, not {results}")

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            block, value = arguments
            base = builder.inttoptr(block, _WORD.as_pointer())
            values = [builder.extract_value(value, k) for k in range(len(kinds))] if several else [value]
            words = [ir.Constant(_WORD, len(kinds))]
            for kind, each in zip(kinds, values, strict=False):
                words += _word_of(builder, types.unliteral(kind), each)
            for k, word in enumerate(words):
                builder.store(word, builder.gep(base, [ir.Constant(_WORD, place + k)]))
            return context.get_dummy_value()

        return types.none(block, results), build

    return write


def _word_of(builder: Any, kind: Any, value: Any) -> tuple[Any, Any]:
    """Return the kind of a result, and its bits."""
    if kind == types.boolean:
        code, word = TRUTH, builder.zext(value, _WORD)
    elif isinstance(kind, types.Float):
        number = value if kind.bitwidth == 64 else builder.fpext(value, _DOUBLE)
        code, word = REAL, builder.bitcast(number, _WORD)
    elif kind.signed:
        code, word = INTEGER, value if kind.bitwidth == 64 else builder.sext(value, _WORD)
    else:
        code, word = UNSIGNED, value if kind.bitwidth == 64 else builder.zext(value, _WORD)
    return ir.Constant(_WORD, code), word


def _words(builder: Any, block: Any) -> Iterator[Any]:
    base = builder.inttoptr(block, _WORD.as_pointer())
    place = 0
    while True:
        yield builder.load(builder.gep(base, [ir.Constant(_WORD, place)]))
        place += 1
