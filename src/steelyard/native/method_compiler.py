"""Compile the methods of a loss: `self` becomes a Numba type whose attributes are parameters and methods."""

import hashlib
import inspect
import math
import types as python_types
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload_attribute, overload_method, register_model

from steelyard.native import compiler
from steelyard.native.fingerprint import fingerprint
from steelyard.native.memory import array_at
from steelyard.native.methods import ONE_BY_ONE, Dialect, constants_of, parameters_of

_FEW_LINES = 300  # bytes of bytecode


def llvm(
    function: Callable[..., Any], thing: Any, takes: str, dialect: Dialect, loop: Any, symbol: str
) -> str:
    """Return the LLVM code of a function whose first argument is the thing."""
    called = _compiled(function, dialect)
    this = _maker(thing, dialect)
    if loop is None:
        entry = _ENTRIES[takes](called, this)
    else:
        entry = _ENTRIES[takes](compiler.linked(loop, True, dialect.fastmath), called, this)
    return compiler.function_llvm(compiler.linked(entry, False, dialect.fastmath), takes, symbol)


# A loss may return an integer or a bool: 1.0 times makes it a float.
def _two(called: Any, this: Any) -> Any:
    return lambda parameters, p, y: 1.0 * called(this(parameters), p, y)


def _three(called: Any, this: Any) -> Any:
    return lambda parameters, p, y, u: 1.0 * called(this(parameters), p, y, u)


def _board(fill: Any, called: Any, this: Any) -> Any:
    def form(parameters: int, board: int, lanes: int, first: int, last: int) -> None:
        fill(called, this(parameters), _board_at(board, lanes), lanes, first, last)

    return form


def _moments(fill: Any, called: Any, this: Any) -> Any:
    def form(parameters: int, board: int, turns: int, initial_t: float, power_t: float) -> None:
        fill(called, _board_at(board, turns), turns, initial_t, power_t)

    return form


_ENTRIES: dict[str, Callable[..., Any]] = {"F2": _two, "F3": _three, "Fboard": _board, "Fmoments": _moments}


_ROWS = 1 << 30  # more than any board has: loops name rows by constants, so only columns need checked bounds


@intrinsic
def _board_at(context: Any, address: Any, columns: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, columns = arguments
        pointer = builder.inttoptr(address, ir.DoubleType().as_pointer())
        return array_at(context, builder, signature.return_type, pointer, [_ROWS, columns])

    return types.Array(types.float64, 2, "C")(types.int64, types.int64), build


def _maker(thing: Any, dialect: Dialect) -> Any:
    """Make a function that returns `self`, given the address of its parameters."""
    own: Any = type(thing)
    kind = _self_type(own, _SelfSource.of(thing), dialect)()

    @intrinsic
    def make(context: Any, parameters: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = cgutils.create_struct_proxy(kind)(context, builder)
            made.parameters = arguments[0]
            return made._getvalue()

        return kind(types.int64), build

    return make


class _SelfSource(NamedTuple):
    """The sources of the type of `self`, beside its class: after an edit, as in a notebook, it is another type."""

    parameters: tuple[str, ...]
    constants: tuple[tuple[str, float], ...]
    methods: tuple[str | None, ...]

    @classmethod
    def of(cls, thing: Any) -> "_SelfSource":
        parameters = parameters_of(thing)
        methods = (fingerprint(method, thing, parameters) for _, method in _methods_of(type(thing)))
        return cls(parameters, constants_of(thing), tuple(methods))


def _methods_of(kind: type) -> list[tuple[str, python_types.FunctionType]]:
    found = ((name, getattr(kind, name)) for name in dir(kind) if not name.startswith("__"))
    return [(name, method) for name, method in found if isinstance(method, python_types.FunctionType)]


@cache
def _self_type(kind: type, source: _SelfSource, dialect: Dialect) -> Any:
    digest = hashlib.sha256(repr(source).encode()).hexdigest()[:16]
    described = f"Self({kind.__module__}.{kind.__qualname__}, {dialect.name}, {digest})"
    made = type(f"Self{kind.__name__}", (types.Type,), {"__init__": _init_named, "_described": described})

    @register_model(made)
    class Model(models.StructModel):  # type: ignore[misc]
        def __init__(self, manager: Any, this: Any) -> None:
            super().__init__(manager, this, [("parameters", types.int64)])

    for place, name in enumerate(source.parameters):
        _parameter(made, name, place)
    for name, value in source.constants:
        _constant(made, name, value)
    for name, method in _methods_of(kind):
        _method(made, name, method, dialect)
    return made


def _init_named(self: Any) -> None:
    types.Type.__init__(self, self._described)


def _parameter(made: Any, name: str, place: int) -> None:
    read = _reader(made, place)

    @overload_attribute(made, name, **_OPTIONS)
    def attribute(this):
        return lambda this: read(this)


def _reader(made: Any, place: int) -> Any:
    @intrinsic
    def read(context: Any, this: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            own = cgutils.create_struct_proxy(this)(context, builder, value=arguments[0])
            numbers = builder.inttoptr(own.parameters, ir.DoubleType().as_pointer())
            return builder.load(builder.gep(numbers, [ir.Constant(ir.IntType(64), place)]))

        return types.float64(this), build

    return read


def _constant(made: Any, name: str, value: float) -> None:
    @overload_attribute(made, name, **_OPTIONS)
    def attribute(this):
        return lambda this: value


_OPTIONS: dict[str, Any] = {"inline": "always"}


def _method(made: Any, name: str, method: Any, dialect: Dialect) -> None:
    def implementation(*arguments: Any) -> Any:
        return _translated(method, dialect)

    implementation.__signature__ = inspect.signature(_bare(method))  # type: ignore[attr-defined]
    options = {"nogil": True, "error_model": "numpy", "forceinline": True, "_nrt": False}
    options |= {"fastmath": set(dialect.fastmath) or False}
    overload_method(made, name, jit_options=options)(implementation)


def compiled(function: Any) -> Any:
    """Return Numba's form of a function that needs no loss."""
    return _compiled(function, ONE_BY_ONE)


def _bare(function: Any) -> Any:
    """Return the function without annotations, which Numba would compare."""
    return python_types.FunctionType(function.__code__, {}, argdefs=function.__defaults__)


def _compiled(function: Any, dialect: Dialect) -> Any:
    """Return Numba's form of a plain function and of everything it calls."""
    return _compiled_once(function, fingerprint(function, None), dialect)


@cache
def _compiled_once(function: Any, source: str | None, dialect: Dialect) -> Any:
    few_lines = len(function.__code__.co_code) < _FEW_LINES
    if few_lines and not dialect.one_loop:
        return compiler.short(_translated(function, dialect))
    return compiler.linked(_translated(function, dialect), dialect.one_loop, dialect.fastmath)


def _translated(function: Any, dialect: Dialect) -> Any:
    """Return the function with everything that it calls replaced by compiled forms; its source is unchanged."""
    names = function.__code__.co_names
    scope = {
        name: _translate(function.__globals__[name], names, dialect)
        for name in names
        if name in function.__globals__
    }
    if function.__closure__:
        raise TypeError(f"{function.__qualname__} uses super() or variables of the function around it")
    made = python_types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    made.__module__ = function.__module__
    return made


def _translate(thing: Any, attributes: tuple[str, ...], dialect: Dialect) -> Any:
    if isinstance(thing, python_types.FunctionType):
        return _compiled(thing, dialect)
    if thing is math:
        return dialect.arithmetic
    if isinstance(thing, python_types.ModuleType):
        twin = python_types.ModuleType(thing.__name__)
        for name in attributes:
            if name in vars(thing):
                setattr(twin, name, _translate(vars(thing)[name], attributes, dialect))
        return twin
    return thing
