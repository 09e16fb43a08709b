"""Numba and LLVM: from a function in Python to machine code in an object file.

Nothing that runs a model imports this module: only what builds a library, or compiles what no library has.
All that is used of Numba beyond its public interface is here.

A kernel's entry takes the address of a block (see `calls`), unpacks it and calls the kernel. Everything is
compiled without Numba's runtime, so that machine code calls nothing but the C library's mathematics.
"""

import ctypes
import importlib
import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba import _dynfunc, njit, types
from numba.core import cgutils, errors, typing
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.registry import cpu_target
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

from steelyard.native import declare
from steelyard.native.calls import INTEGER, REAL, RESULTS, TRUTH, UNSIGNED, words_of
from steelyard.native.memory import array_at

ERRORS = (
    errors.NumbaError,
    RuntimeError,
    TypeError,
    NotImplementedError,
)  # of functions that are not for machine code
_WORD = ir.IntType(64)
_DOUBLE = ir.DoubleType()
_NUMBERS = (types.Integer, types.Float, types.Boolean)  # what a kernel may return


class _LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """LLVM code that is there to be linked into that of entries: it has no machine code."""

    def _optimize_final_module(self) -> None:
        """An entry is optimised as a whole, this part of it included."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerForLinking(NativeLowering):  # type: ignore[misc]
    """Numba's own pass, without machine code and without the wrappers that Python and C would call."""

    _name = "lower_for_linking"

    def run_pass(self, state: Any) -> bool:
        state.library = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        super().run_pass(state)
        lowered = state["cr"]
        entry = _not_for_python(lowered.fndesc, lowered.env)
        state["cr"] = _LowerResult(lowered.fndesc, lowered.call_helper, cfunc=entry, env=lowered.env)
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state.reload_init.extend(getattr(state.library, "_reload_init", ()))
        return True


def _not_for_python(described: Any, environment: Any) -> Any:
    """What Python would call, which raises a TypeError: it calls its closure, which nobody can."""
    address = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value
    module, name = described.lookup_module(), described.qualname
    return _dynfunc.make_function(module, name, "only for kernels", address, environment, ())


class _LinkedCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles a function that only kernels call: see `_LinkedLibrary`."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_LowerForLinking if each is NativeLowering else each, said) for each, said in passes.passes
        ]
        passes._finalized = False
        passes.finalize()
        return [passes]


def linked(function: Callable[..., Any], inline: bool, fastmath: frozenset[str]) -> Any:
    """The function as other compiled functions call it."""
    return njit(
        nogil=True, error_model="numpy", fastmath=set(fastmath) or False, forceinline=inline, _nrt=False,
        boundscheck=declare.CHECKED, pipeline_class=_LinkedCompiler,
    )(function)  # fmt: skip


def short(function: Callable[..., Any]) -> Any:
    """The same for a few lines: inlined before types are known, which saves most of the time."""
    return njit(nogil=True, error_model="numpy", inline="always", _nrt=False)(function)


def dispatcher(part: Any) -> Any:
    """A `declare.Part` as Numba knows it."""
    _register_overloads()
    return linked(part.function, part.inline, part.fastmath)


def intrinsic_type(placeholder: Any) -> Any:
    """A `declare.Intrinsic` as Numba knows it."""
    made = placeholder.made = intrinsic(prefer_literal=placeholder.prefer_literal)(placeholder.build)
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(made)


def _register_overloads() -> None:
    while declare.OVERLOADS:
        function, implementation, options = declare.OVERLOADS.pop(0)
        overload(function, **options)(implementation)


def NOTHING() -> Any:  # noqa: N802
    """The signature of an intrinsic without arguments that returns nothing."""
    return types.none()


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
    """Of a function with this code: what it returns, and what it takes."""
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


def kernel_llvm(kernel: Any, key: str, symbol: str) -> str:
    """LLVM's code of a kernel for these types, which exports this symbol: int symbol(address of a block)."""
    kinds = key.split()
    unpack, give = _unpack(_types_of(iter(kinds))), _give(sum(len(words_of(kind)) for kind in kinds))

    def entry(block: int) -> None:
        give(block, kernel(*unpack(block)))

    body, name = _code(linked(entry, False, declare.FAST_SUMS), (types.int64,))
    wrapper = f"""
define i32 @{symbol}(i64 %block) {{
  %result = alloca ptr
  %error = alloca ptr
  %status = call i32 @"{name}"(ptr %result, ptr %error, i64 %block)
  ret i32 %status
}}
"""
    return f"{body}{wrapper}"


def function_llvm(function: Any, code: str, symbol: str) -> str:
    """LLVM's code of a function that kernels call: its first argument is the address of its parameters."""
    returned, *taken = signature_of(code)
    body, name = _code(function, (types.int64, *taken), returned)
    kinds = ["i64", *("double" if each == types.float64 else "i64" for each in taken)]
    given = ", ".join(f"{kind} %a{k}" for k, kind in enumerate(kinds))
    nothing = returned == types.none
    wrapper = f"""
define {"void" if nothing else "double"} @{symbol}({given}) {{
  %result = alloca {"ptr" if nothing else "double"}
  %error = alloca ptr
  %status = call i32 @"{name}"(ptr %result, ptr %error, {given})
  {"ret void" if nothing else "%value = load double, ptr %result"}
  {"" if nothing else "ret double %value"}
}}
"""
    return f"{body}{wrapper}"


@global_compiler_lock
def _code(entry: Any, arguments: tuple[Any, ...], returned: Any = types.none) -> tuple[str, str]:
    """The LLVM code of an entry with all that it calls, and its name there."""
    _register_overloads()
    entry.compile(arguments)
    compiled = entry.overloads[arguments]
    if compiled.signature.return_type != returned:  # it would be written where there is no room for it
        raise TypeError(f"it returns {compiled.signature.return_type}, not {returned}")
    compiled.library.finalize()
    text = compiled.library.get_llvm_str()
    for name in ("frexp", "ldexp"):  # Numba's own are these, but for numbers that are not finite
        text = text.replace(f"@numba_{name}", f"@{name}")
    return text, compiled.fndesc.llvm_func_name


def machine_code(text: str, symbol: str, level: str) -> bytes:
    """An object file for processors of this level."""
    module = optimised(text, symbol, level)
    called = {
        value.name
        for value in (*module.functions, *module.global_variables)
        if value.is_declaration and not value.name.startswith("llvm.")
    }
    if not called <= C_LIBRARY:
        raise RuntimeError(f"{symbol} calls {', '.join(sorted(called - C_LIBRARY))}")
    return bytes(_machine(level).emit_object(module))


def optimised(text: str, symbol: str, level: str) -> Any:
    """LLVM's code as one function of this name for processors of this level."""
    module = llvm.parse_assembly(text)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != symbol:
            value.linkage = "internal"  # so that it can be dropped once it is inlined everywhere
    machine = _machine(level)
    # First into one function what belongs there, with its loops in the form that the vectoriser wants.
    _run_passes(
        module, machine, 0, "add_loop_rotate_pass", "add_instruction_combine_pass", "add_jump_threading_pass"
    )
    _run_passes(module, machine, 3)
    return module


# What machine code may call: arithmetic, and copies of memory.
C_LIBRARY = frozenset((
    "sqrt", "sqrtf", "exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "pow", "cbrt", "hypot", "fmod",
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "erf", "erfc", "lgamma", "tgamma", "floor", "ceil", "ldexp", "frexp", "memset", "memcpy", "memmove",
))  # fmt: skip


def _run_passes(module: Any, machine: Any, level: int, *more: str) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization, options.slp_vectorization = level > 0, False
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    for name in more:
        getattr(passes, name)()
    passes.run(module, builder)


# LLVM would leave half of each vector unused, for the sake of the first processors that had such wide ones.
_TUNING = {"x86-64-v4": "-prefer-256-bit"}


@cache
def _machine(level: str) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=level, features=_TUNING.get(level, ""), opt=3, reloc="pic", codemodel="default"
    )


def _types_of(kinds: Iterator[str], struct: str = "") -> Any:
    """Numba's type of a tuple of arguments, or of a struct."""
    found: list[Any] = []
    for kind in kinds:
        if kind == ")":
            break
        if kind[-1] == "(":
            found.append(_types_of(kinds, kind[:-1]))
        elif kind[0] == "F":
            found.append(FunctionType(kind))
        else:
            code, bracket, dimensions = kind.partition("[")
            number = types.boolean if code == "b1" else getattr(types, np.dtype(code).name)
            layout, count = "A" if ":" in dimensions else "C", 1 + dimensions.count(",")
            found.append(types.Array(number, count, layout) if bracket else number)
    return types.BaseTuple.from_types(tuple(found), _struct(struct) if struct else None)


def _struct(name: str) -> Any:
    module, _, own = name.partition(":")
    return operator.attrgetter(own)(importlib.import_module(module))


def _unpack(unpacked: Any) -> Any:
    """A function that makes arguments of the words of a block."""

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


def _give(place: int) -> Any:
    """A function that writes what a kernel returns into a block, from this word on."""

    @intrinsic
    def give(context: Any, block: Any, results: Any) -> Any:
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

    return give


def _word_of(builder: Any, kind: Any, value: Any) -> tuple[Any, Any]:
    """The kind of a result, and its bits."""
    if kind == types.boolean:
        said, word = TRUTH, builder.zext(value, _WORD)
    elif isinstance(kind, types.Float):
        said, word = (
            REAL,
            builder.bitcast(value if kind.bitwidth == 64 else builder.fpext(value, _DOUBLE), _WORD),
        )
    elif kind.signed:
        said, word = INTEGER, value if kind.bitwidth == 64 else builder.sext(value, _WORD)
    else:
        said, word = UNSIGNED, value if kind.bitwidth == 64 else builder.zext(value, _WORD)
    return ir.Constant(_WORD, said), word


def _words(builder: Any, block: Any) -> Iterator[Any]:
    base = builder.inttoptr(block, _WORD.as_pointer())
    place = 0
    while True:
        yield builder.load(builder.gep(base, [ir.Constant(_WORD, place)]))
        place += 1
